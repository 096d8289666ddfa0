"""The recorded market data that lies next to the project, replayed; skipped where it is absent."""

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from generator.catalog.text.answers import NEEDS_5_MINUTE_BARS
from generator.catalog.words import SourceStatus
from generator.market.bars import BAR_MS
from generator.market.recorded.source import RecordedSource
from tests.market.test_recorded import backfill, observe

RECORDED = ("BTC", "ETH", "XRP", "SOL", "ALGO", "XLM", "HBAR")
DATA = Path(__file__).resolve().parents[3] / "shared" / "market-data"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="real recorded candles are not next to this checkout")


def test_october_2022_in_5_minute_bars_is_read_whole() -> None:
    source = RecordedSource([DATA / "candles" / "binance-spot-5m-2022-10"], assets=RECORDED)

    history = backfill(source)

    observation = observe(source)
    assert len(history) == 3801
    assert np.isfinite(history.fields["close"]).all()
    assert observation.dropped_bars == 0
    assert observation.bar_interval_ms == BAR_MS
    assert all(seen.venues == ("binance-spot",) for seen in observation.assets.values())


def test_march_2026_has_prices_funding_and_open_interest_of_all_seven() -> None:
    folders = [
        DATA / "candles" / "binance-usdm-perp-1h-wire",
        DATA / "funding" / "binance-usdm-8h-wire",
        DATA / "open-interest" / "binance-usdm-4h",
    ]
    source = RecordedSource(folders, datetime(2026, 3, 1, tzinfo=UTC), RECORDED)

    observation = observe(source)

    bitcoin = observation.assets["BTC"]
    assert tuple(observation.assets) == RECORDED
    assert bitcoin.price == 66937.1
    assert bitcoin.change_24h_percent == pytest.approx(1.6725, abs=1e-3)
    assert bitcoin.funding is not None
    assert bitcoin.funding.rate_8h == -4.305e-05
    assert all(seen.funding and seen.open_interest and seen.price for seen in observation.assets.values())
    assert {health.status for health in observation.sources} == {SourceStatus.OK}
    assert observation.limitations == (NEEDS_5_MINUTE_BARS,)
