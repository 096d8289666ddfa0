"""What an earlier program forecast keeps its rule, its result and its lesson, and is scored as it was."""

import json
import sqlite3
import tarfile
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest

from generator.arena.daily import published_question
from generator.arena.ranges import move_percent
from generator.arena.teacher import RunningTotals
from generator.brain.forecast import CHANCES_KIND
from generator.catalog import formats
from generator.catalog.durations import DAY_MS
from generator.catalog.words import RoundPhase
from generator.record.audit.audit import Audit
from generator.record.audit.daily import daily_complaint
from generator.record.memory.store import Memory
from tests.record.test_fence import Held
from tests.support.arena_inputs import HOUR, MINUTE, inputs_at, ms, store_tick

STATE: Final = Path(__file__).parents[1] / "support" / "states" / "78f9e24c.tar.xz"  # with a day from before calls
KEPT: Final = ("rounds", "predictions", "lessons", "log_entries", "crowd_tallies")


def rows_of(path: Path, table: str) -> list[dict[str, Any]]:
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(f"SELECT * FROM {table}")]


@pytest.fixture
def older(tmp_path: Path) -> Path:
    """The memory of a program from before calls."""
    with tarfile.open(STATE) as pack:
        pack.extract("state/memory.sqlite3", tmp_path, filter="tar")
    return tmp_path / "state" / "memory.sqlite3"


def upgraded(path: Path) -> tuple[Memory, RunningTotals]:
    memory = Memory.open(f"sqlite:///{path}", Held(2))
    assert list(memory.count_again())
    with memory.reading() as connection:
        return memory, memory.totals(connection)


def test_an_upgrade_changes_no_row_of_the_record_and_no_entry_of_the_log(older: Path) -> None:
    before = {name: rows_of(older, name) for name in KEPT}

    upgraded(older)[0].close()

    for name, rows in before.items():
        after = rows_of(older, name)
        assert len(rows) > 10
        assert [{key: row[key] for key in rows[0]} for row in after] == rows


def test_the_backtest_from_before_calls_is_scored_by_its_words(older: Path) -> None:
    memory, totals = upgraded(older)
    memory.close()

    scores = totals.backtest_scores()

    assert scores is not None
    assert scores.hourly.before_calls is not None
    assert (scores.hourly.before_calls.hit.n, scores.hourly.hit.n, scores.hourly.no_calls) == (336, 0, 0)


def test_what_is_sealed_from_then_on_has_a_call_and_leaves_the_older_record_alone(older: Path) -> None:
    memory, totals = upgraded(older)
    begin = max(row["at_ms"] for row in rows_of(older, "ticks")) // HOUR * HOUR + HOUR

    for hour in range(begin, begin + 12 * HOUR, HOUR):  # past midnight, when the scores are logged
        for minute in (0, 15, 55):
            store_tick(memory, inputs_at(hour + minute * MINUTE))

    with memory.reading() as connection:
        after = memory.totals(connection)
    made = memory.settled_predictions(14)
    memory.close()
    assert {(one.call is None, one.chances_kind) for one in made} == {(False, CHANCES_KIND)}
    live, older_kind = after.live.hourly, after.live.hourly.earlier
    assert (live.kind, live.before.total.below) == (CHANCES_KIND, 0)
    assert live.calls.total.below > 0
    assert after.hourly_record().no_calls > 0
    words = totals.live.hourly.before.total.below
    assert older_kind is not None
    assert (older_kind.kind, older_kind.before.total.below, older_kind.earlier) == (None, words, None)
    shown = after.hourly_record().before_calls
    assert shown is not None
    assert shown.hit.n == words
    assert (after.backtest.hourly, after.backtest.arena) == (totals.backtest.hourly, totals.backtest.arena)

    audit = Audit()
    for row in rows_of(older, "log_entries"):
        audit.take(row["data"])
    audit.finish()
    kinds = [row["kind"] for row in rows_of(older, "log_entries")]
    assert kinds.count("scores") == 4
    assert audit.hourly.record().before_calls == after.hourly_record().before_calls
    assert audit.hourly.record().by_call == after.hourly_record().by_call


def test_scores_of_a_day_on_which_the_kind_changed_are_those_of_the_log(older: Path) -> None:
    memory, _ = upgraded(older)
    first = max(row["at_ms"] for row in rows_of(older, "ticks")) // DAY_MS * DAY_MS + DAY_MS - 10 * MINUTE

    for at in range(first, first + 15 * MINUTE, 5 * MINUTE):  # forecasts of the new kind, none of them due at midnight
        store_tick(memory, inputs_at(at))
    memory.close()

    entries = [row["data"] for row in rows_of(older, "log_entries")]
    audit = Audit()
    for data in entries:
        audit.take(data)
    newest = [json.loads(data) for data in entries if json.loads(data)["kind"] == "scores"][-1]
    assert newest["hourly"]["resolved"] == 7 * 35  # assets and hours that were judged before


def test_a_question_open_at_an_upgrade_ends_by_its_rule_and_the_next_has_a_base(older: Path) -> None:
    memory = Memory.open(f"sqlite:///{older}", Held(2))
    closes = ms("2026-11-23T12:00")
    measured = ms("2026-11-24T13:00")

    for now in (closes, closes + HOUR, measured):
        store_tick(memory, inputs_at(now, usual_day=0.012))

    questions = {question.question_id: question for question in memory.view(measured).daily}
    memory.close()
    early = questions["BTC-DAILY-20261122"]
    late = questions["BTC-DAILY-20261123"]
    assert (early.phase, early.base_price, early.closing_brain) == (RoundPhase.RESOLVED, None, None)
    assert early.move == move_percent(early.start_price or 0.0, early.end_price or 0.0)
    assert late.base_price == formats.price(inputs_at(closes + HOUR).prices["BTC"].price)
    audit = Audit()
    for row in rows_of(older, "log_entries"):
        audit.take(row["data"])
    published = json.dumps({"questions": [published_question(question) for question in questions.values()]})
    assert daily_complaint(published.encode(), audit.daily, audit.last_at) is None
