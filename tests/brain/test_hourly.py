"""60-minute bars: a trend and a base rate, and nothing more."""

from __future__ import annotations

import numpy as np
import pytest

from generator.brain.hourly import HOUR_MS, base_rate_forecast, futures, trends
from generator.catalog.words import DerivativesState, Prediction, Trend
from generator.market.values import BAR_FIELDS, BarFrame


def frame(closes: np.ndarray) -> BarFrame:
    columns = closes.reshape(-1, 1)
    fields = dict.fromkeys(BAR_FIELDS, columns)
    return BarFrame(("BTC",), np.arange(len(closes), dtype=np.int64) * HOUR_MS, fields, HOUR_MS)


@pytest.mark.parametrize(("drift", "word"), [(0.01, Trend.UP), (-0.01, Trend.DOWN), (0.0, Trend.SIDEWAYS)])
def test_the_trend_follows_a_clear_drift(drift: float, word: Trend) -> None:
    wobble = np.tile([0.004, -0.004], 20)

    assert trends(frame(100 * np.exp(np.cumsum(drift + wobble))))["BTC"] == word


def test_too_few_bars_have_no_trend_and_no_base_rate() -> None:
    few = frame(np.full(8, 100.0))

    assert trends(few)["BTC"] == Trend.UNKNOWN
    assert base_rate_forecast(few, "BTC", 60) is None


def test_constant_prices_are_sideways() -> None:
    assert trends(frame(np.full(30, 100.0)))["BTC"] == Trend.SIDEWAYS


def test_the_base_rate_of_a_random_walk_is_a_third_each_and_its_word_is_neutral() -> None:
    walk = np.exp(np.cumsum(np.random.default_rng(3).normal(0, 0.005, 2000)))

    forecast = base_rate_forecast(frame(walk), "BTC", 60)

    assert forecast is not None
    chances = forecast.probabilities
    assert forecast.prediction is Prediction.NEUTRAL
    assert [chances.down, chances.neutral, chances.up] == pytest.approx([1 / 3] * 3, abs=0.05)
    assert forecast.band_bps == pytest.approx(0.4307 * 50, rel=0.5)


def test_the_future_does_not_change_what_was_said_before() -> None:
    walk = np.exp(np.cumsum(np.random.default_rng(4).normal(0, 0.005, 300)))
    crash = np.concatenate([walk[:200], walk[200:] * 0.1])

    assert base_rate_forecast(frame(walk[:200]), "BTC", 60) == base_rate_forecast(frame(crash[:200]), "BTC", 60)


def test_other_horizons_are_unknown() -> None:
    assert base_rate_forecast(frame(np.linspace(1, 2, 300)), "BTC", 15) is None


def test_crowding_is_read_from_funding_alone() -> None:
    known = frame(np.full(40, 100.0))
    known.fields.update({name: np.full((40, 1), np.nan) for name in BAR_FIELDS})
    known.fields["funding"] = np.full((40, 1), 0.0009)

    assert futures(known)["BTC"].state is DerivativesState.CROWDED_LONGS
    known.fields["funding"] = np.full((40, 1), np.nan)
    assert futures(known)["BTC"].state is DerivativesState.UNAVAILABLE
