"""Prices at the ends of a horizon, and the outcome between them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from generator.catalog import formats
from generator.catalog.words import Prediction

PRICE_WINDOW_MS: Final = 60_000


@dataclass(frozen=True, slots=True)
class PricePoint:
    """One asset's price in a tick: median mid of the venues that agree, and how many they are."""

    price: float | None
    venues_count: int


@dataclass(frozen=True, slots=True)
class Fixing:
    """A price that may be used, or the reason why there is none."""

    price: float | None
    reason: str | None


def fix_price(prices: Mapping[str, PricePoint], asset: str, venues_needed: int, what: str, late_ms: int) -> Fixing:
    """Fix the price of one asset as published, in the tick of the minute after its `start` or `end`, and in no other."""
    if not 0 <= late_ms < PRICE_WINDOW_MS:
        return Fixing(None, f"no tick in the minute after the {what}")
    point = prices.get(asset)
    if point is None or point.price is None or not 0 < point.price < float("inf"):
        return Fixing(None, f"no {what} price")
    if point.venues_count < venues_needed:
        return Fixing(None, f"too few venues agree on the {what} price: {point.venues_count} of {venues_needed}")
    return Fixing(formats.price(point.price), None)


def change_bps(start_price: float, end_price: float) -> float:
    """Return the change between two published prices in basis points, 2 decimals."""
    return round((end_price / start_price - 1) * 10_000, 2) + 0.0


def outcome_of(change: float, band_bps: float) -> Prediction:
    """Name a change: NEUTRAL inside the band, its edges included."""
    if abs(change) <= band_bps:
        return Prediction.NEUTRAL
    return Prediction.BULLISH if change > 0 else Prediction.BEARISH
