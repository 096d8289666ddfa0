"""The picture of one hour of practice: the prices of the 48 hours before it."""

from collections.abc import Sequence
from typing import Final

from markupsafe import Markup

from generator.catalog.text.figures import signed
from generator.site.charts.plot import WIDTH, Axis, Caption, Chart, Plane, axis

_HEIGHT: Final = 220
_SOURCE: Final = "Source: shipped month, simulated market."
_ROWS_EACH: Final = 12  # hours between two rows of the table


def hour_picture(name: str, prices: Sequence[float]) -> Chart:
    """Draw the prices up to the hour in question.

    Args:
        prices: start prices of the hours, the last one's own being 100.
    """
    moves = [price - 100 for price in prices]
    hours = len(moves)
    y = axis(min(moves), max(moves), "% from the last price", rounded=True)
    ticks = tuple((float(hour), f"\N{MINUS SIGN}{hours - 1 - hour} h") for hour in range(0, hours - 1, _ROWS_EACH))
    plane = Plane(Axis(0.0, float(hours - 1), ticks, ""), y, bottom=_HEIGHT - 36, right=WIDTH - 20)

    line = plane.path("line", [(float(hour), move) for hour, move in enumerate(moves)])
    caption = Caption(
        name=name,
        finding="48 hours before an hour of the record",
        desc=f"The price came from {signed(moves[0])} to the last price, at the start of the hour.",
        source=_SOURCE,
        columns=("Hours before", "From the last price"),
        rows=tuple((f"{hours - 1 - hour}", signed(moves[hour])) for hour in range(0, hours, _ROWS_EACH)),
    )
    parts = [*plane.grid(), *plane.labels(), line]
    return Chart(caption, Markup("").join(parts), _HEIGHT)
