"""A recording is replayed on its own clock, and nothing is seen before it was known."""

import asyncio
import gzip
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from generator.catalog.durations import DAY_MS, HOUR_MS
from generator.catalog.formats import iso
from generator.catalog.text.answers import NEEDS_5_MINUTE_BARS
from generator.catalog.words import SourceMode, SourceStatus
from generator.market.bars import BAR_FIELDS, BAR_MS, BarFrame
from generator.market.observation import Observation
from generator.market.recorded.source import HISTORY_MS, RecordedSource

START_MS = 1_700_006_400_000  # 2023-11-15 00:00 UTC
WALL_MS = 1_795_172_461_234
ASSETS = ("BTC", "ETH")
CANDLE_HEADER = "ts,open,high,low,close,volume"


def write(folder: Path, name: str, header: str, rows: Iterable[str]) -> Path:
    """Write one CSV file, packed when its name says so; return its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    data = "\n".join([header, *rows, ""]).encode()
    (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return folder


def candle(number: int, interval_ms: int = BAR_MS, scale: float = 1.0) -> str:
    """Candle `number`: closes at 100 + number, times the scale."""
    close = scale * (100 + number)
    return f"{START_MS + number * interval_ms},{close},{close * 1.01},{close * 0.99},{close},7"


def candles(folder: Path, count: int, interval_ms: int = BAR_MS) -> Path:
    """Write `count` candles of both assets."""
    write(folder, "BTCUSDT.csv", CANDLE_HEADER, [candle(n, interval_ms) for n in range(count)])
    return write(folder, "ETHUSDT.csv.gz", CANDLE_HEADER, [candle(n, interval_ms, 0.1) for n in range(count)])


def at(t_ms: int) -> datetime:
    """Market time as the command line gives it."""
    return datetime.fromtimestamp(t_ms / 1000, UTC)


def observe(source: RecordedSource, wall_ms: int = WALL_MS, since_ms: int = 0) -> Observation:
    """Run one observation."""
    return asyncio.run(source.observe(wall_ms, since_ms))


def backfill(source: RecordedSource, wall_ms: int = WALL_MS, days: int = 30) -> BarFrame:
    """Run one backfill."""
    return asyncio.run(source.backfill(wall_ms, days, lambda _done, _total, _what: None))


def test_the_first_tick_is_at_the_time_asked_for_and_the_clock_runs_on(tmp_path: Path) -> None:
    source = RecordedSource([candles(tmp_path / "x-5m", 100)], at(START_MS + HOUR_MS), ASSETS)

    first, second = observe(source), observe(source, WALL_MS + 60_000)

    assert first.market_ms == START_MS + HOUR_MS
    assert second.market_ms == START_MS + HOUR_MS + 60_000
    assert source.offset_ms == first.offset_ms == second.offset_ms == WALL_MS - START_MS - HOUR_MS
    assert first.mode is SourceMode.RECORDED


def test_a_restart_resumes_where_the_clock_is(tmp_path: Path) -> None:
    folder = candles(tmp_path / "x-5m", 100)
    before = RecordedSource([folder], at(START_MS + HOUR_MS), ASSETS)
    observe(before)

    after = RecordedSource([folder], at(START_MS + HOUR_MS), ASSETS, offset_ms=before.offset_ms)

    continued, fresh = observe(before, WALL_MS + HOUR_MS), observe(after, WALL_MS + HOUR_MS)
    assert fresh.market_ms == continued.market_ms == START_MS + 2 * HOUR_MS
    assert fresh.assets == continued.assets


def test_by_default_60_percent_is_history_and_bars_close_with_the_wall_clock(tmp_path: Path) -> None:
    source = RecordedSource([candles(tmp_path / "x-5m", 100)], assets=ASSETS)

    history = backfill(source)

    assert len(history) == 60
    assert source.offset_ms is not None
    assert source.offset_ms % BAR_MS == 0


def test_the_default_history_is_never_longer_than_30_days(tmp_path: Path) -> None:
    source = RecordedSource([candles(tmp_path / "x-1h", 24 * 90, HOUR_MS)], assets=ASSETS)

    history = backfill(source, days=60)

    assert len(history) == HISTORY_MS // HOUR_MS


@pytest.mark.parametrize(("seconds", "closed"), [(-1, 11), (0, 12), (299, 12), (300, 13)])
def test_a_bar_is_seen_from_its_close_on(tmp_path: Path, seconds: int, closed: int) -> None:
    market_ms = START_MS + HOUR_MS + seconds * 1000
    source = RecordedSource([candles(tmp_path / "x-5m", 100)], at(market_ms), ASSETS)

    observation = observe(source)

    seen = observation.assets["BTC"]
    assert len(observation.new_bars) == len(backfill(source)) == closed
    assert seen.price == 100 + closed - 1
    assert seen.price_as_of_ms == START_MS + closed * BAR_MS
    assert seen.venues == ("x",)


def test_every_observation_equals_the_one_of_a_recording_cut_off_at_that_time(tmp_path: Path) -> None:
    """No look-ahead: the future may be deleted without changing a thing."""
    whole = RecordedSource(_futures(tmp_path / "whole", 400), at(START_MS + 25 * HOUR_MS), ASSETS)
    for minute in range(0, 180, 34):
        wall_ms = WALL_MS + minute * 60_000
        seen = observe(whole, wall_ms)
        bars = (seen.market_ms - START_MS) // BAR_MS
        cut = RecordedSource(_futures(tmp_path / f"cut{minute}", bars), None, ASSETS, offset_ms=whole.offset_ms)

        known = observe(cut, wall_ms)

        assert {a: o.funding for a, o in seen.assets.items()} == {a: o.funding for a, o in known.assets.items()}
        assert seen.assets["BTC"].price == known.assets["BTC"].price
        assert seen.assets["BTC"].open_interest == known.assets["BTC"].open_interest
        for name in BAR_FIELDS:
            np.testing.assert_array_equal(seen.new_bars.fields[name], known.new_bars.fields[name])


def funding_file(folder: Path, rows: Iterable[str]) -> Path:
    """Write funding of BTC."""
    return write(folder, "BTCUSDT.csv", "ts,symbol,funding_rate", rows)


def interest_file(folder: Path, rows: Iterable[str]) -> Path:
    """Write open interest of BTC."""
    return write(folder, "BTCUSDT.csv", "ts,symbol,sum_open_interest,sum_open_interest_value", rows)


def _futures(root: Path, bars: int) -> list[Path]:
    """Candles, funding and open interest up to the close of the last bar."""
    end_ms = START_MS + bars * BAR_MS
    funding = [(START_MS + n * 8 * HOUR_MS + 7, f"BTCUSDT,{n * 1e-5}") for n in range(-2, 12)]
    interest = [(START_MS + n * 4 * HOUR_MS, f"BTCUSDT,{50 + n},{1e6 + n}") for n in range(-12, 24)]
    return [
        candles(root / "v-5m", bars),
        funding_file(root / "v-8h", [f"{t},{x}" for t, x in funding if t <= end_ms]),
        interest_file(root / "v-4h", [f"{t},{x}" for t, x in interest if t <= end_ms]),
    ]


def test_funding_and_open_interest_are_the_last_ones_out_with_their_time(tmp_path: Path) -> None:
    source = RecordedSource(_futures(tmp_path, 400), at(START_MS + 9 * HOUR_MS), ASSETS)

    seen = observe(source).assets["BTC"]

    assert seen.funding is not None
    assert (seen.funding.rate_8h, seen.funding.as_of_ms) == (1e-5, START_MS + 8 * HOUR_MS + 7)
    assert seen.open_interest is not None
    assert (seen.open_interest.usd, seen.open_interest.as_of) == (1e6, iso(START_MS + 8 * HOUR_MS))
    assert seen.open_interest.change_24h_percent == round(100 * ((1e6 + 2) / (1e6 - 4) - 1), 2) + 0.0
    assert seen.open_interest.contracts == 52
    assert seen.open_interest.contracts_change_24h_percent == round(100 * (52 / 46 - 1), 2)


def test_a_payment_made_some_milliseconds_late_is_not_known_before(tmp_path: Path) -> None:
    source = RecordedSource(_futures(tmp_path, 400), at(START_MS + 8 * HOUR_MS), ASSETS)

    funding = observe(source).assets["BTC"].funding

    assert funding is not None
    assert funding.as_of_ms == START_MS + 7
    assert backfill(source).fields["funding"][-1, 0] == 0.0


def test_bars_carry_the_funding_and_open_interest_known_at_their_close(tmp_path: Path) -> None:
    source = RecordedSource(_futures(tmp_path, 400), at(START_MS + 30 * HOUR_MS), ASSETS)

    bars = backfill(source)

    row = int(np.searchsorted(bars.t, START_MS + 8 * HOUR_MS))
    assert bars.fields["funding"][row - 1 : row + 1, 0].tolist() == [0.0, 1e-5]
    assert bars.fields["open_interest"][row - 2 : row, 0].tolist() == [51, 52]
    assert np.isnan(bars.fields["funding"][:, 1]).all()


def test_funding_paid_every_4_hours_is_converted_to_8_hours(tmp_path: Path) -> None:
    funding = funding_file(tmp_path / "v-4h", [f"{START_MS + n * 4 * HOUR_MS},BTCUSDT,0.0001" for n in range(10)])

    source = RecordedSource([candles(tmp_path / "v-5m", 100), funding], at(START_MS + 5 * HOUR_MS), ASSETS)

    seen = observe(source).assets["BTC"].funding
    assert seen is not None
    assert seen.rate_8h == pytest.approx(0.0002)


def test_futures_data_that_stopped_becomes_null_with_its_last_time(tmp_path: Path) -> None:
    folders = _futures(tmp_path, 12)[1:]
    source = RecordedSource([candles(tmp_path / "w-5m", 600), *folders], at(START_MS + 30 * HOUR_MS), ASSETS)

    observation = observe(source)

    seen = observation.assets["BTC"]
    assert seen.funding is None
    assert seen.open_interest is None
    assert "last funding of BTC is from 2023-11-15T00:00:00Z" in seen.limitations
    status = {health.kind: health.status for health in observation.sources}
    assert status == {
        "candles": SourceStatus.OK,
        "funding": SourceStatus.STALE,
        "open_interest": SourceStatus.STALE,
    }


def test_what_a_recording_has_not_is_null_and_named(tmp_path: Path) -> None:
    source = RecordedSource([candles(tmp_path / "x-5m", 100)], at(START_MS + HOUR_MS), (*ASSETS, "ALGO"))

    observation = observe(source)

    assert observation.assets["BTC"].limitations == (
        "no order book in a recording",
        "no liquidations in a recording",
        "no funding in this recording",
        "no open interest in this recording",
        "no bar 24 hours before the price",
    )
    assert observation.assets["ALGO"].price is None
    assert "no candles of ALGO in this recording" in observation.assets["ALGO"].limitations


def test_the_change_is_against_the_bar_24_hours_before(tmp_path: Path) -> None:
    source = RecordedSource([candles(tmp_path / "x-5m", 400)], at(START_MS + 25 * HOUR_MS), ASSETS)

    change = observe(source).assets["BTC"].change_24h_percent

    assert change == pytest.approx(100 * ((100 + 299) / (100 + 11) - 1))


def test_at_the_last_bar_everything_is_stale_and_nothing_can_settle(tmp_path: Path) -> None:
    source = RecordedSource([candles(tmp_path / "x-5m", 20)], at(START_MS + 19 * BAR_MS), ASSETS)

    before, last, later = (observe(source, WALL_MS + n * BAR_MS) for n in (0, 1, 50))

    assert (before.ended, last.ended, later.ended) == (False, True, True)
    assert before.sources[0].status is SourceStatus.OK
    assert last.sources[0].status is later.sources[0].status is SourceStatus.STALE
    assert last.assets["BTC"].price == later.assets["BTC"].price == 119
    assert last.assets["BTC"].venues == ()


def test_a_loop_begins_again_while_market_time_runs_on(tmp_path: Path) -> None:
    folders = _futures(tmp_path, 48)
    source = RecordedSource(folders, at(START_MS + HOUR_MS), ASSETS, loop=True)

    first = observe(source)
    again = observe(source, WALL_MS + 3 * 4 * HOUR_MS)

    assert again.market_ms == first.market_ms + 12 * HOUR_MS
    assert again.assets["BTC"].price == first.assets["BTC"].price
    assert not again.ended
    assert again.sources[0].status is SourceStatus.OK
    assert (np.diff(again.new_bars.t) == BAR_MS).all()
    assert len(again.new_bars) == 13 * 12


def test_only_bars_after_since_are_new_and_never_more_than_30_days(tmp_path: Path) -> None:
    long = RecordedSource([candles(tmp_path / "x-1h", 24 * 40, HOUR_MS)], at(START_MS + 39 * DAY_MS), ASSETS)

    all_bars = observe(long).new_bars
    two_bars = observe(long, since_ms=START_MS + 39 * DAY_MS - 3 * HOUR_MS).new_bars

    assert len(all_bars) == 30 * 24 - 1
    assert ((two_bars.t - START_MS) // HOUR_MS).tolist() == [39 * 24 - 2, 39 * 24 - 1]


def test_hourly_bars_are_said_to_be_too_long_for_the_brain(tmp_path: Path) -> None:
    source = RecordedSource([candles(tmp_path / "x-1h", 60, HOUR_MS)], at(START_MS + 30 * HOUR_MS), ASSETS)

    observation = observe(source)

    assert observation.bar_interval_ms == observation.new_bars.interval_ms == HOUR_MS
    assert observation.limitations == (NEEDS_5_MINUTE_BARS,)
    assert (observation.price_basis, observation.venues_needed) == ("recorded_close", 1)


@pytest.mark.parametrize(
    ("name", "venue"),
    [
        ("binance-spot-5m-2022-10", "binance-spot"),
        ("binance-usdm-perp-1h-wire", "binance-usdm-perp"),
        ("data", "recording"),
        ("My Own_5m", "recording"),
    ],
)
def test_the_venue_is_named_by_the_folder(tmp_path: Path, name: str, venue: str) -> None:
    source = RecordedSource([candles(tmp_path / name, 30)], assets=ASSETS)

    assert observe(source).sources[0].name == venue
