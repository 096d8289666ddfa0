"""`emi backup`: copy what cannot be made again, while both programs run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from generator.cli._keeping import (
    GatewayState,
    Scratch,
    Smaller,
    Where,
    note_result,
    places_of,
    scratch_folder,
)
from generator.errors import BackupError, GeneratorError

if TYPE_CHECKING:
    from generator.operate.keep.manifest import Manifest


def backup(
    target: Where,
    gateway_state: GatewayState = None,
    settings: Annotated[
        list[Path] | None, typer.Option("--settings", help="File of settings, or a folder of them. May be repeated.")
    ] = None,
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
    from generator.operate.keep.backup import Meant, make_backup
    from generator.operate.keep.signing import KEY_FILE, own_key, public_text
    from generator.operate.keep.targets import open_target

    program = version("educational-market-intelligence")
    try:
        if missing := [path for path in settings or () if not path.exists()]:
            raise BackupError(f"--settings {missing[0]}: there is nothing")
        places = places_of(gateway_state, settings or ())

        with scratch_folder(scratch) as folder:
            opened = open_target(target, folder)
            key = own_key(generator_settings().backup_status_path.with_name(KEY_FILE))
            meant = Meant(keys, tuple(without or ()), smaller, key)
            result = make_backup(places, opened, SystemClock().now, program, meant)
    except GeneratorError as error:
        note_result("backup", fault=str(error))
        raise

    note_result("backup", found=f"{result.manifest.name}, {result.manifest.total_bytes / 1e6:.1f} MB")
    _show(result.manifest)
    print(f"signed by {public_text(key)}")
    if result.removed:
        print(f"removed   {len(result.removed)} older: {', '.join(result.removed)}")


def _show(manifest: Manifest) -> None:
    print(f"backup    {manifest.name}, cut {manifest.cut}")
    for part in manifest.parts:
        print(f"{part.holds:9} {part.bytes / 1e6:.1f} MB from {part.place}")
    for line in manifest.left_out:
        print(f"left out  {line}")
