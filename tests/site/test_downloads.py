"""The record as files: whole, exact, safe to open, and never another for a month that is over."""

import csv
import gzip
import hashlib
import io
import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import brotli
import pytest
from sqlalchemy import delete

from generator.catalog.assets import ASSETS
from generator.catalog.discovery import ONCE_PREFIXES
from generator.catalog.downloads import DOWNLOADS, HOURLY_FIELDS, RANGE_FIELDS, ROUND_FIELDS
from generator.catalog.horizons import HORIZONS
from generator.catalog.words import Call, Prediction, SourceMode
from generator.errors import PublishError
from generator.record.audit.entries import Entry
from generator.record.log.tiles import unbundle
from generator.record.memory import log
from generator.record.memory import tables as t
from generator.record.memory.exports import forget_months
from generator.record.memory.store import Memory
from generator.site.files.downloads import (
    Downloads,
    _practice_files,
    downloads,
    hourly_row,
    json_lines,
    no_downloads,
    series_csv,
)
from generator.site.files.table import made_each_tick
from generator.site.resources import ShippedMonth
from tests.support.filled_memory import CAME, fill, game, ms, opened, prediction, record

NOON = datetime(2026, 12, 2, 12, tzinfo=UTC)
ENDED = "2026-11-30 20:00", "2026-12-01 03:00"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    yield from opened(tmp_path)


def made(memory: Memory, at: datetime = NOON, mode: SourceMode = SourceMode.SIMULATED) -> Downloads:
    return downloads(memory.exports(), mode, at)


def closed(memory: Memory, at: datetime = NOON) -> Downloads:
    """The files once every month that is over was published and noted."""
    while (found := made(memory, at)).notes:
        memory.note_months(found.notes)
    return found


def table(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode(), newline="")))


def lines(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.decode().splitlines() if line]


def test_every_file_that_the_catalog_lists_is_made_and_no_other(memory: Memory) -> None:
    files = made(memory).files
    plain = {path for path in files if not path.endswith((".gz", ".br"))}

    of_a_tick = {file.path for file in made_each_tick()}
    assert plain == {row.path for row in DOWNLOADS} - of_a_tick
    assert set(no_downloads(SourceMode.LIVE).files) >= plain
    assert all(files.values())


def test_every_forecast_is_kept_hit_miss_or_void(memory: Memory) -> None:
    record(memory, "2026-12-01 00:00", "2026-12-02 11:00")

    rows = lines(made(memory).files["/track-record/hourly.jsonl"])

    assert len(rows) == 35 * len(ASSETS)
    assert {row["correct"] for row in rows} == {True, False, None}
    assert all((row["correct"] is None) == bool(row["void_reason"]) for row in rows)


def test_a_forecast_without_a_call_is_neither_right_nor_wrong() -> None:
    older = prediction("BTC", ms("2026-12-01 01:00"))
    word = Call.UP if older.prediction is Prediction.BULLISH else Call.SMALL_MOVE

    rows = [hourly_row(replace(older, call=call), SourceMode.LIVE) for call in (None, word, Call.NONE)]

    right = older.prediction is older.outcome
    assert [row["correct"] for row in rows] == [right, right, None]
    assert [row["call"] for row in rows] == [None, str(word), "none"]
    assert [row["move"] for row in rows] == [
        None,
        {"chance": 0.6021, "base_rate": 0.6602},
        {"chance": 0.6021, "base_rate": 0.6602},
    ]
    assert [row["chances_kind"] for row in rows] == [older.chances_kind] * 3
    assert [row["move_chance"] for row in table(series_csv(HOURLY_FIELDS, rows))] == ["", "0.6021", "0.6021"]


def test_csv_and_json_lines_hold_the_same_values(memory: Memory) -> None:
    record(memory, "2026-12-01 00:00", "2026-12-02 11:00")
    files = made(memory).files

    for name, fields in (("ranges", RANGE_FIELDS), ("hourly", HOURLY_FIELDS), ("rounds", ROUND_FIELDS)):
        rows, objects = (
            table(files[f"/track-record/{name}.csv"]),
            lines(files[f"/track-record/{name}.jsonl"]),
        )
        assert len(rows) == len(objects) > 30
        for row, one in zip(rows, objects, strict=True):
            assert row == {column.name: written(value_at(one, column.keys)) for column in fields}


def value_at(row: Any, keys: tuple[str, ...]) -> Any:
    for key in keys:
        row = None if row is None else row.get(key)  # a forecast without a kind of chances names none
    return row


