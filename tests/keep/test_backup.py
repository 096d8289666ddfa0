"""A backup holds what cannot be made again, of one moment; it is whole or not there; restoring it brings all back."""

import os
import sqlite3
import tarfile
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import obstore
import pytest
from obstore.store import MemoryStore

from generator.errors import BackupError
from generator.operate.keep.backup import Made, Meant, make_backup
from generator.operate.keep.databases import Database
from generator.operate.keep.keys import make_identity
from generator.operate.keep.manifest import FILE, Schemas
from generator.operate.keep.places import Places
from generator.operate.keep.restore import Restore, fetch, newest, refuse_if_in_use
from generator.operate.keep.targets import BucketTarget, FolderTarget, Target, manifest_of
from generator.operate.keep.verify import Verified, verify
from tests.backups.instants import KNOWN, Instants
from tests.backups.load import sell, start
from tests.support.states.packed import unpacked

AT: Final = datetime(2026, 11, 25, 20, 4, 9, tzinfo=UTC)
NAME: Final = "20261125T200409Z"


def audited(_: Path | str) -> str:
    return "two payments"


def back_up(places: Places, target: Target, recipient: str | None = None, at: datetime = AT) -> Made:
    return make_backup(places, target, lambda: at, "0.1.0", Meant(recipient))


def verified(target: Target, places: Places, scratch: Path) -> Verified:
    scratch.mkdir()
    return verify(target, NAME, scratch, KNOWN, audited, places, AT)


def places_in(state: Path) -> Places:
    return Places(
        memory=Database.at(state / "memory.sqlite3"),
        ledger=Database.at(state / "payments.sqlite3"),
        inbox=state / "inbox",
        site=state / "site",
        settings=(state / "settings",),
        keys={"log.key": state / "keys" / "log.key", "receipt.key": state / "keys" / "receipt.key"},
    )


@pytest.fixture
def state(tmp_path: Path) -> Path:
    folder = unpacked("78f9e24c", tmp_path)
    (folder / "settings").mkdir()
    (folder / "settings" / "gateway.env").write_text("EMI_ALGOD_TOKEN=x\n")
    (folder / "inbox" / "A.ballot").write_bytes(b"a ballot")
    (folder / "inbox" / ".open-round").write_bytes(b"the generator's")
    return folder


@pytest.fixture
def places(state: Path) -> Places:
    return places_in(state)


@pytest.fixture
def target(tmp_path: Path) -> FolderTarget:
    return FolderTarget(tmp_path / "backups")


def rows(database: Database, table: str) -> list[tuple[object, ...]]:
    with sqlite3.connect(database.path) as connection:
        found = connection.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall()
    connection.close()
    return found


def test_a_backup_is_for_its_owner_alone_and_names_what_it_holds(
    places: Places, target: FolderTarget, tmp_path: Path
) -> None:
    made = back_up(places, target)

    folder = tmp_path / "backups" / NAME
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    assert folder.stat().st_mode & 0o777 == 0o700
    assert [part.holds for part in made.manifest.parts] == ["inbox", "memory", "once", "settings", "ledger"]
    assert made.manifest.schemas == Schemas(memory="14", ledger="0008")
    assert made.manifest.log_size == 405
    assert manifest_of(target, NAME) == made.manifest


def test_a_verified_backup_was_put_back_upgraded_and_audited(
    places: Places, target: FolderTarget, tmp_path: Path
) -> None:
    back_up(places, target)

    found = verified(target, places, tmp_path / "scratch")

    assert found.memory is not None
    assert (found.memory.entries, found.memory.tiles) == (405, 75)
    assert found.lines[-1] == "payments ledger: two payments"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_a_trial_gives_nothing_away_and_sets_no_bit_that_a_unit_may_not(
    places: Places, target: FolderTarget, state: Path, tmp_path: Path
) -> None:
    os.chown(state / "memory.sqlite3", 54_321, 54_321)
    os.chown(state / "settings/gateway.env", 54_321, 54_321)
    (state / "inbox").chmod(0o3730)
    back_up(places, target)

    verified(target, places, tmp_path / "scratch")

    tried = [path.stat() for path in (tmp_path / "scratch").rglob("*")]
    assert {found.st_uid for found in tried} == {0}
    assert not [oct(found.st_mode) for found in tried if found.st_mode & 0o7000]


