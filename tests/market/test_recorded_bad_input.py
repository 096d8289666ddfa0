"""Bad recordings: a bad row or file costs itself alone, a bad folder is one clear line."""

import gzip
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from generator.catalog.durations import HOUR_MS
from generator.catalog.formats import iso
from generator.catalog.words import SourceStatus
from generator.errors import SourceError
from generator.market.bars import BAR_MS
from generator.market.recorded.files import check_candles
from generator.market.recorded.source import RecordedSource
from tests.market.test_recorded import (
    ASSETS,
    CANDLE_HEADER,
    START_MS,
    WALL_MS,
    at,
    backfill,
    candle,
    candles,
    funding_file,
    interest_file,
    observe,
    write,
)

FIFTH = START_MS + 5 * BAR_MS
BAD_ROWS = {
    "high below low": (f"{FIFTH},100,90,110,100,1", "an open or close outside its low and high"),
    "close above high": (f"{FIFTH},100,101,99,150,1", "an open or close outside its low and high"),
    "zero price": (f"{FIFTH},0,101,0,100,1", "a price that is not above zero"),
    "negative price": (f"{FIFTH},-5,101,-5,100,1", "a price that is not above zero"),
    "not a number": (f"{FIFTH},nan,101,99,100,1", "a price or volume that is unknown or endless"),
    "infinite": (f"{FIFTH},100,inf,99,100,1", "a price or volume that is unknown or endless"),
    "no trade": (f"{FIFTH},NaN,,null,NaN,NaN", "no price in the bar"),
    "negative volume": (f"{FIFTH},100,101,99,100,-1", "a volume below zero"),
    "off the grid": (f"{FIFTH + 1},100,101,99,100,1", "a time between two bars"),
    "duplicate": (candle(4), "the same time as a later row"),
    "out of order": (candle(2), "the same time as a later row"),
    "garbage": ("<html>,what,is,this,?,!", "no time from 2009 to 2100"),
    "header again": (CANDLE_HEADER, "the header again"),
    "too short": (f"{FIFTH},100", "fewer columns than the others"),
    "time far ahead": (f"{START_MS + 100_000 * BAR_MS},100,101,99,100,1", "a day or more from every other row"),
    "time missing": (",100,101,99,100,1", "no time from 2009 to 2100"),
}


