"""A machine with a state of an earlier version, and a whole backup of it: what the tables of evidence are made on."""

import shutil
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Self

from nacl.signing import SigningKey

from gateway.ledger.audit import audit_ledger
from generator.errors import BackupError
from generator.operate.keep.backup import Made, Meant, make_backup
from generator.operate.keep.databases import Database
from generator.operate.keep.figures import Figures
from generator.operate.keep.keys import make_identity
from generator.operate.keep.places import Places
from generator.operate.keep.restore import Restore, fetch
from generator.operate.keep.signing import public_text
from generator.operate.keep.targets import FolderTarget
from generator.operate.keep.verify import NOTHING, Verified, verify
from tests.backups.instants import KNOWN
from tests.support.states.packed import unpacked

AT: Final = datetime(2026, 11, 25, 20, 4, 9, tzinfo=UTC)
LATER: Final = AT.replace(minute=30)  # of the same hour: a backup then takes the place of the one before
NAME: Final = "20261125T200409Z"
VERSION: Final = "78f9e24c"


@dataclass(frozen=True)
class Machine:
    """One machine, and the target of its backups."""

    folder: Path
    places: Places
    target: FolderTarget
    key: SigningKey
    recipient: str

    @classmethod
    def make(cls, folder: Path) -> Self:
        """Make a machine in a folder, with one whole backup, keys and all."""
        state = unpacked(VERSION, folder)
        for made_again in (state / "site" / "releases", state / "vault"):
            shutil.rmtree(made_again)  # in no backup, and most of the files
        (state / "site" / "current").unlink()
        (state / "settings").mkdir()
        (state / "settings" / "gateway.env").write_text("EMI_ALGOD_TOKEN=x\n")
        (state / "inbox" / "A.ballot").write_bytes(b"a ballot")
        (state / "settled-2026-01.csv").write_text("txid\n")

        recipient = make_identity(folder / "identity")
        target = FolderTarget(folder / "kept")
        machine = cls(folder, places_in(state), target, SigningKey.generate(), recipient)
        machine.back_up(AT, Meant(recipient))
        return machine

    def kept_in(self, folder: Path) -> None:
        """Keep a copy of all of it, for `reset`."""
        shutil.copytree(self.folder, folder)

    def reset(self, kept: Path) -> None:
        """Be as it was kept: the paths stay the same, for a backup names them."""
        shutil.rmtree(self.folder)
        shutil.copytree(kept, self.folder)

    @property
    def state(self) -> Path:
        """STATE_DIR of both programs."""
        return self.folder / "state"

    @property
    def signer(self) -> str:
        """Public half of the key that signs its backups."""
        return public_text(self.key)

    def back_up(self, at: datetime = LATER, meant: Meant | None = None, places: Places | None = None) -> Made:
        """Make one backup, as the timer does."""
        signing = replace(meant or Meant(), signer=self.key)
        return make_backup(places or self.places, self.target, lambda: at, "0.1.0", signing)

    def verify(self, signer: str | None = None, least: Figures = NOTHING) -> Verified:
        """Verify the newest backup."""
        scratch = self.folder / "scratch"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir()
        name = self.target.names()[-1]
        return verify(
            self.target, name, scratch, KNOWN, audited, self.places, AT.replace(day=26), signer=signer, least=least
        )

    def restore(self, to: Path, root: Path) -> list[str]:
        """Put the newest backup back on another machine, whoever made it; return what was said."""
        scratch = self.folder / "scratch"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir()
        lines: list[str] = []
        fetched = fetch(self.target, self.target.names()[-1], scratch, KNOWN)
        fresh = replace(places_in(to), settings=self.places.settings)
        identity = self.folder / "identity"
        Restore(fetched, fresh, lines.append, AT.replace(day=26), root=root, identity=identity).run()
        return lines


def places_in(state: Path) -> Places:
    """Return where everything lies below a STATE_DIR."""
    return Places(
        memory=Database.at(state / "memory.sqlite3"),
        ledger=Database.at(state / "payments.sqlite3"),
        inbox=state / "inbox",
        site=state / "site",
        exports=state,
        settings=(state / "settings",),
        keys={"log.key": state / "keys" / "log.key", "receipt.key": state / "keys" / "receipt.key"},
        states={"memory": state, "ledger": state},
    )


def audited(where: Path | str) -> str:
    """Read a payments ledger to its end, as the drill does."""
    return str(audit_ledger(where))


def refusal_of(call: object) -> str:
    """Call something that must refuse; return its line, or what came instead, in capitals."""
    assert callable(call)
    try:
        call()
    except BackupError as refused:
        line = str(refused)
        return line if "\n" not in line and len(line) <= MOST_LETTERS else f"NOT ONE LINE: {line!r}"
    except Exception as error:  # noqa: BLE001  whatever it is, the table shows it
        return f"TRACEBACK: {error!r}"
    return "TAKEN"


MOST_LETTERS: Final = 500
