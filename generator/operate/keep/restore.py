"""Put a backup back where it was taken from: all of it, or nothing.

First everything is fetched, unpacked, checked and decrypted, and both databases are made under other names than their
own, with their numbers of releases raised. Until then nothing is where a program would find it. Then a mark says that a
restore is under way, on which neither program starts; everything gets its name; and the mark goes. Nothing that is
there is overwritten: it is renamed, or it stays.
"""

import contextlib
import hashlib
import io
import os
import re
import shutil
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, Final

from gateway.wire.durable import replace_file
from gateway.wire.restoring import MARK
from gateway.wire.space import reason_of
from generator.errors import BackupError
from generator.operate.keep import keys
from generator.operate.keep.archives import check, members
from generator.operate.keep.databases import Database, Facts, check_loadable, facts_of, load, raise_generation, unpack
from generator.operate.keep.files import check_owner, create, decompress, give, processes_with, sync_file
from generator.operate.keep.manifest import Manifest, Part, Schemas
from generator.operate.keep.places import EXPORTS, INBOX, KEYS, LEDGER, MEMORY, ONCE, SETTINGS, Places, is_ballot
from generator.operate.keep.signing import check_signature, is_signed
from generator.operate.keep.targets import Target, manifest_of, manifests

COMPANIONS: Final = ("", "-wal", "-shm", "-journal", "-damaged")
"""What lies next to a database of SQLite."""
DATABASES: Final = (MEMORY, LEDGER)
DRAFT: Final = ".restoring"
LOOSEST: Final = 200
SMALL: Final = 1 << 26
"""Of a backup whose manifest does not say how large a part is once unpacked, it is taken for so many times its size at
most, or for 64 MiB."""
LARGEST_KEYS: Final = 1 << 20
PUBLIC: Final = 0o644
CLOSED: Final = 0o640
KEY: Final = 0o600
_EXPORT: Final = re.compile(r"settled-[0-9]{4}-[0-9]{2}\.csv")
Say = Callable[[str], None]
Refusal = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Fetched:
    """The files of a backup, on this machine and as the manifest says they are."""

    manifest: Manifest
    files: dict[str, Path]  # by what they hold
    keyring: Part | None = None  # the keys; of an older backup where this one was made without


def fetch(
    target: Target, name: str, folder: Path, known: Schemas, signer: str | None = None, *, with_keys: bool = False
) -> Fetched:
    """Bring a backup to this machine and compare it with its manifest.

    Args:
        target: where backups lie.
        name: of the backup.
        folder: for its files.
        known: the newest schemas that this program knows.
        signer: public key of the machine that made it; None does not ask who did.
        with_keys: bring the keys as well; they are in few backups, and come from the newest that has them.

    Raises:
        BackupError: it is not whole, not that machine's, or a newer program made it.
    """
    manifest = manifest_of(target, name)
    if signer is not None:
        check_signature(manifest, signer)
    manifest.check_known(known)

    archives = [part for part in manifest.parts if part.holds not in DATABASES]
    _check_room(folder, manifest.total_bytes + sum(part.plain or 0 for part in archives), f"backup {name}")
    files: dict[str, Path] = {part.holds: _fetch(target, name, part, folder) for part in manifest.parts}

    keyring = manifest.part(KEYS)
    if keyring is None and with_keys:
        for older in _newest_first(target, signer):
            if keyring := older.part(KEYS):
                files[KEYS] = _fetch(target, older.name, keyring, folder)
                break
    return Fetched(manifest, files, keyring)


def _newest_first(target: Target, signer: str | None) -> list[Manifest]:
    """Return the manifests that can be read and, where that is asked, are signed."""
    readable = [manifest for manifest in manifests(target).values() if manifest is not None]
    return [manifest for manifest in reversed(readable) if signer is None or is_signed(manifest, signer)]


def _fetch(target: Target, name: str, part: Part, folder: Path) -> Path:
    path = folder / part.file
    digest = hashlib.sha256()

    # Hashed as it comes: what was written is what was checked.
    with create(path) as file:
        for chunk in target.read(name, part.file, part.bytes):
            digest.update(chunk)
            file.write(chunk)
        size = file.tell()

    if (size, digest.hexdigest()) != (part.bytes, part.sha256):
        raise BackupError(f"backup {name}: {part.file} is not what its manifest says: choose another backup")
    return path


