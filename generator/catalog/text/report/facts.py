"""What a report adds to the market's facts: shares with their intervals, ranges, what followed such days."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from generator.catalog.text.happened import MarketFacts

FEWEST: Final = 30  # cases of which a share is given


class Span(NamedTuple):
    """Where a price ends nine times in ten and one time in two, as prices."""

    # Not a `MoveRange`, whose ends are percent.
    low_90: float
    low_50: float
    high_50: float
    high_90: float


class Share(NamedTuple):
    """How many of n cases, with the 95% interval of the share in percent."""

    hits: int
    n: int
    low: float
    high: float

    @property
    def percent(self) -> float:
        """The share."""
        return 100.0 * self.hits / self.n


class LikeDays(NamedTuple):
    """What followed days like this one, at least a day apart."""

    n: int
    smallest: float  # move of them, percent, without sign; 0: small days of either side
    largest: float
    rose: Share | None  # after a day; None of fewer than 30
    any_rose: float  # after any day, percent
    moved_more: Share | None  # than a usual day
    any_moved_more: float


class SpellSoFar(NamedTuple):
    """The spell of the volatility word shown, as read at full hours."""

    hours: int
    n: int  # others of that word on record, from their beginning to their end
    as_old: int  # how many of them got as far
    twelve_more: Share | None  # of those, how many went on for twelve hours more; None of fewer than 30


class Yesterday(NamedTuple):
    """How Bitcoin's ranges of a day ago did."""

    due_ms: int | None  # the last full hour for which one was given a day before; None where none was
    low: float  # its ends, nine times in ten, as prices
    high: float
    price: float  # at that hour
    hours: int  # ranges for an hour that ended within the day
    held: int  # how many of them held
    in_backtest: bool = False


class Trading(NamedTuple):
    """What was traded in a day."""

    dollars: float
    rank: float  # among the hours of the last 30 days, percent
    days: float  # on record


@dataclass(frozen=True)
class ReportFacts(MarketFacts):
    """The market at one tick with what a report adds."""

    correlation: float | None = None  # mean over the pairs, of hourly moves over the day
    trading: Trading | None = None
    spans: Mapping[str, Span] = field(default_factory=dict)  # of Bitcoin, by horizon: 1h, 4h, 24h
    widths: Mapping[str, float] = field(default_factory=dict)  # half of each coin's 90% range for an hour, percent
    held: Share | None = None  # 90% ranges for an hour that held, of those scored
    held_in_backtest: bool = False
    like_days: LikeDays | None = None
    spell: SpellSoFar | None = None
    yesterday: Yesterday | None = None
    large_hours: Share | None = None  # after an hour of four usual ones, the next was larger than usual
    large_hours_days: int = 0  # on so many days
    travelled: float | None = None  # the day's hourly moves, without sign, summed, percent
    largest_from_calm: tuple[int, int] | None = None  # of the largest hours on record, how many began calm or normal
    last_days: tuple[int, int, int] | None = None  # of 30: within a quarter of the usual, smaller, larger
    average_swing: float | None = None  # of the average over that of one coin, percent

    @property
    def rest_of_day(self) -> float:
        """What the other 23 hours moved, percent."""
        largest = self.largest.percent if self.largest else 0.0
        return 100 * ((1 + (self.day or 0.0) / 100) / (1 + largest / 100) - 1)

    @property
    def apart(self) -> str:
        """The coin without which the average is most another."""
        return self.alone or max(self.days, key=lambda asset: abs(self.days[asset] - (self.day or 0.0)))

    @property
    def without(self) -> float:
        """What the others moved on average without it."""
        others = [moved for asset, moved in self.days.items() if asset != self.apart]
        return sum(others) / len(others)