def written(value: Any) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def test_a_month_is_not_closed_before_its_last_range_has_ended(memory: Memory) -> None:
    record(memory, "2026-11-30 20:00", "2026-11-30 23:00")
    moves = {name: CAME for name in HORIZONS if name != "24h"}
    fill(memory, [prediction("BTC", ms("2026-11-30 23:00"), moves=moves)], [])

    waiting = made(memory, datetime(2026, 12, 1, 2, tzinfo=UTC))

    assert (dict(waiting.notes), dict(waiting.once)) == ({}, {})
    last = lines(waiting.files["/track-record/ranges.jsonl"])[-1]["ranges"]
    assert (last["4h"]["move"], last["24h"]["move"], last["24h"]["low_90"]) == (-0.028, None, -0.329)


def test_rounds_are_the_rows_that_were_published(memory: Memory) -> None:
    record(memory, "2026-12-01 00:00", "2026-12-02 11:00")
    published = {row["round_id"]: row for row in memory.resolved_rounds(500)}

    rows = lines(made(memory).files["/track-record/rounds.jsonl"])

    assert {row["round_id"]: row for row in rows} == {
        name: {**row, "source_mode": "simulated"} for name, row in published.items()
    }


def test_every_row_says_where_its_prices_come_from_and_whether_it_is_bootstrap(memory: Memory) -> None:
    at = ms("2026-12-01 00:00")
    fill(memory, [prediction("BTC", at, warm_up=True), prediction("ETH", at)], [])

    rows = table(made(memory, mode=SourceMode.RECORDED).files["/track-record/hourly.csv"])

    assert [(row["source_mode"], row["warm_up"]) for row in rows] == [("recorded", "true"), ("recorded", "false")]


def test_csv_is_that_of_rfc_4180() -> None:
    row = {"asset": 'a "b", c\nd', "start": None, "end": 1}
    fields = HOURLY_FIELDS[:3]

    data = series_csv(fields, [row])

    assert data == b'asset,start,end\r\n"a ""b"", c\nd",,1\r\n'
    assert table(data) == [{"asset": row["asset"], "start": "", "end": "1"}]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_no_text_begins_a_formula_in_a_spreadsheet(text: str) -> None:
    data = series_csv(HOURLY_FIELDS[:1], [{"asset": text}])

    assert table(data) == [{"asset": f"'{text}"}]


def test_numbers_below_zero_stay_numbers() -> None:
    row = hourly_row(prediction("BTC", ms("2026-12-01 01:00")), SourceMode.LIVE)

    assert table(series_csv(HOURLY_FIELDS, [row]))[0]["change_bps"] == "-2.8"


def test_a_file_of_json_lines_without_rows_is_not_empty() -> None:
    assert json_lines([]) == b"\n"


def test_digests_are_those_of_the_files(memory: Memory) -> None:
    record(memory, *ENDED)
    first = made(memory)
    files = {path.rsplit("/", 1)[-1]: data for path, data in {**first.files, **first.once}.items()}

    sums = dict(
        line.split("  ")[::-1] for line in closed(memory).files["/track-record/SHA256SUMS"].decode().split("\n")[6:-1]
    )
    own = dict(line.split("  ")[::-1] for line in first.files["/track-record/SHA256SUMS"].decode().split("\n")[:-1])

    assert {name: hashlib.sha256(files[name]).hexdigest() for name in own} == own
    assert {name: hashlib.sha256(files[name]).hexdigest() for name in sums} == sums
    assert len(sums) == 6


def test_packed_variants_are_of_the_same_content(memory: Memory) -> None:
    record(memory, "2026-12-01 00:00", "2026-12-02 11:00")

    files = made(memory).files

    for path in ("/track-record/hourly.csv", "/track-record/rounds.jsonl"):
        assert gzip.decompress(files[path + ".gz"]) == brotli.decompress(files[path + ".br"]) == files[path]


def test_a_month_that_is_over_is_written_once_and_leaves_the_running_files(memory: Memory) -> None:
    record(memory, *ENDED)

    first = made(memory)
    memory.note_months(first.notes)
    then = made(memory)

    assert list(first.notes) == ["2026-11"]
    assert all(path.startswith(ONCE_PREFIXES) and "/2026-11/" in path for path in first.once)
    assert {row["start"][:7] for row in lines(first.files["/track-record/hourly.jsonl"])} == {"2026-11", "2026-12"}
    assert {row["start"][:7] for row in lines(then.files["/track-record/hourly.jsonl"])} == {"2026-12"}
    assert not then.once
    assert {row.path for row in then.months} == set(first.once)


def test_nothing_is_lost_between_the_running_files_and_the_months(memory: Memory) -> None:
    record(memory, "2026-10-31 20:00", "2026-11-01 04:00")
    record(memory, *ENDED)
    once: dict[str, bytes] = {}
    while (found := made(memory)).notes:
        once |= found.once
        memory.note_months(found.notes)

    files = [data for path, data in {**once, **found.files}.items() if "hourly" in path and path.endswith(".csv")]

    starts = sorted((row["asset"], row["start"]) for data in files for row in table(data))
    assert len(set(starts)) == len(starts) == 15 * len(ASSETS)
    assert len(files) == 3


