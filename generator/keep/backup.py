"""Make one backup while both programs run.

The order is what makes the copies fit. What a later copy holds may be ahead of an earlier one, and where that would do
harm, less is taken:

1. the names of what was published once, and the ballots in the inbox. A ballot that is read meanwhile is in the memory
   as well, and counts once; one after the other, it would be in neither.
2. the memory. It knows all that was published before its copy began.
3. the files named in step 1. A file that is never written again but comes from a later moment than the memory would
   contradict what the memory publishes under the same name after a restore.
4. the settings and, if asked for, the keys.
5. the ledger last: its copy's start is the backup's cut. Every payment that settled before is in it; and after it the
   files of payments that had left it.
"""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from gateway.wire.space import reason_of
from generator.errors import BackupError
from generator.keep import keys
from generator.keep.databases import Database, Facts, copy
from generator.keep.files import PRIVATE, digest_of, names_below, owner_of, pack, packed, sync_file, write_private
from generator.keep.manifest import FILE, LEFT_OUT, Manifest, Part, Schemas
from generator.keep.places import (
    EXPORTS,
    INBOX,
    KEYS,
    LEDGER,
    MEMORY,
    ONCE,
    SETTINGS,
    Places,
    ballots_in,
    exports_in,
    settings_files,
)
from generator.keep.retention import kept, name_at
from generator.keep.targets import Target

NO_KEYS: Final = "keys: asked for with --keys alone"
NO_SITE: Final = "once: the site lies in an object store, which keeps it"
Now = Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class Made:
    """A backup that was made, and the names of those that went because newer ones stand for them."""

    manifest: Manifest
    removed: tuple[str, ...]


def make_backup(places: Places, target: Target, now: Now, version: str, recipient: str | None = None) -> Made:
    """Copy everything that cannot be made again into a target, and thin out the backups there.

    Args:
        places: of this machine.
        target: where backups lie.
        now: returns the wall time.
        version: of this program.
        recipient: public key for which the keys are encrypted; None leaves them out.

    Raises:
        BackupError: nothing was added to the target.
    """
    name = name_at(now())
    try:
        with target.adding(name) as folder:
            manifest = _Backup(places, folder, now).make(name, version, recipient)
            write_private(folder / FILE, manifest.content())
    except OSError as error:
        raise BackupError(f"no backup was made: {reason_of(error, Path(error.filename or '.'))}") from error

    names = target.names()
    removed = tuple(sorted(set(names) - kept(names)))
    for old in removed:
        target.remove(old)
    return Made(manifest, removed)


class _Backup:
    """One backup on its way, into a folder."""

    def __init__(self, places: Places, folder: Path, now: Now) -> None:
        self._places = places
        self._folder = folder
        self._now = now
        self._parts: list[Part] = []
        self._left_out = list(LEFT_OUT)

    def make(self, name: str, version: str, recipient: str | None) -> Manifest:
        """Fill the folder, all but the manifest, and return that."""
        places = self._places
        began = self._now()
        published = [] if places.once is None else names_below(places.once)
        ballots = ballots_in(places.inbox)

        self._add_folder(INBOX, places.inbox, ballots)
        memory = self._add_database(MEMORY, places.memory)
        if places.once is None:
            self._left_out.append(NO_SITE)
        else:
            self._add_folder(ONCE, places.once, published)

        self._add_files(SETTINGS, settings_files(places))
        self._add_keys(recipient)
        cut = self._now()
        ledger = self._add_database(LEDGER, places.ledger)
        if places.exports is not None and (exported := exports_in(places.exports)):
            # After the ledger: what left it by then is in them.
            self._add_folder(EXPORTS, places.exports, exported)

        if not (memory.schema or ledger.schema):
            shown = f"{places.memory.shown} nor {places.ledger.shown}"
            raise BackupError(f"there is neither {shown}: name the folders of both programs")
        return Manifest(
            name=name,
            version=version,
            schemas=Schemas(memory.schema, ledger.schema),
            began=_iso(began),
            cut=_iso(cut),
            generation=memory.generation,
            log_size=memory.log_size,
            parts=tuple(self._parts),
            left_out=tuple(self._left_out),
        )

    def _add_database(self, holds: str, database: Database) -> Facts:
        if not database.is_there():
            self._left_out.append(f"{holds}: there is none at {database.shown}")
            return Facts("")

        owner, group, mode = database.owner()
        file, facts = copy(database, self._folder, holds)
        self._add(holds, file, database.shown, owner, group, mode)
        return facts

    def _add_folder(self, holds: str, folder: Path, names: Iterable[str]) -> None:
        """Pack files of a folder; they keep their owners and modes, and so does the folder."""
        if not folder.is_dir():
            return
        file = self._folder / f"{holds}.tar.gz"
        pack(file, ((folder / name, name) for name in names))
        self._add(holds, file, str(folder.absolute()), *owner_of(folder))

    def _add_files(self, holds: str, paths: Iterable[Path]) -> None:
        """Pack files by their absolute names."""
        file = self._folder / f"{holds}.tar.gz"
        if pack(file, ((path, str(path).lstrip("/")) for path in paths)):
            self._add(holds, file, "/")
        else:
            file.unlink()

    def _add_keys(self, recipient: str | None) -> None:
        if recipient is None:
            self._left_out.append(NO_KEYS)
            return

        there = {name: path for name, path in self._places.keys.items() if path.is_file()}
        archive = packed((path, name) for name, path in there.items())
        file = self._folder / f"{KEYS}.tar.gz.age"
        write_private(file, keys.encrypt(archive, recipient))
        self._add(KEYS, file, ", ".join(str(path.absolute()) for path in there.values()))

    def _add(self, holds: str, file: Path, place: str, owner: str = "", group: str = "", mode: int = PRIVATE) -> None:  # noqa: PLR0917
        os.chmod(file, PRIVATE)  # noqa: PTH101
        sync_file(file)
        size, digest = digest_of(file)
        self._parts.append(Part(holds, file.name, size, digest, place, owner, group, mode))


def _iso(time: datetime) -> str:
    return time.astimezone(UTC).isoformat()
