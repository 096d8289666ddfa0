"""The small pictures of Learn: a day of each kind, chosen by what prices did, and how little a few cases say."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean, median, quantiles
from typing import Final, NamedTuple

from markupsafe import Markup

from generator.arena.rates import rate
from generator.catalog.assets import ASSETS
from generator.catalog.durations import HOUR_MS
from generator.catalog.text import figures
from generator.catalog.text.figures import signed
from generator.catalog.text.pictured import NAMES, PICTURED, PicturedDay
from generator.site.charts.plot import WIDTH, Axis, Caption, Chart, Plane, Row, axis, row_chart, text
from generator.site.words.month import HourlyMonth

SAMPLES: Final = ((5, 10), (50, 100), (500, 1_000))  # right, of
FEWEST_COINS: Final = 3  # that make an average
_HOURS: Final = 24
_ENOUGH: Final = 7 * 24  # days of the month, one an hour, to call one narrow or restless
_MOVED: Final = frozenset({"rising_together", "falling_together"})
# How well a day shows its kind, the larger the better.
_CLEARNESS: Final[Mapping[str, Callable[[PicturedDay], float]]] = {
    "rising_together": lambda day: day.moved,
    "falling_together": lambda day: -day.moved,
    "going_nowhere": lambda day: -day.wide,
    "up_and_down": lambda day: day.travelled,
}
_EDGES: Final = (56.0, 330.0, 0.0, WIDTH)
_HEIGHT: Final = 380


class Day(NamedTuple):
    """24 hours of the month, and what their picture says."""

    ends_ms: tuple[int, ...]  # full hours
    paths: Mapping[str, tuple[float, ...]]  # by asset: the change since the first of them, percent
    caption: str

    @property
    def line(self) -> tuple[float, ...]:
        """The average coin's change since the first hour, percent."""
        return tuple(map(fmean, zip(*self.paths.values(), strict=True)))


def picture_name(kind: str) -> str:
    """Return the name of the picture of a kind of day."""
    return f"day-{kind.replace('_', '-')}"


def day_charts(month: HourlyMonth, usual_day: float | None, source: Markup | str) -> tuple[Chart, ...]:
    """Draw the clearest day of each kind: those that moved on one scale, those that ended where they began on another.

    Args:
        usual_day: the market's, percent; None where not known.
    """
    chosen = clearest_days(month, usual_day)
    reaches: dict[bool, float] = {}
    for kind, day in chosen.items():
        farthest = max(abs(value) for path in day.paths.values() for value in path)
        reaches[kind in _MOVED] = max(reaches.get(kind in _MOVED, 0.0), farthest)
    return tuple(_drawn(kind, day, reaches[kind in _MOVED] or 1.0, source) for kind, day in chosen.items())


def clearest_days(month: HourlyMonth, usual_day: float | None) -> dict[str, Day]:
    """Return of each kind the day that shows it best, by what its prices did; a kind that no day shows is left out."""
    if not usual_day:
        return {}
    windows = list(_windows(month))
    lines = [PicturedDay(tuple(path[-1] for path in day.paths.values()), day.line, usual_day) for day in windows]
    narrow = usual_way = None
    if len(lines) >= _ENOUGH:
        narrow = quantiles((line.wide for line in lines), n=4)[0]
        usual_way = median(line.travelled for line in lines)

    clearest = {}
    for kind, clearness in _CLEARNESS.items():
        best = None
        for day, line in zip(windows, lines, strict=True):
            pictured = line._replace(narrow=narrow, usual_way=usual_way)
            caption = PICTURED.say(kind, pictured)
            if caption and (best is None or clearness(pictured) >= best[0]):
                best = (clearness(pictured), day._replace(caption=caption))
        if best is not None:
            clearest[kind] = best[1]
    return clearest


def _windows(month: HourlyMonth) -> Iterator[Day]:
    """Give each 24 hours of the month, with the coins that have a price at all of its full hours."""
    closes = {asset: month.values.get(("close", asset), ()) for asset in ASSETS}
    ends_ms = month.ends_ms
    for begin in range(len(ends_ms) - _HOURS):
        end = begin + _HOURS + 1
        # An hour is missing.
        if ends_ms[end - 1] - ends_ms[begin] != _HOURS * HOUR_MS:
            continue

        paths = {asset: path for asset in ASSETS if (path := _path(closes[asset][begin:end]))}
        if len(paths) >= FEWEST_COINS and len(paths) == sum(map(any, closes.values())):
            yield Day(ends_ms[begin:end], paths, "")


def _path(prices: Sequence[float | None]) -> tuple[float, ...]:
    """Return the change since the first price, percent, at each; empty where one is unknown."""
    known = [price for price in prices if price]
    if not known or len(known) < len(prices):
        return ()
    return tuple(100 * (price / known[0] - 1) for price in known)


def _drawn(kind: str, day: Day, reach: float, source: Markup | str) -> Chart:
    first = day.ends_ms[0]
    last = day.ends_ms[-1]
    plane = Plane(Axis(first, last, (), ""), axis(-reach, reach, "change, %"), *_EDGES)

    parts = [*plane.grid(), *plane.labels()]
    parts += [plane.path("line other", zip(day.ends_ms, path, strict=True)) for path in day.paths.values()]
    parts.append(plane.path("line", zip(day.ends_ms, day.line, strict=True)))
    for at, anchor, x in ((first, "start", plane.left), (last, "end", plane.right)):
        parts.append(text("tick", x, plane.bottom + 34, figures.day(at), anchor))

    changes = {asset: path[-1] for asset, path in day.paths.items()}
    caption = Caption(
        name=picture_name(kind),
        finding=day.caption,
        desc="A thin line for each coin, in percent from the first hour, and a thick one for their average.",
        source=source,
        columns=("Asset", "Change over 24 hours"),
        rows=(("average", signed(day.line[-1])), *((asset, signed(change)) for asset, change in changes.items())),
    )
    return Chart(caption, Markup("").join(parts), _HEIGHT)


def few_cases(name: str) -> Chart:
    """Draw what half of ten, of a hundred and of a thousand cases say of the true rate."""
    rows = [_sample(right, of) for right, of in SAMPLES]
    caption = Caption(
        name=name,
        finding="Half of the cases were right: where the true rate may be, 95 times in 100",
        desc="A dot at one half for 10, 100 and 1,000 cases, with its 95% interval as a line: the more, the shorter.",
        source="Wilson's interval, as everywhere on these pages.",
        columns=("Right", "True rate between"),
    )
    return row_chart(caption, "true rate, %", rows)


def _sample(right: int, of: int) -> Row:
    share = rate(right, of)
    label = f"{right:,} of {of:,}"
    return Row(
        label,
        share.percent,
        f"{share.low_percent:.0f} to {share.high_percent:.0f}%",
        share.low_percent,
        share.high_percent,
    )


class KindOfDay(NamedTuple):
    """A kind of day with its picture, None where no day of the month showed it."""

    name: str
    picture: Markup | None


def by_kind(figures: Mapping[str, Markup]) -> tuple[KindOfDay, ...]:
    """Return every kind of day."""
    return tuple(KindOfDay(name, figures.get(picture_name(kind))) for kind, name in NAMES.items())
