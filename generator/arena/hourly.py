"""The brain's hourly predictions: one per asset and full hour, for its own record.

Made in the ticks of the ten minutes before the hour; each such tick replaces what the one before it made, so the last
tick before the start counts, whichever ticks were missed. From the start on nothing is made or changed.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from generator.arena import ranges as range_rules
from generator.arena.outcome import PricePoint, change_bps, fix_price, outcome_of
from generator.arena.scores import published_triple
from generator.brain.forecast import CHANCES_KIND, Forecast
from generator.catalog.durations import HOUR_MS, MINUTE_MS
from generator.catalog.formats import basis_points
from generator.catalog.words import Prediction
from generator.values.hours import PredictionMade
from generator.values.ranges import RangeForecast

WINDOW_MS: Final = 10 * MINUTE_MS
HORIZON_MINUTES: Final = 60


def upcoming_hour(now_ms: int) -> int | None:
    """Return the full hour whose predictions this tick makes, or None."""
    start = now_ms - now_ms % HOUR_MS + HOUR_MS
    return start if start - now_ms <= WINDOW_MS else None


def predict(
    forecast: Forecast,
    start_ms: int,
    now_ms: int,
    previous: Prediction | None,
    ranges: Mapping[str, RangeForecast] | None = None,
    *,
    warm_up: bool,
) -> PredictionMade:
    """Store a forecast as the prediction of one hour, with the ranges of the horizons that start with it."""
    if now_ms >= start_ms:
        raise ValueError("no forecast after the fact")
    return PredictionMade(
        asset=forecast.asset,
        start_ms=start_ms,
        end_ms=start_ms + HORIZON_MINUTES * MINUTE_MS,
        probabilities=published_triple(forecast.probabilities),
        base_rate=published_triple(forecast.base_rate),
        prediction=forecast.prediction,
        band_bps=basis_points(forecast.band_bps) or 0.0,
        warm_up=warm_up,
        made_ms=now_ms,
        previous=previous,
        ranges=ranges,
        call=forecast.call,
        chances_kind=CHANCES_KIND,
    )


def void_unresolved(made: PredictionMade, reason: str) -> PredictionMade:
    """Void what is not known yet of a prediction."""
    moves = range_rules.void_moves(made, reason)
    if made.outcome is not None or made.void_reason is not None:
        return replace(made, moves=moves)
    return replace(made, void_reason=reason, moves=moves)


def judge(made: PredictionMade, now_ms: int, prices: Mapping[str, PricePoint], venues_needed: int) -> PredictionMade:
    """Fix the start price, then the moves and the outcome, or the reason why one of them is void."""
    started = made.start_price
    if started is None:
        if now_ms < made.start_ms or made.void_reason is not None:
            return made
        price, reason = fix_price(prices, made.asset, venues_needed, "start", now_ms - made.start_ms)
        if reason is not None:
            return void_unresolved(made, reason)
        return replace(made, start_price=price)

    made = replace(made, moves=range_rules.measure(made, now_ms, prices, venues_needed))
    if now_ms < made.end_ms or made.outcome is not None or made.void_reason is not None:
        return made

    price, reason = fix_price(prices, made.asset, venues_needed, "end", now_ms - made.end_ms)
    if price is None:
        return replace(made, void_reason=reason)
    change = change_bps(started, price)
    return replace(made, end_price=price, change_bps=change, outcome=outcome_of(change, made.band_bps))
