"""One tick's observation of the market.

Times are integer UTC milliseconds on the market clock, except where a name says `wall`. Unknown is None, never 0.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from generator.catalog.words import SourceMode
from generator.market.bars import BAR_MS, BarFrame, FloatArray
from generator.values.market import Liquidations, OpenInterest, SourceRow


def disagreement_bps(prices: Sequence[float]) -> float | None:
    """Return how far prices of venues lie apart, in basis points of the lowest; None of fewer than two.

    >>> disagreement_bps([100.0, 100.1, 100.05]), disagreement_bps([100.0])
    (10.0, None)
    """
    if len(prices) < 2:
        return None
    return round(1e4 * (max(prices) / min(prices) - 1.0), 4)


@dataclass(frozen=True, slots=True)
class OrderBook:
    """Order-book context near the mid, each measure the median over the venues that agree."""

    spread_bps: float
    depth_1pct_usd: float
    imbalance_percent: float  # -100 (asks only) .. 100 (bids only)
    venues: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FundingRate:
    """Perpetual funding, median over venues."""

    rate_8h: float  # fraction per 8 hours
    venues: tuple[str, ...]
    as_of_ms: int
    by_venue: Mapping[str, float] = field(default_factory=dict)  # what each said, also one that is left out


@dataclass(frozen=True, slots=True)
class AssetObservation:
    """What one tick knows of one asset. Every None has its reason in `limitations`."""

    asset: str
    price: float | None = None  # USD, median mid of the agreeing venues
    price_as_of_ms: int | None = None
    venues: tuple[str, ...] = ()  # venues that agree with the price
    change_24h_percent: float | None = None
    book: OrderBook | None = None
    funding: FundingRate | None = None
    open_interest: OpenInterest | None = None
    liquidations: Liquidations | None = None
    limitations: tuple[str, ...] = ()
    disagreement_bps: float | None = None  # highest less lowest price of the venues that agree; None of fewer than two

    @property
    def of_venues(self) -> dict[str, Any]:
        """What venues say of the book and of futures, as the memory keeps it; None where unknown."""
        book = self.book
        funding = self.funding
        interest = self.open_interest
        return {
            "funding": dict(funding.by_venue) if funding else None,
            "contracts": interest.contracts if interest else None,
            "interest_usd": interest.usd if interest else None,
            "depth_usd": book.depth_1pct_usd if book else None,
            "spread_bps": book.spread_bps if book else None,
            "disagreement_bps": self.disagreement_bps,
        }


@dataclass(frozen=True, slots=True)
class Observation:
    """Everything that is known of the market in one tick."""

    mode: SourceMode
    market_ms: int  # market time of the tick
    assets: dict[str, AssetObservation]  # one entry for every asset, also those without data
    sources: tuple[SourceRow, ...]  # health of every source asked
    new_bars: BarFrame  # bars that closed since the last observation (at the first: since `since_ms`), ascending
    bar_interval_ms: int = BAR_MS  # 3,600,000 for hourly recordings; the brain reads only 5-minute bars
    price_basis: str = "venue_mid"  # or `recorded_close`
    venues_needed: int = 1  # that must agree before an Arena round may settle (live 2, simulated 2, recorded 1)
    offset_ms: int = 0  # wall minus market time; 0 unless recorded
    ended: bool = False  # True once a recording has no more bars
    dropped_bars: int = 0  # invalid bars dropped and counted (non-finite, non-positive, high < low, off grid)
    limitations: tuple[str, ...] = ()

    @property
    def one_venue(self) -> frozenset[str]:
        """Assets whose price one venue alone gives, where more than one must agree."""
        if self.venues_needed < 2:
            return frozenset()
        return frozenset(asset for asset, seen in self.assets.items() if len(seen.venues) == 1)

    def day_changes(self, assets: tuple[str, ...]) -> FloatArray:
        """Return each asset's log change over 24 hours as it is published, NaN where unknown, (assets,)."""
        percents = [seen.change_24h_percent if (seen := self.assets.get(asset)) else None for asset in assets]
        known = [math.nan if percent is None or percent <= -100.0 else percent for percent in percents]
        changes: FloatArray = np.log1p(np.array(known) / 100.0)
        return changes