def _check_room(folder: Path, needed: int, what: str) -> None:
    if needed > shutil.disk_usage(folder).free:
        raise BackupError(f"{what} takes {needed / 1e6:.0f} MB in {folder}, which has no room for it")


def _most_plain(part: Part) -> int:
    return max(SMALL, LOOSEST * part.bytes) if part.plain is None else part.plain


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
    users = processes_with((*files, *locks))
    for process, path in users.items():
        raise BackupError(f"{path} is in use by process {process}: stop both programs first")


class Restore:
    """One backup on its way back.

    Args:
        fetched: the backup.
        places: of this machine; settings are put back below those that it names, and nowhere else.
        say: called with each thing that is done.
        now: the wall time, in the names of what is renamed; as many numbers of releases are left out as there are
            seconds since the copy, for readers may have seen as many.
        root: below which files with absolute names are put; another one for a trial.
        is_trial: all of it stays this process's own, which may have no right to give files away.
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
        is_trial: bool = False,
    ) -> None:
        self._fetched = fetched
        self._places = places
        self._say = say
        self._suffix = f".before-{now:%Y%m%dT%H%M%SZ}"
        self._root = root
        self._identity = identity
        self._is_trial = is_trial

        since = now - datetime.fromisoformat(fetched.manifest.began)
        self._skipped = max(0, int(since.total_seconds())) + 1

        self._at = Path()  # what is being written, for an error that does not name it
        self._changed: set[Path] = set()  # folders in which a name is new

    def run(self) -> None:
        """Put everything back; BackupError where nothing was, or where the mark of the restore is left to say so."""
        with contextlib.ExitStack() as drafts:
            archives, keyring = self._check(drafts)
            try:
                self._mark()
            except OSError as error:
                with contextlib.suppress(OSError):
                    self._unmark()
                raise BackupError(self._reason(error)) from error

            try:
                self._put(archives, keyring)
                self._unmark()
            except (OSError, BackupError) as error:
                text = str(error) if isinstance(error, BackupError) else self._reason(error)
                again = "the restore is not over, and neither program starts until it was run again"
                raise BackupError(f"{text}: {again}") from error

    def _reason(self, error: OSError) -> str:
        place = Path(error.filename) if isinstance(error.filename, str) else self._at
        return f"{place} was not put back: {reason_of(error, place)}"

    # Before anything is put back.

    def _check(self, drafts: contextlib.ExitStack) -> tuple[dict[str, Path], io.BytesIO | None]:
        """Read all of it; return the unpacked archives, and the one of the keys."""
        try:
            archives = {
                holds: self._unpacked(*stored, refusal)
                for holds, refusal in self._refusals().items()
                if (stored := self._part(holds))
            }

            keyring = self._decrypted()
            for holds, database in self._databases():
                self._draft(holds, database, drafts)

        except OSError as error:
            raise BackupError(self._reason(error)) from error
        return archives, keyring

    def _refusals(self) -> dict[str, Refusal]:
        """Return for each archive why a name does not belong into it."""
        return {
            INBOX: lambda name: None if is_ballot(name) else "is not a ballot",
            EXPORTS: lambda name: None if _EXPORT.fullmatch(name) else "is not a month of payments",
            ONCE: lambda _name: None,
            SETTINGS: self._refuse_setting,
        }

    def _refuse_setting(self, name: str) -> str | None:
        """Refuse what lies elsewhere than the settings of this machine, also by a link among them."""
        place = Path("/") / name
        for allowed in self._places.settings:
            inside = allowed.absolute()
            # A folder that is there may hold a link that leads out of it.
            if place.is_relative_to(inside) and place.resolve().is_relative_to(inside.resolve()):
                return None
        shown = ", ".join(str(path.absolute()) for path in self._places.settings) or "no folder of settings"
        return f"is not below {shown}: if it is yours, name it with --settings {place}"

    def _unpacked(self, part: Part, source: Path, refusal: Refusal) -> Path:
        self._at = plain = source.with_suffix("")
        with source.open("rb") as packed, create(plain) as archive:
            decompress(packed, archive, _most_plain(part), source.name)
        with plain.open("rb") as archive:
            check(archive, source.name, refusal)
            for member, _ in members(archive):
                check_owner(*self._owner(member))
        return plain

    def _decrypted(self) -> io.BytesIO | None:
        part = self._fetched.keyring
        if part is None or self._identity is None:
            return None

        source = self._fetched.files[KEYS]
        archive = io.BytesIO()
        packed = io.BytesIO(keys.decrypt(source.read_bytes(), self._identity))
        decompress(packed, archive, min(_most_plain(part), LARGEST_KEYS), source.name)
        archive.seek(0)
        check(archive, source.name, lambda name: None if name in self._places.keys else "is not a key of this service")
        return archive

    def _databases(self) -> Iterator[tuple[str, Database]]:
        yield from ((MEMORY, self._places.memory), (LEDGER, self._places.ledger))

    def _draft(self, holds: str, database: Database, drafts: contextlib.ExitStack) -> None:
        """Make a database under the name of a draft, which goes with the block unless it got its own name."""
        stored = self._part(holds)
        if stored is None:
            return

        part, source = stored
        if not self._is_trial:
            check_owner(part.owner, part.group)
        check_loadable(source, database)
        if not database.is_file:
            return

        folders = self._make_parents(database.path, part)
        for folder in folders:
            drafts.callback(_remove_if_empty, folder)
        _check_room(database.path.parent, part.plain or 0, source.name)
        self._at = draft = _draft_of(database.path)
        for suffix in COMPANIONS:
            drafts.callback(draft.with_name(draft.name + suffix).unlink, missing_ok=True)
        draft.unlink(missing_ok=True)

        self._compare(holds, unpack(source, draft, _most_plain(part)))
        if holds == MEMORY:
            raise_generation(Database.at(draft), self._skipped)
        give(draft, *self._rights(part.owner, part.group, part.mode))
        sync_file(draft)

    def _compare(self, holds: str, facts: Facts) -> None:
        """Raise BackupError where a database does not match the manifest."""
        manifest = self._fetched.manifest
        expected = Facts(manifest.schemas.memory, manifest.generation, manifest.log_size)
        if holds == LEDGER:
            # Format 1 did not count payments.
            payments = facts.payments if manifest.format == 1 else manifest.payments
            expected = Facts(manifest.schemas.ledger, payments=payments)
        if facts != expected:
            raise BackupError(f"backup {manifest.name}: the {holds} in it does not match its manifest")

    # From here on with the mark.

    def _marks(self) -> list[Path]:
        return [folder / MARK for folder in dict.fromkeys(self._places.states.values())]

    def _mark(self) -> None:
        for holds, folder in self._places.states.items():
            stored = self._part(holds) or self._part(INBOX)
            if stored is not None:
                self._make_parents(folder / MARK, stored[0])
        for mark in self._marks():
            mark.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            replace_file(mark, f"{self._fetched.manifest.name}\n".encode(), PUBLIC)

    def _unmark(self) -> None:
        # The names of everything else are on the disk before a mark goes; what the files hold is there already.
        for folder in self._changed:
            sync_file(folder)
        for mark in self._marks():
            if mark.exists():
                mark.unlink()
                sync_file(mark.parent)

    def _put(self, archives: dict[str, Path], keyring: io.BytesIO | None) -> None:
        for holds, database in self._databases():
            self._database(holds, database)
        self._folder(INBOX, self._places.inbox, archives, CLOSED)
        if self._places.exports is not None:
            self._folder(EXPORTS, self._places.exports, archives, CLOSED)
        self._once(archives)
        self._settings(archives)
        self._keys(keyring)

    def _part(self, holds: str) -> tuple[Part, Path] | None:
        part = self._fetched.manifest.part(holds)
        return None if part is None else (part, self._fetched.files[holds])

    def _database(self, holds: str, database: Database) -> None:
        stored = self._part(holds)
        if stored is None:
            self._say(f"{holds}: not in this backup; {database.shown} stays as it is")
            return

        if database.is_file:
            for suffix in COMPANIONS:
                self._rename(database.path.with_name(database.path.name + suffix))
            _draft_of(database.path).rename(database.path)
            sync_file(database.path.parent)
        else:
            load(stored[1], database)
            with database.connected() as connection:
                self._compare(holds, facts_of(connection))
            if holds == MEMORY:
                raise_generation(database, self._skipped)
        self._say(f"{holds}: {database.shown}")

    def _folder(self, holds: str, folder: Path, archives: dict[str, Path], rights: int) -> None:
        """Add files to a folder; one of a name that is there stays."""
        stored = self._part(holds)
        if stored is None:
            return

        part, _ = stored
        self._at = folder
        if not folder.is_dir():
            self._make_parents(folder, part)
            self._changed.add(folder.parent)
            folder.mkdir(0o700)
            give(folder, *self._rights(part.owner, part.group, part.mode))
        count = self._unpack(archives[holds], folder, rights)
        self._say(f"{holds}: {count} files in {folder}")

    def _once(self, archives: dict[str, Path]) -> None:
        """Put back what was published once, unless readers have a release: then the site is newer, and stays."""
        once = self._places.once
        if once is None or self._part(ONCE) is None:
            return
        if self._places.is_published:
            self._say(f"{ONCE}: {once} stays as it is, since readers have a release there")
            return
        self._rename(once)
        self._folder(ONCE, once, archives, PUBLIC)

    def _settings(self, archives: dict[str, Path]) -> None:
        if SETTINGS in archives:
            count = self._unpack(archives[SETTINGS], self._root, CLOSED)
            self._say(f"{SETTINGS}: {count} files; those that were there stay as they are")

    def _keys(self, keyring: io.BytesIO | None) -> None:
        if keyring is None:
            if self._fetched.keyring is not None:
                self._say(f"{KEYS}: left out; add --identity FILE, the private key for which they are encrypted")
            return

        for member, content in members(keyring):
            place = self._places.keys[member.name]
            key = content.read()
            if place.is_file() and place.read_bytes() != key:
                self._rename(place)  # that of a machine which began a record of its own
            is_put_back = self._write(place, member, io.BytesIO(key), KEY)
            self._say(f"{KEYS}: {place} {'put back' if is_put_back else 'is there, and stays'}")

    def _unpack(self, source: Path, folder: Path, rights: int) -> int:
        """Write the files of an archive that are not there; return how many."""
        with source.open("rb") as archive:
            files = members(archive)
            return sum(self._write(folder / member.name, member, content, rights) for member, content in files)

    def _write(self, path: Path, member: tarfile.TarInfo, content: IO[bytes], rights: int) -> bool:
        """Write a file with its owner, mode and time; one that is there stays, and False is returned."""
        self._at = path
        if path.exists():
            return False

        # Whoever may read the file may enter its folders.
        readers = member.mode & rights & 0o044
        missing = [folder for folder in path.parents if not folder.exists()]
        self._changed |= {path.parent, *(folder.parent for folder in missing)}
        for folder in reversed(missing):
            folder.mkdir(0o700)
            give(folder, *self._rights(*self._owner(member), 0o700 | readers | readers >> 2))

        draft = path.with_name(f".{path.name}"[:200] + DRAFT)
        draft.unlink(missing_ok=True)
        with create(draft) as file:
            shutil.copyfileobj(content, file)
            file.flush()
            os.fsync(file.fileno())
        give(draft, *self._rights(*self._owner(member), member.mode & rights))
        os.utime(draft, (member.mtime, member.mtime))
        draft.rename(path)
        return True

    def _owner(self, member: tarfile.TarInfo) -> tuple[str, str]:
        if self._is_trial:
            return "", ""
        return member.uname or str(member.uid), member.gname or str(member.gid)

    def _rights(self, owner: str, group: str, mode: int) -> tuple[str, str, int]:
        """Return whose something is to be, and its mode; in a trial this process's own, which may not give it away."""
        return ("", "", mode & 0o700) if self._is_trial else (owner, group, mode)

    def _make_parents(self, path: Path, part: Part) -> list[Path]:
        """Make the folders above a path that are missing, and return them, the innermost first."""
        missing = [folder for folder in path.parents if not folder.exists()]
        self._changed |= {folder.parent for folder in missing}
        for folder in reversed(missing):
            folder.mkdir(0o700)
        if missing:
            give(missing[0], *self._rights(part.owner, part.group, 0o700))
        return missing

    def _rename(self, path: Path) -> None:
        if path.exists():
            self._changed.add(path.parent)
            renamed = path.rename(path.with_name(path.name + self._suffix))
            self._say(f"{path} is now {renamed.name}")


def _draft_of(path: Path) -> Path:
    return path.with_name(path.name + DRAFT)


def _remove_if_empty(folder: Path) -> None:
    with contextlib.suppress(OSError):
        folder.rmdir()
