"""A restore puts back all or nothing; one that was cut off is marked, and is run again to its end."""

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.wire.restoring import MARK, unfinished_restore
from generator.errors import BackupError
from generator.operate.keep.places import Places
from generator.operate.keep.restore import Fetched, Restore, fetch
from generator.operate.keep.targets import FolderTarget
from tests.backups.instants import KNOWN
from tests.backups.machine import AT, NAME, Machine, places_in

LATER = AT.replace(day=26)


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    return Machine.make(tmp_path_factory.mktemp("restore") / "machine")


def places_for(machine: Machine, state: Path) -> Places:
    return replace(places_in(state), settings=machine.places.settings)


def put_back(machine: Machine, folder: Path, say: Callable[[str], None] = lambda _text: None) -> None:
    """Restore the machine's backup below a folder."""
    scratch = folder / f"scratch-{len(list(folder.iterdir()))}"
    scratch.mkdir()
    fetched = fetch(machine.target, NAME, scratch, KNOWN, machine.signer)
    places = places_for(machine, folder / "state")
    identity = machine.folder / "identity"
    Restore(fetched, places, say, LATER, root=folder / "root", identity=identity).run()


def generation(state: Path) -> int:
    with closing(sqlite3.connect(state / "memory.sqlite3")) as memory:
        return int(memory.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone()[0])


def lines_of(machine: Machine, folder: Path) -> list[str]:
    lines: list[str] = []
    folder.mkdir()
    put_back(machine, folder, lines.append)
    return lines


def test_a_restore_that_was_cut_off_is_marked_until_it_was_run_again(machine: Machine, tmp_path: Path) -> None:
    steps = lines_of(machine, tmp_path / "whole")
    for last in range(len(steps)):
        folder = tmp_path / str(last)
        folder.mkdir()
        child = os.fork()
        if child == 0:
            die_at(machine, folder, last)
        assert os.waitpid(child, 0)[1] == 0

        assert unfinished_restore(folder / "state") is not None, steps[last]
        put_back(machine, folder)
        assert unfinished_restore(folder / "state") is None, steps[last]
        assert files_in(folder) == files_in(tmp_path / "whole"), steps[last]


def die_at(machine: Machine, folder: Path, last: int) -> None:
    said: list[str] = []

    def say(text: str) -> None:
        if len(said) == last:
            os._exit(0)
        said.append(text)

    put_back(machine, folder, say)
    os._exit(1)


def files_in(folder: Path) -> set[str]:
    """Return what is there, but for scratch and for what was renamed."""
    found = [path.relative_to(folder).as_posix() for path in folder.rglob("*")]
    return {name for name in found if not name.startswith("scratch") and ".before-" not in name}


def test_the_number_of_releases_is_raised_before_the_memory_has_its_name(machine: Machine, tmp_path: Path) -> None:
    seen: list[int] = []

    def say(text: str) -> None:
        if text.startswith("memory: "):
            seen.append(generation(tmp_path / "state"))

    put_back(machine, tmp_path, say)

    day = 24 * 60 * 60
    assert seen == [194 + day + 1] == [generation(tmp_path / "state")]


