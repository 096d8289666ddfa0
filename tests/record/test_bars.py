"""The bars that ticks saw: kept once, two months of them, as they were, and read again from an export."""

import gzip
import hashlib
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from generator.catalog.assets import ASSETS
from generator.cli.export import export
from generator.errors import GeneratorError, SourceError
from generator.market.bars import BAR_FIELDS, BAR_MS, BarFrame
from generator.market.recorded.export import month_span, write_month
from generator.market.recorded.recording import load_recording
from generator.record.memory import bars as kept_bars
from generator.record.memory import tables as t
from generator.record.memory.store import Memory
from generator.runtime.market import to_ms
from generator.runtime.tick import tick
from tests.support.clock import NOON, ManualClock
from tests.support.databases import url_in
from tests.support.markets import market
from tests.support.services import opened, run

SEEN = market(300, assets=ASSETS, seed=9)


@pytest.fixture
def memory(tmp_path: Path) -> Any:
    opened = Memory.open(url_in(tmp_path))
    yield opened
    opened.close()


def keep(memory: Memory, *frames: BarFrame) -> None:
    for frame in frames:
        with memory.tick() as transaction:
            transaction.keep_bars(frame)


def kept(memory: Memory) -> BarFrame:
    with memory.reading() as connection:
        return kept_bars.kept(connection, ASSETS, 0, 2**62)


def assert_equal(found: BarFrame, expected: BarFrame) -> None:
    assert found.t.tolist() == expected.t.tolist()
    for name in BAR_FIELDS:
        np.testing.assert_array_equal(found.fields[name], expected.fields[name], err_msg=name)


def test_bars_are_kept_as_they_were_and_once(memory: Memory) -> None:
    keep(memory, SEEN.rows(0, 100), SEEN.rows(50, 200), SEEN.rows(200), SEEN.rows(10, 20))

    assert_equal(kept(memory), SEEN)


def test_what_is_unknown_stays_unknown(memory: Memory) -> None:
    fields = {name: values.copy() for name, values in SEEN.fields.items()}
    fields["close"][3, 1] = np.nan
    fields["depth_usd"][:, 2] = np.inf
    keep(memory, BarFrame(SEEN.assets, SEEN.t, fields))

    found = kept(memory)

    assert np.isnan(found.fields["close"][3, 1])
    assert np.isnan(found.fields["depth_usd"][:, 2]).all()


def test_hourly_bars_are_not_kept(memory: Memory) -> None:
    keep(memory, BarFrame(SEEN.assets, SEEN.t * 12, dict(SEEN.fields), 12 * BAR_MS))

    assert len(kept(memory)) == 0


def test_two_months_are_kept(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_bars, "KEPT", 40)
    keep(memory, *(SEEN.rows(place, place + 1) for place in range(100)))

    assert_equal(kept(memory), SEEN.rows(60, 100))
    with memory.reading() as connection:
        assert len(connection.execute(t.bars.select()).all()) == 40


def test_an_export_is_read_again_to_the_same_bars(tmp_path: Path) -> None:
    folder = tmp_path / "november"

    counts = write_month(SEEN, folder)

    assert counts == dict.fromkeys(ASSETS, 300)
    assert_equal(load_recording([folder], ASSETS).frame, SEEN)
    sums = dict(line.split("  ")[::-1] for line in (folder / "SHA256SUMS").read_text().splitlines())
    files = {path.name: path.read_bytes() for path in folder.glob("*.gz")}
    assert sums == {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    assert gzip.decompress(files["BTCUSD.csv.gz"]).startswith(b"ts,open,high,low,close,volume,depth_usd,spread_bps,")


def test_an_export_shows_what_venues_said_of_futures(tmp_path: Path) -> None:
    write_month(SEEN, tmp_path / "november")

    series = load_recording([tmp_path / "november"], ASSETS).series

    rates = {kind.value: by_asset["ETH"].values[-1, 0] for kind, by_asset in series.items()}
    assert rates == {
        "funding": SEEN.fields["funding"][-1, 1],
        "open_interest": SEEN.fields["open_interest"][-1, 1],
    }


def test_an_export_writes_over_nothing_and_needs_a_bar(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes").write_text("")

    with pytest.raises(SourceError, match="full is not empty; name a new folder"):
        write_month(SEEN, tmp_path / "full")
    with pytest.raises(SourceError, match="no bar of this month is kept"):
        write_month(SEEN.rows(0, 0), tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_month_begins_and_ends_at_midnight_utc() -> None:
    assert month_span("2026-11") == (1_793_491_200_000, 1_796_083_200_000)
    assert month_span("2024-02")[1] - month_span("2024-02")[0] == 29 * 86_400_000
    for text in ("2026", "2026-13", "2026-00", "november", "2026-11-01"):
        with pytest.raises(SourceError, match="is not a month"):
            month_span(text)


def test_ticks_keep_the_bars_that_they_saw_and_the_command_writes_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    begin_ms = to_ms(NOON)

    frames: list[BarFrame] = []

    async def work() -> None:
        async with opened(tmp_path, ManualClock()) as app:
            for minute in (0, 5, 6, 11):
                await tick(app, NOON + timedelta(minutes=minute))
            frames.append(app.market.history.frame().after(begin_ms - 2 * BAR_MS))

    run(work)
    monkeypatch.setenv("EMI_STATE_DIR", str(tmp_path))

    export(f"{NOON:%Y-%m}", tmp_path / "month")

    found = load_recording([tmp_path / "month"], ASSETS).frame
    assert_equal(found.rows(len(found) - 2), frames[0].rows(len(frames[0]) - 2))
    assert f"BTCUSD.csv.gz: {len(found)} bars" in capsys.readouterr().out


def test_an_export_of_no_state_names_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMI_STATE_DIR", str(tmp_path))

    with pytest.raises(GeneratorError, match=r"memory\.sqlite3 is not there: .* EMI_STATE_DIR"):
        export("2026-11", tmp_path / "month")
    assert not (tmp_path / "memory.sqlite3").exists()
