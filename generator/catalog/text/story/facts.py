"""The human report as a story: functions of the published facts, worded differently from hour to hour."""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from generator.catalog.assets import ASSET_NAMES
from generator.catalog.text import kept
from generator.catalog.text.kept import SpellFacts


@dataclass(frozen=True, slots=True)
class LargestHour:
    """The hour of the last day in which the average coin moved most."""

    at: str  # UTC
    move: float  # percent
    share: int | None  # of the day's average move, percent; None where the day went the other way or less far
    in_week: int  # its place by size
    in_month: int
    is_last: bool = False  # it is the hour just over


@dataclass(frozen=True, slots=True)
class MissFacts:
    """The last hour in which Bitcoin's move left its 90% range; percent."""

    at: str  # when it began, UTC
    low: float
    high: float
    move: float
    of_backtest: bool


@dataclass(frozen=True, slots=True)
class PartitionFacts:
    """The next four hours of one coin in three parts; percent."""

    name: str
    usual: float
    up: float
    within: float
    down: float
    base_up: float
    base_within: float
    base_down: float


@dataclass(frozen=True, slots=True)
class GradedDay:
    """What came of the partitions of the last day, over all coins: of a rise, within the usual move, and a fall."""

    came: tuple[int, int, int]
    said: tuple[int, int, int]  # how many were to be expected by their chances
    of_backtest: int


@dataclass(frozen=True, slots=True)
class GradedRecord:
    """How all partitions that came due did."""

    n: int
    brier: float
    base_rate_brier: float
    is_backtest: bool


@dataclass(frozen=True, slots=True)
class StoryFacts:
    """What the story is made from, as published; None and empty where unknown. Percent unless a name says otherwise."""

    turn: int  # hour since 1970: which wording is used
    changes: Mapping[str, float] = field(default_factory=dict)  # by asset, over 24 hours
    usual_days: Mapping[str, float] = field(default_factory=dict)  # median size of each asset's days
    mean: float | None = None  # of the changes
    usual_day: float | None = None  # median size of the mean change of a day
    usual_days_kept: int = 0
    day_rank: float | None = None  # of the day's mean change by size among those of the month's hours
    largest: LargestHour | None = None
    last_hour: float | None = None
    last_hour_rank: float | None = None  # by size among the week's hours
    correlation: float | None = None  # -1..1
    ranks: Mapping[str, float | None] = field(default_factory=dict)  # in the month
    dispersion: float | None = None  # percentage points
    funding: Mapping[str, float] = field(default_factory=dict)  # by asset, per 8 hours
    depth: float | None = None  # US dollars within 1% of the price
    volume: float | None = None  # US dollars in 24 hours
    interest: Mapping[str, float] = field(default_factory=dict)  # change of open contracts in 24 hours
    ranges: Mapping[str, tuple[float, float, float, float]] = field(default_factory=dict)  # Bitcoin's, by horizon
    beyond: Mapping[str, tuple[float, float, float]] = field(default_factory=dict)  # level, end, touch of 100
    record: tuple[int, float, float] | None = None  # hours scored, inside the 50% and the 90% range
    record_is_backtest: bool = False
    miss: MissFacts | None = None
    spells: Sequence[SpellFacts] = ()
    partition: PartitionFacts | None = None
    furthest: tuple[str, int] | None = None  # name and gap, of 100 cases
    graded_day: GradedDay | None = None
    graded: GradedRecord | None = None
    calls: tuple[int, int] = (0, 0)  # of a side: scored, right
    simulated: bool = False  # the market is
    votes: tuple[int, int, int] | None = None  # up, small move, down


class Pen:
    """Chooses a wording: another one for the same place in most other hours, the same one for the same hour."""

    def __init__(self, turn: int) -> None:
        """Take the hour since 1970."""
        self._turn = turn

    def pick(self, place: str, *wordings: str) -> str:
        """Return the wording for a place in the story."""
        return wordings[zlib.crc32(f"{place} {self._turn}".encode()) % len(wordings)]


def rank_clause(pen: Pen, place: str, rank: float | None) -> str:
    """Say where a measure ranks in its month, as the end of a sentence; nothing of one in no rank."""
    if rank is None:
        return ""
    n = of_100(rank)
    if rank >= kept.HIGH:
        return pen.pick(
            place,
            f", higher than in {n} of 100 hours of the month",
            f"; only {100 - n} in 100 hours of the month had more",
            f" (rank {n} of 100 in its month)",
        )
    if rank <= kept.LOW:
        return pen.pick(
            place,
            f", lower than in {100 - n} of 100 hours of the month",
            f"; only {n} in 100 hours of the month had less",
            f" (rank {n} of 100 in its month)",
        )
    return pen.pick(
        place,
        f" ({n} of 100 by rank in its month)",
        f", rank {n} of 100 in its month",
        f"; {n} in 100 hours of the month had less",
    )


def usd(value: float) -> str:
    """Write an amount as people say it, e.g. `$1.2 billion`.

    >>> usd(1_234_000_000), usd(91_870_323), usd(4_200)
    ('$1.23 billion', '$91.9 million', '$4,200')
    """
    for size, name in ((1e9, "billion"), (1e6, "million")):
        if value >= size:
            return f"${value / size:.3g} {name}"
    return f"${value:,.0f}"


def of_100(rank: float) -> int:
    """Return a rank as a whole number from 1 to 99."""
    return min(max(round(rank), 1), 99)


def place_by_size(number: int) -> str:
    """Write a place by size, e.g. `largest`, `2nd largest`."""
    if number == 1:
        return "largest"
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10 if number // 10 % 10 != 1 else 0, "th")
    return f"{number}{ending} largest"


def joined(first: str, second: str) -> str:
    """Make one sentence of two.

    >>> joined("One hour leads.", "It is the largest."), joined("Most fell.", "Bitcoin did not.")
    ('One hour leads; it is the largest.', 'Most fell; Bitcoin did not.')
    """
    is_name = second.startswith(tuple(ASSET_NAMES.values()))
    continued = second if is_name else f"{second[0].lower()}{second[1:]}"
    return f"{first.removesuffix('.')}; {continued}"


def begun(text: str) -> str:
    """Return a text that begins with a capital."""
    return f"{text[0].upper()}{text[1:]}"


def coin_name(asset: str) -> str:
    """Return the name of a coin."""
    return ASSET_NAMES.get(asset, asset)
