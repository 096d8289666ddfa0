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
    SETTINGS_FOLDER,
    audited_ledger,
    known_schemas,
    own_signer,
    places_of,
    scratch_folder,
)
from generator.errors import BackupError, GeneratorError

if TYPE_CHECKING:
    from generator.keep.figures import Figures
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
SettingsBack: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option(
        "--settings", help="File or folder in which settings may be put back. Default: /etc/emi and ./emi.yaml."
    ),
]
Signer: TypeAlias = Annotated[
    str | None,
    typer.Option(help="Public key that the backup must be signed by. Default: this machine's, where it has one."),
]
Unsigned: TypeAlias = Annotated[bool, typer.Option("--unsigned", help="Do not ask who made the backup.")]
Smaller: TypeAlias = Annotated[
    bool, typer.Option("--smaller", help="It may hold less than one before it: an older backup was restored.")
]


@backup_app.command("make")
def make(
    target: Where,
    gateway_state: GatewayState = None,
    settings: SettingsPaths = None,
    keys: Annotated[
        str | None, typer.Option(help="Public key of age (age1…) for which log.key and receipt.key are added.")
    ] = None,
    without: Annotated[
        list[str] | None, typer.Option(help="Part that is left out: memory, ledger, inbox, once, settings, exports.")
    ] = None,
    *,
    smaller: Smaller = False,
    scratch: Scratch = None,
) -> None:
    """Copy memory, ledger, ballots, settings and what was published once, while both programs run.

    What the newest backup in TARGET has and this one would lack is an error, and so is a memory or a ledger that holds
    less. The backup is signed by a key of this machine, whose public half is printed: keep that elsewhere.

    Of the backups in TARGET stay, for each part, the newest of each of the last 48 hours, 30 days and 12 months that
    have one with it.

    Example: emi backup /mnt/backups/emi --gateway-state /var/lib/emi/gateway --settings /etc/emi
    """
    from importlib.metadata import version

    from generator.cli._settings import generator_settings
    from generator.clock import SystemClock
    from generator.keep.backup import Meant, make_backup
    from generator.keep.signing import KEY_FILE, own_key, public_text
    from generator.keep.targets import open_target

    program = version("educational-market-intelligence")
    try:
        if missing := [path for path in settings or () if not path.exists()]:
            raise BackupError(f"--settings {missing[0]}: there is nothing")
        places = places_of(gateway_state, settings or ())

        with scratch_folder(scratch) as folder:
            opened = open_target(target, folder)
            key = own_key(generator_settings().backup_status_path.with_name(KEY_FILE))
            meant = Meant(keys, tuple(without or ()), smaller, key)
            made = make_backup(places, opened, SystemClock().now, program, meant)
    except GeneratorError as error:
        _note("backup", fault=str(error))
        raise

    _note("backup", found=f"{made.manifest.name}, {made.manifest.total_bytes / 1e6:.1f} MB")
    _show(made.manifest)
    print(f"signed by {public_text(key)}")
    if made.removed:
        print(f"removed   {len(made.removed)} older: {', '.join(made.removed)}")


@backup_app.command("list")
def list_backups(target: Where) -> None:
    """List the backups in a target, oldest first.

    Example: emi backup list s3://my-backups/emi
    """
    from generator.keep.targets import manifests, open_target

    with scratch_folder(None) as folder:
        for name, manifest in manifests(open_target(target, folder)).items():
            if manifest is None:
                print(f"{name}  cannot be read: emi backup verify {target} --name {name}")
                continue
            holds = ", ".join(part.holds for part in manifest.parts)
            schemas = f"schemas {manifest.schemas.memory or '-'}, {manifest.schemas.ledger or '-'}"
            print(f"{name}  cut {manifest.cut}  {manifest.total_bytes / 1e6:.1f} MB  {schemas}  {holds}")


