"""Ways in which a part of a backup gets lost: on the machine, in its settings, in the target; each is a row."""

import json
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from gateway.ledger.store import Ledger
from gateway.wire.restoring import MARK
from generator.operate.keep.backup import Meant
from generator.operate.keep.databases import Database
from generator.operate.keep.figures import Figures
from generator.operate.keep.targets import FolderTarget
from generator.record.memory.store import Memory
from tests.backups.machine import AT, NAME, Machine, places_in, refusal_of

PARTS: Final = {
    "memory": "memory.sqlite3",
    "ledger": "payments.sqlite3",
    "inbox": "inbox",
    "once": "site/once",
    "settings": "settings",
    "exports": "settled-2026-01.csv",
}
Way = Callable[[Machine], object]


def gone(name: str) -> Way:
    """Rename a part away on the machine, then back up."""

    def lose(machine: Machine) -> object:
        (machine.state / name).rename(machine.folder / "gone")
        return machine.back_up()

    return lose


def file_gone(part: str) -> Way:
    """Remove a part's file in the target, then verify."""

    def lose(machine: Machine) -> object:
        (next((machine.folder / "kept" / NAME).glob(f"{part}.*"))).unlink()
        return machine.verify()

    return lose


def file_cut(part: str) -> Way:
    """Cut a part's file in the target, then verify."""

    def lose(machine: Machine) -> object:
        path = next((machine.folder / "kept" / NAME).glob(f"{part}.*"))
        path.write_bytes(path.read_bytes()[:-1])
        return machine.verify()

    return lose


def unnamed(part: str, signer: bool) -> Way:
    """Take a part out of the manifest, then verify."""

    def lose(machine: Machine) -> object:
        change_manifest(machine, parts=[row for row in manifest(machine)["parts"] if row["holds"] != part])
        return machine.verify(machine.signer if signer else None)

    return lose


def manifest(machine: Machine) -> dict[str, Any]:
    values: dict[str, Any] = json.loads((machine.folder / "kept" / NAME / "manifest.json").read_bytes())
    return values


def change_manifest(machine: Machine, **values: Any) -> None:
    path = machine.folder / "kept" / NAME / "manifest.json"
    path.write_text(json.dumps(manifest(machine) | values))


def no_parts(machine: Machine) -> object:
    change_manifest(machine, parts=[])
    return machine.verify()


def change(database: Path, *statements: str) -> None:
    connection = sqlite3.connect(database)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def elsewhere(machine: Machine, name: str) -> Database:
    return Database.at(machine.folder / "elsewhere" / name)


def new_memory(machine: Machine) -> object:
    (machine.state / "memory.sqlite3").unlink()
    Memory.open(f"sqlite:///{machine.state / 'memory.sqlite3'}").close()
    return machine.back_up()


def new_ledger(machine: Machine) -> object:
    (machine.state / "payments.sqlite3").unlink()
    Ledger(machine.state / "payments.sqlite3").close()
    return machine.back_up()


def older(machine: Machine, file: str, statement: str) -> object:
    change(machine.state / file, statement)
    return machine.back_up()


def empty(machine: Machine, file: str) -> object:
    (machine.state / file).write_bytes(b"")
    return machine.back_up()


def damaged(machine: Machine, file: str) -> object:
    with (machine.state / file).open("r+b") as database:
        database.seek(4096)
        database.write(b"x" * 8192)
    return machine.back_up()


def first_without_ledger(machine: Machine) -> object:
    fresh = replace(machine, target=FolderTarget(machine.folder / "new-target"))
    return fresh.back_up(places=replace(machine.places, ledger=elsewhere(machine, "payments.sqlite3")))


def half_restored(machine: Machine) -> object:
    (machine.state / MARK).write_text(NAME)
    return machine.back_up()


def after_a_drill(machine: Machine, least: Figures) -> object:
    return machine.verify(machine.signer, least)


def with_other(machine: Machine, **changed: Any) -> object:
    return machine.back_up(places=replace(machine.places, **changed))


LAST_ENTRY: Final = "DELETE FROM log_entries WHERE id = (SELECT max(id) FROM log_entries)"
WAYS: Final[dict[str, Way]] = {
    **{f"the machine has no {part} any more": gone(name) for part, name in PARTS.items()},
    "STATE_DIR is another folder": lambda it: it.back_up(places=places_in(it.folder / "elsewhere")),
    "`--gateway-state` was forgotten": lambda it: with_other(it, ledger=elsewhere(it, "payments.sqlite3")),
    "the memory is looked for elsewhere": lambda it: with_other(it, memory=elsewhere(it, "memory.sqlite3")),
    "the site is looked for elsewhere": lambda it: with_other(it, site=it.folder / "elsewhere"),
    "the site moved to an object store": lambda it: with_other(it, site=None),
    "`--settings` was forgotten": lambda it: with_other(it, settings=()),
    "the first backup into a target has no ledger": first_without_ledger,
    "the memory is an empty file": lambda it: empty(it, "memory.sqlite3"),
    "the ledger is an empty file": lambda it: empty(it, "payments.sqlite3"),
    "the memory is damaged": lambda it: damaged(it, "memory.sqlite3"),
    "the ledger is damaged": lambda it: damaged(it, "payments.sqlite3"),
    "the memory was made again, empty": new_memory,
    "the ledger was made again, empty": new_ledger,
    "the memory is an older one, by an entry": lambda it: older(it, "memory.sqlite3", LAST_ENTRY),
    "the ledger is an older one, by a payment": lambda it: older(
        it, "payments.sqlite3", "DELETE FROM payments WHERE txid = (SELECT min(txid) FROM payments)"
    ),
    "a restore did not come to its end": half_restored,
    "`--without` names an unknown part": lambda it: it.back_up(meant=Meant(without=("memroy",))),
    **{f"the target lost the file of {part}": file_gone(part) for part in PARTS},
    **{f"the file of {part} in the target lost a byte": file_cut(part) for part in PARTS},
    **{f"the manifest names no {part} any more": unnamed(part, signer=True) for part in PARTS},
    "the same of memory, without a look at the signature": unnamed("memory", signer=False),
    "the same of ledger, without a look at the signature": unnamed("ledger", signer=False),
    "the manifest names no part at all": no_parts,
    "the release is behind the last drill's": lambda it: after_a_drill(it, Figures(generation=10**6)),
    "the log is shorter than the last drill's": lambda it: after_a_drill(it, Figures(log_size=10**6)),
    "the ledger has less than the last drill's": lambda it: after_a_drill(it, Figures(payments=10**6)),
}


def hours_of_failing(machine: Machine, hours: int) -> Sequence[str]:
    """Lose the memory, and let the timer run on; return the backups that are there in the end."""
    (machine.state / "memory.sqlite3").rename(machine.folder / "gone")
    for hour in range(1, hours):
        at = AT + timedelta(hours=hour)
        assert refusal_of(lambda at=at: machine.back_up(at)).startswith("no backup was made")
    return machine.target.names()
