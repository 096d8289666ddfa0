"""What one venue reports of one asset, a tick's answers and misses, and the last health of every venue and kind."""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Final, NamedTuple, TypeVar

from generator.catalog.durations import HOUR_MS, MINUTE_MS
from generator.catalog.words import SourceStatus
from generator.market.consensus import MAX_AGE_MS
from generator.values.market import SourceRow

# A venue that was a fallback once, or was removed, is dropped after this; so is what a clock set ahead dated.
FORGET_MS: Final = 10 * MINUTE_MS
KINDS: Final = ("spot", "book", "candles", "funding", "open_interest", "liquidations")
# Readings older than this do not count. Between their own refreshes (a bar, an hour) they are carried.
MAX_AGES_MS: Final[dict[str, int]] = {
    "spot": MAX_AGE_MS,
    "book": MAX_AGE_MS,
    "day": MAX_AGE_MS,
    "funding": 10 * MINUTE_MS,
    "open_interest": 15 * MINUTE_MS,
    "liquidations": 15 * MINUTE_MS,
    "candles": 15 * MINUTE_MS,
    "open_interest_history": 27 * HOUR_MS,
}


@dataclass(frozen=True, slots=True)
class Reading:
    """What one venue says of one asset, by the venue's own time."""

    kind: ClassVar[str]
    venue: str
    asset: str
    as_of_ms: int


@dataclass(frozen=True, slots=True)
class PriceReading(Reading):
    """A spot mid in the currency it is quoted in."""

    kind: ClassVar[str] = "spot"
    mid: float
    currency: str


@dataclass(frozen=True, slots=True)
class DayReading(Reading):
    """How far the price moved in 24 hours, by the venue's own count."""

    kind: ClassVar[str] = "day"
    change_percent: float


@dataclass(frozen=True, slots=True)
class BookReading(Reading):
    """An order book within 1% of its mid, in the quote currency."""

    kind: ClassVar[str] = "book"
    mid: float
    spread_bps: float
    bid_depth: float
    ask_depth: float
    currency: str
    reaches: bool  # both sides go out to 1%; otherwise the depth is a lower bound


@dataclass(frozen=True, slots=True)
class FundingReading(Reading):
    """A funding rate per 8 hours, as a fraction."""

    kind: ClassVar[str] = "funding"
    rate_8h: float
    mark: float | None = None
    interval_known: bool = True


@dataclass(frozen=True, slots=True)
class InterestReading(Reading):
    """Open interest: contracts counted in coins, and their value in the settlement currency; one may be missing."""

    kind: ClassVar[str] = "open_interest"
    usd: float | None
    coins: float | None


@dataclass(frozen=True, slots=True)
class DayAgoReading(Reading):
    """The same about 24 hours ago."""

    kind: ClassVar[str] = "open_interest_history"
    usd: float | None
    coins: float | None


@dataclass(frozen=True, slots=True)
class LiquidationReading(Reading):
    """Liquidated positions of the last 24 hours and of single bars, USD."""

    kind: ClassVar[str] = "liquidations"
    long_usd: float
    short_usd: float
    bars: tuple[tuple[int, float, float], ...] = ()  # (bar open ms, long, short)


@dataclass(frozen=True, slots=True)
class CandleReading(Reading):
    """Closed 5-minute bars, ascending: (open ms, open, high, low, close, volume in coins)."""

    kind: ClassVar[str] = "candles"
    rows: tuple[tuple[int, float, float, float, float, float], ...]
    dropped: int = 0
    currency: str = ""  # of the prices


R = TypeVar("R", bound=Reading)
Key = tuple[str, str]  # venue and kind


class Unusable(ValueError):
    """An answer arrived and makes no sense; the text is safe to publish."""


@dataclass(frozen=True, slots=True)
class Job:
    """One request: the kinds of reading it owes, and how to make it."""

    kinds: tuple[str, ...]
    run: Callable[[], Awaitable[Sequence[Reading]]]
    may_be_empty: bool = False


def keep_usable(makers: Iterable[Callable[[], Sequence[Reading]]]) -> list[Reading]:
    """Return what can be read of one answer about many assets; raise Unusable when rows are bad and none is left."""
    readings: list[Reading] = []
    fault: Unusable | None = None
    for make in makers:
        try:
            readings += make()
        except Unusable as bad:
            fault = bad

    if fault is not None and not readings:
        raise fault
    return readings


class LastAnswer(NamedTuple):
    """How a venue last answered one kind of question."""

    asked_ms: int
    newest_ms: int | None  # of its newest datum; None where none came
    misses: tuple[str, ...]  # why assets have none, one reason each

    def row(self, key: Key, now_ms: int) -> SourceRow:
        """Return the state of the source now: what has grown too old since is stale."""
        name, kind = key
        reason = "; ".join(dict.fromkeys(self.misses)) or None
        if self.newest_ms is None:
            return SourceRow.at(now_ms, name, kind, SourceStatus.FAILED, None, reason=reason or "no asset answered")

        age_ms = now_ms - self.newest_ms
        if age_ms > MAX_AGES_MS[kind]:
            return SourceRow.at(
                now_ms, name, kind, SourceStatus.STALE, self.newest_ms, reason=f"{age_ms // 1000} s old"
            )
        if reason is not None:
            reason = f"{len(self.misses)} missing: {reason}"
        return SourceRow.at(now_ms, name, kind, SourceStatus.OK, self.newest_ms, reason=reason)


@dataclass(slots=True)
class Collector:
    """Readings and misses of one tick; what was expected and never came is a miss as well."""

    readings: list[Reading] = field(default_factory=list)
    misses: dict[Key, list[str]] = field(default_factory=dict)
    expected: Counter[Key] = field(default_factory=Counter)

    def settle(self, venue: str, kind: str, outcome: Sequence[Reading] | str) -> None:
        """Note the result of one expected answer: readings, or the reason why there are none."""
        self.expected[venue, kind] -= 1
        missed = self.misses.setdefault((venue, kind), [])
        if isinstance(outcome, str):
            missed.append(outcome)
        else:
            self.readings.extend(outcome)

    def give_up(self, reason: str) -> None:
        """Turn everything still owed into misses."""
        for venue, kind in list(self.expected.elements()):
            self.settle(venue, kind, reason)

    def of(self, reading: type[R]) -> list[R]:
        """Return the readings of one type."""
        return [candidate for candidate in self.readings if isinstance(candidate, reading)]

    def answers(self, now_ms: int) -> dict[Key, LastAnswer]:
        """Return what each venue answered to each kind of question that it was asked."""
        newest: dict[Key, int] = {}
        for reading in self.readings:
            key = (reading.venue, reading.kind)
            newest[key] = max(newest.get(key, 0), min(reading.as_of_ms, now_ms))
        return {key: LastAnswer(now_ms, newest.get(key), tuple(reasons)) for key, reasons in self.misses.items()}


class HealthBook:
    """Remember how each venue last answered each kind of question."""

    def __init__(self) -> None:
        self._answers: dict[Key, LastAnswer] = {}

    def update(self, collector: Collector, now_ms: int) -> tuple[SourceRow, ...]:
        """Take in a tick and return one row for every venue and public kind, in a fixed order."""
        kept = self._answers | collector.answers(now_ms)
        self._answers = {key: last for key, last in kept.items() if 0 <= now_ms - last.asked_ms <= FORGET_MS}

        rows = [last.row(key, now_ms) for key, last in self._answers.items() if key[1] in KINDS]
        return tuple(sorted(rows, key=lambda row: (KINDS.index(row.kind), row.name)))
