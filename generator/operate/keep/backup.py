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
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from nacl.signing import SigningKey

from gateway.wire.restoring import unfinished_restore
from gateway.wire.space import reason_of
from generator.errors import BackupError
from generator.operate.keep import keys
from generator.operate.keep.archives import pack, packed
from generator.operate.keep.databases import Database, Facts, copy
from generator.operate.keep.files import PRIVATE, digest_of, names_below, owner_of, sync_file, write_private
from generator.operate.keep.manifest import FILE, FILES, LEFT_OUT, NEEDED, Holds, Manifest, Part, Schemas
from generator.operate.keep.places import (
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
from generator.operate.keep.retention import kept, name_at
from generator.operate.keep.signing import is_signed, public_text, signed
from generator.operate.keep.targets import Target, manifests

NO_KEYS: Final = "keys: asked for with --keys alone"
NO_SITE: Final = "once: the site lies in an object store, which keeps it"
Now = Callable[[], datetime]
_Known = dict[str, Manifest]


@dataclass(frozen=True, slots=True)
class Made:
    """A backup that was made, and the names of those that went because newer ones stand for them."""

    manifest: Manifest
    removed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Meant:
    """What the operator wants otherwise than usual.

    Args:
        recipient: public key for which the keys are encrypted; None leaves them out.
        without: parts that are left out.
        smaller: the record or the ledger holds less than in the newest backup, after an older one was restored.
        signer: what the manifest is signed with; None leaves it unsigned.
    """

    recipient: str | None = None
    without: tuple[str, ...] = ()
    smaller: bool = False
    signer: SigningKey | None = None


USUAL: Final = Meant()


def make_backup(places: Places, target: Target, now: Now, version: str, meant: Meant = USUAL) -> Made:
    """Copy everything that cannot be made again into a target, and thin out the backups there.

    Args:
        places: of this machine.
        target: where backups lie.
        now: returns the wall time.
        version: of this program.
        meant: what is wanted otherwise than usual.

    Raises:
        BackupError: nothing was added to the target, and nothing removed from it.
    """
    if unknown := set(meant.without) - set(FILES):
        raise BackupError(f"--without {min(unknown)}: a backup has {', '.join(FILES)}")
    for state in places.states.values():
        if complaint := unfinished_restore(state):
            raise BackupError(f"no backup was made: {complaint}")

    name = name_at(now())
    ours, others = _by_maker(manifests(target), meant.signer)
    known = list((ours or others).values())
    try:
        with target.adding(name) as folder:
            manifest = _Backup(places, folder, now, meant).make(name, version)
            _compare(manifest, known[-1] if known else None, meant)
            content = manifest.content() if meant.signer is None else signed(manifest, meant.signer)
            write_private(folder / FILE, content)
    except OSError as error:
        raise BackupError(f"no backup was made: {reason_of(error, Path(error.filename or '.'))}") from error

    ours[name] = manifest
    # Those of an earlier version, or of another machine, make room for ours in time; ours never for them.
    removed = tuple(sorted(_aged_out(ours) | (_aged_out(ours | others) & others.keys())))
    for old in removed:
        target.remove(old)
    return Made(manifest, removed)


def _by_maker(backups: Mapping[str, Manifest | None], signer: SigningKey | None) -> tuple[_Known, _Known]:
    """Part the backups that this machine signed from others; what another wrote ages out none of ours.

    What cannot be read is in neither: it may be the only one of its kind, and stays.
    """
    readable = {name: manifest for name, manifest in backups.items() if manifest is not None}
    if signer is None:
        return readable, {}
    ours = {name: manifest for name, manifest in readable.items() if is_signed(manifest, public_text(signer))}
    return ours, {name: manifest for name, manifest in readable.items() if name not in ours}


def _aged_out(backups: _Known) -> frozenset[str]:
    return frozenset(backups) - kept({name: manifest.holds for name, manifest in backups.items()})


def _compare(manifest: Manifest, newest: Manifest | None, meant: Meant) -> None:
    """Raise BackupError where a backup lacks what none may lack, or what the newest one has."""
    had = newest.holds if newest else frozenset()
    if missing := sorted({*NEEDED, *had} - {KEYS} - set(meant.without) - manifest.holds):
        reasons = [line for line in manifest.left_out if line.partition(":")[0] in missing]
        where = f", which {newest.name} has" if newest and had.issuperset(missing) else ""
        reason = reasons[0] if reasons else "there is nothing to copy"
        shown = f"{' and '.join(missing)}{where} ({reason})"
        meant_by = " ".join(f"--without {holds}" for holds in missing)
        raise BackupError(f"no backup was made, since it would lack {shown}; if that is meant: {meant_by}")

    less = manifest.figures.less_than(newest.figures, meant.without) if newest else None
    if newest and less and not meant.smaller:
        raise BackupError(
            f"no backup was made, since it would hold less than {newest.name}: {less}; --smaller if an older backup "
            "was restored meanwhile"
        )


class _Backup:
    """One backup on its way, into a folder."""

    def __init__(self, places: Places, folder: Path, now: Now, meant: Meant) -> None:
        self._places = places
        self._folder = folder
        self._now = now
        self._meant = meant
        self._parts: list[Part] = []
        self._left_out = list(LEFT_OUT)

    def make(self, name: str, version: str) -> Manifest:
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
        self._add_keys()
        cut = self._now()
        ledger = self._add_database(LEDGER, places.ledger)
        if places.exports is not None and (exported := exports_in(places.exports)):
            # After the ledger: what left it by then is in them.
            self._add_folder(EXPORTS, places.exports, exported)

        return Manifest(
            name=name,
            version=version,
            schemas=Schemas(memory.schema, ledger.schema),
            began=_iso(began),
            cut=_iso(cut),
            generation=memory.generation,
            log_size=memory.log_size,
            payments=ledger.payments,
            parts=tuple(self._parts),
            left_out=tuple(self._left_out),
            without=tuple(holds for holds in FILES if holds in self._meant.without),
        )

    def _add_database(self, holds: Holds, database: Database) -> Facts:
        if not self._is_wanted(holds):
            return Facts("")
        if not database.is_there():
            self._left_out.append(f"{holds}: there is none at {database.shown}")
            return Facts("")

        owner, group, mode = database.owner()
        copied = copy(database, self._folder, holds)
        self._add(holds, copied.file, copied.plain, database.shown, owner, group, mode)
        return copied.facts

    def _add_folder(self, holds: Holds, folder: Path, names: Iterable[str]) -> None:
        """Pack files of a folder; they keep their owners and modes, and so does the folder."""
        if not self._is_wanted(holds):
            return
        if not folder.is_dir():
            self._left_out.append(f"{holds}: there is no folder {folder}")
            return

        file = self._folder / f"{holds}.tar.gz"
        _, plain = pack(file, ((folder / name, name) for name in names))
        self._add(holds, file, plain, str(folder.absolute()), *owner_of(folder))

    def _add_files(self, holds: Holds, paths: Iterable[Path]) -> None:
        """Pack files by their absolute names."""
        if not self._is_wanted(holds):
            return
        file = self._folder / f"{holds}.tar.gz"
        count, plain = pack(file, ((path, str(path).lstrip("/")) for path in paths))
        if count:
            self._add(holds, file, plain, "/")
        else:
            file.unlink()

    def _add_keys(self) -> None:
        if self._meant.recipient is None:
            self._left_out.append(NO_KEYS)
            return

        there = {name: path for name, path in self._places.keys.items() if path.is_file()}
        archive, plain = packed((path, name) for name, path in there.items())
        file = self._folder / f"{KEYS}.tar.gz.age"
        write_private(file, keys.encrypt(archive, self._meant.recipient))
        self._add(KEYS, file, plain, ", ".join(str(path.absolute()) for path in there.values()))

    def _is_wanted(self, holds: str) -> bool:
        if holds not in self._meant.without:
            return True
        self._left_out.append(f"{holds}: as asked for with --without {holds}")
        return False

    def _add(  # noqa: PLR0917
        self, holds: Holds, file: Path, plain: int, place: str, owner: str = "", group: str = "", mode: int = PRIVATE
    ) -> None:
        os.chmod(file, PRIVATE)  # noqa: PTH101
        sync_file(file)
        size, digest = digest_of(file)
        self._parts.append(Part(holds, file.name, size, digest, place, owner, group, mode, plain))


def _iso(time: datetime) -> str:
    return time.astimezone(UTC).isoformat()
