"""The log of a generator: keys on disk, the same log whatever the restarts, immutable tiles."""

import json
import re
import shutil
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from generator.arena.closing import NOT_SEALED
from generator.catalog.formats import iso, ms_of
from generator.catalog.log_kinds import step_of
from generator.errors import GeneratorError
from generator.record.audit.audit import Audit
from generator.record.audit.game import AuditError
from generator.record.audit.scores import scores_of
from generator.record.keys import add_key, drop_old_keys, make_key, name_of, read_keys
from generator.record.log.note import Checkpoint
from generator.record.log.tiles import tiles_between, unbundle
from tests.support import rfc6962
from tests.support.arena_inputs import HOUR, MINUTE, NOON, hours, inputs_at, play_tick, store_tick
from tests.support.known import known
from tests.support.log_records import CROWDED, NAME, Record, run_verify

HOURS = 8


@pytest.fixture
def record(tmp_path: Path) -> Iterator[Record]:
    made = Record(tmp_path)
    yield made
    made.memory.close()


def entries(record: Record) -> list[bytes]:
    """Every entry as published, read without any of the product's readers but the bundle's."""
    names = sorted(str(path.relative_to(record.site / "log")) for path in (record.site / "log").rglob("*"))
    size = record.log_size
    full = [name for name in names if name.startswith("tile/entries/") and ".p" not in name]
    found = [entry for name in full for entry in unbundle(record.read(name))]
    if size % 256:
        found += unbundle(record.read(f"tile/entries/{size // 256:03d}.p/{size % 256}"))
    return found


def test_the_published_log_read_by_the_standard_has_the_signed_root(record: Record) -> None:
    record.play(hours(NOON, HOURS))
    record.publish()

    head = Checkpoint.open(record.read("checkpoint"), [read_keys(record.key_file)[0].verifier])
    assert head.size == len(entries(record)) > 40
    assert head.root == rfc6962.mth(entries(record))
    assert head.origin == NAME
    tile = record.read(f"tile/0/000.p/{head.size}")
    assert tile == b"".join(rfc6962.mth([entry]) for entry in entries(record))


def test_an_audit_of_an_honest_log_finds_every_round_and_hour(record: Record) -> None:
    record.play(hours(NOON, HOURS))
    record.publish()
    audit = Audit()
    for entry in entries(record):
        audit.take(entry)
    audit.finish()

    view = record.memory.view(NOON + HOURS * HOUR)
    assert len(audit.rounds.rows) == HOURS - 1 == audit.rounds.record().resolved
    assert audit.hourly.record().resolved == (HOURS - 1) * 7
    for audited, shown in (
        (audit.rounds.record(), view.arena_record),
        (audit.hourly.record(), view.hourly_record),
    ):
        assert scores_of(audited) == scores_of(shown)
        assert audited.bins == shown.bins


def test_no_entry_reveals_a_forecast_before_its_round_or_hour(record: Record) -> None:
    record.play([NOON, NOON + 55 * MINUTE])
    record.publish()

    log = [json.loads(entry) for entry in entries(record)]
    (sealed,) = [entry for entry in log if step_of(entry) == "round.sealed"]
    (made,) = [entry for entry in log if step_of(entry) == "predictions.sealed"]
    assert set(sealed) == {
        *("game", "kind", "at", "round_id", "asset", "opened", "start", "end", "band_bps", "commitment", "ballot_form"),
        "compared_at",
    }
    assert set(made) == {"game", "kind", "at", "start", "assets"}
    assert all(len(digest) == 64 for digest in made["assets"].values())


def test_a_forecast_that_no_release_carried_before_its_start_is_void_and_not_scored(record: Record) -> None:
    for now in hours(NOON, 3):
        record.published.begin(now)
        play_tick(record.memory, inputs_at(now, config=CROWDED), published_ms=NOON + 5 * MINUTE)

    rows = record.memory.resolved_rounds(10)
    unseen = ("void", "the forecast was not published before the start")
    assert [(row["phase"], row["void_reason"]) for row in rows] == [unseen, unseen, ("resolved", None)]
    assert record.memory.view(NOON + 180 * MINUTE).hourly_record.resolved == 0


