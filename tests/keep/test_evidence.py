"""What is tampered with is refused, and what is lost is missed."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from generator.operate.keep.backup import Meant
from tests.backups.evidence import Row, hostile_rows, lost_rows
from tests.backups.lost import LAST_ENTRY, change, hours_of_failing
from tests.backups.machine import LATER, NAME, Machine

FORGED = "20261125T205959Z"  # of the hour of the whole one, and newer


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """A machine that each test spoils, with a copy of it next to it."""
    machine = Machine.make(tmp_path_factory.mktemp("evidence") / "machine")
    machine.kept_in(kept(machine))
    return machine


def kept(machine: Machine) -> Path:
    return machine.folder.parent / "kept"


def faults(rows: Sequence[Row]) -> dict[str, str]:
    return {row.what: row.wrong for row in rows if row.wrong}


def test_every_tampered_backup_is_refused_in_one_line_and_leaves_nothing(machine: Machine) -> None:
    rows = list(hostile_rows(machine, kept(machine)))

    assert faults(rows) == {}
    assert len(rows) >= 49


def test_every_lost_part_is_missed_in_one_line_and_the_whole_backup_stays(machine: Machine) -> None:
    rows = list(lost_rows(machine, kept(machine)))

    assert faults(rows) == {}
    assert len(rows) >= 30


def test_two_days_of_backups_that_fail_cost_no_whole_one(machine: Machine) -> None:
    machine.reset(kept(machine))

    assert hours_of_failing(machine, 49) == [NAME]


def test_a_part_that_is_left_out_on_purpose_is_missed_no_more(machine: Machine) -> None:
    machine.reset(kept(machine))
    (machine.state / "memory.sqlite3").unlink()

    made = machine.back_up(LATER, Meant(without=("memory",)))
    again = machine.back_up(LATER.replace(hour=21), Meant(without=("memory",)))

    assert made.removed == ()
    assert again.removed == ()
    assert machine.target.names()[0] == NAME
    assert machine.verify(machine.signer).memory is None
    lines = machine.restore(machine.folder / "fresh", machine.folder / "root")
    assert lines[0].startswith("memory: not in this backup")


def test_a_backup_with_keys_outlives_the_next_one_without(machine: Machine) -> None:
    machine.reset(kept(machine))

    made = machine.back_up(LATER)

    assert made.removed == ()
    assert "keys" not in made.manifest.holds
    assert machine.back_up(LATER.replace(minute=45)).removed == (made.manifest.name,)


def test_a_backup_that_another_wrote_takes_the_place_of_none(machine: Machine) -> None:
    machine.reset(kept(machine))
    shutil.copytree(machine.folder / "kept" / NAME, machine.folder / "kept" / FORGED)
    manifest = machine.folder / "kept" / FORGED / "manifest.json"
    manifest.write_text(manifest.read_text().replace(NAME, FORGED).replace('"log_size": 15', '"log_size": 99'))

    made = machine.back_up(LATER.replace(hour=21))
    later = [machine.back_up(LATER.replace(day=26 + day)).manifest.name for day in (0, 1)]

    assert made.removed == ()
    assert machine.target.names() == [NAME, FORGED, made.manifest.name, *later]


def test_a_backup_of_an_earlier_version_makes_room_for_newer_ones(machine: Machine) -> None:
    machine.reset(kept(machine))
    unsigned = machine.back_up(LATER).manifest.name
    manifest = machine.folder / "kept" / unsigned / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"signature": "", "format": 1}))

    assert machine.back_up(LATER.replace(minute=45)).removed == (unsigned,)


def test_an_older_record_is_backed_up_where_that_is_meant(machine: Machine) -> None:
    machine.reset(kept(machine))
    change(machine.state / "memory.sqlite3", LAST_ENTRY)

    assert machine.back_up(LATER, Meant(smaller=True)).manifest.log_size == 404
    assert machine.back_up(LATER.replace(hour=21)).manifest.log_size == 404
