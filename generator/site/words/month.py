"""The last month hour by hour, as the chapters count it: prices, futures and order books at full hours."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from generator.catalog.assets import ASSETS, DEFAULT_ASSET
from generator.catalog.durations import HOUR_MS
from generator.market.bars import BarFrame

Values = tuple[float | None, ...]
_FIELDS: Final = ("close", "funding", "open_interest", "depth_usd", "imbalance", "spread_bps")


@dataclass(frozen=True, slots=True)
class HourlyMonth:
    """What was known at full hours, oldest first; unknown is None.

    Args:
        ends_ms: full hours of the market clock; one that is missing is left out.
        values: by field of a bar and asset, one for each hour.
    """

    ends_ms: tuple[int, ...] = ()
    values: Mapping[tuple[str, str], Values] = field(default_factory=dict)

    def known(self, name: str, asset: str = DEFAULT_ASSET) -> list[float]:
        """Return the known values of one field, oldest first."""
        return [value for value in self.values.get((name, asset), ()) if value is not None]

    def newest(self, name: str, asset: str = DEFAULT_ASSET) -> float | None:
        """Return the value at the newest hour."""
        values = self.values.get((name, asset), ())
        return values[-1] if values else None

    def moves(self, asset: str = DEFAULT_ASSET, hours: int = 1) -> dict[int, float]:
        """Return the move over so many hours in percent, by the hour at which it ended, where both prices are known."""
        closes = dict(zip(self.ends_ms, self.values.get(("close", asset), ()), strict=False))
        moves = {}
        for end_ms, close in closes.items():
            before = closes.get(end_ms - hours * HOUR_MS)
            if close is not None and before:
                moves[end_ms] = 100 * (close / before - 1)
        return moves

    def known_assets(self) -> tuple[str, ...]:
        """Return the assets with any price, in the order of `ASSETS`."""
        return tuple(asset for asset in ASSETS if self.known("close", asset))

    def together(self, assets: Sequence[str]) -> dict[int, tuple[float, ...]]:
        """Return the moves of some assets over each hour in which all are known, by the hour at which it ended."""
        if not assets:
            return {}
        by_asset = [self.moves(asset) for asset in assets]
        shared = set(by_asset[0]).intersection(*by_asset[1:])
        return {end_ms: tuple(moves[end_ms] for moves in by_asset) for end_ms in sorted(shared)}


def hourly_month(bars: BarFrame | None) -> HourlyMonth:
    """Take what closed at full hours."""
    if bars is None or not len(bars):
        return HourlyMonth()

    ends = bars.t + bars.interval_ms
    full = ends % HOUR_MS == 0
    values = {}
    for name in _FIELDS:
        rows = bars.fields[name][full]
        for asset in ASSETS:
            values[name, asset] = _known(rows[:, bars.assets.index(asset)].tolist())
    return HourlyMonth(tuple(ends[full].tolist()), values)


def _known(values: Sequence[float]) -> Values:
    return tuple(None if math.isnan(value) else value for value in values)


def pairs(moves: Mapping[int, float]) -> Iterator[tuple[int, float, float]]:
    """Give when each hour ended and its move, with that of the hour after it, oldest first."""
    for end_ms in sorted(moves):
        after = moves.get(end_ms + HOUR_MS)
        if after is not None:
            yield end_ms, moves[end_ms], after
