"""The kept sums of the regime's chances: those of the hours, step by step and after an upgrade."""

from pathlib import Path

import pytest
from sqlalchemy import text

from generator.arena.holds import KIND, HoldTotals
from generator.errors import BackupError
from generator.operate.keep.audit import audit_memory
from generator.record.memory import holds
from generator.record.memory.store import Memory
from generator.values.hours import Hour
from tests.arena.test_holds import MONDAY, at, random_hours
from tests.record.test_schema import make_older, run_sql
from tests.support.databases import url_in

DAY = 24 * 3_600_000


def sums(memory: Memory) -> HoldTotals:
    with memory.reading() as connection:
        assert holds.complaint(connection) is None
        return holds.totals(connection)


@pytest.mark.parametrize("seed", range(3))
def test_sums_are_those_of_all_hours_at_each_hour(tmp_path: Path, seed: int) -> None:
    hours = random_hours(seed, 6 * 24)
    memory = Memory.open(url_in(tmp_path))

    for place, hour in enumerate(hours, 1):
        memory.keep_hours([hour])
        assert sums(memory) == HoldTotals().plus(hours[:place], hour.at_ms)

    assert memory.view(hours[-1].at_ms).holds == sums(memory).record()
    memory.close()


def test_a_record_of_months_with_a_long_gap_is_counted_at_once(tmp_path: Path) -> None:
    hours = [*random_hours(1, 70 * 24), *(at(number) for number in range(130 * 24, 135 * 24))]
    memory = Memory.open(url_in(tmp_path))

    memory.keep_hours(hours)

    assert sums(memory) == HoldTotals().plus(hours, hours[-1].at_ms)
    assert sums(memory).day == MONDAY // DAY + 134
    memory.close()


def test_hours_from_before_kinds_stay_and_new_ones_begin_at_none(tmp_path: Path) -> None:
    memory = Memory.open(url_in(tmp_path))
    memory.keep_hours([at(number) for number in range(60)])
    memory.close()
    file = tmp_path / "memory.sqlite3"
    make_older(file)
    run_sql(file, "DELETE FROM meta WHERE key LIKE 'regime.%'")

    upgraded = Memory.open(url_in(tmp_path))
    upgraded.keep_hours([at(number) for number in range(60, 80)])

    kept = upgraded.hours(at(80).at_ms)
    assert [(hour.label, hour.chances) for hour in kept] == [("range", (0.1, 0.1, 0.7, 0.1))] * 80
    assert [hour.chances_kind for hour in kept] == [None] * 60 + [KIND] * 20
    record = sums(upgraded).record()
    assert (record.live.n, record.earlier) == (12, {None: 60})
    upgraded.close()


def fail_after(memory: Memory, hour: Hour) -> None:
    with memory.batch():
        memory.keep_hours([hour])
        raise KeyError


def test_a_tick_that_fails_keeps_neither_hour_nor_sums(tmp_path: Path) -> None:
    memory = Memory.open(url_in(tmp_path))
    memory.keep_hours([at(number) for number in range(28)])

    with pytest.raises(KeyError):
        fail_after(memory, at(28))

    assert sums(memory).record().live.hours == 0
    assert memory.hours(at(40).at_ms)[-1] == at(27)
    memory.close()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE hours SET label = 'risk_on' WHERE at_ms = (SELECT min(at_ms) FROM hours)",
        "UPDATE hours SET chances = '[0.1, 0.1, 0.1, 0.7]' WHERE at_ms = (SELECT min(at_ms) FROM hours)",
        "UPDATE hours SET chances_kind = NULL",
        "DELETE FROM hours WHERE at_ms = (SELECT min(at_ms) FROM hours)",
    ],
)
def test_an_audit_names_sums_that_are_not_those_of_the_hours(tmp_path: Path, change: str) -> None:
    memory = Memory.open(url_in(tmp_path))
    memory.keep_hours([at(number) for number in range(60)])
    audit_memory(url_in(tmp_path), None)

    with memory.writing() as connection:
        connection.execute(text(change))
    memory.close()

    with pytest.raises(BackupError, match="the sums of the regime's chances up to day 20778 are not those"):
        audit_memory(url_in(tmp_path), None)
