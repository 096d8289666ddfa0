"""The inbox: a folder of ballots, one file each.

Files are removed only after the memory committed what became of them. A crash in between makes the next tick read
them again, and a transaction id counts once, so nothing is counted twice.
"""

from __future__ import annotations

import os
import random
import stat
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from generator.arena.ballots import MAX_FILE_BYTES, BallotFile, Refusal
from generator.arena.values import BallotVerdict

READ_AT_ONCE: Final = 20_000
REJECTED_KEPT: Final = 1_000  # files, of MAX_FILE_BYTES each: 4 MB at most
REJECTED: Final = "rejected"


class Inbox:
    """A folder. Names that start with a dot or end in `.tmp` are still being written; folders are left alone."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._random = random.SystemRandom()

    def read(self, at_once: int = READ_AT_ONCE) -> tuple[BallotFile, ...]:
        """Return the files, oldest first.

        Args:
            at_once: of more files than these half are the oldest and half are drawn at random, so that a flood delays
                no ballot for good by its name or age.
        """
        try:
            with os.scandir(self.folder) as entries:
                found = [row for entry in entries if (row := _row(entry)) is not None]
        except OSError:
            return ()
        found.sort(key=lambda row: (row[1], row[0]))
        if len(found) > at_once:
            half = at_once // 2
            found = found[:half] + self._random.sample(found[half:], at_once - half)
        files = [file for row in found if (file := self._one(*row)) is not None]
        return tuple(sorted(files, key=lambda file: (file.arrived_ms, file.name)))

    def _one(self, name: str, arrived_ms: int, status: os.stat_result) -> BallotFile | None:
        if not stat.S_ISREG(status.st_mode):  # a link could point anywhere, a pipe would block
            return BallotFile(name, b"", arrived_ms, Refusal.UNREADABLE)
        if status.st_size > MAX_FILE_BYTES:
            return BallotFile(name, b"", arrived_ms, Refusal.TOO_LARGE)
        try:
            with (self.folder / name).open("rb") as file:
                return BallotFile(name, file.read(MAX_FILE_BYTES + 1), arrived_ms)
        except FileNotFoundError:  # gone meanwhile
            return None
        except OSError:
            return BallotFile(name, b"", arrived_ms, Refusal.UNREADABLE)

    def clear(self, files: Sequence[BallotFile], verdicts: Iterable[BallotVerdict] = ()) -> None:
        """Remove files that were dealt with; the refused go to `rejected/`, which keeps the newest 1,000.

        Of one that is larger than a ballot can be only the first 4,096 bytes are kept. A file that cannot be removed stays and is refused as already counted in the next tick.
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
            if keep and path.lstat().st_size <= MAX_FILE_BYTES:
                path.replace(self.folder / REJECTED / name)
                return
            if keep:
                self._keep_beginning(path)
            path.unlink(missing_ok=True)
        except OSError:
            return

    def _keep_beginning(self, path: Path) -> None:
        """Write a new file: to cut this one would cut every other name that it has."""
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode):
            return
        kept = self.folder / REJECTED / path.name
        try:
            with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:  # noqa: PTH123  flags
                beginning = file.read(MAX_FILE_BYTES)
            kept.unlink(missing_ok=True)
            with kept.open("xb") as file:
                file.write(beginning)
            os.utime(kept, ns=(status.st_mtime_ns, status.st_mtime_ns))
        except OSError:  # it is refused and counted; a full disk is the more reason to remove it
            return

    def _trim_rejected(self) -> None:
        try:
            with os.scandir(self.folder / REJECTED) as entries:
                found = [(entry.name, entry.stat(follow_symlinks=False)) for entry in entries]
        except OSError:
            return
        by_age = sorted((status.st_mtime_ns, name) for name, status in found)
        large = [name for name, status in found if status.st_size > MAX_FILE_BYTES]  # of an earlier version, or by hand
        for name in {*large, *(name for _, name in by_age[:-REJECTED_KEPT])}:
            with suppress(OSError):  # a folder is none of ours
                (self.folder / REJECTED / name).unlink(missing_ok=True)


def _row(entry: os.DirEntry[str]) -> tuple[str, int, os.stat_result] | None:
    """Return name, time of arrival and status; None for what is not a ballot, is still being written, or gone."""
    if entry.name.startswith(".") or entry.name.endswith(".tmp"):
        return None
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return None
    return None if stat.S_ISDIR(status.st_mode) else (entry.name, status.st_mtime_ns // 1_000_000, status)
