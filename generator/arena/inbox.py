"""The inbox: a folder of ballots, one file each. Readers of other ways in keep the same two verbs.

Files are removed only after the memory committed what became of them. A crash in between makes the next tick read
them again, and a transaction id counts once, so nothing is counted twice.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, Protocol

from generator.arena.ballots import MAX_FILE_BYTES, BallotFile, Refusal
from generator.arena.values import BallotVerdict

READ_AT_ONCE: Final = 20_000
REJECTED_KEPT: Final = 1_000
REJECTED: Final = "rejected"


class BallotSource(Protocol):
    """A way in for ballots."""

    def read(self) -> tuple[BallotFile, ...]:
        """Return what has arrived and was not yet cleared."""
        ...

    def clear(self, files: Sequence[BallotFile], verdicts: Iterable[BallotVerdict] = ()) -> None:
        """Forget files that the memory has dealt with."""
        ...


class Inbox:
    """A folder. Names that start with a dot or end in `.tmp` are still being written; folders are left alone."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self) -> tuple[BallotFile, ...]:
        """Return the files, oldest first, at most 20,000; a missing or unreadable folder has none."""
        try:
            entries = [entry for entry in os.scandir(self.folder) if not entry.name.startswith(".")]
        except OSError:
            return ()
        found = [self._one(entry) for entry in entries if not entry.name.endswith(".tmp")]
        files = sorted((file for file in found if file is not None), key=lambda file: (file.arrived_ms, file.name))
        return tuple(files[:READ_AT_ONCE])

    def _one(self, entry: os.DirEntry[str]) -> BallotFile | None:
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:  # gone meanwhile
            return None
        arrived_ms = status.st_mtime_ns // 1_000_000
        if stat.S_ISDIR(status.st_mode):
            return None
        if not stat.S_ISREG(status.st_mode):  # a link could point anywhere, a pipe would block
            return BallotFile(entry.name, b"", arrived_ms, Refusal.UNREADABLE)
        if status.st_size > MAX_FILE_BYTES:
            return BallotFile(entry.name, b"", arrived_ms, Refusal.TOO_LARGE)
        try:
            with Path(entry.path).open("rb") as file:
                return BallotFile(entry.name, file.read(MAX_FILE_BYTES + 1), arrived_ms)
        except OSError:
            return BallotFile(entry.name, b"", arrived_ms, Refusal.UNREADABLE)

    def clear(self, files: Sequence[BallotFile], verdicts: Iterable[BallotVerdict] = ()) -> None:
        """Remove files that were dealt with; the refused go to `rejected/`, which keeps the newest 1,000.

        A file that cannot be removed stays and is refused as already counted in the next tick.
        """
        refused = {verdict.name for verdict in verdicts if verdict.reason not in {None, Refusal.REPEATED.value}}
        kept = {file.name for file in files if file.name in refused}
        if kept:
            self._make_rejected()
        for file in files:
            self._put_away(file.name, keep=file.name in kept)
        if kept:
            self._trim_rejected()

    def _make_rejected(self) -> None:
        try:
            (self.folder / REJECTED).mkdir(mode=0o700, exist_ok=True)
        except OSError:
            return

    def _put_away(self, name: str, *, keep: bool) -> None:
        path = self.folder / name
        try:
            if keep:
                path.replace(self.folder / REJECTED / name)
            else:
                path.unlink(missing_ok=True)
        except OSError:
            return

    def _trim_rejected(self) -> None:
        try:
            with os.scandir(self.folder / REJECTED) as entries:
                by_age = sorted((entry.stat(follow_symlinks=False).st_mtime_ns, entry.name) for entry in entries)
        except OSError:
            return
        for _, name in by_age[:-REJECTED_KEPT]:
            (self.folder / REJECTED / name).unlink(missing_ok=True)
