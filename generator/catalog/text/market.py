"""The day and the hour of the market as published: what the paid texts are made from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from generator.catalog.words import MarketSide, Trend

LONGEST_HEADLINE: Final = 240  # of a paid body; see `headline` for the free ones
_FEWEST: Final = 3  # assets of which a mean is given
TREND_OF_SIDE: Final[dict[MarketSide, Trend]] = {
    MarketSide.RISING: Trend.UP,
    MarketSide.FALLING: Trend.DOWN,
    MarketSide.FLAT: Trend.SIDEWAYS,
    MarketSide.BOTH_WAYS: Trend.SIDEWAYS,
}


@dataclass(frozen=True, slots=True)
class PublishedMarket:
    """What happened in the market, as published; None and empty where unknown. Changes are percent."""

    changes: Mapping[str, float] = field(default_factory=dict)  # by asset, over 24 hours
    up: int = 0  # how many of them rose
    down: int = 0
    flat: int = 0
    usual_day: float | None = None  # median size of the mean changes of the kept days
    usual_days_kept: int = 0  # how many days these are
    hours: Mapping[str, float] = field(default_factory=dict)  # by asset, change over the last hour
    move_rank: float | None = None  # of the last hour's mean change among the week's hours, by size, 0..100
    correlation: float | None = None  # mean over the pairs of assets, of hourly moves over the day

    @property
    def known(self) -> int:
        """How many assets have a known change."""
        return self.up + self.down + self.flat

    @property
    def mean(self) -> float | None:
        """Mean change over 24 hours."""
        return _mean(self.changes)

    @property
    def hour(self) -> float | None:
        """Mean change over the last hour; None where fewer than half of the assets are known."""
        return _mean(self.hours) if 2 * len(self.hours) >= max(self.known, _FEWEST) else None


def _mean(changes: Mapping[str, float]) -> float | None:
    return sum(changes.values()) / len(changes) if changes else None
