"""`emi backup` and `emi restore`: copy what cannot be made again, prove that the copy holds, put it back."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer
from typer.core import TyperGroup

from generator.cli._keeping import (
    LOCK_FILES,
    LOG_KEY,
    audited_ledger,
    known_schemas,
    places_of,
    scratch_folder,
)
from generator.errors import GeneratorError

if TYPE_CHECKING:
    from generator.keep.manifest import Manifest
    from generator.keep.places import Places
    from generator.keep.status import Kind


class _MakeByDefault(TyperGroup):
    """Take `emi backup TARGET` for `emi backup make TARGET`."""

    default = "make"

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the command in front where none is named."""
        if args and args[0] not in self.commands and args[0] != "--help":
            args = [self.default, *args]
        return super().parse_args(ctx, args)


backup_app = typer.Typer(
    name="backup",
    cls=_MakeByDefault,
    no_args_is_help=True,
    help="Copy what cannot be made again: `emi backup TARGET`. Prove a copy: `emi backup verify TARGET`.",
)

Where: TypeAlias = Annotated[
    str, typer.Argument(metavar="TARGET", help="Folder, or s3://bucket/prefix, gs://… or az://….")
]
GatewayState: TypeAlias = Annotated[
    Path | None, typer.Option("--gateway-state", help="The gateway's STATE_DIR, where it is not the generator's.")
]
Name: TypeAlias = Annotated[str | None, typer.Option(help="Which backup. Default: the newest.")]
Scratch: TypeAlias = Annotated[
    Path | None, typer.Option(help="Folder for what is temporary. Default: the system's, see TMPDIR.")
]
SettingsPaths: TypeAlias = Annotated[
    list[Path] | None, typer.Option("--settings", help="File of settings, or a folder of them. May be repeated.")
]


@backup_app.command("make")
def make(
    target: Where,
    gateway_state: GatewayState = None,
    settings: SettingsPaths = None,
    keys: Annotated[
        str | None, typer.Option(help="Public key of age (age1…) for which log.key and receipt.key are added.")
    ] = None,
    scratch: Scratch = None,
) -> None:
    """Copy memory, ledger, ballots, settings and what was published once, while both programs run.

    Of the backups in TARGET stay the newest of each of the last 48 hours, 30 days and 12 months that have one.

    Example: emi backup /mnt/backups/emi --gateway-state /var/lib/emi/gateway --settings /etc/emi
    """
    from importlib.metadata import version

    from generator.clock import SystemClock
    from generator.keep.backup import make_backup
    from generator.keep.targets import open_target

    places = places_of(gateway_state, settings or ())
    try:
        with scratch_folder(scratch) as folder:
            opened = open_target(target, folder)
            made = make_backup(places, opened, SystemClock().now, version("educational-market-intelligence"), keys)
    except GeneratorError as error:
        _note("backup", fault=str(error))
        raise

    _note("backup", found=f"{made.manifest.name}, {made.manifest.total_bytes / 1e6:.1f} MB")
    _show(made.manifest)
    if made.removed:
        print(f"removed   {len(made.removed)} older: {', '.join(made.removed)}")


@backup_app.command("list")
def list_backups(target: Where) -> None:
    """List the backups in a target, oldest first.

    Example: emi backup list s3://my-backups/emi
    """
    from generator.keep.manifest import Manifest
    from generator.keep.targets import open_target

    with scratch_folder(None) as folder:
        opened = open_target(target, folder)
        for name in opened.names():
            manifest = Manifest.of(opened.manifest(name))
            schemas = f"schemas {manifest.schemas.memory or '-'}, {manifest.schemas.ledger or '-'}"
            print(f"{name}  cut {manifest.cut}  {manifest.total_bytes / 1e6:.1f} MB  {schemas}")


@backup_app.command("verify")
def verify_backup(
    target: Where,
    name: Name = None,
    gateway_state: GatewayState = None,
    drill: Annotated[bool, typer.Option("--drill", help="Note the result for the doctor: a restore drill.")] = False,
    scratch: Scratch = None,
) -> None:
    """Put a backup back into a scratch folder, upgrade and audit it there; exit code 1 when it does not hold.

    Example: emi backup verify /mnt/backups/emi
    """
    from generator.clock import SystemClock
    from generator.keep.restore import newest
    from generator.keep.targets import open_target
    from generator.keep.verify import verify

    places = places_of(gateway_state)
    now = SystemClock().now()
    try:
        with scratch_folder(scratch) as folder:
            opened = open_target(target, folder)
            chosen = newest(opened, name)
            verified = verify(opened, chosen, folder, known_schemas(), audited_ledger, places, now)
    except GeneratorError as error:
        if drill:
            _note("drill", fault=str(error))
        raise

    print("\n".join(verified.lines))
    if drill:
        _note("drill", found=f"{chosen} was put back and audited")