@backup_app.command("verify")
def verify_backup(
    target: Where,
    name: Name = None,
    gateway_state: GatewayState = None,
    settings: SettingsBack = None,
    signer: Signer = None,
    *,
    unsigned: Unsigned = False,
    smaller: Smaller = False,
    drill: Annotated[bool, typer.Option("--drill", help="Note the result for the doctor: a restore drill.")] = False,
    scratch: Scratch = None,
) -> None:
    """Put a backup back into a scratch folder, upgrade and audit it there; exit code 1 when it does not hold.

    It must hold memory and ledger, and no less than what the last drill found.

    Example: emi backup verify /mnt/backups/emi
    """
    from generator.cli._settings import generator_settings
    from generator.clock import SystemClock
    from generator.keep.restore import newest
    from generator.keep.status import Status
    from generator.keep.targets import open_target
    from generator.keep.verify import NOTHING, verify

    now = SystemClock().now()
    try:
        places = places_of(gateway_state, settings or (SETTINGS_FOLDER,))
        least = NOTHING if smaller else Status.load(generator_settings().backup_status_path).drilled
        asked = None if unsigned else signer or own_signer()

        with scratch_folder(scratch) as folder:
            opened = open_target(target, folder)
            chosen = newest(opened, name)
            verified = verify(
                opened, chosen, folder, known_schemas(), audited_ledger, places, now, signer=asked, least=least
            )
    except GeneratorError as error:
        if drill:
            _note("drill", fault=str(error))
        raise

    print("\n".join(verified.lines))
    print(f"signed by {asked}" if asked else "who made it was not asked: --signer KEY, as `emi backup` printed it")
    if drill:
        _note("drill", found=f"{chosen} was put back and audited", drilled=verified.manifest.figures)


@backup_app.command("keygen")
def keygen(path: Annotated[Path, typer.Argument(help="New file for the private key.")]) -> None:
    """Make the key pair for --keys. Keep the private half off this machine: without it the keys cannot be restored.

    Example: emi backup keygen backup-identity.txt
    """
    from generator.keep.keys import make_identity

    print(f"private key  {path} (mode 0600): move it off this machine\npublic key   {make_identity(path)}")


def restore(  # noqa: PLR0917
    target: Where,
    name: Name = None,
    gateway_state: GatewayState = None,
    identity: Annotated[
        Path | None,
        typer.Option(help="File with the private key of age: log.key and receipt.key of the newest backup with keys."),
    ] = None,
    settings: SettingsBack = None,
    signer: Signer = None,
    *,
    unsigned: Unsigned = False,
    scratch: Scratch = None,
) -> None:
    """Put a backup back where the settings say; both programs must be stopped. All of it is put back, or nothing.

    Databases and other keys that are there are renamed. Settings and ballots of a name that is there stay as they are,
    and so does a published site. A restore that was cut off is marked: neither program starts before it is run again.

    Example: emi restore /mnt/backups/emi --gateway-state /var/lib/emi/gateway --signer KEY
    """
    from generator.cli._settings import generator_settings
    from generator.clock import SystemClock
    from generator.keep.restore import Restore, fetch, newest, refuse_if_in_use
    from generator.keep.targets import open_target

    places = places_of(gateway_state, settings or (SETTINGS_FOLDER,))
    folder = generator_settings().state_dir
    now = SystemClock().now()
    asked = None if unsigned else signer or own_signer()
    if asked is None and not unsigned:
        raise BackupError("who made the backup is not known: name its key with --signer, or take it with --unsigned")

    with scratch_folder(scratch) as fetched_into:
        opened = open_target(target, fetched_into)
        refuse_if_in_use(places, tuple(folder / lock for lock in LOCK_FILES))
        chosen = newest(opened, name)
        is_newest = chosen == newest(opened, None)
        fetched = fetch(opened, chosen, fetched_into, known_schemas(), asked, with_keys=identity is not None)
        Restore(fetched, places, print, now, identity=identity).run()

    print(_next_steps(fetched.manifest, places))
    if not is_newest:
        print("- the first backup into a target that has newer ones than this: emi backup TARGET --smaller")


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


def _note(kind: Kind, found: str = "", fault: str | None = None, drilled: Figures | None = None) -> None:
    """Note the result for the doctor; a file that cannot be written does not fail the command."""
    from generator.cli._settings import generator_settings
    from generator.clock import SystemClock
    from generator.keep.status import note

    path = generator_settings().backup_status_path
    try:
        note(path, kind, SystemClock().now(), found, fault, drilled)
    except OSError as error:
        typer.echo(f"the result could not be noted in {path}: {error.strerror}", err=True)
