"""Items of practice: a past hour of the record without its name and date, and the truth behind a salted digest.

An item shows the start prices of the 48 hours up to the one in question, scaled so that its own is 100. Everything in
an item and in its truth follows from the log, so anyone can make the same files again. The salt is that of the sealed
forecast: without it the truth cannot be guessed from its digest, and with the truths file it can be checked.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from typing_extensions import TypedDict

from generator.arena.practice.hours import LoggedHour, LoggedHours
from generator.arena.published import canonical_json, digest_of
from generator.arena.ranges import move_percent
from generator.arena.scoring import NORMAL_50, NORMAL_90
from generator.catalog.durations import HOUR_MS
from generator.catalog.horizons import HOUR
from generator.catalog.links import PRACTICE_FILES
from generator.catalog.words import Call, Prediction

FORMAT: Final = "emi-practice/1"
HOURS_SHOWN: Final = 48
FEWEST_ITEMS: Final = 300  # a month with fewer gives none
MOST_ITEMS: Final = 300
ID_DIGITS: Final = 12  # of a truth's digest, by which a record names the item
CALL_OF: Final = {
    Prediction.BEARISH: Call.DOWN,
    Prediction.NEUTRAL: Call.SMALL_MOVE,
    Prediction.BULLISH: Call.UP,
}


class PracticeItem(TypedDict):
    """What a learner sees before the answer."""

    prices: list[float]
    """Hourly start prices up to the hour in question, whose own is 100."""
    band_percent: float
    """Half width of the neutral band."""
    truth_sha256: str
    """SHA-256 of the truth's canonical JSON without `item` and `salt`, followed by the salt."""


class NamedChances(TypedDict):
    """Three chances, 0..1."""

    up: float
    """Of a rise beyond the band."""
    small_move: float
    """Of an end within it."""
    down: float
    """Of a fall beyond it."""


class NamedRanges(TypedDict):
    """Two ranges of the move in percent."""

    low_90: float
    """Low end of the 90% range."""
    low_50: float
    """Low end of the 50% range."""
    high_50: float
    """High end of the 50% range."""
    high_90: float
    """High end of the 90% range."""


class PracticeAnswer(TypedDict):
    """What one forecaster says of an hour."""

    ranges: NamedRanges
    """How far."""
    move_chance: float
    """That it ends outside of the band, 0..1."""
    chances: NamedChances
    """Which way."""


class TruthContent(TypedDict):
    """What came of an hour, and what was said of it: what its digest is of."""

    asset: str
    """Ticker of the asset."""
    start: str
    """Start of the hour, ISO 8601 UTC."""
    start_price: float
    """USD."""
    end_price: float
    """USD."""
    move: float
    """Percent of the start price."""
    came: str
    """up, small_move or down."""
    brain: PracticeAnswer
    """As sealed before the hour."""
    usual: PracticeAnswer
    """A simple rule: the last day's spread, and base rates."""


class PracticeTruth(TruthContent):
    """The truth of one item."""

    item: str
    """First 12 digits of its digest, by which a record names it."""
    salt: str
    """Hex digits."""


class AboutMonth(TypedDict):
    """Which month it is."""

    format: str
    """emi-practice/1."""
    month: str
    """Such as 2026-10."""
    log: str
    """Name of the log that the hours are of."""
    source_mode: str
    """What market it is."""


class PracticeItemsFile(AboutMonth):
    """The items of a month, in the order of their digests."""

    truths_file: str
    """Path of their truths."""
    items: list[PracticeItem]
    """300 at most."""


class PracticeTruthsFile(AboutMonth):
    """The truths of a month, in the order of its items."""

    truths: list[PracticeTruth]
    """One for each item."""


@dataclass(frozen=True, slots=True)
class PracticeMonth:
    """The two files of a month, as published.

    Args:
        items_path: where the items lie; the name holds the digest of the content.
        truths_path: likewise of the truths.
    """

    items_path: str
    items: bytes
    truths_path: str
    truths: bytes
    number: int  # of items

    @property
    def files(self) -> dict[str, bytes]:
        """Path -> content, the truths first: the items name them."""
        return {self.truths_path: self.truths, self.items_path: self.items}