@backup_app.command("keygen")
def keygen(path: Annotated[Path, typer.Argument(help="New file for the private key.")]) -> None:
    """Make the key pair for --keys. Keep the private half off this machine: without it the keys cannot be restored.

    Example: emi backup keygen backup-identity.txt
    """
    from generator.keep.keys import make_identity

    print(f"private key  {path} (mode 0600): move it off this machine\npublic key   {make_identity(path)}")


def restore(
    target: Where,
    name: Name = None,
    gateway_state: GatewayState = None,
    identity: Annotated[
        Path | None, typer.Option(help="File with the private key of age, to put log.key and receipt.key back.")
    ] = None,
    scratch: Scratch = None,
) -> None:
    """Put a backup back where the settings say; both programs must be stopped. Nothing is overwritten.

    Databases that are there are renamed. Settings, keys and ballots of a name that is there stay as they are, and
    so does a published site.

    Example: emi restore /mnt/backups/emi --gateway-state /var/lib/emi/gateway
    """
    from generator.cli._settings import generator_settings
    from generator.clock import SystemClock
    from generator.keep.restore import Restore, fetch, newest, refuse_if_in_use
    from generator.keep.targets import open_target

    places = places_of(gateway_state)
    folder = generator_settings().state_dir
    now = SystemClock().now()
    with scratch_folder(scratch) as fetched_into:
        opened = open_target(target, fetched_into)
        refuse_if_in_use(places, tuple(folder / lock for lock in LOCK_FILES))

        fetched = fetch(opened, newest(opened, name), fetched_into, known_schemas())
        work = Restore(fetched, places, print, now, identity=identity)
        work.run()
        work.skip_generations(now)

    print(_next_steps(fetched.manifest, places))


def _next_steps(manifest: Manifest, places: Places) -> str:
    """Say what the operator does now, and what others will see."""
    from generator.keep.places import LEDGER

    steps = [f"restored {manifest.name}, cut {manifest.cut}. Next:"]
    log_key = places.keys[LOG_KEY]
    if manifest.log_size and not log_key.exists():
        steps.append(f"- put the log's key back at {log_key}: without it the generator does not start")
    steps.append("- start the generator, wait for its first release, then start the gateway")

    if manifest.part(LEDGER) is not None:
        since = _newest_round(places)
        steps.append(
            f"- what was paid after the cut: emi payments adopt --since {since} --dry-run, as the gateway's user"
        )
    steps.append(f"- {_log_notice(manifest, places)}")
    return "\n".join(steps)


def _newest_round(places: Places) -> int:
    from gateway.errors import LedgerUnreadable
    from gateway.ledger.view import LedgerView

    with suppress(LedgerUnreadable), LedgerView(places.ledger.where) as view:
        return view.newest_round()
    return 0


def _log_notice(manifest: Manifest, places: Places) -> str:
    """Say what the readers of the log will see."""
    seen = "to whoever verified more of it `emi verify` reports removed entries: announce why"
    published = _published_size(places)
    if published is None:
        return f"the log has {manifest.log_size} entries; {seen}"
    if published <= manifest.log_size:
        return f"the log has {manifest.log_size} entries and continues the {published} that are published"
    return (
        f"the log has {manifest.log_size} entries, the site here shows {published}: the generator adds nothing to it. "
        f"Restore a newer backup, or move the site away; then {seen}"
    )


def _published_size(places: Places) -> int | None:
    """Return how many entries of the log readers see here, None where nothing is published here."""
    from generator.record.published import CHECKPOINT, head_of

    if places.site is None:
        return None
    with suppress(OSError, ValueError):
        return head_of((places.site / "current" / CHECKPOINT.lstrip("/")).read_bytes()).size
    return None


def _show(manifest: Manifest) -> None:
    print(f"backup    {manifest.name}, cut {manifest.cut}")
    for part in manifest.parts:
        print(f"{part.holds:9} {part.bytes / 1e6:.1f} MB from {part.place}")
    for line in manifest.left_out:
        print(f"left out  {line}")


def _note(kind: Kind, found: str = "", fault: str | None = None) -> None:
    """Note the result for the doctor; a file that cannot be written does not fail the command."""
    from generator.cli._settings import generator_settings
    from generator.clock import SystemClock
    from generator.keep.status import note

    path = generator_settings().backup_status_path
    try:
        note(path, kind, SystemClock().now(), found, fault)
    except OSError as error:
        typer.echo(f"the result could not be noted in {path}: {error.strerror}", err=True)
