"""The main job on recorded, real market data; needs the recordings next to the project."""

import json
from pathlib import Path
from typing import Any

import pytest

from generator.catalog.assets import ASSETS
from generator.catalog.endpoints import ENDPOINTS
from tests.support.processes import emi_here

MARKET_DATA = Path(__file__).parents[3] / "shared" / "market-data"
pytestmark = pytest.mark.skipif(not MARKET_DATA.is_dir(), reason="the recorded market data is not next to the project")


def body(folder: Path, path: str) -> Any:
    return json.loads((folder / "emi-state" / "site" / "current" / path.lstrip("/")).read_text())


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of a recording of five-minute candles, after the night before was played.

    The recording begins on 15 October: four days of history are as good to the test as the fifteen that could be.
    """
    folder = tmp_path_factory.mktemp("night")
    done = emi_here(
        "tick", "--source", "recorded", "--data", str(MARKET_DATA / "candles" / "binance-spot-5m-2022-10"),
        "--at", "2022-10-19T06:02:00Z", "--hours", "12", cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder


def test_five_minute_candles_give_nine_bodies_with_the_prices_of_that_hour(night: Path) -> None:
    bodies = {endpoint.id: body(night, endpoint.path) for endpoint in ENDPOINTS}

    assert all(found["freshness"]["source_mode"] == "recorded" for found in bodies.values())
    assert all(found["replay"]["market_time"] == "2022-10-19T06:02:00Z" for found in bodies.values())
    assert 18_500 < bodies["main-brain"]["coins"]["BTC"]["price"] < 20_000
    assert bodies["market-regime"]["regime"]["label"] != "unknown"
    assert bodies["derivatives"]["assets"]["BTC"]["funding"] is None
    assert [text for text in bodies["derivatives"]["limitations"] if "no order book, funding" in text]


def test_hourly_candles_funding_and_open_interest_together(tmp_path: Path) -> None:
    folders = ("candles/binance-usdm-perp-1h-wire", "funding/binance-usdm-8h-wire", "open-interest/binance-usdm-4h")
    flags = [part for folder in folders for part in ("--data", str(MARKET_DATA / folder))]

    done = emi_here("tick", "--source", "recorded", *flags, "--at", "2026-03-01T12:30:00Z", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    regime = body(tmp_path, "/api/market-regime.php")
    assert regime["regime"]["label"] == "unknown"
    assert "needs 5-minute bars" in json.dumps(regime)
    derivatives = body(tmp_path, "/api/derivatives.php")
    for asset in ASSETS:
        row = derivatives["assets"][asset]
        assert row["funding"]["rate_8h_percent"] is not None
        assert row["open_interest"]["usd"] > 0
        assert row["liquidations"] is None
        assert row["state"] != "unavailable"
    coins = body(tmp_path, "/api/main-brain.php")["coins"]
    assert all(coins[asset]["price"] > 0 and coins[asset]["change_24h"] is not None for asset in ASSETS)


def test_an_accelerated_night_resolves_its_rounds(night: Path) -> None:
    lessons = body(night, "/api/teacher-lessons.php")
    rounds = body(night, "/arena/rounds.json")["rounds"]
    verified = emi_here("verify", str(night / "emi-state" / "site" / "current"), cwd=night)

    assert len(lessons["latest_lessons"]) >= 9
    assert len(rounds) >= 9
    assert verified.returncode == 0, verified.stdout + verified.stderr
