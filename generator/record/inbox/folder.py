"""The inbox: a folder of ballots, one file each.

Files are removed only after the memory committed what became of them. A crash in between makes the next tick read
them again, and a transaction id counts once, so nothing is counted twice.
"""

import asyncio
import os
import random
import stat
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import structlog

from gateway.wire.algorand import key_of
from gateway.wire.inbox import EARLIER_VOTERS, OPEN_DAILY, OPEN_ROUND, REJECTED, AnnouncedRound, pack_voters
from generator.arena.ballots import MAX_FILE_BYTES, BallotFile, Refusal

READ_AT_ONCE: Final = 20_000

log = structlog.get_logger("emi.arena")


class Inbox:
    """A folder. Names that start with a dot or end in `.tmp` are still being written; folders are left alone."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._random = random.SystemRandom()
        self._complained = False
        self._taken: tuple[BallotFile, ...] = ()  # what was read last
        self._named: Sequence[str] | None = None  # the earlier voters that stand in the folder

    async def receive(self, lock_ms: int | None) -> tuple[BallotFile, ...]:
        """Return what lies there now, without waiting for a lock."""
        self._taken = await asyncio.to_thread(self.files)
        return self._taken

    def files(self, at_once: int = READ_AT_ONCE) -> tuple[BallotFile, ...]:
        """Return the files, oldest first.

        Of more than `at_once` half are the oldest and half drawn at random, so that a flood delays no ballot for good.
        """
        try:
            with os.scandir(self.folder) as entries:
                rows = [row for entry in entries if (row := _row(entry)) is not None]
        except OSError:
            return ()

        rows.sort(key=lambda row: (row[1], row[0]))
        if len(rows) > at_once:
            half = at_once // 2
            rows = rows[:half] + self._random.sample(rows[half:], at_once - half)

        files = [file for row in rows if (file := self._read(*row)) is not None]
        return tuple(sorted(files, key=lambda file: (file.arrived_ms, file.name)))

    def _read(self, name: str, arrived_ms: int, status: os.stat_result) -> BallotFile | None:
        if not stat.S_ISREG(status.st_mode):  # a link could point anywhere, a pipe would block
            return BallotFile(name, b"", arrived_ms, Refusal.UNREADABLE)
        if status.st_size > MAX_FILE_BYTES:
            return BallotFile(name, b"", arrived_ms, Refusal.TOO_LARGE)

        try:
            # Whoever may add files may exchange one for a link or a pipe meanwhile.
            opened = os.open(self.folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            with os.fdopen(opened, "rb") as file:
                return BallotFile(name, file.read(MAX_FILE_BYTES + 1), arrived_ms)
        except FileNotFoundError:  # gone meanwhile
            return None
        except OSError:
            return BallotFile(name, b"", arrived_ms, Refusal.UNREADABLE)

    def acknowledge(self) -> None:
        """Remove files that were dealt with; one that cannot be removed stays, and is refused in the next tick."""
        for file in self._taken:
            with suppress(OSError):
                (self.folder / file.name).unlink(missing_ok=True)

    def quarantine(self, files: Sequence[BallotFile]) -> None:
        """Move files to the folder `rejected` for people to look at; where that cannot be, remove them."""
        folder = self.folder / REJECTED
        with suppress(OSError):
            folder.mkdir(mode=0o700, exist_ok=True)

        for name in (file.name for file in files if not file.confirmed):
            # Whoever may add files may have made a link of that name, or a folder of their own.
            try:
                status = folder.lstat()
                if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
                    raise NotADirectoryError(folder)
                (self.folder / name).replace(folder / name)
            except OSError:
                with suppress(OSError):
                    (self.folder / name).unlink(missing_ok=True)

    def announce(
        self, taking: AnnouncedRound | None, voters: Sequence[str] = (), question: AnnouncedRound | None = None
    ) -> None:
        """Say in the folder which round takes votes, and which daily question answers, for whoever adds ballots.

        `voters` are the addresses that were counted in an earlier round, for whom a gateway keeps places. They are
        written before what takes ballots, and only when they are others. None: there is no such round or question.
        """
        try:
            if taking is not None or question is not None:
                self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                if voters != self._named or not (self.folder / EARLIER_VOTERS).exists():
                    self._replace(EARLIER_VOTERS, pack_voters(map(key_of, voters)))
                    self._named = voters

            for name, announced in ((OPEN_ROUND, taking), (OPEN_DAILY, question)):
                if announced is None:
                    (self.folder / name).unlink(missing_ok=True)
                else:
                    self._replace(name, announced.content())
        except OSError as error:
            if not self._complained:
                log.warning("the inbox cannot be written: no free votes by the gateway", reason=error.strerror)
            self._complained = True

    def _replace(self, name: str, data: bytes) -> None:
        draft = self.folder / f"{name}.tmp"
        draft.unlink(missing_ok=True)
        with draft.open("xb") as file:  # never through a link that another user of the folder made
            os.fchmod(file.fileno(), 0o640)  # a gateway of another user reads it by the folder's group
            file.write(data)
        draft.replace(self.folder / name)

    def requeue(self) -> None:
        """Leave everything where it lies."""
        self._taken = ()


def _row(entry: os.DirEntry[str]) -> tuple[str, int, os.stat_result] | None:
    """Return name, time of arrival and status; None for what is not a ballot, is still being written, or gone."""
    if entry.name.startswith(".") or entry.name.endswith(".tmp"):
        return None
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return None
    if stat.S_ISDIR(status.st_mode):
        return None
    return entry.name, max(0, status.st_mtime_ns // 1_000_000), status
