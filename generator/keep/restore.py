"""Put a backup back where it was taken from. Nothing that is there is overwritten: it is renamed, or it stays."""

import io
import os
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from gateway.wire.space import reason_of
from generator.errors import BackupError
from generator.keep import keys
from generator.keep.databases import Database, put_back, raise_generation
from generator.keep.files import digest_of, give, members, processes_with, write_private
from generator.keep.manifest import Manifest, Part, Schemas
from generator.keep.places import EXPORTS, INBOX, KEYS, LEDGER, MEMORY, ONCE, SETTINGS, Places
from generator.keep.targets import Target

COMPANIONS: Final = ("", "-wal", "-shm", "-journal", "-damaged")
"""What lies next to a database of SQLite."""
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Fetched:
    """The files of a backup, on this machine and as the manifest says they are."""

    manifest: Manifest
    files: dict[str, Path]  # by what they hold


def fetch(target: Target, name: str, folder: Path, known: Schemas) -> Fetched:
    """Bring a backup to this machine and compare it with its manifest.

    Args:
        target: where backups lie.
        name: of the backup.
        folder: for what does not lie on this machine.
        known: the newest schemas that this program knows.

    Raises:
        BackupError: it is not whole, or a newer program made it.
    """
    manifest = Manifest.of(target.manifest(name))
    manifest.check_known(known)
    files: dict[str, Path] = {}
    for part in manifest.parts:
        path = target.fetch(name, part.file, folder)
        try:
            found = digest_of(path)
        except OSError as error:
            raise BackupError(f"backup {name}: {part.file} cannot be read: {error.strerror}") from error
        if found != (part.bytes, part.sha256):
            raise BackupError(f"backup {name}: {part.file} is not what its manifest says: choose another backup")
        kind = part.holds
        files[kind] = path
    return Fetched(manifest, files)


def newest(target: Target, name: str | None) -> str:
    """Return the name of a backup that is there, the newest by default; BackupError where there is none."""
    names = target.names()
    if name is None and names:
        return names[-1]
    if name in names:
        return str(name)
    if not names:
        raise BackupError("there is no backup")
    raise BackupError(f"there is no backup {name}; the newest is {names[-1]}")


def refuse_if_in_use(places: Places, locks: tuple[Path, ...]) -> None:
    """Raise BackupError while a process of this machine has a database or a lock of the programs open."""
    files = [database.path for database in (places.memory, places.ledger) if database.is_file]
    found = processes_with((*files, *locks))
    for process, path in found.items():
        raise BackupError(f"{path} is in use by process {process}: stop both programs first")