@pytest.mark.parametrize(("row", "reason"), BAD_ROWS.values(), ids=BAD_ROWS.keys())
def test_an_impossible_row_is_dropped_and_counted_and_leaves_a_gap(tmp_path: Path, row: str, reason: str) -> None:
    rows = [*[candle(n) for n in range(5)], row, *[candle(n) for n in range(6, 40)]]
    source = RecordedSource([write(tmp_path / "x-5m", "BTCUSDT.csv", CANDLE_HEADER, rows)], None, ("BTC",))

    observation = observe(source)

    bars = ((observation.new_bars.t - START_MS) // BAR_MS).tolist()
    assert bars == [n for n in range(bars[-1] + 1) if n != 5]
    assert observation.new_bars.fields["close"][:, 0].tolist() == [100.0 + n for n in bars]
    assert observation.dropped_bars == 1
    assert observation.sources[0].reason == f"1 row left out: {reason} (1)"
    assert observation.limitations == (f"candles of the recording: 1 row left out: {reason} (1)",)


def test_a_gap_stays_a_gap_and_its_price_grows_old(tmp_path: Path) -> None:
    rows = [candle(n) for n in (*range(20), *range(60, 80))]
    source = RecordedSource(
        [write(tmp_path / "x-5m", "BTCUSDT.csv", CANDLE_HEADER, rows)], at(START_MS + 20 * BAR_MS), ("BTC",)
    )

    seen = [observe(source, WALL_MS + n * BAR_MS) for n in (0, 2, 3, 39, 41)]

    assert [one.assets["BTC"].price for one in seen] == [119, 119, 119, 119, 160]
    assert [len(one.assets["BTC"].venues) for one in seen] == [1, 1, 0, 0, 1]
    assert [one.sources[0].status.value for one in seen] == ["ok", "ok", "stale", "stale", "ok"]
    assert "last price of BTC is from 2023-11-15T01:40:00Z" in seen[2].assets["BTC"].limitations
    assert len(seen[4].new_bars) == 21


def test_an_asset_that_pauses_has_unknown_bars_while_others_continue(tmp_path: Path) -> None:
    write(tmp_path / "x-5m", "BTCUSDT.csv", CANDLE_HEADER, [candle(n) for n in range(40)])
    folder = write(tmp_path / "x-5m", "ETHUSDT.csv", CANDLE_HEADER, [candle(n) for n in range(40) if n not in (7, 8)])

    bars = backfill(RecordedSource([folder], at(START_MS + 20 * BAR_MS), ASSETS))

    assert np.flatnonzero(np.isnan(bars.fields["close"][:, 1])).tolist() == [7, 8]
    assert np.isfinite(bars.fields["close"][:, 0]).all()


def _text_file(folder: Path) -> None:
    (folder / "ETHUSDT.csv.gz").unlink()
    (folder / "ETHUSDT.csv").write_bytes(bytes(range(256)) * 40)


UNREADABLE: dict[str, Callable[[Path], object]] = {
    "cannot be unpacked": lambda folder: (folder / "ETHUSDT.csv.gz").write_bytes(gzip.compress(b"x" * 9000)[:30]),
    "cut off in the middle": lambda folder: _halve(folder / "ETHUSDT.csv.gz"),
    "bytes that are not text": _text_file,
}


def _halve(file: Path) -> None:
    packed = file.read_bytes()
    file.write_bytes(packed[: len(packed) // 2])


@pytest.mark.parametrize("spoil", UNREADABLE.values(), ids=UNREADABLE.keys())
def test_an_unreadable_file_costs_its_asset_alone(tmp_path: Path, spoil: Callable[[Path], object]) -> None:
    folder = candles(tmp_path / "x-5m", 400)
    (folder / "notes.csv").write_text("hello\n")
    spoil(folder)

    observation = observe(RecordedSource([folder], None, ASSETS))

    assert observation.assets["BTC"].price is not None
    assert observation.assets["ETH"].price is None
    assert "candles of ETH could not be read" in observation.assets["ETH"].limitations
    assert [(health.name, health.status) for health in observation.sources] == [
        ("x", SourceStatus.OK),
        ("x-eth", SourceStatus.FAILED),
    ]


def _refused(folders: list[Path], assets: tuple[str, ...] = ASSETS) -> str:
    with pytest.raises(SourceError) as refusal:
        RecordedSource(folders, None, assets)
    text = str(refusal.value)
    assert "\n" not in text
    return text


def _file(name: str, header: str, rows: list[str]) -> Callable[[Path], Path]:
    return lambda root: write(root, name, header, rows)


def _broken(root: Path) -> Path:
    (root / "BTCUSDT.csv.gz").write_bytes(b"not a gzip file")
    return root


def _two_lengths(root: Path) -> Path:
    write(root, "BTCUSDT.csv", CANDLE_HEADER, [candle(n) for n in range(9)])
    return write(root, "ETHUSDT.csv", CANDLE_HEADER, [candle(n, HOUR_MS) for n in range(9)])


def _two_files(root: Path) -> Path:
    return write(candles(root, 9), "BTC-USD.csv", CANDLE_HEADER, [candle(1)])


REFUSED: dict[str, tuple[Callable[[Path], Path], str]] = {
    "no folder": (lambda root: root / "nowhere", "{}/nowhere .*ts,open,high,low,close,volume"),
    "an empty folder": (lambda root: root, "{} holds no market data.*ts,symbol,funding_rate"),
    "broken files": (_broken, r"\(BTCUSDT.csv.gz: Not a gzipped file"),
    "unknown headers": (_file("BTCUSDT.csv", "time,price", ["1,2"]), "begins with 'time,price', .* no layout .*Kraken"),
    "two pairs of one asset": (_two_files, "two pairs of BTC: .*BTC-USD.csv.* and .*BTCUSDT.csv"),
    "funding alone": (
        _file("BTCUSDT.csv", "ts,symbol,funding_rate", [f"{START_MS},BTCUSDT,0.0001"]),
        "no candles in {}",
    ),
    "other assets": (
        _file("DOGEUSDT.csv", CANDLE_HEADER, [candle(n) for n in range(9)]),
        "holds no market data of BTC, ETH",
    ),
    "another length": (
        lambda root: candles(root, 9, 4 * HOUR_MS),
        r"BTCUSDT.csv \(this program\): bars of 240 minutes; expected 1, 5, 15, 30 or 60 minutes",
    ),
    "daily bars": (lambda root: candles(root, 9, 24 * HOUR_MS), "bars of 1 day; expected 1, 5, 15, 30 or 60 minutes"),
    "two lengths": (_two_lengths, "mixes 5-minute bars of BTC and 60-minute bars of ETH; give a folder of one length"),
    "a single candle": (lambda root: candles(root, 1), "too few candles"),
    "no valid candle": (
        _file("BTCUSDT.csv", CANDLE_HEADER, [f"{START_MS + n * BAR_MS},100,90,110,100,1" for n in range(9)]),
        r"holds no candle that can be true: an open or close outside its low and high \(9\)",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_a_recording_is_refused_with_a_reason(tmp_path: Path, name: str) -> None:
    make, reason = REFUSED[name]

    assert re.search(reason.replace("{}", re.escape(str(tmp_path))), _refused([make(tmp_path)]))


@pytest.mark.parametrize(
    "name", ["an empty folder", "broken files", "unknown headers", "funding alone", "other assets"]
)
def test_folders_without_candles_are_refused_by_names_and_headers_alone(tmp_path: Path, name: str) -> None:
    make, _ = REFUSED[name]

    with pytest.raises(SourceError, match=f"no candles of BTC, ETH.* in {re.escape(str(tmp_path))}"):
        check_candles([make(tmp_path)], ASSETS)


def test_one_file_that_begins_as_candles_is_enough_to_start(tmp_path: Path) -> None:
    _broken(candles(tmp_path / "below", 1))

    check_candles([tmp_path], ASSETS)


def test_no_folder_at_all_is_refused() -> None:
    assert _refused([]).startswith("a recording needs a folder of candles")


def test_two_folders_of_candles_are_both_named(tmp_path: Path) -> None:
    one, two = candles(tmp_path / "one", 9), candles(tmp_path / "two", 9)

    for folders in ([one, two], [tmp_path]):
        text = _refused(folders)
        assert text == f"two folders of candles: {one} and {two}; give one"


def test_one_folder_given_twice_is_one_folder(tmp_path: Path) -> None:
    folder = candles(tmp_path / "x-5m", 30)

    source = RecordedSource([folder, folder, tmp_path], None, ASSETS)

    assert observe(source).assets["BTC"].price is not None


def test_a_start_outside_the_recording_names_its_span(tmp_path: Path) -> None:
    folder = candles(tmp_path / "x-5m", 12)

    with pytest.raises(SourceError, match="runs from 2023-11-15T00:05:00Z to 2023-11-15T01:00:00Z"):
        RecordedSource([folder], at(START_MS + 2 * HOUR_MS), ASSETS)


def test_bad_funding_rows_cost_themselves_alone(tmp_path: Path) -> None:
    rows = [
        f"{START_MS},BTCUSDT,0.0001",
        "garbage",
        f"{START_MS},BTCUSDT,0.5",
        f"{START_MS + 8 * HOUR_MS},BTCUSDT,nan",
        f"{START_MS + 8 * HOUR_MS + 4},BTCUSDT,0.0003",
    ]
    funding = funding_file(tmp_path / "f-8h", rows)

    source = RecordedSource([candles(tmp_path / "x-5m", 120), funding], at(START_MS + 9 * HOUR_MS), ASSETS)

    observation = observe(source)
    assert observation.assets["BTC"].funding is not None
    assert observation.assets["BTC"].funding.rate_8h == 0.0003
    assert observation.sources[1].reason == (
        "3 rows left out: fewer columns than the others (1), a value that cannot be true (1), "
        "the same time as a later row (1)"
    )
    assert "no funding of ETH here" in observation.assets["ETH"].limitations


def test_a_clock_set_back_before_the_recording_gives_nulls_with_a_reason(tmp_path: Path) -> None:
    source = RecordedSource([candles(tmp_path / "x-5m", 30)], at(START_MS + HOUR_MS), ASSETS)
    observe(source)

    observation = observe(source, WALL_MS - 2 * HOUR_MS)

    assert observation.assets["BTC"].price is None
    assert "no bar of BTC has closed yet in this recording" in observation.assets["BTC"].limitations
    assert observation.sources[0].status is SourceStatus.FAILED


def test_open_interest_of_zero_is_unknown(tmp_path: Path) -> None:
    rows = [f"{START_MS},BTCUSDT,5,1000", f"{START_MS + 4 * HOUR_MS},BTCUSDT,0,0"]
    interest = interest_file(tmp_path / "i-4h", rows)

    source = RecordedSource([candles(tmp_path / "x-5m", 120), interest], at(START_MS + 5 * HOUR_MS), ASSETS)

    seen = observe(source).assets["BTC"].open_interest
    assert seen is not None
    assert (seen.usd, seen.as_of) == (1000, iso(START_MS))