@pytest.mark.parametrize("file", ["memory.sqlite3.gz", "ledger.sqlite3.gz", "once.tar.gz"])
def test_a_backup_with_one_byte_changed_does_not_verify(
    places: Places, target: FolderTarget, tmp_path: Path, file: str
) -> None:
    back_up(places, target)
    path = tmp_path / "backups" / NAME / file
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)

    with pytest.raises(BackupError, match=f"{file} is not what its manifest says"):
        verified(target, places, tmp_path / "scratch")


def test_what_is_published_after_the_memory_was_copied_is_left_out(
    places: Places, target: FolderTarget, state: Path, tmp_path: Path
) -> None:
    class Publishing(Database):
        """A memory whose copy begins when a tick has just published and emptied the inbox."""

        def is_there(self) -> bool:
            (state / "site" / "once" / "log" / "tile" / "0" / "001.p" / "150").write_bytes(b"later")
            (state / "inbox" / "A.ballot").unlink()
            return super().is_there()

    back_up(replace(places, memory=Publishing(places.memory.url)), target)

    assert verified(target, places, tmp_path / "scratch").memory is not None
    with tarfile.open(tmp_path / "backups" / NAME / "inbox.tar.gz") as archive:
        assert archive.getnames() == ["A.ballot"]


def test_tiles_ahead_of_the_memory_do_not_verify(
    places: Places, target: FolderTarget, state: Path, tmp_path: Path
) -> None:
    (state / "site" / "once" / "log" / "tile" / "0" / "001.p" / "150").write_bytes(b"x" * 32 * 150)
    back_up(places, target)

    with pytest.raises(BackupError, match="is ahead of the memory"):
        verified(target, places, tmp_path / "scratch")


def test_a_link_in_the_inbox_is_not_followed(places: Places, target: FolderTarget, state: Path, tmp_path: Path) -> None:
    (state / "inbox" / "B.ballot").symlink_to(state / "keys" / "log.key")
    os.mkfifo(state / "inbox" / "C.ballot")

    back_up(places, target)

    with tarfile.open(tmp_path / "backups" / NAME / "inbox.tar.gz") as archive:
        assert archive.getnames() == ["A.ballot"]


def test_a_restore_brings_back_every_row_file_owner_and_mode(
    places: Places, target: FolderTarget, tmp_path: Path
) -> None:
    made = back_up(places, target, make_identity_in(tmp_path))
    fresh = replace(places_in(tmp_path / "fresh"), settings=places.settings)

    fetched = fetch(target, NAME, tmp_path, KNOWN)
    Restore(fetched, fresh, print, AT, root=tmp_path / "root", identity=tmp_path / "identity").run()

    for table in ("rounds", "log_entries", "lessons", "ballots"):
        assert rows(fresh.memory, table) == rows(places.memory, table)
    assert rows(fresh.ledger, "payments") == rows(places.ledger, "payments")
    assert fresh.memory.path.stat().st_mode == places.memory.path.stat().st_mode
    assert fresh.keys["log.key"].read_bytes() == places.keys["log.key"].read_bytes()
    assert fresh.keys["log.key"].stat().st_mode & 0o777 == 0o600
    assert (fresh.inbox / "A.ballot").read_bytes() == b"a ballot"
    assert len(list((tmp_path / "root").rglob("gateway.env"))) == 1
    assert made.manifest.part("keys") is not None


def make_identity_in(folder: Path) -> str:
    return make_identity(folder / "identity")


def test_a_restore_overwrites_nothing_that_is_there(places: Places, target: FolderTarget, tmp_path: Path) -> None:
    back_up(places, target)
    lines: list[str] = []
    before = places.memory.path.read_bytes()

    Restore(fetch(target, NAME, tmp_path, KNOWN), places, lines.append, AT, root=tmp_path / "root").run()

    renamed = places.memory.path.with_name("memory.sqlite3.before-20261125T200409Z")
    assert renamed.read_bytes() == before
    assert f"once: {places.once} stays as it is, since readers have a release there" in lines


def test_numbers_of_releases_since_the_copy_are_left_out(places: Places, target: FolderTarget, tmp_path: Path) -> None:
    made = back_up(places, target)
    fetched = fetch(target, NAME, tmp_path, KNOWN)

    Restore(fetched, places, print, AT.replace(hour=21), root=tmp_path / "root").run()

    noted = {str(key): value for key, value in rows(places.memory, "meta")}
    assert noted["generation"] == str(made.manifest.generation + 3601)