class Restore:
    """One backup on its way back.

    Args:
        fetched: the backup.
        places: of this machine.
        say: called with each thing that is done.
        now: the wall time, in the names of what is renamed.
        root: below which files with absolute names are put; another one for a trial.
        identity: file with the private key for the backup's keys; None leaves them out.
    """

    def __init__(
        self,
        fetched: Fetched,
        places: Places,
        say: Say,
        now: datetime,
        *,
        root: Path = Path("/"),
        identity: Path | None = None,
    ) -> None:
        self._fetched = fetched
        self._places = places
        self._say = say
        self._suffix = f".before-{now:%Y%m%dT%H%M%SZ}"
        self._root = root
        self._is_trial = root != Path("/")
        self._identity = identity

    def run(self) -> None:
        """Put everything back; BackupError names what was not, and what was renamed keeps that name."""
        try:
            self._database(MEMORY, self._places.memory)
            self._database(LEDGER, self._places.ledger)
            self._folder(INBOX, self._places.inbox)
            if self._places.exports is not None:
                self._folder(EXPORTS, self._places.exports)
            self._once()
            self._files(SETTINGS)
            self._keys()
        except OSError as error:
            place = Path(error.filename or ".")
            raise BackupError(f"{place} was not put back: {reason_of(error, place)}") from error

    def skip_generations(self, now: datetime) -> None:
        """Leave out as many numbers of releases as there may have been since the copy of the memory: one a second."""
        if self._fetched.manifest.part(MEMORY) is not None:
            since = now - datetime.fromisoformat(self._fetched.manifest.began)
            raise_generation(self._places.memory, max(0, int(since.total_seconds())) + 1)

    def _part(self, holds: str) -> tuple[Part, Path] | None:
        part = self._fetched.manifest.part(holds)
        return None if part is None else (part, self._fetched.files[holds])

    def _database(self, holds: str, database: Database) -> None:
        found = self._part(holds)
        if found is None:
            return

        part, source = found
        if database.is_file:
            self._make_parents(database.path, part)
            for suffix in COMPANIONS:
                self._rename(database.path.with_name(database.path.name + suffix))
        put_back(source, database, self._rights(part.owner, part.group, part.mode))
        self._say(f"{holds}: {database.shown}")

    def _folder(self, holds: str, folder: Path) -> None:
        """Add files to a folder; one of a name that is there stays."""
        found = self._part(holds)
        if found is None:
            return

        part, source = found
        if not folder.is_dir():
            self._make_parents(folder, part)
            folder.mkdir(0o700)
            give(folder, *self._rights(part.owner, part.group, part.mode))
        count = self._unpack(source, folder)
        self._say(f"{holds}: {count} files in {folder}")

    def _once(self) -> None:
        """Put back what was published once, unless readers have a release: then the site is newer, and stays."""
        once = self._places.once
        if once is None or self._part(ONCE) is None:
            return
        if self._places.is_published:
            self._say(f"{ONCE}: {once} stays as it is, since readers have a release there")
            return
        self._rename(once)
        self._folder(ONCE, once)

    def _files(self, holds: str) -> None:
        found = self._part(holds)
        if found is not None:
            count = self._unpack(found[1], self._root)
            self._say(f"{holds}: {count} files; those that were there stay as they are")

    def _keys(self) -> None:
        found = self._part(KEYS)
        if found is None:
            return
        if self._identity is None:
            self._say(f"{KEYS}: left out; add --identity FILE, the private key for which they are encrypted")
            return
        archive = io.BytesIO(keys.decrypt(found[1].read_bytes(), self._identity))
        for member, data in members(archive):
            place = self._places.keys.get(member.name)
            if place is not None:
                kept = "put back" if self._write_member(place, member, data) else "is there, and stays"
                self._say(f"{KEYS}: {place} {kept}")

    def _unpack(self, source: Path, folder: Path) -> int:
        """Write the files of an archive that are not there; return how many."""
        with source.open("rb") as archive:
            return sum(self._write_member(folder / member.name, member, data) for member, data in members(archive))

    def _write_member(self, path: Path, member: tarfile.TarInfo, data: bytes) -> bool:
        """Write a file of an archive with its owner, mode and time; one that is there stays, and False is returned."""
        if path.exists():
            return False

        owner = member.uname or str(member.uid)
        group = member.gname or str(member.gid)
        # Whoever may read the file may enter its folders.
        readers = member.mode & 0o044
        missing = [folder for folder in path.parents if not folder.exists()]
        for folder in reversed(missing):
            folder.mkdir(0o700)
            give(folder, *self._rights(owner, group, 0o700 | readers | readers >> 2))

        write_private(path, data)
        give(path, *self._rights(owner, group, member.mode))
        os.utime(path, (member.mtime, member.mtime))
        return True

    def _rights(self, owner: str, group: str, mode: int) -> tuple[str, str, int]:
        """Return whose something is to be, and its mode; in a trial this process's own, which may not give it away."""
        return ("", "", mode & 0o700) if self._is_trial else (owner, group, mode)

    def _make_parents(self, path: Path, part: Part) -> None:
        missing = [folder for folder in path.parents if not folder.exists()]
        for folder in reversed(missing):
            folder.mkdir(0o700)
        if missing:
            give(missing[0], *self._rights(part.owner, part.group, 0o700))

    def _rename(self, path: Path) -> None:
        if path.exists():
            renamed = path.rename(path.with_name(path.name + self._suffix))
            self._say(f"{path} is now {renamed.name}")
