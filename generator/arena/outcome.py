"""Prices at the ends of a horizon, and the outcome between them."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from generator.catalog import formats
from generator.catalog.durations import MINUTE_MS
from generator.catalog.words import Prediction

PRICE_WINDOW_MS: Final = MINUTE_MS


class PricePoint(NamedTuple):
    """One asset's price in a tick: median mid of the venues that agree, and how many they are."""

    price: float | None
    venues_count: int


def lateness(what: str, late_ms: int) -> str | None:
    """Return why a tick is none of the minute after the `start` or `end`; None where it is."""
    if 0 <= late_ms < PRICE_WINDOW_MS:
        return None
    return f"no tick in the minute after the {what}"


def fix_price(
    prices: Mapping[str, PricePoint], asset: str, venues_needed: int, what: str, late_ms: int
) -> tuple[float | None, str | None]:
    """Return an asset's price in the tick of the minute after its `start` or `end`, or why there is none.

    Args:
        what: `start` or `end`, for the reason.
        late_ms: how long after it this tick is.
    """
    late = lateness(what, late_ms)
    if late is not None:
        return None, late

    point = prices.get(asset)
    if point is None or point.price is None or not 0 < point.price < float("inf"):
        return None, f"no {what} price"
    if point.venues_count < venues_needed:
        return None, f"too few venues agree on the {what} price: {point.venues_count} of {venues_needed}"

    return formats.price(point.price), None


def change_bps(start_price: float, end_price: float) -> float:
    """Return the change between two published prices in basis points, 2 decimals.

    >>> change_bps(100.0, 100.5)
    50.0
    """
    return formats.rounded((end_price / start_price - 1) * 10_000, 2)


def outcome_of(change: float, band_bps: float) -> Prediction:
    """Name a change: NEUTRAL inside the band, its edges included."""
    if abs(change) <= band_bps:
        return Prediction.NEUTRAL
    if change > 0:
        return Prediction.BULLISH
    return Prediction.BEARISH
