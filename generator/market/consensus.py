"""Agree on one price from what several venues quote; pure."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Final

MAX_AGE_MS: Final = 90_000
TOLERANCE: Final = 0.01  # greatest distance from the median, as a fraction of it


@dataclass(frozen=True, slots=True)
class VenueQuote:
    """One venue's mid price of one asset."""

    venue: str
    mid: float  # (bid + ask) / 2 in USD
    as_of_ms: int  # the venue's own timestamp


@dataclass(frozen=True, slots=True)
class Agreement:
    """What the venues agree on."""

    price: float | None  # median mid of the agreeing venues, USD; None when they do not agree
    venues: tuple[str, ...]  # those that agree, in the order given; empty without a price
    left_out: dict[str, str] = field(default_factory=dict)  # venue -> why its quote does not count
    reason: str | None = None  # why there is no price


def agree(quotes: Sequence[VenueQuote], now_ms: int) -> Agreement:
    """Take the median over the fresh venues, leave out those too far from it, and take it again over the rest.

    Nothing is guessed: two venues that differ by more than 1 %, or a rest that is not more than half
    of the fresh venues, give no price. There is at most one quote of a venue; one whose timestamp is further than
    MAX_AGE_MS from the tick, either way, is left out.
    """
    faults = {quote.venue: _fault(quote, now_ms) for quote in quotes}
    left_out = {venue: fault for venue, fault in faults.items() if fault is not None}
    fresh = [quote for quote in quotes if quote.venue not in left_out]

    if not fresh:
        return Agreement(None, (), left_out, "no venue has a fresh price")
    if len(fresh) == 2 and _gap(fresh) > TOLERANCE:
        return _disagreement(fresh, left_out, f"two venues differ by {100 * _gap(fresh):.2f}%")

    centre = median(quote.mid for quote in fresh)
    rest = [quote for quote in fresh if abs(quote.mid - centre) <= TOLERANCE * centre]
    if 2 * len(rest) <= len(fresh):
        return _disagreement(fresh, left_out, f"only {len(rest)} of {len(fresh)} venues lie near the median")

    kept = tuple(quote.venue for quote in rest)
    for quote in fresh:
        if quote.venue not in kept:
            left_out[quote.venue] = f"{100 * (quote.mid / centre - 1):+.2f}% from the median"
    return Agreement(median(quote.mid for quote in rest), kept, left_out)


def _fault(quote: VenueQuote, now_ms: int) -> str | None:
    if not math.isfinite(quote.mid):
        return "price is not a number"
    if quote.mid <= 0:
        return "price is not positive"
    if now_ms - quote.as_of_ms > MAX_AGE_MS:
        return f"stale by {(now_ms - quote.as_of_ms) // 1000} s"
    if quote.as_of_ms - now_ms > MAX_AGE_MS:
        return "timestamp lies in the future"
    return None


def _gap(pair: Sequence[VenueQuote]) -> float:
    low, high = sorted(quote.mid for quote in pair)
    return (high - low) / median((low, high))


def _disagreement(fresh: Sequence[VenueQuote], left_out: dict[str, str], reason: str) -> Agreement:
    return Agreement(None, (), left_out | {quote.venue: "venues disagree" for quote in fresh}, reason)
