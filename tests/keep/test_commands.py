"""`emi backup`, `emi restore` and `emi doctor --upgrade` as an operator runs them, on a state of an earlier version."""

import json
import os
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gateway.ledger.tables import REVISION
from gateway.wire.restoring import MARK
from generator.cli.doctor import check_backups
from generator.operate.keep.status import note
from generator.record.memory.tables import SCHEMA_VERSION
from tests.support.processes import emi_here
from tests.support.states.packed import unpacked

NOW = datetime(2026, 11, 25, 21, tzinfo=UTC)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("backups")
    unpacked("78f9e24c", folder)
    made = emi_here("backup", "kept", cwd=folder, EMI_STATE_DIR="state")
    assert made.returncode == 0, made.stderr
    return folder


def payments(database: Path) -> list[tuple[object, ...]]:
    with sqlite3.connect(database) as connection:
        rows = connection.execute("SELECT txid, state, sha256 FROM payments ORDER BY txid").fetchall()
    connection.close()
    return rows


def test_a_drill_verifies_the_newest_backup_and_notes_it(folder: Path) -> None:
    drilled = emi_here("restore", "kept", "--drill", cwd=folder, EMI_STATE_DIR="state")

    noted = json.loads((folder / "state" / "backups.json").read_text())
    assert (drilled.returncode, drilled.stderr) == (0, "")
    assert "payments ledger: 2 settled; 2 bodies, each of its digest" in drilled.stdout
    assert noted["drilled"] == {"generation": 194, "log_size": 405, "payments": 2}
    assert noted["drill"]["fault"] is None
    assert noted["drill"]["good_at"] >= noted["backup"]["good_at"] > 0


def test_a_drill_that_fails_says_why_in_one_line_and_in_the_note(folder: Path) -> None:
    failed = emi_here("restore", "nothing", "--drill", cwd=folder, EMI_STATE_DIR="elsewhere")

    noted = json.loads((folder / "elsewhere" / "backups.json").read_text())
    assert (failed.returncode, failed.stderr) == (1, "emi: there is no backup\n")
    assert noted["drill"]["fault"] == "there is no backup"


def test_a_restore_prints_what_comes_next_and_brings_the_payments_back(folder: Path) -> None:
    verified = emi_here("restore", "kept", "--dry-run", cwd=folder, EMI_STATE_DIR="state")
    signer = verified.stdout.split()[-1]

    restored = emi_here("restore", "kept", "--signer", signer, cwd=folder, EMI_STATE_DIR="fresh")

    assert restored.returncode == 0, restored.stderr
    assert payments(folder / "fresh" / "payments.sqlite3") == payments(folder / "state" / "payments.sqlite3")
    assert "put the log's key back at fresh/keys/log.key" in restored.stdout
    assert "emi adopt --since " in restored.stdout
    assert "`emi verify` reports removed entries" in restored.stdout


def test_a_restore_asks_who_made_the_backup(folder: Path) -> None:
    unknown = emi_here("restore", "kept", cwd=folder, EMI_STATE_DIR="unknown")
    other = emi_here("restore", "kept", "--signer", "A" * 43 + "=", cwd=folder, EMI_STATE_DIR="unknown")
    broken = emi_here("restore", "kept", "--signer", "mine", cwd=folder, EMI_STATE_DIR="unknown")

    assert "who made the backup is not known: name its key with --signer" in unknown.stderr
    assert "is not signed by AAAA" in other.stderr
    assert broken.stderr == "emi: 'mine' is not the public key of a machine that makes backups\n"
    assert not (folder / "unknown").exists()


@pytest.mark.parametrize(
    "command", [["backup"], ["restore", "--list"], ["restore", "--dry-run"], ["restore", "--unsigned"]]
)
def test_an_empty_target_is_an_error_and_not_the_working_folder(tmp_path: Path, command: list[str]) -> None:
    refused = emi_here(*command, "", cwd=tmp_path, EMI_STATE_DIR="state")

    assert refused.returncode == 1
    assert refused.stderr.startswith("emi: the target is empty: name a folder")


