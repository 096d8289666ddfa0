"""Agree on one price, one bar or one amount from what several venues say; pure."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Final

MAX_AGE_MS: Final = 90_000
TOLERANCE: Final = 0.01  # greatest distance from the median, as a fraction of it
BAR_TOLERANCE: Final = 0.02  # of a bar that is named and left out: it is further off
VOLUME_TIMES: Final = 50.0  # a venue's volume beyond this many times the others' is in another unit
UNANSWERED: Final = "no venue answered"
_PRICE_NAMES: Final = ("open", "high", "low", "close")


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
            left_out[quote.venue] = f"{_percent(quote.mid / centre)} from the median"
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


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a quantity can be, and how far from the median a venue may be without being named.

    Amounts of different venues are compared by how many times one is the other, what has a sign by the distance.
    """

    low: float
    high: float
    times: float | None = None  # of amounts, which are positive
    apart: float = 0.0  # of the others: the distance, and the share of the median that is added to it
    share: float = 0.0

    def holds(self, value: float) -> bool:
        """Return whether a value is possible; not a number is not."""
        return self.low <= value <= self.high

    def is_near(self, value: float, centre: float) -> bool:
        """Return whether a possible value is near the median."""
        if self.times is not None:
            return centre <= value * self.times and value <= centre * self.times
        return abs(value - centre) <= self.apart + self.share * abs(centre)


@dataclass(frozen=True, slots=True)
class Middle:
    """The median of what venues say, and who said something else."""

    value: float | None  # None where no venue says anything possible, or two are too far apart
    venues: tuple[str, ...]  # those that are near it, in the order given; empty without a value
    left_out: dict[str, str] = field(default_factory=dict)  # venue -> why
    reason: str | None = None  # why there is no value


def middle(values: Mapping[str, float], bounds: Bounds) -> Middle:
    """Take the median over the venues whose value is possible, and name those that are far from it.

    Of three or more the median lies between two honest ones, whatever one of them says. It is not taken again without
    those far from it: the one that lies might then decide. Two that are far apart give nothing.

    >>> middle({"a": 1.0, "b": 1.2, "c": 100.0}, Bounds(0.0, 1e9, times=10.0))
    Middle(value=1.2, venues=('a', 'b'), left_out={'c': '83.3 times the median'}, reason=None)
    """
    possible = {venue: value for venue, value in values.items() if bounds.holds(value)}
    left_out = dict.fromkeys((venue for venue in values if venue not in possible), "not a possible value")
    if not possible:
        return Middle(None, (), left_out, "no venue reports a possible value" if values else UNANSWERED)

    centre = median(possible.values())
    far = [venue for venue, value in possible.items() if not bounds.is_near(value, centre)]
    if len(possible) == 2 and far:
        names = " and ".join(possible)
        return Middle(None, (), left_out, f"{names} are too far apart and no third venue decides")

    left_out |= {venue: _distance(possible[venue], centre, bounds) for venue in far}
    return Middle(centre, tuple(venue for venue in possible if venue not in far), left_out)


def _distance(value: float, centre: float, bounds: Bounds) -> str:
    if bounds.times is None:
        return f"{value - centre:+.4g} from the median"
    return f"{value / centre:.3g} times the median"


@dataclass(frozen=True, slots=True)
class VenueBar:
    """One venue's closed bar of one asset."""

    venue: str
    prices: tuple[float, float, float, float]  # open, high, low, close, all venues' in one currency
    volume: float  # in coins, NaN where unknown


@dataclass(frozen=True, slots=True)
class BarAgreement:
    """The bar that venues agree on."""

    prices: tuple[float, float, float, float] | None  # None where the only bar is contradicted
    left_out: dict[str, str] = field(default_factory=dict)  # venue -> why its bar does not count
    doubt: str | None = None  # two bars differ and nothing decides: the first was taken


def agree_bar(bars: Sequence[VenueBar], price: float | None) -> BarAgreement:
    """Agree on one bar; the first is taken while a second is within TOLERANCE of it in every price.

    Of three that differ each price is the median, and who is further than BAR_TOLERANCE from it is named. A bar is
    dropped only by what others say: a crash that two venues show passes.

    Args:
        bars: of one time, one or more, the preferred first.
        price: agreed between two venues or more at the bar's close, None where there is none.
    """
    first, *others = bars
    if others and all(_off(bar, first.prices) <= TOLERANCE for bar in others):
        return BarAgreement(first.prices)

    if len(bars) > 2:
        opened, high, low, closed = (median(column) for column in zip(*(bar.prices for bar in bars), strict=True))
        centre = (opened, high, low, closed)
        far = [bar for bar in bars if _off(bar, centre) > BAR_TOLERANCE]
        return BarAgreement(centre, {bar.venue: _bar_distance(bar, centre) for bar in far})

    # The price says nothing of a bar's high and low, so that it decides by the close alone.
    refuted = [] if price is None else [bar for bar in bars if abs(bar.prices[3] / price - 1) > BAR_TOLERANCE]
    kept = [bar for bar in bars if bar not in refuted]
    left_out = {bar.venue: f"close {_percent(bar.prices[3] / (price or 1))} from the agreed price" for bar in refuted}
    if not others:
        return BarAgreement(kept[0].prices if kept else None, left_out)
    if len(kept) == 1:
        return BarAgreement(kept[0].prices, left_out)
    return BarAgreement(first.prices, doubt=f"{first.venue} and {others[0].venue} differ and no third venue decides")


def bars_differ(bars: Sequence[VenueBar]) -> bool:
    """Return whether some bar of one time differs from the first, so that a further venue is to decide."""
    return any(_off(bar, bars[0].prices) > TOLERANCE for bar in bars[1:])


def is_other_unit(volume: float, others: Sequence[float]) -> bool:
    """Return whether a volume is so much larger than those of other venues that it counts something else."""
    known = [other for other in others if other > 0]
    return bool(known) and volume > VOLUME_TIMES * max(known)


def _off(bar: VenueBar, centre: tuple[float, float, float, float]) -> float:
    """Return the largest distance of a bar's prices from those of another, as a fraction."""
    return max(abs(price / other - 1) for price, other in zip(bar.prices, centre, strict=True))


def _bar_distance(bar: VenueBar, centre: tuple[float, float, float, float]) -> str:
    ratios = [price / other for price, other in zip(bar.prices, centre, strict=True)]
    place = max(range(len(ratios)), key=lambda at: abs(ratios[at] - 1))
    return f"{_PRICE_NAMES[place]} {_percent(ratios[place])} from the other venues'"


def _percent(ratio: float) -> str:
    """Write how far off a price is; beyond a hundredfold in few digits."""
    off = 100 * (ratio - 1)
    return f"{off:+.2f}%" if off < 10_000 else f"{off:+.2g}%"
