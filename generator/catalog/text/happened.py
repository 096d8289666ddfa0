"""What happened in the market, as published: the facts that the sentences of `sentences` are chosen and filled by.

Moves are in percent, times in UTC milliseconds of the market; None where unknown. The market is the average coin: the
mean of the coins' moves, of at least three; with fewer it is Bitcoin alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from statistics import median
from typing import Final, NamedTuple

from generator.catalog.assets import DEFAULT_ASSET
from generator.catalog.durations import HOUR_MS
from generator.catalog.text.figures import UNCHANGED
from generator.catalog.thresholds import BROAD_SHARE, FLAT_PERCENT
from generator.catalog.words import Call, MarketSide, VolatilityWord

FEWEST_COINS: Final = 3  # of which there is an average
YARDSTICK_DAYS: Final = 14.0  # on record, from which on an hour and a day are called usual, ordinary or rough
WEEK_YARDSTICK_DAYS: Final = 30.0
RANKED_DAYS: Final = 3.0  # from which on anything is ranked
STALE_MINUTES: Final = 10.0  # of a price, from which on it is the last one and not the present


class Situation(IntEnum):
    """What the headline is about, the most urgent first."""

    SHOCK = 0
    GREAT_DAY = 1
    AFTERMATH = 2
    ONE_COIN = 3
    REVERSAL = 4
    DAYS_IN_A_ROW = 5
    WEEK = 6
    SPLIT = 7
    MOVE = 8
    CALM = 9
    PLAIN = 10
    UNKNOWN = 11


class Moment(NamedTuple):
    """A move of the market that ended at some time."""

    percent: float
    at_ms: int


class LargestHour(NamedTuple):
    """The largest hour of the day."""

    percent: float
    at_ms: int  # when it ended
    since: float | None  # what the market moved after it, percent
    with_since: float | None  # over the hour and what came after it, percent

    @property
    def back(self) -> float | None:
        """How much of it was undone since, as a share; negative where it went on."""
        return None if self.with_since is None else 1.0 - self.with_since / self.percent


class Legs(NamedTuple):
    """A day in two legs; `is_over` where a third has followed and now counts."""

    first: float
    second: float
    turned_ms: int  # when the first ended
    is_over: bool


class Row(NamedTuple):
    """Days in a row that moved one way."""

    days: int
    percent: float  # what the market moved over them


class Records(NamedTuple):
    """What no earlier window on record has beaten."""

    fall_of_hour: bool = False
    rise_of_hour: bool = False
    fall_of_day: bool = False
    rise_of_day: bool = False
    narrowest_day: bool = False


class Chance(NamedTuple):
    """Whether a price will have left its band when the hour ends; percent."""

    call: Call
    small: float
    usual_small: float
    up: float
    down: float
    band: float  # half-width, percent of the price


NO_RECORDS: Final = Records()


class Coin(NamedTuple):
    """One coin now."""

    price: float
    day: float | None  # moved over 24 hours, percent
    hour: float | None = None
    high: float | None = None  # of the day, as a price
    low: float | None = None
    high_ms: int | None = None
    low_ms: int | None = None
    hour_range: tuple[float, float] | None = None  # where it ends the next hour nine times in ten, as prices
    chance: Chance | None = None
    minutes_old: float = 0.0  # of the price, where it is not fresh

    @property
    def is_stale(self) -> bool:
        """Whether the price is too old for anything to be said of now."""
        return self.minutes_old >= STALE_MINUTES


@dataclass(frozen=True)
class MarketFacts:
    """The market at one tick."""

    now_ms: int
    situation: Situation = Situation.UNKNOWN
    coins: Mapping[str, Coin] = field(default_factory=dict)  # those with a price, by asset
    names: Mapping[str, str] = field(default_factory=dict)
    hour: float | None = None  # moves of the market
    three_hours: float | None = None
    week: float | None = None
    usual_hour: float | None = None  # U1, U24, U7: median sizes of all such moves on record
    usual_day: float | None = None
    usual_week: float | None = None
    record_days: float = 0.0
    first_price: float | None = None  # of Bitcoin on a record of under a day
    line_high: Moment | None = None  # of the day's line, against a day ago
    line_low: Moment | None = None
    largest: LargestHour | None = None
    legs: Legs | None = None
    row: Row | None = None
    alone: str | None = None  # the coin that stands out
    records: Records = NO_RECORDS
    rare_hour: bool = False  # one of the largest hours of half a year or more
    day_rank: float | None = None  # of the day's realised volatility on record, percent
    outlook_rank: float | None = None  # of the next four hours' expected volatility, likewise
    side: MarketSide = MarketSide.UNKNOWN
    volatility: VolatilityWord = VolatilityWord.UNKNOWN
    width: float | None = None  # of Bitcoin's next hour over the usual one, a ratio
    focus: str = DEFAULT_ASSET  # the coin that a sentence on one coin is about

    @cached_property
    def days(self) -> dict[str, float]:
        """The coins' moves over the day, of those that have one."""
        return {asset: coin.day for asset, coin in self.coins.items() if coin.day is not None}

    @cached_property
    def hours(self) -> dict[str, float]:
        """Likewise over the last hour."""
        return {asset: coin.hour for asset, coin in self.coins.items() if coin.hour is not None}

    @property
    def is_average(self) -> bool:
        """Whether enough coins are known to speak of the market; else it is Bitcoin alone."""
        return len(self.days) >= FEWEST_COINS

    @cached_property
    def day(self) -> float | None:
        """The market's move over the day."""
        if self.is_average:
            return sum(self.days.values()) / len(self.days)
        return self.days.get(DEFAULT_ASSET)

    @property
    def bitcoin(self) -> Coin | None:
        """Bitcoin, where its price is known."""
        return self.coins.get(DEFAULT_ASSET)

    @property
    def is_stale(self) -> bool:
        """Whether Bitcoin's price is known and too old for anything to be said of now."""
        return self.bitcoin is not None and self.bitcoin.is_stale

    @property
    def coin(self) -> Coin | None:
        """The coin in focus, where its price is known."""
        return self.coins.get(self.focus)

    @property
    def bitcoin_day(self) -> float | None:
        """What Bitcoin moved over the day."""
        return self.days.get(DEFAULT_ASSET)

    @property
    def up(self) -> int:
        """How many coins are higher than a day ago."""
        return sum(moved > FLAT_PERCENT for moved in self.days.values())

    @property
    def down(self) -> int:
        """How many are lower."""
        return sum(moved < -FLAT_PERCENT for moved in self.days.values())

    @property
    def on_side(self) -> int:
        """How many coins went the market's way."""
        return self.up if (self.day or 0.0) > 0 else self.down

    @property
    def is_broad(self) -> bool:
        """Whether four fifths of the coins went the market's way."""
        return self.on_side >= BROAD_SHARE * len(self.days)

    @property
    def is_many(self) -> bool:
        """Whether half of them did."""
        return self.on_side >= 0.5 * len(self.days)

    @property
    def best(self) -> str:
        """The coin that did best over the day; there must be one."""
        return max(self.days, key=self.days.__getitem__)

    @property
    def worst(self) -> str:
        """The one that did worst."""
        return min(self.days, key=self.days.__getitem__)

    @property
    def leader(self) -> str:
        """The coin that went farthest the market's way."""
        return self.best if (self.day or 0.0) > 0 else self.worst

    @property
    def hour_leader(self) -> str:
        """Likewise over the last hour."""
        farthest = max if (self.hour or 0.0) > 0 else min
        return farthest(self.hours, key=self.hours.__getitem__)

    @property
    def others(self) -> list[float]:
        """The day's moves of all coins but the one that stands out."""
        return sorted(moved for asset, moved in self.days.items() if asset != self.alone)

    @property
    def z_hour(self) -> float:
        """The last hour in usual hours, signed; 0 where unknown."""
        return _over(self.hour, self.usual_hour)

    @property
    def z_day(self) -> float:
        """The day in usual days, signed."""
        return _over(self.day, self.usual_day)

    @property
    def z_largest(self) -> float:
        """The largest hour of the day in usual hours, signed."""
        return _over(self.largest.percent if self.largest else None, self.usual_hour)

    @property
    def largest_of_day(self) -> float:
        """The largest hour as a share of the day's move, signed."""
        return _over(self.largest.percent if self.largest else None, self.day)

    @property
    def largest_hours_ago(self) -> float:
        """How long ago the largest hour ended, hours."""
        return self.hours_since(self.largest.at_ms) if self.largest else 0.0

    @property
    def extreme(self) -> Moment | None:
        """The farthest that the day's line went the day's way."""
        return self.line_high if (self.day or 0.0) > 0 else self.line_low

    @property
    def off_extreme(self) -> float:
        """How far the market is from that now, percent."""
        if self.extreme is None or self.day is None:
            return 0.0
        return abs(_join(self.day, self.extreme.percent))

    @property
    def line_range(self) -> float | None:
        """From the day line's low to its high, percent."""
        if self.line_high is None or self.line_low is None:
            return None
        return _join(self.line_high.percent, self.line_low.percent)

    @property
    def bitcoin_range(self) -> float | None:
        """From Bitcoin's low of the day to its high, percent."""
        coin = self.bitcoin
        if coin is None or coin.high is None or not coin.low:
            return None
        return 100 * (coin.high / coin.low - 1.0)

    @property
    def middle(self) -> float:
        """The median coin's move over the day."""
        return median(self.days.values())

    @property
    def is_against(self) -> bool:
        """Whether Bitcoin went the other way than the market, by .1% or more."""
        return self.is_average and _opposed(self.bitcoin_day, self.day, 0.1)

    @property
    def is_clearly_against(self) -> bool:
        """Whether it did by .2% or more."""
        return self.is_average and _opposed(self.bitcoin_day, self.day, 0.2)

    @property
    def turned_lately(self) -> bool:
        """Whether the last three hours went against the day by .7 of a usual day or more."""
        if self.three_hours is None or not self.usual_day or not self.day:
            return False
        return self.three_hours * self.day < 0 and abs(self.three_hours) >= 0.7 * self.usual_day

    @property
    def has_yardstick(self) -> bool:
        """Whether the record is long enough to call an hour or a day usual."""
        return self.record_days >= YARDSTICK_DAYS

    def hours_since(self, at_ms: int) -> float:
        """Return how long ago a time was, hours."""
        return (self.now_ms - at_ms) / HOUR_MS

    def name(self, asset: str) -> str:
        """Return a coin's name."""
        return self.names.get(asset, asset)


def _over(move: float | None, usual: float | None) -> float:
    return 0.0 if move is None or not usual else move / usual


def _join(now: float, then: float) -> float:
    """Return the move from one point of a line to another, percent; both are against the same start."""
    return 100 * ((1 + now / 100) / (1 + then / 100) - 1)


def _opposed(one: float | None, other: float | None, least: float) -> bool:
    return one is not None and other is not None and one * other < 0 and abs(one) >= least


def is_unchanged(percent: float) -> bool:
    """Say whether a move rounds to nothing."""
    return abs(percent) < UNCHANGED
