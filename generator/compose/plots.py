"""The numbers of the report's plots, at most 60 points each; what shows the report draws them."""

from collections.abc import Iterator, Sequence
from typing import Final

from pydantic import Field

from generator.brain.month import Month
from generator.brain.side import SIDES
from generator.brain.spells import Spell
from generator.catalog.assets import ASSET_NAMES, ASSETS, DEFAULT_ASSET
from generator.catalog.durations import HOUR_MS
from generator.catalog.formats import fixed, percent, significant
from generator.catalog.horizons import HORIZONS
from generator.compose.body import Body
from generator.compose.coins import ranges
from generator.compose.context import TickContext
from generator.compose.inputs import reading_of

POINTS: Final = 60
LADDER_HOURS: Final = "4h"
_PRICE_STEP: Final = 2  # hours


class PlotSeries(Body):
    """One line, or one bar of each place."""

    name: str = Field(description="What it is.")
    values: tuple[float | None, ...] = Field(description="A value for each place of x; null where unknown.")


class Plot(Body):
    """The numbers of one plot."""

    name: str = Field(description="Its name: price, ranges, ladder or calibration.")
    part: str = Field(description="The part of the report that it belongs to.")
    title: str = Field(description="What it shows.")
    kind: str = Field(description="line, bars, or span: each place from the first series to the last.")
    unit: str = Field(description="Unit of the values.")
    x_name: str = Field(description="What x is.")
    x: tuple[float | str, ...] = Field(description="Places, at most 60.")
    series: tuple[PlotSeries, ...] = Field(description="Values by place.")
    states: tuple[str, ...] = Field(description="Side of the market at each place, of the price alone; else empty.")


def plots(ctx: TickContext) -> tuple[Plot, ...]:
    """Compose the plots of which there are numbers."""
    return tuple(_plots(ctx))


def _plots(ctx: TickContext) -> Iterator[Plot]:
    month = ctx.month
    name = ASSET_NAMES[DEFAULT_ASSET]
    if month is not None:
        yield _price(month, name)

    read = reading_of(ctx, DEFAULT_ASSET)
    reach = ranges(read)
    if reach:
        yield Plot(
            name="ranges",
            part="far",
            title=f"Where {name} should end: half and nine tenths of all cases",
            kind="span",
            unit="percent from now",
            x_name="after",
            x=tuple(reach),
            series=tuple(
                PlotSeries(name=bound, values=tuple(getattr(move, bound) for move in reach.values()))
                for bound in ("low_90", "low_50", "high_50", "high_90")
            ),
            states=(),
        )
    if read is not None and read.ladder is not None:
        levels = read.ladder[LADDER_HOURS]
        yield Plot(
            name="ladder",
            part="far",
            title=f"How likely {name} moves beyond a level in {HORIZONS[LADDER_HOURS].words}, either way",
            kind="bars",
            unit="percent chance",
            x_name="level, percent",
            x=tuple(level.level for level in levels),
            series=(
                _series("at the end", [100 * level.end.either for level in levels], 1),
                _series("on the way", [100 * level.touch.either for level in levels], 1),
            ),
            states=(),
        )
    yield from _calibration(ctx)


def _price(month: Month, name: str) -> Plot:
    """Compose the price over the last five days, with the side of the market."""
    closes = month.closes[-1::-_PRICE_STEP, ASSETS.index(DEFAULT_ASSET)][:POINTS][::-1]
    times = month.hours_ms[-1::-_PRICE_STEP][:POINTS][::-1]

    return Plot(
        name="price",
        part="happened",
        title=f"{name} over the last five days, and the side that the market was on",
        kind="line",
        unit="US dollars",
        x_name="hours from now",
        x=tuple((at_ms - month.now_ms) / HOUR_MS for at_ms in times),
        series=(PlotSeries(name=name, values=tuple(significant(close) for close in closes)),),
        states=tuple(_side_at(month.spells.side, at_ms) for at_ms in times),
    )


def _side_at(spells: Sequence[Spell], at_ms: int) -> str:
    """Return the side at a time; unknown where its spell was not seen to begin."""
    for spell in spells:
        if spell.start_ms <= at_ms <= spell.end_ms:
            return str(SIDES[spell.state])
    return "unknown"


def _calibration(ctx: TickContext) -> Iterator[Plot]:
    """Compose how often prices moved, by how likely that had been called; of live forecasts alone."""
    bins = [row for row in ctx.arena.hourly_record.move.bins if row.hit is not None and row.said_percent is not None]

    if bins:
        yield Plot(
            name="calibration",
            part="far",
            title="Chance of a move as it was published, and how often the price moved",
            kind="line",
            unit="percent of cases that moved",
            x_name="published, percent",
            x=tuple(percent(row.said_percent) or 0.0 for row in bins),
            series=(
                _series("moved", [row.hit.percent if row.hit else None for row in bins], 1),
                _series("right would be", [row.said_percent for row in bins], 1),
            ),
            states=(),
        )


def _series(name: str, values: Sequence[float | None], decimals: int) -> PlotSeries:
    return PlotSeries(name=name, values=tuple(None if value is None else fixed(value, decimals) for value in values))
