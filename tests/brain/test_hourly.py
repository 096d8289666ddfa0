"""60-minute bars: a trend and futures pressure, and nothing more."""

import numpy as np
import pytest

from generator.brain.hourly import HOUR_MS, futures, trends
from generator.catalog.words import DerivativesState, Trend
from generator.market.bars import BAR_FIELDS, BarFrame


def frame(closes: np.ndarray) -> BarFrame:
    columns = closes.reshape(-1, 1)
    fields = dict.fromkeys(BAR_FIELDS, columns)
    return BarFrame(("BTC",), np.arange(len(closes), dtype=np.int64) * HOUR_MS, fields, HOUR_MS)


@pytest.mark.parametrize(("drift", "word"), [(0.01, Trend.UP), (-0.01, Trend.DOWN), (0.0, Trend.SIDEWAYS)])
def test_the_trend_follows_a_clear_drift(drift: float, word: Trend) -> None:
    wobble = np.tile([0.004, -0.004], 20)

    assert trends(frame(100 * np.exp(np.cumsum(drift + wobble))))["BTC"] == word


def test_too_few_bars_have_no_trend() -> None:
    assert trends(frame(np.full(8, 100.0)))["BTC"] == Trend.UNKNOWN


def test_constant_prices_are_sideways() -> None:
    assert trends(frame(np.full(30, 100.0)))["BTC"] == Trend.SIDEWAYS


def test_crowding_is_read_from_funding_alone() -> None:
    known = frame(np.full(40, 100.0))
    known.fields.update({name: np.full((40, 1), np.nan) for name in BAR_FIELDS})
    known.fields["funding"] = np.full((40, 1), 0.0009)

    assert futures(known)["BTC"].state is DerivativesState.CROWDED_LONGS
    known.fields["funding"] = np.full((40, 1), np.nan)
    assert futures(known)["BTC"].state is DerivativesState.UNAVAILABLE
