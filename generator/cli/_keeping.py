"""Where everything lies that is backed up, by the settings, and what only the gateway's code can do with it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import typer

from generator.errors import BackupError

if TYPE_CHECKING:
    from generator.operate.keep.databases import Database
    from generator.operate.keep.figures import Figures
    from generator.operate.keep.manifest import Schemas
    from generator.operate.keep.places import Places
    from generator.operate.keep.status import Kind
    from generator.operate.keep.upgrade import Program

LOCK_FILES: Final = ("generator.lock", "up.lock")
LOG_KEY: Final = "log.key"
RECEIPT_KEY: Final = "receipt.key"
SETTINGS_FOLDER: Final = Path("/etc/emi")
"""Where `emi setup` puts the settings of the units."""

Where: TypeAlias = Annotated[
    str, typer.Argument(metavar="TARGET", help="Folder, or s3://bucket/prefix, gs://… or az://….")
]
GatewayState: TypeAlias = Annotated[
    Path | None, typer.Option("--gateway-state", help="The gateway's STATE_DIR, where it is not the generator's.")
]
Scratch: TypeAlias = Annotated[
    Path | None, typer.Option(help="Folder for what is temporary. Default: the system's, see TMPDIR.")
]
Smaller: TypeAlias = Annotated[
    bool, typer.Option("--smaller", help="It may hold less than one before it: an older backup was restored.")
]


def places_of(gateway_state: Path | None, settings_paths: Sequence[Path] = ()) -> Places:
    """Return where everything lies, by the settings.

    Args:
        gateway_state: the gateway's STATE_DIR where it is not the generator's.
        settings_paths: files of settings, or folders of them; `emi.yaml` of the working folder is always one.
    """
    from generator.cli._settings import FILE, gateway_settings, generator_settings
    from generator.operate.keep.databases import Database
    from generator.operate.keep.places import Places

    ours = generator_settings()
    gateway = gateway_settings(state_dir=gateway_state)
    ledger = gateway.ledger_where
    return Places(
        memory=Database(ours.memory),
        ledger=Database.at(ledger) if isinstance(ledger, Path) else _ledger(ledger),
        inbox=ours.inbox_path,
        site=ours.site_path if ours.site_url is None else None,
        exports=gateway.state_dir,
        settings=(*settings_paths, Path(FILE)),
        keys={LOG_KEY: ours.log_key_path, RECEIPT_KEY: gateway.receipt_key_path},
        states={"memory": ours.state_dir, "ledger": gateway.state_dir},
    )


def _ledger(url: str) -> Database:
    from gateway.ledger.engine import SQLITE, sqlite_path
    from generator.operate.keep.databases import Database

    return Database.at(sqlite_path(url)) if url.startswith(SQLITE) else Database(url)


def known_schemas() -> Schemas:
    """Return the newest schemas that this program knows."""
    from gateway.ledger.tables import REVISION
    from generator.operate.keep.manifest import Schemas
    from generator.record.memory.tables import SCHEMA_VERSION

    return Schemas(SCHEMA_VERSION, REVISION)


def audited_ledger(where: Path | str) -> str:
    """Upgrade and audit a copy of the payments ledger, and say what it holds."""
    from gateway.errors import LedgerUnreadable
    from gateway.ledger.audit import audit_ledger

    try:
        return str(audit_ledger(where))
    except LedgerUnreadable as error:
        raise BackupError(str(error)) from error


def programs() -> dict[str, Program]:
    """Return how this program upgrades each of its databases."""
    from gateway.ledger.engine import open_engine
    from generator.operate.keep.upgrade import Program
    from generator.record.memory.store import Memory

    def upgrade_memory(path: Path) -> None:
        url = f"sqlite:///{path}"
        memory = Memory.open(url)
        epoch = memory.epoch()
        memory.close()
        memory = Memory.open(url, lambda: epoch)
        try:
            # A start counts the record again where the rule for it changed.
            for _ in memory.count_again():
                pass
        finally:
            memory.close()

    known = known_schemas()
    memory = "generator.record.memory.migrations.versions"
    ledger = "gateway.ledger.migrations.versions"
    return {
        "memory": Program("memory", known.memory, memory, upgrade_memory),
        "ledger": Program("payments ledger", known.ledger, ledger, lambda path: open_engine(path).dispose()),
    }


def own_signer() -> str | None:
    """Return the public half of the key that signs this machine's backups; None where it has made none yet."""
    from generator.cli._settings import generator_settings
    from generator.operate.keep.signing import KEY_FILE, own_key, public_text

    path = generator_settings().backup_status_path.with_name(KEY_FILE)
    return public_text(own_key(path)) if path.exists() else None


@contextmanager
def scratch_folder(inside: Path | None) -> Iterator[Path]:
    """Make a folder for the length of the block; BackupError where there is no room for it."""
    try:
        with tempfile.TemporaryDirectory(prefix="emi-", dir=inside, ignore_cleanup_errors=True) as folder:
            yield Path(folder)
    except OSError as error:
        raise BackupError(f"no scratch folder in {inside or tempfile.gettempdir()}: {error.strerror}") from error


def show_upgrade() -> None:
    """Upgrade a copy of each database of STATE_DIR, and print what that did."""
    from generator.clock import SystemClock
    from generator.operate.keep.upgrade import rehearse

    places = places_of(None)
    known = programs()
    databases = [(places.memory, known["memory"]), (places.ledger, known["ledger"])]
    there = [(database, program) for database, program in databases if database.is_there()]
    if not there:
        raise BackupError(f"there is neither {places.memory.shown} nor {places.ledger.shown}")

    for database, program in there:
        with scratch_folder(None) as folder:
            print("\n".join(rehearse(database, program, folder, SystemClock().monotonic).lines))


def note_result(kind: Kind, found: str = "", fault: str | None = None, drilled: Figures | None = None) -> None:
    """Note the result for the doctor; a file that cannot be written does not fail the command."""
    from generator.cli._settings import generator_settings
    from generator.clock import SystemClock
    from generator.operate.keep.status import note

    path = generator_settings().backup_status_path
    try:
        note(path, kind, SystemClock().now(), found, fault, drilled)
    except OSError as error:
        typer.echo(f"the result could not be noted in {path}: {error.strerror}", err=True)
