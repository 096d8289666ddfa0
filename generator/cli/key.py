"""`emi key`: the keys of the log, of receipts and of backups: show them, make one, replace one."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from generator.cli import _log_key, _receipt_key
from generator.errors import GeneratorError


class Key(StrEnum):
    """Which key."""

    log = "log"
    receipt = "receipt"
    backup = "backup"


class Step(StrEnum):
    """What is done with it."""

    show = "show"
    make = "make"
    rotate = "rotate"
    finish = "finish"


# What can be done with a key of this machine. A pair for backups is not one: its private half is kept elsewhere.
STEPS: Final[Mapping[Key, Mapping[Step, Callable[[], None]]]] = {
    Key.log: {
        Step.show: _log_key.show,
        Step.make: _log_key.make,
        Step.rotate: _log_key.rotate,
        Step.finish: _log_key.finish,
    },
    Key.receipt: {Step.show: _receipt_key.show, Step.make: _receipt_key.make, Step.rotate: _receipt_key.rotate},
}


def key(
    which: Annotated[Key, typer.Argument(help="log (signs the transparency log), receipt (signs receipts) or backup.")],
    file: Annotated[
        Path | None, typer.Argument(help="Of backup: new file for the private half of a key pair of age.")
    ] = None,
    *,
    make: Annotated[bool, typer.Option("--make", help="Make the key; an existing one is never overwritten.")] = False,
    rotate: Annotated[bool, typer.Option("--rotate", help="Replace the key by a new one.")] = False,
    finish: Annotated[
        bool, typer.Option("--finish", help="Of log: end the overlap of two keys, so that only the newest signs.")
    ] = False,
) -> None:
    """Show the public keys of the log or of receipts, the newest first, or make and replace them.

    The log's: after --rotate old and new sign together until --finish. Leave weeks between the two, so that whoever
    verifies now and then learns of the new key from the old one, and restart the generator after each.

    That of receipts: from the gateway's next start PAYMENT-RESPONSE of a settled payment carries a signed receipt
    (x402 offer-receipt). After --rotate the old public half stays published, so that its receipts can be verified.

    `emi key backup FILE` makes the key pair for `emi backup --keys`. Move FILE off this machine: without it the keys
    in a backup cannot be restored.

    Example: emi key log
    """
    asked = {Step.make: make, Step.rotate: rotate, Step.finish: finish}
    chosen = [step for step, wanted in asked.items() if wanted]
    if len(chosen) > 1:
        raise GeneratorError("choose one of --make, --rotate and --finish")

    if which is Key.backup:
        _make_pair(file, chosen)
        return
    if file is not None:
        raise GeneratorError(
            f"where the {which} key lies is a setting, EMI_{which.upper()}_KEY_FILE: name no file here"
        )

    step = chosen[0] if chosen else Step.show
    if step not in STEPS[which]:
        raise GeneratorError(f"--{step} is for the log's key alone: `emi key {which} --rotate` replaces at once")
    STEPS[which][step]()


def _make_pair(file: Path | None, chosen: list[Step]) -> None:
    """Make the key pair that the keys in a backup are encrypted for."""
    from generator.operate.keep.keys import make_identity

    if file is None or chosen not in ([], [Step.make]):
        raise GeneratorError("name a new file for the private half, e.g. `emi key backup identity.txt`")
    print(f"private key  {file} (mode 0600): move it off this machine\npublic key   {make_identity(file)}")
