"""60-minute bars: a trend and futures pressure, and nothing more."""

from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

from generator.brain.hourly import futures, trends
from generator.catalog.assets import ASSETS
from generator.catalog.durations import HOUR_MS
from generator.catalog.words import DerivativesState, Trend
from generator.market.bars import BAR_FIELDS, BarFrame
from generator.market.recorded.recording import load_recording

DATA = Path(__file__).resolve().parents[3] / "shared" / "market-data"


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


def test_crowding_is_read_from_funding_alone() -> None:
    known = frame(np.full(40, 100.0))
    known.fields.update({name: np.full((40, 1), np.nan) for name in BAR_FIELDS})
    known.fields["funding"] = np.full((40, 1), 0.0009)

    assert futures(known)["BTC"].state is DerivativesState.CROWDED_LONGS
    known.fields["funding"] = np.full((40, 1), np.nan)
    assert futures(known)["BTC"].state is DerivativesState.UNAVAILABLE


@pytest.mark.skipif(not DATA.is_dir(), reason="real recorded market data are not next to this checkout")
@pytest.mark.parametrize(
    ("at", "asset", "rank"), [("2026-02-25T20:00", "XLM", 0.972), ("2026-03-10T12:00", "ALGO", 0.551)]
)
def test_recorded_hours_name_neither_new_positions_nor_a_crowd_that_is_not_there(
    at: str, asset: str, rank: float
) -> None:
    folders = ("candles/binance-usdm-perp-1h-wire", "funding/binance-usdm-8h-wire", "open-interest/binance-usdm-4h")
    bars = load_recording([DATA / folder for folder in folders], ASSETS).frame
    now_ms = int(datetime.fromisoformat(f"{at}+00:00").timestamp() * 1000)

    found = futures(bars.closed_by(now_ms))[asset]

    # XLM: contracts fell over 4, 8, 12 and 24 hours while their value rose; ALGO: shorts pay as in most of its month.
    assert found.shown is DerivativesState.BALANCED
    assert found.rank == pytest.approx(rank, abs=0.001)
