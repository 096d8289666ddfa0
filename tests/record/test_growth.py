"""What a tick and an audit read does not grow with the record."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from generator.catalog.log_kinds import step_of
from generator.catalog.words import Concept
from generator.record.audit.audit import Audit
from generator.record.audit.game import AuditError
from generator.record.audit.rounds import RoundLog
from generator.record.memory import tables
from generator.record.memory.rounds import concepts_by_recency
from generator.record.memory.rows import insert_all, row_of
from generator.record.memory.store import Memory
from tests.record.test_log import entries
from tests.support import filled_memory
from tests.support.arena_inputs import HOUR, MINUTE, NOON, hours, inputs_at, play_tick
from tests.support.databases import url_in
from tests.support.log_records import Record

GROWS: tuple[str, ...] = (
    "rounds",
    "predictions",
    "lessons",
    "ballots",
    "signed_ballots",
    "ballot_sheets",
    "crowd_tallies",
    "hours",
)
GROWS += ("log_entries", "log_nodes", "locked_crowds", "events", "daily_questions", "daily_answers")


@contextmanager
def plans(memory: Memory, path: Path) -> Iterator[dict[str, list[str]]]:
    """Collect how SQLite carries out each statement that reads."""
    found: dict[str, list[str]] = {}
    with closing(sqlite3.connect(path)) as other:

        def explain(_c: Any, _cursor: Any, statement: str, values: Any, _context: Any, many: bool) -> None:
            if statement.startswith(("SELECT", "UPDATE", "DELETE")) and not many:
                rows = other.execute(f"EXPLAIN QUERY PLAN {statement}", values)
                found[" ".join(statement.split())] = [row[3] for row in rows]

        event.listen(memory._engine, "before_cursor_execute", explain)
        yield found
        event.remove(memory._engine, "before_cursor_execute", explain)


def reads_all(statement: str, plan: list[str]) -> bool:
    """Return whether a statement reads a whole table that grows; the newest few by number are read from its end."""
    scanned = {step.split()[1] for step in plan if step.startswith("SCAN ") and "ballot_sheets_due" not in step}
    few = "DESC LIMIT" in statement or statement.endswith("LIMIT ? OFFSET ?")
    return bool(scanned & set(GROWS)) and not few


def test_no_statement_of_a_tick_reads_a_table_that_grows_to_its_end(tmp_path: Path) -> None:
    memory = Memory.open(url_in(tmp_path))
    filled_memory.record(memory, "2026-11-10T00:00", "2026-11-20T12:00")
    for now in hours(NOON, 2):
        play_tick(memory, inputs_at(now))

    with plans(memory, tmp_path / "memory.sqlite3") as found:
        for now in (NOON + 2 * HOUR + MINUTE, NOON + 3 * HOUR):
            play_tick(memory, inputs_at(now, usual_day=0.012))
            memory.resolved_rounds(500)
            memory.settled_predictions(700)
    memory.close()

    assert len(found) > 20
    assert [statement for statement, plan in found.items() if reads_all(statement, plan)] == []


def test_ideas_come_in_the_order_of_their_newest_lessons(tmp_path: Path) -> None:
    memory = Memory.open(url_in(tmp_path))
    made = [filled_memory.lesson(filled_memory.game(NOON + number * HOUR)) for number in range(6)]
    ideas = (Concept.LUCK, Concept.WEEKEND, None, Concept.LUCK, Concept.BASE_RATE, Concept.WEEKEND)

    with memory._engine.begin() as connection:
        assert concepts_by_recency(connection) == ()
        rows = [row_of(replace(lesson, concept=idea)) for lesson, idea in zip(made, ideas, strict=True)]
        insert_all(connection, tables.lessons, rows)

        assert concepts_by_recency(connection) == (Concept.WEEKEND, Concept.BASE_RATE, Concept.LUCK)
    memory.close()


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Record:
    record = Record(tmp_path_factory.mktemp("played"))
    record.play(hours(NOON, 12))
    record.publish()
    return record


def audited(record: Record, audit: Audit) -> Audit:
    for data in entries(record):
        audit.take(data)
    return audit


def test_an_audit_keeps_the_newest_rounds_and_judges_all(played: Record) -> None:
    whole, bounded = audited(played, Audit()), audited(played, Audit(RoundLog(kept=3)))

    few, all_rounds = bounded.rounds, whole.rounds
    assert list(few.rows) == list(all_rounds.rows)[-3:]
    assert few.ended == all_rounds.ended == set(all_rounds.rows)
    assert len(all_rounds.ended) > 5
    assert (few.sums, bounded.hourly) == (all_rounds.sums, whole.hourly)
    assert set(few.entries) == {*few.rows, *few.open}


def test_a_round_that_ended_long_ago_is_not_sealed_again(played: Record) -> None:
    audit = audited(played, Audit(RoundLog(kept=3)))
    sealed = next(entry for entry in map(json.loads, entries(played)) if step_of(entry) == "round.sealed")
    assert sealed["round_id"] not in audit.rounds.rows

    with pytest.raises(AuditError, match="this round was sealed before"):
        audit.take(json.dumps({**sealed, "at": audit.last_at}).encode())
