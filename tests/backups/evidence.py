"""Print what becomes of backups that are tampered with or lack a part: `python -m tests.backups.evidence`.

About half a minute. Two tables: what somebody made of a backup who can write to the target, and how parts of backups
get lost. The exit code is 1 where one of the rows is not refused in one line, leaves anything behind, or costs the
whole backup.
"""

import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from generator.operate.keep.restore import fetch
from tests.backups.hostile import CASES, Attacked
from tests.backups.instants import KNOWN
from tests.backups.lost import WAYS
from tests.backups.machine import NAME, Machine, refusal_of

IN_TARGET: Final = re.compile("target lost|in the target|manifest|the same of")
TITLE: Final = "# Backups: what was tampered with, and what was lost"


@dataclass(frozen=True)
class Row:
    """One thing that was tried, the line that it was refused with, and what is wrong with that; empty for nothing."""

    what: str
    refusal: str
    wrong: str = ""


def hostile_rows(machine: Machine, kept: Path) -> Iterator[Row]:
    """Tamper with a backup in each way, and restore it without a look at its signature."""
    settings = str(machine.state / "settings").lstrip("/")
    for what, tamper in CASES.items():
        machine.reset(kept)
        tamper(Attacked(machine.folder / "kept" / NAME, settings, machine.recipient))

        before = names_in(machine.folder)
        refusal = refusal_of(lambda: machine.restore(machine.folder / "fresh", machine.folder / "root"))
        wrong = faults(refusal, refusal_of(lambda: fetch_signed(machine)))
        if left := names_in(machine.folder) - before:
            wrong.append(f"it left {min(left)}")
        yield Row(what, plain(refusal, machine), "; ".join(wrong))


def faults(*refusals: str) -> list[str]:
    return [line for line in refusals if line.startswith(("TAKEN", "TRACEBACK", "NOT ONE LINE"))]


def fetch_signed(machine: Machine) -> None:
    """Bring the backup here as `emi restore --signer` does."""
    scratch = machine.folder / "scratch-signed"
    scratch.mkdir()
    try:
        fetch(machine.target, NAME, scratch, KNOWN, machine.signer)
    finally:
        shutil.rmtree(scratch)


def names_in(folder: Path) -> set[str]:
    """Return what is in a folder, but for the scratch of a command."""
    found = (path.relative_to(folder) for path in folder.rglob("*"))
    return {str(path) for path in found if path.parts[0] != "scratch"}


def lost_rows(machine: Machine, kept: Path) -> Iterator[Row]:
    """Lose a part in each way; what was a whole backup before must be there as it was."""
    for what, lose in WAYS.items():
        machine.reset(kept)
        refusal = refusal_of(partial(lose, machine))
        wrong = faults(refusal)
        if machine.target.names() != [NAME]:
            wrong.append(f"the target has {machine.target.names()}")
        if not IN_TARGET.search(what) and refusal_of(lambda: fetch_signed(machine)) != "TAKEN":
            wrong.append("the whole backup is whole no more")
        yield Row(what, plain(refusal, machine), "; ".join(wrong))


def plain(text: str, machine: Machine) -> str:
    """Return a line without what differs from run to run."""
    for found, shown in (
        (str(machine.folder), ""),
        (str(machine.folder).lstrip("/"), ""),
        (f"backup {NAME}", "the backup"),
        (machine.signer, "KEY"),
    ):
        text = text.replace(found, shown)
    return text


def page(hostile: list[Row], lost: list[Row]) -> str:
    """Return both tables."""
    return f"""{TITLE}

A backup is evidence if one that lacks something is none, and if only the machine can make one. Both tables are
made by `python -m tests.backups.evidence` on a state of two days with sales, votes and a log, and held by
`tests/keep/test_evidence.py`. A row is good where the command ended with one line, here as it was printed.

## {len(hostile)} tampered backups

Somebody can write to the target and computes every size and digest again. Each backup was restored **without** a look
at its signature, as `emi restore --unsigned` does: nothing of it may be put back, not in part and not elsewhere. With
`--signer` each was refused as well, before anything of it was unpacked. What remains possible without a signature is
what no form gives away: another record, or other settings below /etc/emi, in a backup that is right in every other way.

| what was made of it | refused with |
|---|---|
{table(hostile)}

## {len(lost)} ways to lose a part

A machine has a whole backup of this hour; then a part is lost, and the next backup is tried, or the one that is there
is verified. The whole backup must stay: the next one of an hour takes the place of the one before.

| what happened | refused with |
|---|---|
{table(lost)}
"""


def table(rows: list[Row]) -> str:
    return "\n".join(f"| {row.what} | {cell(row.refusal)} |" for row in rows)


def cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def main() -> int:
    """Print both tables, and say what is wrong."""
    with tempfile.TemporaryDirectory(prefix="evidence-") as name:
        folder = Path(name)
        machine = Machine.make(folder / "machine")
        machine.kept_in(folder / "kept")
        hostile = list(hostile_rows(machine, folder / "kept"))
        lost = list(lost_rows(machine, folder / "kept"))

    print(page(hostile, lost))
    for row in (*hostile, *lost):
        if row.wrong:
            print(f"FAULT {row.what}: {row.wrong}", file=sys.stderr)
    return 1 if any(row.wrong for row in (*hostile, *lost)) else 0


if __name__ == "__main__":
    sys.exit(main())
