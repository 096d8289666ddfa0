"""Hourly predictions."""

import pytest

from generator.arena.hourly import HourState, judge, predict, upcoming_hour
from generator.arena.outcome import PricePoint
from generator.arena.play import PlayState, play
from generator.brain.forecast import Forecast
from generator.catalog.assets import ASSETS
from generator.catalog.words import Call, Prediction
from generator.values.chances import Probabilities
from generator.values.hours import PredictionMade
from tests.support.arena_inputs import HOUR, MINUTE, NOON, forecast_at, inputs_at, state_of


def made_at(now_ms: int, start_ms: int = NOON) -> PredictionMade:
    forecast = forecast_at(now_ms)("BTC", 60)
    assert forecast is not None
    return predict(forecast, start_ms, now_ms, None, warm_up=False)


def test_the_ten_minutes_before_the_hour_make_it_and_nothing_from_the_start_on() -> None:
    assert upcoming_hour(NOON - 10 * MINUTE - 1) is None
    assert upcoming_hour(NOON - 10 * MINUTE) == NOON
    assert upcoming_hour(NOON - 1) == NOON
    assert upcoming_hour(NOON) is None
    with pytest.raises(ValueError, match="after the fact"):
        made_at(NOON)


def test_a_prediction_is_its_forecast_as_published() -> None:
    chances, base = Probabilities(0.281_26, 0.331_1, 0.387_64), Probabilities(0.3, 0.4, 0.3)
    forecast = Forecast("ETH", 60, chances, base, Call.UP, 21.437_8)

    made = predict(forecast, NOON, NOON - MINUTE, Prediction.NEUTRAL, warm_up=True)

    assert (made.asset, made.start_ms, made.end_ms, made.made_ms) == ("ETH", NOON, NOON + HOUR, NOON - MINUTE)
    assert made.probabilities == pytest.approx((0.2813, 0.3311, 0.3876), abs=1e-4)
    assert sum(made.probabilities) == pytest.approx(1)
    assert made.base_rate == (0.3, 0.4, 0.3)
    assert (made.prediction, made.call, made.previous) == (Prediction.BULLISH, Call.UP, Prediction.NEUTRAL)
    assert (made.band_bps, made.warm_up, made.ranges) == (21.44, True, None)


def test_every_asset_gets_one_and_the_last_tick_before_the_start_counts() -> None:
    first = play(PlayState(), inputs_at(NOON - 7 * MINUTE))
    pending = tuple(after for _, after in first.hours.changes)

    second = play(state_of(hours=HourState(pending=pending)), inputs_at(NOON - MINUTE))

    assert [made.asset for made in pending] == list(ASSETS)
    assert [before for before, _ in second.hours.changes] == list(pending)
    assert {after.made_ms for _, after in second.hours.changes} == {NOON - MINUTE}


def test_an_hour_whose_last_minutes_were_missed_keeps_the_earlier_prediction() -> None:
    first = play(PlayState(), inputs_at(NOON - 7 * MINUTE))
    pending = tuple(after for _, after in first.hours.changes)

    started = play(state_of(hours=HourState(pending=pending)), inputs_at(NOON))

    assert {after.made_ms for _, after in started.hours.changes} == {NOON - 7 * MINUTE}
    assert all(after.start_price is not None for _, after in started.hours.changes)


def judged(now_ms: int, price: float | None, venues: int = 2) -> PredictionMade:
    started = judge(made_at(NOON - MINUTE), NOON, {"BTC": PricePoint(100.0, 2)}, 2)
    return judge(started, now_ms, {"BTC": PricePoint(price, venues)}, 2)


def test_it_is_judged_by_the_same_price_rule_as_a_round() -> None:
    assert judged(NOON + HOUR, 101.0).outcome is Prediction.BULLISH
    assert judged(NOON + HOUR - 1, 101.0).outcome is None
    assert judged(NOON + HOUR, None).void_reason == "no end price"
    assert judged(NOON + HOUR, 101.0, 1).void_reason == "too few venues agree on the end price: 1 of 2"
    assert judged(NOON + HOUR + MINUTE, 101.0).void_reason == "no tick in the minute after the end"


def test_persistence_says_what_was_known_when_the_prediction_was_made() -> None:
    asked: list[str] = []

    def last(asset: str) -> Prediction:
        asked.append(asset)
        return Prediction.BEARISH

    result = play(state_of(hours=HourState(last_outcome=last)), inputs_at(NOON - MINUTE))

    assert {after.previous for _, after in result.hours.changes} == {Prediction.BEARISH}
    assert asked == list(ASSETS)
