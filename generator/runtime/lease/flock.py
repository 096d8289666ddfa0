"""A lease on one machine: an advisory lock in STATE_DIR, with the epoch in a file beside it.

The kernel drops the lock when the process dies, not when it is stopped: a stopped leader keeps it.
"""

from __future__ import annotations

import os
from pathlib import Path

from generator.errors import GeneratorError, LeadershipLost, LeaseUnreachable
from generator.lock import StateLock, StateLockTaken
from generator.runtime.lease.values import Grant


class FileLease:
    """Keeps `Lease` with `<name>.lock` and `<name>.epoch` in one folder."""

    def __init__(self, state_dir: Path, name: str = "generator") -> None:
        self._lock = StateLock(state_dir, name)
        self._epoch_file = state_dir / f"{name}.epoch"
        self._held = False
        self._holder = "nobody"

    def acquire(self, floor: int) -> Grant | None:
        """Take the lock and count the epoch up; durable before anything is written under it.

        Raises:
            LeaseUnreachable: lock or epoch cannot be written; see `Lease`.
        """
        try:
            self._lock.__enter__()
        except StateLockTaken as taken:
            self._holder = f"process {taken.pid} on this machine"
            return None
        except GeneratorError as error:
            raise LeaseUnreachable(str(error)) from error
        try:
            epoch = max(self._stored(), floor) + 1
            self._store(epoch)
        except OSError as error:
            self._lock.__exit__(None, None, None)
            raise LeaseUnreachable(f"{self._epoch_file}: {error.strerror or error}") from error
        self._held = True
        return Grant(epoch, None)

    def renew(self) -> None:
        """Do nothing: the lock is ours until we drop it."""
        if not self._held:
            raise LeadershipLost("the lock of the state folder was given back")

    def release(self) -> None:
        """Drop the lock."""
        self._held = False
        self._lock.__exit__(None, None, None)

    def holder(self) -> str:
        """Name the process that has it."""
        return self._holder

    def close(self) -> None:
        """Do nothing: no connection is open."""

    def _stored(self) -> int:
        try:
            text = self._epoch_file.read_text(encoding="ascii", errors="replace").strip()
        except FileNotFoundError:
            return 0
        return int(text) if text.isdecimal() else 0  # torn or foreign: the floor knows what was written under it

    def _store(self, epoch: int) -> None:
        beside = self._epoch_file.with_suffix(".new")
        with beside.open("w", encoding="ascii") as file:
            file.write(f"{epoch}\n")
            file.flush()
            os.fsync(file.fileno())
        beside.replace(self._epoch_file)
