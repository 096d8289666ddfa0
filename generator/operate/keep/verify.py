"""Verify a backup by doing with it what a restore would: in a scratch folder it is put back, upgraded and audited."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from generator.errors import BackupError
from generator.operate.keep.audit import MemoryFigures, audit_memory
from generator.operate.keep.databases import Database, scratch_database
from generator.operate.keep.figures import Figures
from generator.operate.keep.manifest import Manifest, Schemas
from generator.operate.keep.places import LEDGER, MEMORY, ONCE, Places
from generator.operate.keep.restore import Fetched, Restore, fetch
from generator.operate.keep.targets import Target

NOTHING: Final = Figures()
AuditLedger = Callable[[Path | str], str]
"""Upgrades and reads the payments ledger in a file or at a URL; returns what it holds, or raises BackupError."""


@dataclass(frozen=True, slots=True)
class Verified:
    """A backup that holds."""

    manifest: Manifest
    memory: MemoryFigures | None
    ledger: str | None

    @property
    def lines(self) -> list[str]:
        """What was checked."""
        manifest = self.manifest
        lines = [f"backup {manifest.name}: cut {manifest.cut}, {manifest.total_bytes / 1e6:.1f} MB, whole"]

        if self.memory is not None:
            figures = self.memory
            lines.append(
                f"memory: {figures.entries} log entries and {figures.rounds} rounds counted again, "
                f"{figures.tiles} published tiles compared; release {manifest.generation}"
            )

        if self.ledger is not None:
            lines.append(f"payments ledger: {self.ledger}")
        return lines


def verify(  # noqa: PLR0917
    target: Target,
    name: str,
    scratch: Path,
    known: Schemas,
    audit_ledger: AuditLedger,
    places: Places,
    now: datetime,
    *,
    signer: str | None = None,
    least: Figures = NOTHING,
) -> Verified:
    """Put a backup back into a scratch folder, upgrade and audit it there.

    Args:
        target: where backups lie.
        name: of the backup.
        scratch: an empty folder with room for all of it.
        known: the newest schemas that this program knows.
        audit_ledger: for the payments ledger.
        places: of this machine: for the servers of databases that are no files, and where its settings lie.
        now: the wall time.
        signer: public key of the machine that made it; None does not ask who did.
        least: what an earlier backup was found to hold; this one must hold as much.

    Raises:
        BackupError: it does not hold; the text names the first thing.
    """
    archive = scratch / "archive"
    archive.mkdir(mode=0o700)
    files = scratch / "files"
    files.mkdir(mode=0o700)
    fetched = fetch(target, name, archive, known, signer)
    manifest = fetched.manifest
    manifest.check_whole()
    if less := manifest.figures.less_than(least, manifest.without):
        raise BackupError(f"backup {name} holds less than was found to be there before: {less}")

    with _trial_places(scratch / "state", fetched, places) as trial:
        Restore(fetched, trial, lambda _text: None, now, root=files, is_trial=True).run()
        memory, ledger = None, None
        if manifest.part(MEMORY) is not None:
            memory = audit_memory(_url(trial.memory), trial.once if manifest.part(ONCE) else None)
            if memory.entries != manifest.log_size:
                raise BackupError(f"the log has {memory.entries} entries, the manifest says {manifest.log_size}")
        if manifest.part(LEDGER) is not None:
            ledger = audit_ledger(trial.ledger.where)
    return Verified(manifest, memory, ledger)


@contextlib.contextmanager
def _trial_places(folder: Path, fetched: Fetched, places: Places) -> Iterator[Places]:
    """Give places in a scratch folder and, for dumps, scratch databases on the servers they are of."""
    folder.mkdir(mode=0o700)
    with contextlib.ExitStack() as stack:
        databases: dict[str, Database] = {}

        # A file is tried as a file; a dump needs a server, and gets a database of its own there.
        for holds, like in ((MEMORY, places.memory), (LEDGER, places.ledger)):
            file = fetched.files.get(holds)
            if file is None or file.name.endswith(".gz"):
                databases[holds] = Database.at(folder / f"{holds}.sqlite3")
            else:
                databases[holds] = stack.enter_context(scratch_database(like, holds))

        yield Places(
            memory=databases[MEMORY],
            ledger=databases[LEDGER],
            inbox=folder / "inbox",
            site=folder / "site",
            settings=places.settings,
        )


def _url(database: Database) -> str:
    return database.url.render_as_string(hide_password=False)
