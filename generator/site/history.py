"""The market over time as files and figures: charts of each window and asset, the numbers as CSV, pictures to embed."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from markupsafe import Markup

from generator.arena.values import Hour
from generator.brain.regime import REGIMES
from generator.catalog.assets import ASSETS, DEFAULT_ASSET
from generator.catalog.formats import iso
from generator.catalog.links import HISTORY_CSV
from generator.compose.context import TickContext
from generator.compose.inputs import observed, reading_of
from generator.site.charts.history import HOUR_MS, WINDOWS, Lately, Point, history, line_chart
from generator.site.charts.report import DATA_FROM
from generator.site.format import when

EVERY: Final = 4 * HOUR_MS  # between two points of funding and open interest


@dataclass(frozen=True, slots=True)
class Histories:
    """What is shown of the last month.

    Args:
        figures: chart name -> its figure; a chart that could not be drawn is left out.
        files: path -> bytes.
    """

    figures: Mapping[str, Markup] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)


def histories(ctx: TickContext, hours: Sequence[Hour]) -> Histories:
    """Draw what is shown of the last month.

    Args:
        hours: as published, oldest first.
    """
    drawn = [
        history(
            f"{DEFAULT_ASSET.lower()}-{name}",
            WINDOWS[name],
            _lately(ctx, DEFAULT_ASSET, hours, name),
            _source(ctx, hours),
        )
        for name in WINDOWS
    ]
    for asset in ASSETS:
        name = asset.lower()
        if asset != DEFAULT_ASSET:
            drawn.append(history(f"{name}-7d", WINDOWS["7d"], _lately(ctx, asset, hours, "7d"), _source(ctx, hours)))
        funding = [(at, 100 * value) for at, value in _series(ctx, asset, "funding", EVERY)]
        drawn.append(
            line_chart(
                f"{name}-funding",
                f"{asset} funding",
                "% per 8 hours",
                funding,
                _source(ctx),
            )
        )
        interest = _series(ctx, asset, "open_interest", EVERY)
        drawn.append(
            line_chart(
                f"{name}-interest",
                f"{asset} open interest",
                f"contracts, in {asset}",
                interest,
                _source(ctx),
            )
        )
    figures = {chart.caption.name: Markup(str(chart)) for chart in drawn if chart is not None}  # noqa: S704  escaped by it
    return Histories(figures, {HISTORY_CSV: hours_csv(hours)})


def hours_csv(hours: Sequence[Hour]) -> bytes:
    """Write the hours as CSV: what was published first in each, or read by the backtest at its beginning."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(
        [
            "at",
            "market_time",
            "warm_up",
            "regime",
            *(f"chance_{label}" for label in REGIMES),
            *(f"price_{asset}" for asset in ASSETS),
        ]
    )
    for hour in hours:
        chances = hour.chances or ("",) * len(REGIMES)
        prices = [hour.prices.get(asset, "") for asset in ASSETS]
        writer.writerow(
            [iso(hour.at_ms), iso(hour.market_ms), str(hour.warm_up).lower(), hour.label, *chances, *prices]
        )
    return text.getvalue().encode()


def _lately(ctx: TickContext, asset: str, hours: Sequence[Hour], window: str) -> Lately:
    read = reading_of(ctx, asset)
    closes, seen = _series(ctx, asset, "close", WINDOWS[window].step_ms), observed(ctx, asset)
    if seen.price is not None and seen.price_as_of_ms is not None and closes and seen.price_as_of_ms > closes[-1][0]:
        closes.append((seen.price_as_of_ms, seen.price))
    return Lately(asset, ctx.observation.market_ms, closes, hours, read.ranges if read else None)


def _series(ctx: TickContext, asset: str, name: str, every_ms: int) -> list[Point]:
    """Return (close time, value) of known bars, one each `every_ms` counted from the newest."""
    bars = ctx.bars
    if bars is None or not len(bars):
        return []
    step = max(1, every_ms // bars.interval_ms)
    times = bars.t[::-1][::step][::-1] + bars.interval_ms
    values = bars.fields[name][:, bars.assets.index(asset)][::-1][::step][::-1]
    return [(at, value) for at, value in zip(times.tolist(), values.tolist(), strict=True) if value == value]  # noqa: PLR0124  not NaN


def _source(ctx: TickContext, hours: Sequence[Hour] = ()) -> Markup:
    said = Markup("Source: {}, as of {}.").format(DATA_FROM[ctx.observation.mode], when(ctx.observation.market_ms))
    first = next((hour for hour in hours if not hour.warm_up), None)
    if not any(hour.warm_up for hour in hours):
        return said
    if first is None:
        return said + " The regimes shown are a backtest: nothing was published yet."
    return said + Markup(" Regimes before {} are a backtest.").format(when(first.market_ms))