def test_a_power_cut_over_the_second_seal_compares_with_nothing_and_verifies(record: Record) -> None:
    """The first two rounds are sealed at opening alone, the third at the close too."""
    record.play([NOON, NOON + HOUR, NOON + 2 * HOUR, NOON + 175 * MINUTE, NOON + 3 * HOUR, NOON + 4 * HOUR])
    record.publish()
    log = [json.loads(entry) for entry in entries(record)]

    closings = [row["closing"] for row in record.memory.resolved_rounds(10)]
    view = record.memory.view(NOON + 4 * HOUR)
    assert [(known(closing)["commitment"] is None, known(closing)["void_reason"]) for closing in closings] == [
        (False, None),
        (True, NOT_SEALED),
        (True, NOT_SEALED),
    ]
    assert (view.arena_record.resolved, view.simulated_crowd_record.n) == (3, 1)
    assert [entry["round_id"] for entry in log if step_of(entry) == "round.resealed"] == ["ETH-20261120-150000"]
    assert {entry["compared_at"] for entry in log if step_of(entry) == "round.sealed"} == {"close"}
    assert run_verify(record.site).exit_code == 0


def test_a_round_that_leaves_the_rule_again_is_a_fault(record: Record) -> None:
    record.play(hours(NOON, 3))
    record.publish()
    log = [json.loads(entry) for entry in entries(record)]
    last = max(at for at, entry in enumerate(log) if step_of(entry) == "round.sealed")
    del log[last]["compared_at"]

    with pytest.raises(AuditError, match="people were compared with the forecast at the close before"):
        take_all(Audit(), log)


def test_a_second_seal_of_after_the_start_is_a_fault(record: Record) -> None:
    record.play(hours(NOON, 3))
    record.publish()
    log = [json.loads(entry) for entry in entries(record)]
    again = next(entry for entry in log if step_of(entry) == "round.resealed")
    place = log.index(again)
    log[place] = {**again, "round_id": "BTC-20261120-140000"}

    with pytest.raises(AuditError, match="no open round that is sealed twice"):
        take_all(Audit(), log)


def test_a_tile_is_published_once_unless_the_site_was_lost(record: Record) -> None:
    record.play(hours(NOON, 1))
    first = record.publish()
    again = record.publish()
    record.restart()
    record.play([NOON + 61 * MINUTE])
    later = record.publish()

    (record.site / "log" / "checkpoint").unlink()
    record.restart()
    record.published.begin(NOON + 62 * MINUTE)
    assert (first, again, later) == (2, 0, 0)
    assert record.publish() == 2  # the site was lost


def test_a_backtest_is_not_in_the_log(record: Record) -> None:
    with record.memory.batch():
        for now in hours(NOON - 3 * HOUR, 3):
            store_tick(record.memory, replace(inputs_at(now, config=CROWDED), warm_up=True))
    record.play(hours(NOON, 2))
    record.publish()

    rows = record.memory.resolved_rounds(500)
    assert any(row["warm_up"] for row in rows)
    assert all(bool(row["log_entries"]) is not row["warm_up"] for row in rows)


# An older memory under a newer site


def test_an_older_memory_adds_nothing_to_the_published_log_and_stops_nothing(record: Record) -> None:
    record.play(hours(NOON, 1))
    record.publish()
    record.memory.close()
    shutil.copy(record.folder / "memory.sqlite3", record.folder / "older")
    record.open()
    record.play([NOON + 115 * MINUTE, *hours(NOON + 2 * HOUR, 1)])
    record.publish()
    record.memory.close()
    shutil.copy(record.folder / "older", record.folder / "memory.sqlite3")
    for name in ("memory.sqlite3-wal", "memory.sqlite3-shm"):
        (record.folder / name).unlink(missing_ok=True)
    record.open()
    before = {path: path.read_bytes() for path in (record.site / "log").rglob("*") if path.is_file()}
    record.play(hours(NOON + 4 * HOUR, 3))

    assert record.publish() == 0
    assert {path: path.read_bytes() for path in before} == before


# Keys


def test_tiles_are_offered_again_in_turn_under_a_head_that_was_compared(record: Record) -> None:
    record.play(hours(NOON, 3))
    record.publish()
    needed = {f"/log/{tile.path}" for tile in tiles_between(0, record.log_size)}
    offered = {path for _ in range(2) for path in record.published.prepare().again}

    record.published.resume(record.read("checkpoint"))

    assert offered == needed
    assert record.published.prepare().again == {}