def test_a_state_in_use_is_refused_with_the_process_that_has_it(places: Places, tmp_path: Path) -> None:
    seller = start(sell, places.ledger.path, tmp_path / "journal")
    try:
        wait_for(lambda: (tmp_path / "journal").exists() and bool((tmp_path / "journal").read_text()))
        with pytest.raises(BackupError, match=f"is in use by process {seller.pid}: stop both programs first"):
            refuse_if_in_use(places, ())
    finally:
        seller.kill()
        seller.join()
    refuse_if_in_use(places, ())


def wait_for(done: Callable[[], bool]) -> None:
    while not done():
        os.sched_yield()


@pytest.mark.parametrize("what", ["memory", "payments ledger"])
def test_a_backup_of_a_newer_program_is_refused_with_the_way_back(
    places: Places, target: FolderTarget, tmp_path: Path, what: str
) -> None:
    database = places.memory if what == "memory" else places.ledger
    with sqlite3.connect(database.path) as connection:
        if what == "memory":
            connection.execute("UPDATE meta SET value = '9999' WHERE key = 'schema_version'")
        else:
            connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    back_up(places, target)

    with pytest.raises(BackupError, match=rf"a {what} of schema 9999, newer than \d+.*: install the version"):
        fetch(target, NAME, tmp_path, KNOWN)


def test_a_damaged_database_makes_no_backup(places: Places, target: FolderTarget) -> None:
    back_up(places, target)
    with places.ledger.path.open("r+b") as file:
        file.seek(4096)
        file.write(b"x" * 8192)

    with pytest.raises(BackupError, match=r"payments.sqlite3 (is damaged|cannot be copied)"):
        back_up(places, target, at=AT.replace(hour=21))
    assert target.names() == [NAME]


def test_an_interrupted_backup_is_not_there_and_goes_with_the_next(
    places: Places, target: FolderTarget, tmp_path: Path
) -> None:
    left = tmp_path / "backups" / ".20261125T190000Z"
    left.mkdir(parents=True)
    (left / FILE).write_bytes(b"half")

    assert target.names() == []
    back_up(places, target)
    assert [path.name for path in (tmp_path / "backups").iterdir()] == [NAME]


def test_an_object_store_has_a_backup_once_its_manifest_is_there(places: Places, tmp_path: Path) -> None:
    target = BucketTarget("s3://bucket/emi", tmp_path, MemoryStore())
    obstore.put(target._store, "20261125T190000Z/memory.sqlite3.gz", b"half")

    assert target.names() == []
    back_up(places, target)

    assert target.names() == [NAME] == [newest(target, None)]
    assert verified(target, places, tmp_path / "scratch").memory is not None
    target.remove(NAME)
    assert target.names() == []


def test_keys_need_their_private_half(places: Places, target: FolderTarget, tmp_path: Path) -> None:
    back_up(places, target, make_identity_in(tmp_path))
    make_identity(tmp_path / "another")
    fetched = fetch(target, NAME, tmp_path, KNOWN)

    fresh = replace(places_in(tmp_path / "fresh"), settings=places.settings)
    with pytest.raises(BackupError, match="cannot be decrypted with"):
        Restore(fetched, fresh, print, AT, root=tmp_path / "root", identity=tmp_path / "another").run()
    assert not (tmp_path / "fresh").exists()
    assert places.keys["log.key"].read_bytes() not in fetched.files["keys"].read_bytes()


@pytest.mark.parametrize("way", ["undisturbed", "killed", "limited"])
def test_no_backup_under_load_lacks_a_payment_from_before_its_cut(state: Path, tmp_path: Path, way: str) -> None:
    journal = tmp_path / "settled"
    seller = start(sell, state / "payments.sqlite3", journal)
    try:
        wait_for(lambda: journal.exists() and bool(journal.read_text()))
        tally = Instants(state, journal, tmp_path, seed=7).run(2, (way,))  # type: ignore[arg-type]
    finally:
        seller.kill()
        seller.join()

    assert (tally.faults, tally.lost) == ([], 0)
    assert tally.verified == sum(tally.there.values())
