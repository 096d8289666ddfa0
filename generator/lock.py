"""One writer for one state folder."""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import Self

from generator.errors import GeneratorError


class StateLockTaken(GeneratorError):
    """Another process has the lock; `pid` is its process id as it wrote it."""

    def __init__(self, folder: Path, pid: str) -> None:
        super().__init__(f"state folder {folder} is in use by process {pid}; stop it first")
        self.pid = pid


class StateLock:
    """An advisory lock on a file below STATE_DIR; the kernel drops it when the process dies."""

    def __init__(self, state_dir: Path, name: str) -> None:
        self._path = state_dir / f"{name}.lock"
        self._descriptor: int | None = None

    def __enter__(self) -> Self:
        """Take the lock.

        Raises:
            StateLockTaken: another process has it (its pid is named).
            GeneratorError: the folder cannot be written.
        """
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise GeneratorError(
                f"state folder {self._path.parent}: cannot write: {error.strerror or error}"
            ) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            pid = os.read(descriptor, 32).decode(errors="replace").strip() or "unknown"
            os.close(descriptor)
            raise StateLockTaken(self._path.parent, pid) from error
        with contextlib.suppress(OSError):  # somebody else's folder: their rights
            self._path.parent.chmod(0o700)  # sealed forecasts and sold bodies lie below
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
        self._descriptor = descriptor
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give the lock back."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
