"""Claims of sealed games stored, logged and verified: a digest before the hour, opened at it, scored after it."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from generator.arena.games import SEALED
from generator.arena.published import canonical_json
from generator.arena.sealed import Claim, Sealed, seal
from generator.catalog.formats import iso
from generator.catalog.log_kinds import step_of
from generator.catalog.words import RoundPhase
from generator.record.audit.audit import Audit
from generator.record.audit.entries import claim_entries
from generator.record.audit.game import AuditError, overdue
from generator.record.audit.sealed import KEPT, SealedLog
from generator.record.memory import tables as t
from generator.record.memory.log import SECRET_KEY
from generator.record.memory.rows import get_meta
from generator.record.memory.sealed import SealedStore
from generator.runtime import tick
from tests.record.test_log import entries as log_entries
from tests.support.arena_inputs import HOUR, MINUTE, NOON, inputs_at
from tests.support.databases import dump, url_in
from tests.support.log_records import Record, run_verify

TIMES = [NOON + hour * HOUR + minute * MINUTE for hour in range(6) for minute in (0, 54, 55)]
HOLDS = SEALED[0]


def play(record: Record, now_ms: int, dies: bool = False) -> None:
    """Play one tick; with `dies` the power goes before it is committed."""
    record.published.begin(now_ms)
    with record.memory.tick() as transaction:
        tick.store_tick(transaction, inputs_at(now_ms, seals_labels=True), str(now_ms).encode())
        if dies:
            raise RuntimeError("the power goes")


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Record]:
    made = Record(tmp_path_factory.mktemp("record"))
    for now_ms in TIMES:
        play(made, now_ms)
    made.publish()
    yield made
    made.memory.close()


def of_holds(record: Record) -> list[dict[str, Any]]:
    entries = [json.loads(data) for data in log_entries(record)]
    return [entry for entry in entries if step_of(entry).startswith("holds.")]


def test_a_claim_is_sealed_before_its_hour_opened_at_it_and_judged_four_hours_later(record: Record) -> None:
    of_one = [entry for entry in of_holds(record) if entry["start"] == "2026-11-20T13:00:00Z"]
    first, last, opened, judged = of_one

    assert [step_of(entry) for entry in of_one] == ["holds.sealed", "holds.sealed", "holds.started", "holds.judged"]
    assert first["commitment"] != last["commitment"]
    assert set(first) == {"game", "kind", "at", "start", "end", "horizon", "commitment"}
    assert last["at"] == "2026-11-20T12:55:00Z"
    assert seal(opened["forecast"], lambda _: opened["salt"]).commitment == last["commitment"]
    assert (opened["at_start"], judged["at_end"]) == ({"label": "range"}, {"label": "risk_on"})
    assert judged["at"] == last["end"] == "2026-11-20T17:00:00Z"


def test_verify_opens_the_claims_and_prints_how_they_did(record: Record) -> None:
    result = run_verify(record.site)

    assert result.exit_code == 0, result.output
    assert "holds: 1 claim opened to the digest and scored again; mean brier " in result.output


def test_a_tick_that_dies_leaves_nothing_and_played_again_gives_the_same_claims(tmp_path: Path, record: Record) -> None:
    broken = Record(tmp_path)
    broken.key_file.parent.mkdir(parents=True)
    broken.key_file.write_bytes(record.key_file.read_bytes())
    broken.key_file.chmod(0o600)

    for now_ms in TIMES:
        with pytest.raises(RuntimeError, match="the power goes"):
            play(broken, now_ms, dies=True)
        play(broken, now_ms)
        play(broken, now_ms)
        broken.restart()

    for table in ("sealed", "log_entries"):
        assert dump(url_in(broken.folder))[table] == dump(url_in(record.folder))[table] != []
    broken.memory.close()


def test_no_salt_of_a_claim_can_be_computed_without_the_secret(record: Record) -> None:
    with record.memory.reading() as connection:
        secret = get_meta(connection, SECRET_KEY)
        salt = record.memory.log_state(connection).salt
    opened = next(entry for entry in of_holds(record) if step_of(entry) == "holds.started")

    assert secret
    assert salt(canonical_json(opened["forecast"])) == opened["salt"]
    assert (
        replace(record.memory.log_state(connection), secret="other").salt(canonical_json(opened["forecast"]))
        != opened["salt"]
    )


def test_a_game_that_is_opened_at_its_end_holds_its_chances_back_until_then() -> None:
    late = replace(HOLDS, reveal=RoundPhase.RESOLVED)
    sealed = Claim("holds", "4h", NOON, NOON + 4 * HOUR, NOON - MINUTE, {"label": "range", "chances": CHANCES_NAMED})
    started = replace(sealed, phase=RoundPhase.LIVE, at_start={"label": "range"})
    scores = HOLDS.score(sealed.content, {}, {"label": "range"})
    judged = replace(started, phase=RoundPhase.RESOLVED, at_end={"label": "range"}, scores=scores)
    steps = [(sealed, NOON - MINUTE), (started, NOON), (judged, NOON + 4 * HOUR)]

    entries = [json.loads(claim_entries(late, [(None, claim)], at, str)[0].data) for claim, at in steps]
    log = SealedLog(late)
    for entry in entries:
        log.readers[step_of(entry)](entry)

    assert ["forecast" in entry for entry in entries] == [False, False, True]
    assert (log.judged, log.sums["held"]) == (1, 1.0)
    with pytest.raises(AuditError, match="do not give the commitment"):
        altered(late, entries[:2], {**entries[2], "salt": "another"})


CHANCES_NAMED = {"risk_on": 0.1, "risk_off": 0.1, "range": 0.7, "high_volatility": 0.1}


def altered(game: Sealed, entries: list[dict[str, Any]], last: dict[str, Any]) -> None:
    log = SealedLog(game)
    for entry in [*entries, last]:
        log.readers[step_of(entry)](entry)


def audited(entries: list[dict[str, Any]]) -> SealedLog:
    log = SealedLog(HOLDS)
    for entry in entries:
        log.readers[step_of(entry)](entry)
    return log


def test_a_claim_that_never_ends_is_missed_after_two_hours(record: Record) -> None:
    entries = of_holds(record)
    sealed, opened = audited(entries[:1]), audited([entry for entry in entries if step_of(entry) != "holds.judged"])

    assert overdue(sealed.waiting(), "2026-11-20T15:00:00Z") is None
    assert "of 2026-11-20T13:00:00Z over 4h" in (overdue(sealed.waiting(), "2026-11-20T15:00:01Z") or "")
    assert overdue(opened.waiting(), "2026-11-20T19:00:00Z") is None
    assert overdue(opened.waiting(), "2026-11-20T19:00:01Z") is not None
    assert overdue(audited(entries).waiting(), "2026-11-20T19:00:01Z") is None


def test_an_audit_keeps_no_more_claims_than_it_compares() -> None:
    log = SealedLog(HOLDS)
    for hour in range(KEPT + 3):
        start = NOON + hour * HOUR
        claim = {"at": iso(start - MINUTE), "start": iso(start), "end": iso(start + 4 * HOUR), "horizon": "4h"}
        log.readers["holds.sealed"]({**claim, "commitment": "c"})

    assert len(log.rows) == KEPT
    assert next(iter(log.rows)) == (iso(NOON + 3 * HOUR), "4h")


def sealed_entry(**changes: str) -> dict[str, Any]:
    entry = {"at": iso(NOON - MINUTE), "start": iso(NOON), "end": iso(NOON + 4 * HOUR), "horizon": "4h"}
    return {"commitment": "c", **entry, **changes}


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"at": "2026-11-20T12:00:00Z"}, "outside of the time before its start"),
        ({"at": "2026-11-20T11:49:59Z"}, "outside of the time before its start"),
        ({"end": "2026-11-20T15:00:00Z"}, "no claim is made of"),
        ({"horizon": "1h"}, "no claim is made of"),
    ],
)
def test_a_seal_of_another_span_or_time_is_refused(changes: dict[str, str], complaint: str) -> None:
    log = SealedLog(HOLDS)
    log.readers["holds.sealed"](sealed_entry())

    with pytest.raises(AuditError, match=complaint):
        log.readers["holds.sealed"](sealed_entry(**changes))


OTHER: dict[str, Any] = {
    "horizon": "5h",
    "start_ms": NOON - HOUR,
    "end_ms": NOON,
    "made_ms": NOON,
    "phase": "void",
    "content": '{"label":"range"}',
    "at_start": '{"label":"transition"}',
    "at_end": '{"label":"transition"}',
    "scores": '{"brier":0.0}',
    "void_reason": "no reason",
}


def audit_of(record: Record) -> Audit:
    audit = Audit()
    for entry in log_entries(record):
        audit.take(entry)
    return audit


@pytest.mark.parametrize("column", [column.name for column in t.claims.c if column.name not in {"id", "kind"}])
def test_each_stored_column_of_a_claim_is_held_by_the_log(record: Record, column: str) -> None:
    audit = audit_of(record)
    judged = select(t.claims.c.id).where(t.claims.c.phase == "resolved").order_by(t.claims.c.id).limit(1)

    with record.memory.reading() as connection:
        honest = SealedStore(HOLDS).complaint(connection, audit)
        savepoint = connection.begin_nested()
        chosen = connection.execute(judged).scalar_one()
        connection.execute(update(t.claims).where(t.claims.c.id == chosen).values({column: OTHER[column]}))
        complaint = SealedStore(HOLDS).complaint(connection, audit)
        savepoint.rollback()

    assert honest is None
    assert complaint is not None
    assert complaint.startswith("the holds claim of 2026-11-20T")