def test_without_the_right_identity_nothing_is_put_back(machine: Machine, tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    fetched = fetch(machine.target, NAME, scratch, KNOWN)

    with pytest.raises(BackupError, match="cannot be read"):
        Restore(
            fetched, places_for(machine, tmp_path / "state"), print, LATER, root=tmp_path, identity=tmp_path / "none"
        ).run()
    assert list((tmp_path / "state").iterdir()) == []


def test_what_cannot_be_written_is_named_and_leaves_the_mark(machine: Machine, tmp_path: Path) -> None:
    state = tmp_path / "state"
    (state / "keys").mkdir(parents=True)
    (state / "keys" / "log.key").symlink_to("log.key")  # a loop: neither there nor to be written through

    put_back(machine, tmp_path)

    assert (state / "keys" / "log.key").read_bytes() == machine.places.keys["log.key"].read_bytes()
    (state / "inbox").rename(tmp_path / "inbox")
    (state / "inbox").write_bytes(b"a file where a folder belongs")
    with pytest.raises(BackupError, match=r"inbox was not put back: .*: the restore is not over, and neither program"):
        put_back(machine, tmp_path)
    assert (state / MARK).read_text() == f"{NAME}\n"


def test_the_keys_come_from_the_newest_backup_that_has_them(machine: Machine, tmp_path: Path) -> None:
    hourly = replace(machine, folder=tmp_path / "machine", target=FolderTarget(tmp_path / "kept"))
    shutil.copytree(machine.folder / "kept", tmp_path / "kept")
    name = hourly.back_up(places=machine.places).manifest.name
    for folder in ("scratch", "scratch-with-keys"):
        (tmp_path / folder).mkdir()

    without = fetch(hourly.target, name, tmp_path / "scratch", KNOWN, machine.signer)
    fetched = fetch(hourly.target, name, tmp_path / "scratch-with-keys", KNOWN, machine.signer, with_keys=True)
    identity = machine.folder / "identity"
    Restore(fetched, places_for(machine, tmp_path / "state"), print, LATER, root=tmp_path, identity=identity).run()

    assert without.keyring is None
    assert (tmp_path / "state/keys/log.key").read_bytes() == machine.places.keys["log.key"].read_bytes()


def test_a_key_of_another_record_is_renamed_and_its_own_stays(machine: Machine, tmp_path: Path) -> None:
    keys = tmp_path / "state" / "keys"
    keys.mkdir(parents=True)
    (keys / "log.key").write_bytes(b"of a record that this machine began")
    lines: list[str] = []

    put_back(machine, tmp_path, lines.append)
    put_back(machine, tmp_path, lines.append)

    renamed = keys / f"log.key.before-{LATER:%Y%m%dT%H%M%SZ}"
    assert renamed.read_bytes() == b"of a record that this machine began"
    assert (keys / "log.key").read_bytes() == machine.places.keys["log.key"].read_bytes()
    assert lines[-1].endswith("is there, and stays")


def test_settings_behind_a_link_of_the_machine_are_refused(machine: Machine, tmp_path: Path) -> None:
    settings = tmp_path / "settings"
    settings.mkdir()
    (settings / "way").symlink_to("/etc")
    places = replace(places_in(tmp_path / "state"), settings=(settings,))

    restore = Restore(fetch_to(machine, tmp_path), places, print, LATER)
    inside = str(settings).lstrip("/")
    assert restore._refuse_setting(f"{inside}/new.env") is None
    assert "is not below" in str(restore._refuse_setting(f"{inside}/way/new.env"))


def fetch_to(machine: Machine, folder: Path) -> Fetched:
    scratch = folder / "scratch"
    scratch.mkdir()
    return fetch(machine.target, NAME, scratch, KNOWN)


def test_what_is_put_back_has_no_more_rights_than_its_owner_and_group_need(machine: Machine, tmp_path: Path) -> None:
    put_back(machine, tmp_path)

    state = tmp_path / "state"
    (settings,) = (tmp_path / "root").rglob("gateway.env")
    modes = [path.stat().st_mode & 0o7777 for path in (settings, state / "inbox" / "A.ballot")]
    assert modes == [0o640, 0o640]
    assert {path.stat().st_mode & 0o7777 for path in (state / "site" / "once").rglob("*") if path.is_file()} == {0o644}
    assert (state / "keys" / "log.key").stat().st_mode & 0o7777 == 0o600


def test_a_backup_of_the_format_before_is_put_back_and_not_signed(machine: Machine, tmp_path: Path) -> None:
    kept = tmp_path / "kept" / NAME
    shutil.copytree(machine.folder / "kept" / NAME, kept)
    values = json.loads((kept / "manifest.json").read_text())
    for name in ("payments", "without", "signature"):
        del values[name]
    for part in values["parts"]:
        del part["plain"]
    (kept / "manifest.json").write_text(json.dumps(values | {"format": 1}))
    before = replace(machine, target=type(machine.target)(tmp_path / "kept"))

    with pytest.raises(BackupError, match="is not signed: one of an older version needs --unsigned"):
        put_back(before, tmp_path)
    before.restore(tmp_path / "state", tmp_path / "root")

    assert files_in(tmp_path / "state") >= {"memory.sqlite3", "payments.sqlite3", "inbox/A.ballot", "keys/log.key"}
