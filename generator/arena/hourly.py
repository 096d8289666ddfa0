"""The brain's hourly predictions: one per asset and full hour, for its own record.

Made in the ticks of the ten minutes before the hour; each such tick replaces what the one before it made, so the last
tick before the start counts, whichever ticks were missed. From the start on nothing is made or changed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Final, NamedTuple

from generator.arena import ranges as range_rules
from generator.arena.inputs import PlayInputs
from generator.arena.outcome import PricePoint, change_bps, fix_price, outcome_of
from generator.arena.scores import published_triple
from generator.arena.sealed import Life
from generator.arena.teacher import PredictionChange
from generator.brain.forecast import CHANCES_KIND, Forecast
from generator.catalog.assets import ASSETS
from generator.catalog.durations import HOUR_MS, MINUTE_MS
from generator.catalog.formats import basis_points
from generator.catalog.words import Prediction
from generator.values.hours import PredictionMade
from generator.values.ranges import RangeForecast

WINDOW_MS: Final = 10 * MINUTE_MS
HORIZON_MINUTES: Final = 60


@dataclass(frozen=True, slots=True)
class HourState:
    """What the memory holds of hourly predictions before a tick."""

    pending: tuple[PredictionMade, ...] = ()
    """Those without an outcome, or with a horizon of theirs that has ended by now."""
    begun: frozenset[tuple[str, int]] = frozenset()
    """Asset and start of those that must not be made again although their start lies in the future: the clock went back
    after their hour had begun."""
    last_outcome: Callable[[str], Prediction | None] = lambda _asset: None
    """The last outcome known of an asset."""


class HoursPlayed(NamedTuple):
    """What a tick changes of hourly predictions, and all that it looked at, as they are after it."""

    changes: tuple[PredictionChange, ...]
    looked_at: tuple[PredictionMade, ...] = ()


def play_hours(state: HourState, inputs: PlayInputs, published_ms: int | None) -> HoursPlayed:
    """Judge what is pending, then make the upcoming hour's predictions. The same tick again changes nothing.

    Args:
        state: what is stored of them.
        inputs: of the tick.
        published_ms: wall time of the last release; None where nothing is published.
    """
    judged = [(prediction, LIFE.moved(prediction, inputs, published_ms)) for prediction in state.pending]
    looked_at = tuple(after for _, after in judged)
    changes = [*judged, *_made(state, inputs, judged, looked_at)]
    return HoursPlayed(tuple((before, after) for before, after in changes if before != after), looked_at)


def _made(
    state: HourState,
    inputs: PlayInputs,
    judged: list[tuple[PredictionMade, PredictionMade]],
    looked_at: tuple[PredictionMade, ...],
) -> list[PredictionChange]:
    """Make the predictions of the upcoming hour; what resolves in this tick is the last outcome of what it makes."""
    start_ms = upcoming_hour(inputs.now_ms)
    if start_ms is None:
        return []

    earlier = {before.asset: before for before, _ in judged if before.start_ms == start_ms}
    resolved = {prediction.asset: prediction.outcome for prediction in looked_at if prediction.outcome is not None}
    changes: list[PredictionChange] = []
    for asset in ASSETS:
        forecast = inputs.sound_forecast(asset, HORIZON_MINUTES)
        if forecast is None or (asset, start_ms) in state.begun:
            continue
        prediction = predict(
            forecast,
            start_ms,
            inputs.now_ms,
            previous=resolved.get(asset) or state.last_outcome(asset),
            ranges=inputs.ranges.get(asset),
            warm_up=inputs.warm_up,
        )
        changes.append((earlier.get(asset), prediction))
    return changes


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


def void_unresolved(prediction: PredictionMade, reason: str) -> PredictionMade:
    """Void what is not known yet of a prediction."""
    moves = range_rules.void_moves(prediction, reason)
    if prediction.outcome is not None or prediction.void_reason is not None:
        return replace(prediction, moves=moves)
    return replace(prediction, void_reason=reason, moves=moves)


def judge(
    prediction: PredictionMade, now_ms: int, prices: Mapping[str, PricePoint], venues_needed: int
) -> PredictionMade:
    """Fix the start price, then the moves and the outcome, or the reason why one of them is void."""
    started = prediction.start_price
    if started is None:
        if now_ms < prediction.start_ms or prediction.void_reason is not None:
            return prediction
        price, reason = fix_price(prices, prediction.asset, venues_needed, "start", now_ms - prediction.start_ms)
        if reason is not None:
            return void_unresolved(prediction, reason)
        return replace(prediction, start_price=price)

    prediction = replace(prediction, moves=range_rules.measure(prediction, now_ms, prices, venues_needed))
    if now_ms < prediction.end_ms or prediction.outcome is not None or prediction.void_reason is not None:
        return prediction

    price, reason = fix_price(prices, prediction.asset, venues_needed, "end", now_ms - prediction.end_ms)
    if price is None:
        return replace(prediction, void_reason=reason)
    change = change_bps(started, price)
    return replace(prediction, end_price=price, change_bps=change, outcome=outcome_of(change, prediction.band_bps))


def _judge(prediction: PredictionMade, inputs: PlayInputs) -> PredictionMade:
    return judge(prediction, inputs.now_ms, inputs.prices, inputs.venues_needed)


def _opens_ms(prediction: PredictionMade) -> int | None:
    return prediction.start_ms if prediction.start_price is None and not prediction.warm_up else None


LIFE: Final[Life[PredictionMade]] = Life(attrgetter("made_ms"), _opens_ms, _judge, void_unresolved)
