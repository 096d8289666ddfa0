"""Candles as publishers lay them out and as people spoil them: the same bars, or refused by the true reason."""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from generator.errors import SourceError
from generator.market.bars import BarFrame
from generator.market.recorded.layouts import LAYOUTS
from generator.market.recorded.recording import FileUse, Recording, load_recording
from tests.market.layouts import (
    BAR_MS,
    COUNT,
    READ,
    START_MS,
    WITH_VOLUME,
    WITHOUT_VOLUME,
    Bar,
    Files,
    bars,
    ohlcv,
    text,
    usual,
)

ASSETS = ("BTC", "ETH")
PRICES = ("open", "high", "low", "close")


def laid_out(folder: Path, files: Files) -> Recording:
    """Write the candles of both assets in a layout and read them."""
    for asset in ASSETS:
        for name, content in files(asset, bars(asset)).items():
            (folder / name).write_bytes(content)
    return load_recording([folder], ASSETS)


def assert_same(frame: BarFrame, *fields: str, slack: float = 1e-9) -> None:
    """Hold the bars that were read against those that were written."""
    assert frame.interval_ms == BAR_MS
    assert frame.t.tolist() == [START_MS + number * BAR_MS for number in range(COUNT)]
    for column, asset in enumerate(ASSETS):
        made = bars(asset)
        for field, name in zip((*PRICES, "volume"), ("o", "h", "low", "c", "v"), strict=True):
            expected = [getattr(bar, name) for bar in made] if field in fields else [np.nan] * COUNT
            np.testing.assert_allclose(frame.fields[field][:, column], expected, rtol=slack, err_msg=field)


@pytest.mark.parametrize("name", WITH_VOLUME)
def test_a_publishers_layout_is_read_to_the_same_bars(tmp_path: Path, name: str) -> None:
    assert_same(laid_out(tmp_path, WITH_VOLUME[name]).frame, *PRICES, "volume")


@pytest.mark.parametrize("name", WITHOUT_VOLUME)
def test_a_volume_in_dollars_is_unknown(tmp_path: Path, name: str) -> None:
    assert_same(laid_out(tmp_path, WITHOUT_VOLUME[name]).frame, *PRICES)


@pytest.mark.outside
@pytest.mark.parametrize("form", ["parquet", "feather"])
def test_frames_of_arrow_are_read_with_the_extra(tmp_path: Path, form: str) -> None:
    import pyarrow as arrow  # noqa: ICN001  the name of the library
    from pyarrow import feather, parquet

    def packed(asset: str, made: Sequence[Bar]) -> dict[str, bytes]:
        times = arrow.array([bar.t for bar in made], arrow.timestamp("ms", "UTC"))
        values = {
            name: [getattr(bar, of) for bar in made] for name, of in zip(PRICES, ("o", "h", "low", "c"), strict=True)
        }
        table = arrow.table({"date": times, **values, "volume": [bar.v for bar in made]})
        file = tmp_path / f"{asset}_USDT-5m.{form}"
        (parquet.write_table if form == "parquet" else feather.write_feather)(table, file)
        return {file.name: file.read_bytes()}

    assert_same(laid_out(tmp_path, packed).frame, *PRICES, "volume")


def test_frames_of_arrow_without_the_extra_name_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    (tmp_path / "BTC_USDT-5m.feather").write_bytes(b"ARROW1")

    with pytest.raises(SourceError, match="needs the extra `frames` of this package: pip install"):
        load_recording([tmp_path], ASSETS)


@pytest.mark.parametrize("name", READ)
def test_an_unusual_file_is_read_to_the_same_bars(tmp_path: Path, name: str) -> None:
    recording = laid_out(tmp_path, lambda asset, made: {f"{asset}USDT.csv": READ[name](made)})

    rounded = name == "rounded highs"
    if rounded:
        assert (recording.frame.fields["high"] >= recording.frame.fields["close"]).all()
    assert_same(recording.frame, *PRICES, "volume", slack=1e-3 if rounded else 1e-9)
    assert recording.mended == (2 * COUNT if rounded else 0)


def test_what_is_left_out_is_named_by_reason_and_the_rest_is_used(tmp_path: Path) -> None:
    (use,) = _uses(tmp_path, READ["duplicates"](bars("BTC")))

    assert (use.rows, use.used) == (2 * COUNT, COUNT)
    assert use.left_out == {"the same time as a later row": COUNT}
    assert (use.pair, use.layout, use.kind) == ("BTCUSDT", "this program", "candles")
    assert (use.first_ms, use.last_ms) == (START_MS, START_MS + (COUNT - 1) * BAR_MS)


