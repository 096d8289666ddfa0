"""One writer for one state folder: a lock, and the lease made of it."""

import contextlib
import os
from pathlib import Path
from typing import Final, Self

from gateway.wire.space import reason_of
from generator.errors import GeneratorError, LeadershipLost, LeaseUnreachable
from generator.runtime.lease import NO_HOLDER, Grant

try:
    import fcntl
except ImportError:  # Windows, where the commands of readers run
    import msvcrt

    # No other process can read a byte that is locked there: one far behind the lines that the file holds.
    LOCKED_BYTE: Final = 1 << 30

    def _change(descriptor: int, mode: int) -> None:
        os.lseek(descriptor, LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, mode, 1)  # type: ignore[attr-defined, unused-ignore]
        finally:
            os.lseek(descriptor, 0, os.SEEK_SET)

    def _lock(descriptor: int) -> None:
        _change(descriptor, msvcrt.LK_NBLCK)  # type: ignore[attr-defined, unused-ignore]

    def _unlock(descriptor: int) -> None:
        _change(descriptor, msvcrt.LK_UNLCK)  # type: ignore[attr-defined, unused-ignore]

    def _try_for_a_moment(descriptor: int) -> None:
        # Windows has no shared lock here: of two that ask in one moment, one may take the other for the holder.
        _lock(descriptor)
        _unlock(descriptor)

else:

    def _lock(descriptor: int) -> None:
        """Take the lock of a file; OSError where another process has it."""
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _unlock(descriptor: int) -> None:
        """Leave it to closing the file, which gives the lock back at once; Windows does so when it comes to it."""

    def _try_for_a_moment(descriptor: int) -> None:
        """Raise OSError where a process has the lock of a file; two may ask at the same time."""
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        fcntl.flock(descriptor, fcntl.LOCK_UN)


class StateLockTaken(GeneratorError):
    """Another process has the lock; `pid` is its process id as it wrote it."""

    def __init__(self, folder: Path, pid: str) -> None:
        super().__init__(f"state folder {folder} is in use by process {pid}; stop it first")
        self.pid = pid


class StateLock:
    """An advisory lock on a file below STATE_DIR; the kernel drops it when the process dies.

    Args:
        note: one line for readers of `note_of`, kept as long as the lock is held.
    """

    def __init__(self, state_dir: Path, name: str, note: str = "") -> None:
        self._path = state_dir / f"{name}.lock"
        self._note = note
        self._descriptor: int | None = None

    def __enter__(self) -> Self:
        """Take the lock; StateLockTaken names who has it, GeneratorError a folder that cannot be written."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            reason = reason_of(error, self._path)
            raise GeneratorError(f"state folder {self._path.parent}: cannot write: {reason}") from error

        try:
            _lock(descriptor)
        except OSError as error:
            pid = os.read(descriptor, 32).decode(errors="replace").partition("\n")[0].strip() or "unknown"
            os.close(descriptor)
            raise StateLockTaken(self._path.parent, pid) from error

        with contextlib.suppress(OSError):  # somebody else's folder: their rights
            self._path.parent.chmod(0o700)  # sealed forecasts and sold bodies lie below
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n{self._note}\n".encode())
        self._descriptor = descriptor
        return self

    def __exit__(self, *_: object) -> None:
        """Give the lock back."""
        if self._descriptor is not None:
            with contextlib.suppress(OSError):  # what is left behind is not believed: see `note_of`
                os.ftruncate(self._descriptor, 0)
            with contextlib.suppress(OSError):
                _unlock(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = None


def note_of(state_dir: Path, name: str) -> str | None:
    """Return the note of the process that holds a lock now; None where none does, whatever an ended one left."""
    try:
        with (state_dir / f"{name}.lock").open("rb") as file:
            lines = file.read(4096).decode(errors="replace").splitlines()
            if len(lines) < 2 or not _is_held(file.fileno()):
                return None
    except OSError:
        return None
    return lines[1] or None


def _is_held(descriptor: int) -> bool:
    try:
        _try_for_a_moment(descriptor)
    except OSError:
        return True
    return False


class FileLease:
    """Keeps `Lease` on one machine with `<name>.lock` and `<name>.epoch` in one folder.

    The kernel drops the lock when the process dies, not when it is suspended: a suspended leader keeps it.
    """

    def __init__(self, state_dir: Path, name: str = "generator") -> None:
        self._lock = StateLock(state_dir, name)
        self._epoch_file = state_dir / f"{name}.epoch"
        self._held = False
        self._holder = NO_HOLDER

    def acquire(self, floor: int) -> Grant | None:
        """Take the lock and count the epoch up, durably before anything is written under it; see `Lease`."""
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
            self._lock.__exit__()
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
        self._lock.__exit__()

    def holder(self) -> str:
        """Name the process that holds it."""
        return self._holder

    def close(self) -> None:
        """Do nothing: no connection is open."""

    def _stored(self) -> int:
        try:
            text = self._epoch_file.read_text(encoding="ascii", errors="replace").strip()
        except FileNotFoundError:
            return 0
        if not text.isdecimal():
            return 0  # torn or foreign: the floor knows what was written under it
        return int(text)

    def _store(self, epoch: int) -> None:
        new = self._epoch_file.with_suffix(".new")
        with new.open("w", encoding="ascii") as file:
            file.write(f"{epoch}\n")
            file.flush()
            os.fsync(file.fileno())
        new.replace(self._epoch_file)
