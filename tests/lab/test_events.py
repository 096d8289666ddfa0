"""The crossed-market null, on recorded markets where they are, and on drawn ones."""

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from generator.lab.__main__ import app
from generator.lab.events import Claims, Hours, crossed, hours_of, measured_null, read_hours
from tests.support.markets import market

CANDLES = Path(__file__).resolve().parents[3] / "shared" / "market-data" / "candles"
RECORDED = ("binance-spot-5m-2022-08-2023-09", "binance-spot-1h-2025H1", "binance-usdm-perp-1h-wire")
WORST = 0.04
"""Share of kinds of which a difference may be claimed where there is none."""


def test_the_moves_of_a_market_are_the_mean_of_its_assets_at_full_hours() -> None:
    frame = market(3 * 288, seed=4)
    closes = frame.fields["close"]
    hours = hours_of(frame)
    closed = frame.t + frame.interval_ms
    full = np.flatnonzero(closed % 3_600_000 == 0)

    assert hours.hour[-1] == pytest.approx(float((closes[full[-1]] / closes[full[-2]] - 1.0).mean()))
    assert hours.day[-1] == pytest.approx(float((closes[full[-1]] / closes[full[-25]] - 1.0).mean()))


def test_of_events_that_something_follows_a_difference_is_claimed() -> None:
    hour = 0.003 * np.random.default_rng(1).standard_normal(4000)
    hour[::60] = 0.03
    hour[1::60] = 0.02
    own = Hours(hour, np.full(4000, np.nan))

    found = crossed(own, own)

    # Unshifted, and wherever the large hours fall on each other again.
    large = found[0]
    assert (large.kind, large.looked_at) == ("large_hour", 122)
    assert 0 < large.claimed < large.looked_at


def test_the_table_adds_up() -> None:
    said = measured_null({"one, other": [Claims("large_hour", 100, 2), Claims("turn_up", 0, 0)]})

    assert "| one, other | turn_up | 0 | 0 | none |" in said
    assert "| all |  | 100 | 2 | 2.0 |" in said


def test_what_holds_no_candles_is_refused(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["events", "--candles", str(tmp_path)])

    assert result.exit_code == 2


@pytest.mark.skipif(not CANDLES.is_dir(), reason="the recorded market data is not next to the project")
def test_events_of_one_market_claim_nothing_of_another() -> None:
    markets = [read_hours(CANDLES / name) for name in RECORDED]
    claims = [found for one in markets for other in markets if one is not other for found in crossed(one, other)]

    looked_at = sum(found.looked_at for found in claims)
    assert looked_at > 3000
    assert sum(found.claimed for found in claims) <= WORST * looked_at
