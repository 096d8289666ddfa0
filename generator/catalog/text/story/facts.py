"""The human report as a story: functions of the published facts, worded differently from hour to hour."""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from generator.catalog.assets import ASSET_NAMES
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
class StoryFacts:
    """What the story is made from, as published; None and empty where unknown. Percent unless a name says otherwise."""

    turn: int  # hour since 1970: which wording is used
    largest: LargestHour | None = None
    last_hour: float | None = None
    last_hour_rank: float | None = None  # by size among the week's hours
    ranges: Mapping[str, tuple[float, float, float, float]] = field(default_factory=dict)  # Bitcoin's, by horizon
    beyond: Mapping[str, tuple[float, float, float]] = field(default_factory=dict)  # level, end, touch of 100
    record: tuple[int, float, float] | None = None  # hours scored, inside the 50% and the 90% range
    record_is_backtest: bool = False
    spells: Sequence[SpellFacts] = ()
    partition: PartitionFacts | None = None
    furthest: tuple[str, int] | None = None  # name and gap, of 100 cases


class Pen:
    """Chooses a wording: another one for the same place in most other hours, the same one for the same hour."""

    def __init__(self, turn: int) -> None:
        """Take the hour since 1970."""
        self._turn = turn

    def pick(self, place: str, *wordings: str) -> str:
        """Return the wording for a place in the story."""
        return wordings[zlib.crc32(f"{place} {self._turn}".encode()) % len(wordings)]


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
