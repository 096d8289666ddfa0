"""`emi restore`: list the backups in a target, prove that one holds, or put one back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from generator.cli._keeping import (
    LOCK_FILES,
    SETTINGS_FOLDER,
    GatewayState,
    Scratch,
    Smaller,
    Where,
    audited_ledger,
    known_schemas,
    note_result,
    own_signer,
    places_of,
    scratch_folder,
)
from generator.errors import BackupError, GeneratorError

if TYPE_CHECKING:
    from generator.operate.keep.places import Places
    from generator.operate.keep.verify import Verified


@dataclass(frozen=True, slots=True)
class Asked:
    """Which backup is meant, who must have made it, and where it belongs; the options as they were given."""

    target: str
    name: str | None
    gateway_state: Path | None
    settings: Sequence[Path]
    signer: str | None
    unsigned: bool
    scratch: Path | None

    def places(self) -> Places:
        """Return where everything lies that would be put back."""
        return places_of(self.gateway_state, self.settings or (SETTINGS_FOLDER,))

    def key(self) -> str | None:
        """Return the public key that must have signed it, None to take it from anyone."""
        return None if self.unsigned else self.signer or own_signer()


def restore(  # noqa: PLR0917
    target: Where,
    name: Annotated[str | None, typer.Option(help="Which backup. Default: the newest.")] = None,
    gateway_state: GatewayState = None,
    identity: Annotated[
        Path | None,
        typer.Option(help="File with the private key of age: log.key and receipt.key of the newest backup with keys."),
    ] = None,
    settings: Annotated[
        list[Path] | None,
        typer.Option(
            "--settings", help="File or folder in which settings may be put back. Default: /etc/emi and ./emi.yaml."
        ),
    ] = None,
    signer: Annotated[
        str | None,
        typer.Option(help="Public key that the backup must be signed by. Default: this machine's, where it has one."),
    ] = None,
    *,
    unsigned: Annotated[bool, typer.Option("--unsigned", help="Do not ask who made the backup.")] = False,
    only_list: Annotated[bool, typer.Option("--list", help="List the backups in the target, oldest first.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Put it back into a scratch folder, upgrade and audit it there.")
    ] = False,
    drill: Annotated[
        bool, typer.Option("--drill", help="As --dry-run, and note the result for the doctor: a restore drill.")
    ] = False,
    smaller: Smaller = False,
    scratch: Scratch = None,
) -> None:
    """Put a backup back where the settings say; both programs must be stopped. All of it is put back, or nothing.

    Databases and other keys that are there are renamed. Settings and ballots of a name that is there stay as they are,
    and so does a published site. A restore that was cut off is marked: neither program starts before it is run again.

    With --dry-run or --drill both programs may run, and nothing here is written. The exit code is 1 where the backup
    does not hold: it must have memory and ledger, and no less than what the last drill found.

    Example: emi restore /mnt/backups/emi --gateway-state /var/lib/emi/gateway --signer KEY
    """
    _refuse_unless_alone(only_list, dry_run, drill)
    if identity is not None and (only_list or dry_run or drill):
        raise BackupError("--identity puts keys back: leave it out with --list, --dry-run and --drill")
    if smaller and not (dry_run or drill):
        raise BackupError("--smaller is for --dry-run and --drill: what is put back is compared with nothing")

    asked = Asked(target, name, gateway_state, settings or (), signer, unsigned, scratch)
    if only_list:
        _list(asked)
    elif drill:
        _drill(asked, smaller=smaller)
    elif dry_run:
        _rehearse(asked, smaller=smaller)
    else:
        _put_back(asked, identity)


def _refuse_unless_alone(*modes: bool) -> None:
    if sum(modes) > 1:
        raise BackupError("choose one of --list, --dry-run and --drill")


def _list(asked: Asked) -> None:
    """Print the backups in a target, oldest first."""
    from generator.operate.keep.targets import manifests, open_target

    with scratch_folder(asked.scratch) as folder:
        for name, manifest in manifests(open_target(asked.target, folder)).items():
            if manifest is None:
                print(f"{name}  cannot be read: emi restore {asked.target} --dry-run --name {name}")
                continue
            holds = ", ".join(part.holds for part in manifest.parts)
            schemas = f"schemas {manifest.schemas.memory or '-'}, {manifest.schemas.ledger or '-'}"
            print(f"{name}  cut {manifest.cut}  {manifest.total_bytes / 1e6:.1f} MB  {schemas}  {holds}")


def _drill(asked: Asked, *, smaller: bool) -> None:
    """Put a backup back into a scratch folder, and note what that came to for the doctor."""
    try:
        verified = _rehearse(asked, smaller=smaller)
    except GeneratorError as error:
        note_result("drill", fault=str(error))
        raise
    manifest = verified.manifest
    note_result("drill", found=f"{manifest.name} was put back and audited", drilled=manifest.figures)


def _rehearse(asked: Asked, *, smaller: bool) -> Verified:
    """Put a backup back into a scratch folder, upgrade and audit it there, and print what it holds."""
    from generator.cli._settings import generator_settings
    from generator.clock import SystemClock
    from generator.operate.keep.restore import newest
    from generator.operate.keep.status import Status
    from generator.operate.keep.targets import open_target
    from generator.operate.keep.verify import NOTHING, verify

    now = SystemClock().now()
    places = asked.places()
    least = NOTHING if smaller else Status.load(generator_settings().backup_status_path).drilled
    key = asked.key()

    with scratch_folder(asked.scratch) as folder:
        target = open_target(asked.target, folder)
        chosen = newest(target, asked.name)
        verified = verify(target, chosen, folder, known_schemas(), audited_ledger, places, now, signer=key, least=least)

    print("\n".join(verified.lines))
    print(f"signed by {key}" if key else "who made it was not asked: --signer KEY, as `emi backup` printed it")
    return verified


def _put_back(asked: Asked, identity: Path | None) -> None:
    """Put a backup back where the settings say, and print what comes next."""
    from generator.cli._after_restore import next_steps
    from generator.cli._settings import generator_settings
    from generator.clock import SystemClock
    from generator.operate.keep.restore import Restore, fetch, newest, refuse_if_in_use
    from generator.operate.keep.targets import open_target

    # Who made it, and whether a program runs, is asked before the first file is touched.
    places = asked.places()
    folder = generator_settings().state_dir
    now = SystemClock().now()
    key = asked.key()
    if key is None and not asked.unsigned:
        raise BackupError("who made the backup is not known: name its key with --signer, or take it with --unsigned")

    with scratch_folder(asked.scratch) as fetched_into:
        target = open_target(asked.target, fetched_into)
        refuse_if_in_use(places, tuple(folder / lock for lock in LOCK_FILES))
        chosen = newest(target, asked.name)
        is_newest = chosen == newest(target, None)
        fetched = fetch(target, chosen, fetched_into, known_schemas(), key, with_keys=identity is not None)
        Restore(fetched, places, print, now, identity=identity).run()

    print(next_steps(fetched.manifest, places))
    if not is_newest:
        print(f"- the first backup into a target that has newer ones than this: emi backup {asked.target} --smaller")
