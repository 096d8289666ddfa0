"""Back up at random instants, undisturbed, killed in the middle, or into a full target; then verify what is there."""

import contextlib
import os
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, Literal

from gateway.ledger.audit import audit_ledger
from gateway.ledger.tables import REVISION
from generator.errors import BackupError
from generator.operate.keep.backup import make_backup
from generator.operate.keep.databases import Database
from generator.operate.keep.manifest import Schemas
from generator.operate.keep.places import Places
from generator.operate.keep.targets import FolderTarget
from generator.operate.keep.verify import verify
from generator.record.memory.tables import SCHEMA_VERSION
from tests.backups.load import settled_before

Way = Literal["undisturbed", "killed", "limited", "full"]
KNOWN: Final = Schemas(SCHEMA_VERSION, REVISION)
BLOCK: Final = 4096
PROGRESS_EACH: Final = 50
FIRST: Final = datetime(2026, 1, 1, tzinfo=UTC)  # of the names; each backup has an hour of its own


@dataclass
class Tally:
    """What came of the instants, by the way in which each was disturbed."""

    tried: Counter[Way] = field(default_factory=Counter)
    there: Counter[Way] = field(default_factory=Counter)
    verified: int = 0
    payments: int = 0  # settled before the cut of a verified backup, over all of them
    lost: int = 0
    faults: list[str] = field(default_factory=list)


class _Times:
    """The wall time; but the first one asked for, which names the backup, is of an hour of its own."""

    def __init__(self, number: int) -> None:
        self._name: datetime | None = FIRST + timedelta(hours=number)

    def __call__(self) -> datetime:
        first, self._name = self._name, None
        return first or datetime.now(UTC)


@dataclass
class Instants:
    """Backups of one state while others write it.

    Args:
        state: STATE_DIR of both programs.
        journal: what `load.sell` notes.
        folder: for targets and scratch.
        seed: of every choice.
    """

    state: Path
    journal: Path
    folder: Path
    seed: int

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self.places = Places(
            memory=Database.at(self.state / "memory.sqlite3"),
            ledger=Database.at(self.state / "payments.sqlite3"),
            inbox=self.state / "inbox",
            site=self.state / "site",
        )
        self.tally = Tally()
        self._usual_s = 0.3

    def run(self, count: int, ways: tuple[Way, ...]) -> Tally:
        """Make so many backups, each way in turn."""
        for number in range(count):
            way = ways[number % len(ways)]
            self.tally.tried[way] += 1
            with self._target(way, number) as target:
                self._back_up(number, way, target)
                self._check(number, way, FolderTarget(target))
            if number % PROGRESS_EACH == 0:
                tally = self.tally
                print(f"{number} instants: {tally.verified} verified, {tally.lost} lost", file=sys.stderr, flush=True)
        return self.tally

    @contextlib.contextmanager
    def _target(self, way: Way, number: int) -> Iterator[Path]:
        """Give an empty folder; for `full` on a file system with room for part of a backup, or a little more."""
        folder = self.folder / f"target-{number}"
        folder.mkdir()
        if way == "full":
            size = BLOCK * int(self._random.uniform(4, 1.3 * self._room() / BLOCK))
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(folder)], check=True)
        try:
            yield folder
        finally:
            if way == "full":
                subprocess.run(["umount", str(folder)], check=True)
            subprocess.run(["rm", "-rf", str(folder)], check=True)

    def _room(self) -> int:
        """Return about how many bytes a backup needs while it is made."""
        return sum(database.path.stat().st_size for database in (self.places.memory, self.places.ledger))

    def _back_up(self, number: int, way: Way, target: Path) -> None:
        time.sleep(self._random.uniform(0, 0.2))
        limit = int(self._random.uniform(0, 1.3 * self._room())) if way == "limited" else None
        began_s = time.monotonic()
        child = os.fork()
        if child == 0:
            os._exit(self._in_child(number, target, limit))

        if way == "killed":
            time.sleep(self._random.uniform(0, 1.2 * self._usual_s))
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)

        if way == "undisturbed":
            self._usual_s = time.monotonic() - began_s
            if status != 0:
                self.tally.faults.append(f"{number}: an undisturbed backup ended with {status}")
        elif os.WIFEXITED(status) and os.WEXITSTATUS(status) == 2:
            self.tally.faults.append(f"{number}, {way}: it ended with an error that has no name")

    def _in_child(self, number: int, target: Path, limit: int | None) -> int:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        try:
            make_backup(self.places, FolderTarget(target), _Times(number), "test")
        except BackupError:
            return 1
        except BaseException:  # noqa: BLE001  whatever it is, the parent must see it
            return 2
        return 0

    def _check(self, number: int, way: Way, target: FolderTarget) -> None:
        for name in target.names():
            self.tally.there[way] += 1
            scratch = self.folder / f"scratch-{number}"
            scratch.mkdir()
            try:
                self._verify(target, name, scratch)
            except BackupError as error:
                self.tally.faults.append(f"{number}, {way}: {name} is there and does not hold: {error}")
            finally:
                subprocess.run(["rm", "-rf", str(scratch)], check=True)

    def _verify(self, target: FolderTarget, name: str, scratch: Path) -> None:
        held: set[str] = set()

        def audit(where: Path | str) -> str:
            found = str(audit_ledger(where))
            with contextlib.closing(sqlite3.connect(where)) as ledger:
                held.update(row[0] for row in ledger.execute("SELECT txid FROM payments WHERE state = 'settled'"))
            return found

        verified = verify(target, name, scratch, KNOWN, audit, self.places, datetime.now(UTC))
        self.tally.verified += 1

        paid = settled_before(self.journal, verified.manifest.cut_at)
        self.tally.payments += len(paid)
        self.tally.lost += len(paid - held)
        if paid - held:
            self.tally.faults.append(f"{name}: {len(paid - held)} of {len(paid)} payments before the cut are missing")