@pytest.mark.parametrize("command", [["tick"], ["schedule"], ["up"], ["bootstrap"]])
def test_no_release_is_made_of_a_state_that_is_half_restored(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / MARK).write_text("20261125T200409Z")

    refused = emi_here(*command, cwd=tmp_path, EMI_STATE_DIR="state")

    assert refused.returncode == 1
    assert "did not come to its end: run emi restore again" in refused.stderr
    assert not (tmp_path / "state" / "site").exists()


def test_a_key_for_the_keys_is_made_once(folder: Path) -> None:
    made = emi_here("key", "backup", "identity", cwd=folder)
    again = emi_here("key", "backup", "identity", cwd=folder)

    assert "public key   age1" in made.stdout
    assert (folder / "identity").stat().st_mode & 0o777 == 0o600
    assert again.stderr == "emi: identity cannot be written: File exists; it is never overwritten\n"


def test_a_dry_run_writes_nothing_and_notes_nothing(folder: Path) -> None:
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    verified = emi_here("restore", "kept", "--dry-run", cwd=folder, EMI_STATE_DIR="state")

    assert (verified.returncode, verified.stderr) == (0, "")
    assert "payments ledger: 2 settled; 2 bodies, each of its digest" in verified.stdout
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_the_backups_of_a_target_are_listed(folder: Path) -> None:
    listed = emi_here("restore", "kept", "--list", cwd=folder, EMI_STATE_DIR="state")

    (name,) = (path.name for path in (folder / "kept").glob("2*"))
    assert listed.returncode == 0
    assert listed.stdout.startswith(f"{name}  cut ")
    assert listed.stdout.endswith("  inbox, memory, once, ledger\n")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--list", "--dry-run"), "choose one of --list, --dry-run and --drill"),
        (("--dry-run", "--identity", "identity"), "--identity puts keys back"),
        (("--smaller",), "--smaller is for --dry-run and --drill"),
    ],
)
def test_options_of_different_errands_are_refused(tmp_path: Path, options: tuple[str, ...], words: str) -> None:
    refused = emi_here("restore", "kept", *options, cwd=tmp_path, EMI_STATE_DIR="state")

    assert refused.returncode == 1
    assert words in refused.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_upgrade_is_rehearsed_on_a_copy(folder: Path) -> None:
    before = {path: path.read_bytes() for path in (folder / "state").glob("*.sqlite3")}

    said = emi_here("doctor", "--upgrade", cwd=folder, EMI_STATE_DIR="state").stdout

    assert f"memory: schema 14 becomes {SCHEMA_VERSION}, in one transaction at the first start" in said
    assert f"payments ledger: schema {REVISION} is this program's" in said
    assert "  19: From commit 78f9e24c: what venues said" in said
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.skipif(os.geteuid() != 0, reason="to give files to another user: root")
def test_root_leaves_no_file_of_its_own_next_to_a_database(tmp_path: Path) -> None:
    state = unpacked("78f9e24c", tmp_path)
    for path in (state, *state.rglob("*")):
        os.chown(path, 4321, 4322)

    assert emi_here("backup", "kept", cwd=tmp_path, EMI_STATE_DIR="state").returncode == 0
    assert emi_here("restore", "kept", "--unsigned", cwd=tmp_path, EMI_STATE_DIR="fresh").returncode == 0

    fresh = [tmp_path / "fresh" / name for name in ("memory.sqlite3", "payments.sqlite3", "site/once", "inbox")]
    databases = list(state.glob("*.sqlite3*"))
    assert {path.stat().st_uid for path in (*databases, *fresh, tmp_path / "fresh")} == {4321}
    assert {path.stat().st_gid for path in (*databases, *fresh)} == {4322}


def test_the_doctor_judges_backup_and_drill(tmp_path: Path) -> None:
    path = tmp_path / "backups.json"
    never = [check.mark for check in check_backups(path, NOW)]
    note(path, "backup", NOW - timedelta(hours=27), "20261124T180000Z")
    note(path, "drill", NOW, fault="the log does not hold")

    found = check_backups(path, NOW)

    assert never == ["--  ", "--  "]
    assert [(check.mark, check.found) for check in found] == [
        ("BAD ", "the last backup is 27 hours old"),
        ("BAD ", "the last restore drill failed: the log does not hold"),
    ]