@pytest.mark.parametrize("kind", ["a prediction", "a round"])
def test_a_month_is_not_closed_before_its_last_forecast_has_ended(memory: Memory, kind: str) -> None:
    record(memory, "2026-11-30 20:00", "2026-11-30 23:00")
    last = ms("2026-11-30 23:00")
    waiting = (
        ([prediction("BTC", last, ended=False)], []) if kind == "a prediction" else ([], [game(last, ended=False)])
    )
    fill(memory, *waiting)

    found = made(memory, datetime(2026, 12, 1, 0, 30, tzinfo=UTC))

    assert not found.once
    assert len(lines(found.files["/track-record/hourly.jsonl"])) == 3 * len(ASSETS)


def test_a_closed_month_of_the_log_becomes_items_of_practice(memory: Memory) -> None:
    shipped = ShippedMonth.load()
    entries = []
    for path, content in sorted(shipped.log.items()):
        for data in unbundle(content) if "/tile/entries/" in path else ():
            read = json.loads(data)
            entries.append(Entry(read["kind"], read.get("start"), data))
    with memory.writing() as connection:
        log.append(connection, log.load_edge(connection), entries)

    made = {file.series: data for file, data in _practice_files(memory.exports(), "2026-10", SourceMode.SIMULATED)}

    assert made == {"practice": shipped.items, "practice-truths": shipped.truths}
    assert _practice_files(memory.exports(), "2026-09", SourceMode.SIMULATED) == []


def test_a_backlog_of_months_is_closed_one_at_a_time_and_current_files_stay_small(memory: Memory) -> None:
    for month in range(1, 12):
        record(memory, f"2026-{month:02d}-15 00:00", f"2026-{month:02d}-15 02:00")

    first = made(memory)

    assert list(first.notes) == ["2026-01"]
    assert {row["start"][:7] for row in lines(first.files["/track-record/hourly.jsonl"])} == {"2026-11"}
    assert len(closed(memory).months) == 11 * 6


def test_a_month_that_is_closed_again_after_the_site_was_lost_has_the_same_files(memory: Memory) -> None:
    record(memory, *ENDED)
    first = made(memory)
    memory.note_months(first.notes)
    before = made(memory)
    with memory.writing() as connection:
        forget_months(connection)

    again = made(memory)

    assert not before.once
    assert (again.once, again.notes) == (first.once, first.notes)


def test_a_file_too_large_to_publish_never_reaches_a_tick(memory: Memory) -> None:
    record(memory, *ENDED)

    with pytest.raises(PublishError, match=r"larger than 2000 bytes"):
        downloads(memory.exports(), SourceMode.LIVE, NOON, max_bytes=2_000)


def test_a_month_that_grew_after_it_was_closed_is_closed_again_under_other_names(memory: Memory) -> None:
    record(memory, *ENDED)
    first = made(memory)
    closed(memory)
    fill(memory, [prediction("BTC", ms("2026-11-30 19:00"))], [])  # the clock had been set back

    again = made(memory)

    assert list(again.notes) == ["2026-11"]
    assert not {path for path in again.once if "hourly" in path} & set(first.once)
    assert {path for path in again.once if "rounds" in path} < set(first.once)
    assert not closed(memory).once


def test_a_memory_begun_again_cannot_clash_with_earlier_files(memory: Memory) -> None:
    record(memory, *ENDED)
    first = made(memory)
    with memory._engine.begin() as connection:
        connection.execute(delete(t.predictions))
    fill(memory, [replace(prediction("BTC", ms("2026-11-30 22:00")), band_bps=1.0)], [])

    again = made(memory)

    clashing = {path for path in again.once if path in first.once and again.once[path] != first.once[path]}
    assert not clashing


def test_reading_the_record_keeps_no_tick_from_writing(memory: Memory) -> None:
    record(memory, *ENDED)
    reader = memory.exports()._engine.connect()
    transaction = reader.begin()
    reader.exec_driver_sql("select count(*) from predictions").scalar()

    memory.note_months({"2026-10": "[]"})

    assert reader.exec_driver_sql("select count(*) from meta where key like 'record.%'").scalar() == 0
    transaction.rollback()
    reader.close()
    assert memory.exports().notes() == {"2026-10": "[]"}


def test_the_record_can_be_read_in_another_thread(memory: Memory) -> None:
    record(memory, *ENDED)
    found: list[Downloads] = []

    thread = threading.Thread(target=lambda: found.append(made(memory)))
    thread.start()
    thread.join(30)

    assert found == [made(memory)]