def month_of_practice(hours: LoggedHours, month: str, log: str, source_mode: str) -> PracticeMonth | None:
    """Make the files of one month; None where it has fewer than `FEWEST_ITEMS` items.

    Args:
        hours: of the whole log, so that an item of the month's first days has the prices before it.
        month: such as 2026-10.
        log: name of the log that the hours are of.
        source_mode: what market it is.
    """
    truths: dict[str, PracticeTruth] = {}
    items: dict[str, PracticeItem] = {}
    for hour in hours.ended:
        shown = prices_before(hours, hour) if hour.start.startswith(month) else None
        if shown is None:
            continue
        truth = truth_of(hour)
        digest = digest_of(truth, hour.salt)
        truths[digest] = {"item": digest[:ID_DIGITS], **truth, "salt": hour.salt}
        items[digest] = item_of(hour, shown, digest)

    chosen = sorted(items)[:MOST_ITEMS]
    if len(chosen) < FEWEST_ITEMS:
        return None

    about: AboutMonth = {"format": FORMAT, "month": month, "log": log, "source_mode": source_mode}
    its_truths: PracticeTruthsFile = {**about, "truths": [truths[digest] for digest in chosen]}
    truths_file = canonical_json(its_truths)
    truths_path = named(month, truths_file, "-truths")
    its_items: PracticeItemsFile = {**about, "truths_file": truths_path, "items": [items[digest] for digest in chosen]}
    items_file = canonical_json(its_items)
    return PracticeMonth(named(month, items_file), items_file, truths_path, truths_file, len(chosen))


def named(month: str, content: bytes, what: str = "") -> str:
    """Return the path of a file whose name holds its digest.

    >>> named("2026-10", b"")
    '/files/practice/2026-10-e3b0c44298fc.json'
    """
    return f"{PRACTICE_FILES}{month}-{hashlib.sha256(content).hexdigest()[:12]}{what}.json"


def prices_before(hours: LoggedHours, hour: LoggedHour) -> list[float] | None:
    """Return the start prices of the hours up to this one, its own being 100; None where one is missing."""
    starts = range(hour.start_ms - (HOURS_SHOWN - 1) * HOUR_MS, hour.start_ms + 1, HOUR_MS)
    prices = [hours.prices.get((hour.asset, start)) for start in starts]
    known = [price for price in prices if price is not None]
    if len(known) < HOURS_SHOWN:
        return None
    return [round(100 * price / hour.start_price, 2) for price in known]


def item_of(hour: LoggedHour, prices: Iterable[float], digest: str) -> PracticeItem:
    """Return what a learner sees before the answer; the band is in percent."""
    return {
        "prices": list(prices),
        "band_percent": round(hour.forecast["band_bps"] / 100, 4),
        "truth_sha256": digest,
    }


def truth_of(hour: LoggedHour) -> TruthContent:
    """Return what came, what the brain had sealed, and what is usual: base rates and the last day's spread.

    Moves and ranges are in percent of the start price, chances are 0..1.
    """
    forecast = hour.forecast
    ranges = forecast["ranges"][HOUR]

    return {
        "asset": hour.asset,
        "start": hour.start,
        "start_price": hour.start_price,
        "end_price": hour.end_price,
        "move": move_percent(hour.start_price, hour.end_price),
        "came": str(CALL_OF[Prediction(hour.outcome)]),
        "brain": {
            "ranges": {
                "low_90": ranges["low_90"],
                "low_50": ranges["low_50"],
                "high_50": ranges["high_50"],
                "high_90": ranges["high_90"],
            },
            "move_chance": forecast["move"]["chance"],
            "chances": named_chances(forecast["probabilities"]),
        },
        "usual": {
            "ranges": usual_ranges(ranges["last_day"]),
            "move_chance": forecast["move"]["base_rate"],
            "chances": named_chances(forecast["base_rate"]),
        },
    }


def named_chances(triple: Sequence[float]) -> NamedChances:
    """Name the three chances of a forecast, which the log writes as down, neutral, up."""
    down, small_move, up = triple
    return {"up": up, "small_move": small_move, "down": down}


def usual_ranges(sigma: float) -> NamedRanges:
    """Return the ranges of the simple rule whose sigma is the spread of the last day's hours, in percent.

    >>> usual_ranges(1.0)
    {'low_90': -1.6449, 'low_50': -0.6745, 'high_50': 0.6745, 'high_90': 1.6449}
    """
    half = round(NORMAL_50 * sigma, 4)
    nine_in_ten = round(NORMAL_90 * sigma, 4)
    return {"low_90": -nine_in_ten, "low_50": -half, "high_50": half, "high_90": nine_in_ten}


def salted_digest(truth: Mapping[str, Any]) -> str:
    """Return the digest of a published truth, 64 hex digits; ValueError where it has no salt."""
    if not isinstance(truth.get("salt"), str):
        raise ValueError("a truth has no salt")  # noqa: TRY004  its content is wrong, whatever the type
    content = {name: value for name, value in truth.items() if name not in {"item", "salt"}}
    return digest_of(content, truth["salt"])