def test_a_key_file_is_for_its_owner_alone_and_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "keys" / "log.key"
    make_key(path, NAME)
    before = path.read_bytes()

    with pytest.raises(GeneratorError, match="never overwritten"):
        make_key(path, NAME)
    assert path.read_bytes() == before
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o602, 0o660])
def test_a_key_that_others_may_read_is_refused_with_the_command_that_mends_it(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "a key"
    make_key(path, NAME)
    path.chmod(mode)

    with pytest.raises(GeneratorError) as raised:
        read_keys(path)

    assert str(raised.value) == f"log key {path} can be read by others (mode {mode:04o}): chmod 600 '{path}'"
    path.chmod(0o600)
    assert read_keys(path)


def test_a_lost_key_stops_the_log_and_does_not_begin_another(record: Record) -> None:
    record.play([NOON])
    record.key_file.unlink()
    record.restart()

    with pytest.raises(GeneratorError, match="cannot be read"):
        record.published.begin(NOON + MINUTE)


def test_a_strange_key_is_refused(record: Record) -> None:
    record.play([NOON])
    record.key_file.unlink()
    make_key(record.key_file, NAME)
    record.restart()

    with pytest.raises(GeneratorError, match="never signed this log"):
        record.published.begin(NOON + MINUTE)


def test_a_rotated_key_is_noted_in_the_log_and_both_sign_until_the_end(record: Record) -> None:
    record.play([NOON])
    old = read_keys(record.key_file)[0].verifier
    new = add_key(record.key_file).verifier
    record.restart()
    record.play([NOON + MINUTE])
    record.publish()
    for key in (old, new):
        Checkpoint.open(record.read("checkpoint"), [key])
    drop_old_keys(record.key_file)
    record.restart()
    record.play([NOON + 2 * MINUTE])
    record.publish()

    Checkpoint.open(record.read("checkpoint"), [new])
    noted = [json.loads(entry)["key"] for entry in entries(record) if b'"key"' in entry]
    assert noted == [old.text, new.text]
    with pytest.raises(ValueError, match="no trusted key"):
        Checkpoint.open(record.read("checkpoint"), [old])


@pytest.mark.parametrize("content", ["", "nonsense\n", "PRIVATE+KEY+a+b\n", "x" * 5_000, "\x00"])
def test_an_invalid_key_file_is_one_clear_line_without_its_content(tmp_path: Path, content: str) -> None:
    path = tmp_path / "log.key"
    path.write_text(content)
    path.chmod(0o600)

    with pytest.raises(GeneratorError, match=r"log key .*log\.key") as raised:
        read_keys(path)
    assert not content or content.strip("\n") not in str(raised.value)


# What an audit names. The entries are an honest log's, one of them bent and all of them signed again.


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, object]]:
    record = Record(tmp_path_factory.mktemp("honest"))
    record.play(hours(NOON, 7))
    record.publish()
    record.memory.close()
    return [json.loads(entry) for entry in entries(record)]


def complaint(log: list[dict[str, object]]) -> str:
    audit = Audit()
    with pytest.raises(AuditError) as raised:
        take_all(audit, log)
    return str(raised.value)


def take_all(audit: Audit, log: list[dict[str, object]]) -> None:
    for entry in log:
        audit.take(json.dumps(entry).encode())
    audit.finish()


def first(log: list[dict[str, object]], kind: str) -> int:
    return next(number for number, entry in enumerate(log) if step_of(entry) == kind)


@pytest.mark.parametrize(
    ("kind", "field", "value", "named"),
    [
        ("round.sealed", "commitment", "0" * 64, "do not give the commitment"),
        ("round.sealed", "band_bps", 1.0, "the band is not the one"),
        ("round.sealed", "start", "2026-11-20T11:00:00Z", "not sealed before the start"),
        ("round.sealed", "at", "2026-11-20T11:00:00Z", "back-dated"),
        ("round.started", "start_price", 1.0, "change_bps is"),
        ("round.started", "salt", "0", "do not give the commitment"),
        ("round.started", "votes", {"bullish": 99, "bearish": 99, "neutral": 99}, "recomputed"),
        ("round.judged", "end_price", 1.0, "change_bps is"),
        ("round.judged", "outcome", "NEUTRAL", "outcome is"),
        ("predictions.judged", "start", "2026-11-20T10:00:00Z", "no prediction was made"),
        ("predictions.sealed", "at", "2026-11-20T13:30:00Z", "made after its hour began"),
        ("scores", "arena", {}, "scores are"),
    ],
)
def test_one_bent_field_is_named_with_its_entry(
    honest: list[dict[str, object]], kind: str, field: str, value: object, named: str
) -> None:
    place = first(honest, kind)
    if value == honest[place][field]:
        value = "BULLISH"
    log = [*honest[:place], {**honest[place], field: value}, *honest[place + 1 :]]

    found = complaint(log)
    assert named in found
    assert found.startswith(("entry ", "round "))