def test_an_empty_volume_is_unknown_and_costs_no_candle(tmp_path: Path) -> None:
    rows = [[*row[:5], "" if number % 2 else row[5]] for number, row in enumerate(ohlcv(bars("BTC")))]
    (tmp_path / "BTCUSDT.csv").write_bytes(usual(rows))

    frame = load_recording([tmp_path], ASSETS).frame

    assert frame.interval_ms == BAR_MS
    assert np.isfinite(frame.fields["close"][:, 0]).all()
    assert np.isnan(frame.fields["volume"][1::2, 0]).all()


def test_a_gap_of_six_hours_stays_a_gap(tmp_path: Path) -> None:
    made = bars("BTC")
    (tmp_path / "BTCUSDT.csv").write_bytes(usual(ohlcv([*made[:100], *made[172:]])))

    assert len(load_recording([tmp_path], ASSETS).frame) == COUNT - 72


def test_a_month_in_a_wrong_place_and_in_another_unit_is_not_lost(tmp_path: Path) -> None:
    made = bars("BTC")
    (tmp_path / "BTCUSDT.csv").write_bytes(usual([*ohlcv(made[600:], lambda t: t // 1000), *ohlcv(made[:600])]))

    assert len(load_recording([tmp_path], ASSETS).frame) == COUNT


def test_bars_of_15_minutes_are_joined_to_hours_and_a_part_of_an_hour_is_left_out(tmp_path: Path) -> None:
    made = bars("BTC", 3 * BAR_MS, 98)
    (tmp_path / "BTCUSDT.csv").write_bytes(usual(ohlcv(made)))

    recording = load_recording([tmp_path], ASSETS)

    assert (recording.frame.interval_ms, len(recording.frame)) == (12 * BAR_MS, 24)
    hour = made[4:8]
    joined = [float(recording.frame.fields[field][1, 0]) for field in (*PRICES, "volume")]
    assert joined == [
        hour[0].o,
        max(bar.h for bar in hour),
        min(bar.low for bar in hour),
        hour[3].c,
        sum(bar.v for bar in hour),
    ]
    assert recording.files[0].left_out == {"part of a longer bar that the file does not hold whole": 2}


REFUSED: dict[str, tuple[Callable[[Sequence[Bar]], bytes], str]] = {
    "daily": (
        lambda _: usual(ohlcv(bars("BTC", 288 * BAR_MS, 40))),
        "bars of 1 day; expected 1, 5, 15, 30 or 60 minutes",
    ),
    "four hours": (lambda _: usual(ohlcv(bars("BTC", 48 * BAR_MS, 40))), "bars of 240 minutes; expected"),
    "times rounded by a spreadsheet": (
        lambda made: usual(ohlcv(made, lambda t: f"{t:.5E}")),
        "a spreadsheet that rounded them",
    ),
    "off the grid": (lambda made: usual(ohlcv(made, lambda t: t + 90_000)), r"a time between two bars \(900\)"),
    "trades": (
        lambda made: text([[bar.t, bar.c, bar.v] for bar in made], "time,price,amount"),
        "begins with 'time,price,amount'",
    ),
    "a page of HTML": (lambda _: b"<html><body>404</body></html>\n" * 9, "begins with '<html>"),
    "no rows": (lambda _: usual([]), "holds too few candles to tell their length: 0"),
    "text for prices": (
        lambda made: usual([[bar.t, "a", "b", "c", "d", 1] for bar in made]),
        r"no number where a number belongs \(900\)",
    ),
    "times before 2009": (lambda made: usual(ohlcv(made, lambda t: t // 10**6)), r"no time from 2009 to 2100 \(900\)"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_is_refused_by_its_true_reason(tmp_path: Path, name: str) -> None:
    make, reason = REFUSED[name]
    (tmp_path / "BTCUSDT.csv").write_bytes(make(bars("BTC")))

    with pytest.raises(SourceError, match=reason) as refusal:
        load_recording([tmp_path], ASSETS)

    assert re.search("BTCUSDT.csv|" + re.escape(str(tmp_path)), str(refusal.value))


@pytest.mark.parametrize(
    ("name", "reason"),
    [("ETHBTC.csv", "ETH in BTC: no pair in dollars"), ("notes.csv", "its name names no pair that is read")],
)
def test_a_file_that_is_passed_over_is_named(tmp_path: Path, name: str, reason: str) -> None:
    (tmp_path / name).write_bytes(usual(ohlcv(bars("ETH"))))

    uses = _uses(tmp_path, usual(ohlcv(bars("BTC"))))

    assert [(use.name, use.rows, use.passed_over) for use in uses] == [("BTCUSDT.csv", COUNT, ""), (name, 0, reason)]


def test_pairs_in_folders_of_their_own_are_one_recording(tmp_path: Path) -> None:
    for asset in ASSETS:
        (tmp_path / f"{asset}USDT").mkdir()
        (tmp_path / f"{asset}USDT" / "2022-10.csv").write_bytes(usual(ohlcv(bars(asset))))

    assert_same(load_recording([tmp_path], ASSETS).frame, *PRICES, "volume")


def test_files_of_two_lengths_are_both_named(tmp_path: Path) -> None:
    (tmp_path / "XBTUSD_5.csv").write_bytes(usual(ohlcv(bars("BTC"))))
    (tmp_path / "XBTUSD_60.csv").write_bytes(usual(ohlcv(bars("BTC", 12 * BAR_MS, 75))))

    with pytest.raises(SourceError, match=r"XBTUSD_5.csv has bars of 5 minutes, .*XBTUSD_60.csv of 60 minutes; keep"):
        load_recording([tmp_path], ASSETS)


def test_binances_files_of_funding_and_open_interest_are_read(tmp_path: Path) -> None:
    (tmp_path / "BTCUSDT-5m-2022-10.csv").write_bytes(usual(ohlcv(bars("BTC"))))
    rates = [
        [START_MS + hour * 3_600_000 + 7, 8, f"{rate}"] for hour, rate in ((0, 0.0001), (8, 0.0002), (16, -0.0003))
    ]
    funding = tmp_path / "funding"
    funding.mkdir()
    (funding / "BTCUSDT-fundingRate-2022-10.csv").write_bytes(
        text(rates, "calc_time,funding_interval_hours,last_funding_rate")
    )
    interest = tmp_path / "metrics"
    interest.mkdir()
    header = "create_time,symbol,sum_open_interest,sum_open_interest_value,count_toptrader_long_short_ratio"
    for day in range(2):
        rows = [[f"2022-10-{15 + day} {hour:02}:05:00", "BTCUSDT", 1000 + hour, 19_000_000, 1] for hour in range(24)]
        (interest / f"BTCUSDT-metrics-2022-10-{15 + day}.csv").write_bytes(text(rows, header))

    frame = load_recording([tmp_path], ASSETS).frame

    assert frame.fields["funding"][[0, 96, 97, 200], 0].tolist() == [0.0001, 0.0002, 0.0002, -0.0003]
    assert frame.fields["open_interest"][[5, 20], 0].tolist() == [1000, 1001]


def test_what_binances_interface_answers_is_read_as_funding_and_open_interest(tmp_path: Path) -> None:
    times = [START_MS + hour * 3_600_000 for hour in range(24)]
    bodies = {
        "": [[*row, 0, 0, 1, 1, 1, 0] for row in ohlcv(bars("BTC"))],
        "funding": [{"symbol": "BTCUSDT", "fundingTime": t, "fundingRate": "0.0003"} for t in times[::8]],
        "interest": [
            {"symbol": "BTCUSDT", "sumOpenInterest": "7", "sumOpenInterestValue": "9", "timestamp": t} for t in times
        ],
    }
    for folder, body in bodies.items():
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "BTCUSDT.json").write_text(json.dumps({"response": body}))

    fields = load_recording([tmp_path], ASSETS).frame.fields

    assert [fields[name][150, 0] for name in ("close", "funding", "open_interest")] == [bars("BTC")[150].c, 0.0003, 7]


def test_of_a_file_beyond_the_limit_the_newest_rows_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("MOST_ROWS", 500), ("_CHUNK", 100)):
        monkeypatch.setattr(f"generator.market.recorded.files.{name}", value)

    (use,) = _uses(tmp_path, usual(ohlcv(bars("BTC")[::-1])))

    assert use.used == 500
    assert use.left_out == {"older than the newest 1,000,000": 400}
    assert use.last_ms == START_MS + (COUNT - 1) * BAR_MS


def test_each_layout_of_the_table_is_tried_here() -> None:
    tried = {name.split("'")[0].split(",")[0].split(" ")[0] for name in (*WITH_VOLUME, *WITHOUT_VOLUME)}
    missing = {layout.publisher for layout in LAYOUTS} - {"this program", "a usual header"}

    assert {name for name in missing if name.split("'")[0].split(",")[0].split(" ")[0] not in tried} == set()


def _uses(folder: Path, content: bytes) -> tuple[FileUse, ...]:
    (folder / "BTCUSDT.csv").write_bytes(content)
    return load_recording([folder], ASSETS).files
