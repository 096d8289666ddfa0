"""Items of practice: a past hour of the record without its name and date, and the truth behind a salted digest.

An item shows the start prices of the 48 hours up to the one in question, scaled so that its own is 100. Everything in
an item and in its truth follows from the log, so anyone can make the same files again. The salt is that of the sealed
forecast: without it the truth cannot be guessed from its digest, and with the truths file it can be checked.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from generator.arena.published import canonical_json, digest_of
from generator.arena.ranges import move_percent
from generator.catalog.durations import HOUR_MS
from generator.catalog.horizons import HOUR
from generator.catalog.links import PRACTICE_FILES
from generator.catalog.words import Call, Prediction
from generator.practice.hours import LoggedHour, LoggedHours

FORMAT: Final = "emi-practice/1"
HOURS_SHOWN: Final = 48
FEWEST_ITEMS: Final = 300  # a month with fewer gives none
MOST_ITEMS: Final = 300
ID_DIGITS: Final = 12  # of a truth's digest, by which a record names the item
NORMAL_50: Final = 0.6745  # quantiles of the normal distribution, as the record takes them for its simple rules
NORMAL_90: Final = 1.6449
CALL_OF: Final = {
    Prediction.BEARISH: Call.DOWN,
    Prediction.NEUTRAL: Call.SMALL_MOVE,
    Prediction.BULLISH: Call.UP,
}


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
    truths: dict[str, dict[str, Any]] = {}
    items: dict[str, dict[str, Any]] = {}
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

    about = {"format": FORMAT, "month": month, "log": log, "source_mode": source_mode}
    truths_file = canonical_json({**about, "truths": [truths[digest] for digest in chosen]})
    truths_path = named(month, truths_file, "-truths")
    items_file = canonical_json({**about, "truths_file": truths_path, "items": [items[digest] for digest in chosen]})
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


def item_of(hour: LoggedHour, prices: Iterable[float], digest: str) -> dict[str, Any]:
    """Return what a learner sees before the answer; the band is in percent."""
    return {
        "prices": list(prices),
        "band_percent": round(hour.forecast["band_bps"] / 100, 4),
        "truth_sha256": digest,
    }


def truth_of(hour: LoggedHour) -> dict[str, Any]:
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
            "ranges": {name: ranges[name] for name in ("low_90", "low_50", "high_50", "high_90")},
            "move_chance": forecast["move"]["chance"],
            "chances": named_chances(forecast["probabilities"]),
        },
        "usual": {
            "ranges": usual_ranges(ranges["last_day"]),
            "move_chance": forecast["move"]["base_rate"],
            "chances": named_chances(forecast["base_rate"]),
        },
    }


def named_chances(triple: Sequence[float]) -> dict[str, float]:
    """Name the three chances of a forecast, which the log writes as down, neutral, up."""
    down, small_move, up = triple
    return {"up": up, "small_move": small_move, "down": down}


def usual_ranges(sigma: float) -> dict[str, float]:
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