def test_an_hourly_prediction_that_was_changed_after_its_hour_began_is_named(honest: list[dict[str, object]]) -> None:
    place = first(honest, "predictions.started")
    shown: Any = json.loads(json.dumps(honest[place]))
    shown["assets"]["BTC"]["forecast"]["probabilities"] = [0.1, 0.1, 0.8]

    assert "BTC: prediction and salt do not give the commitment" in complaint(
        [*honest[:place], shown, *honest[place + 1 :]]
    )


@pytest.mark.parametrize(
    "kind", ["round.sealed", "round.started", "round.judged", "predictions.started", "predictions.judged"]
)
def test_a_dropped_entry_is_missed(honest: list[dict[str, object]], kind: str) -> None:
    place = first(honest, kind)

    assert complaint([*honest[:place], *honest[place + 1 :]])


def test_a_round_whose_end_was_left_out_is_missed_although_every_entry_holds(honest: list[dict[str, object]]) -> None:
    place = first(honest, "round.judged")
    later: dict[str, object] = {"kind": "log.key", "key": "x", "at": "2026-11-21T12:00:00Z"}

    assert "never ended" in complaint([*honest[:place], *honest[place + 1 :], later])


def test_a_repeated_entry_is_named(honest: list[dict[str, object]]) -> None:
    place = first(honest, "round.judged")

    assert "no live round" in complaint([*honest[: place + 1], *honest[place:]])


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b"nonsense", b'{"kind":"round.sealed","at":"x"}', b"[" * 5_000])
def test_garbage_in_a_log_is_named_never_a_traceback(data: bytes) -> None:
    with pytest.raises(AuditError, match="entry 0"):
        Audit().take(data)


@pytest.mark.parametrize(
    ("kind", "complaint"),
    [
        ("round.started", "locked 60 s after the start"),
        ("round.judged", "resolved 60 s after the end"),
        ("predictions.started", "the start price was fixed 60 s after the start"),
        ("ranges.judged", r"\w+: the end price over 15m was fixed 60 s after the end"),
    ],
)
def test_what_was_written_a_minute_late_is_named_with_how_late_it_was(
    record: Record, kind: str, complaint: str
) -> None:
    record.play([*hours(NOON, 1), NOON + 75 * MINUTE, *hours(NOON + HOUR, 1)[1:]])
    record.publish()
    audit = Audit()
    data = iter(entries(record))
    while step_of(late := json.loads(next(data))) != kind:
        audit.take(json.dumps(late).encode())

    late["at"] = iso(ms_of(late["at"]) + MINUTE)
    with pytest.raises(AuditError) as caught:
        audit.take(json.dumps(late).encode())

    about = late.get("round_id") or late.get("start")
    assert re.fullmatch(rf"entry \d+, {kind} {about}: {complaint}", str(caught.value))


def test_a_key_that_signs_again_after_another_one_is_noted_again(record: Record) -> None:
    record.play([NOON])
    first = record.key_file.read_text()
    add_key(record.key_file)
    for minute, keys in ((1, record.key_file.read_text()), (2, first)):
        record.key_file.write_text(keys)
        record.restart()
        record.published.begin(NOON + minute * MINUTE)
    record.publish()

    noted = [entry["key"] for entry in map(json.loads, entries(record)) if step_of(entry).startswith("log.")]
    assert len(noted) == 3
    assert noted[0] == noted[2] != noted[1]


def test_a_clock_that_went_back_is_an_entry_of_its_own_and_counted(record: Record) -> None:
    record.play([NOON + HOUR, NOON])
    record.publish()

    found = entries(record)
    audit = Audit()
    for entry in found:
        audit.take(entry)

    stepped = [json.loads(entry) for entry in found if b"clock.stepped" in entry]
    assert [(entry["before"], entry["at"]) for entry in stepped] == [(iso(NOON + HOUR), iso(NOON))]
    assert audit.clock_steps == 1


@pytest.mark.parametrize(
    ("origin", "name"),
    [("https://api.example.org", "api.example.org/log"), ("http://localhost:8080/", "localhost:8080/log")],
)
def test_a_log_is_named_by_its_origin_without_the_scheme(origin: str, name: str) -> None:
    assert name_of(origin) == name
