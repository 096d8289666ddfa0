"""A process of a year: forked, asked over a pipe, and killed."""

import contextlib
import os
import resource
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection, Pipe
from multiprocessing.context import ForkProcess
from typing import Any, Final

PATIENCE_S: Final = 300.0  # a hang is ended, a slow machine is not
LOOK_S: Final = 5.0
STOP: Final = "stop"


class DiedError(Exception):
    """The process is dead."""


class RefusedError(Exception):
    """The process lives, and did not do what it was asked."""


class Child:
    """One forked process that answers over a pipe.

    Args:
        work: gets its end of the pipe, sends once that it is ready, and then an answer to each command.
    """

    def __init__(self, work: Callable[["Commands"], None]) -> None:
        ours, theirs = Pipe()
        self._pipe = ours
        self._process = ForkProcess(target=_run, args=(work, theirs, os.getpid()), daemon=True)
        self._process.start()
        theirs.close()

    def answer(self) -> Any:
        """Return the next answer; DiedError: there will be none, RefusedError: it says why it did not."""
        try:
            if not self._pipe.poll(PATIENCE_S):
                self.kill()
                raise AssertionError(f"{self._process} hung")
            kind, answer = self._pipe.recv()
        except (EOFError, OSError):
            self.kill()
            raise DiedError(f"ended with {self._process.exitcode}") from None
        if kind == "refused":
            raise RefusedError(answer)
        return answer

    def ask(self, *command: Any) -> Any:
        """Send a command and return its answer."""
        try:
            self._pipe.send(command)
        except OSError:
            self.kill()
            raise DiedError(f"ended with {self._process.exitcode}") from None
        return self.answer()

    def kill(self) -> None:
        """End it as a power cut would."""
        self._process.kill()
        self._process.join()
        self._pipe.close()

    def stop(self) -> None:
        """Let it end by itself."""
        with contextlib.suppress(OSError):
            self._pipe.send((STOP,))
        self._process.join(PATIENCE_S)
        assert self._process.exitcode == 0, f"a clean stop ended with {self._process.exitcode}"
        self._pipe.close()


class Commands:
    """The process's end of the pipe."""

    def __init__(self, pipe: Connection, parent: int) -> None:
        self.pipe = pipe
        self._parent = parent

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """Give commands until `stop`, or until no one is there to give one."""
        while True:
            while not self.pipe.poll(LOOK_S):
                if self.is_orphan():
                    return
            command = self.pipe.recv()
            if command[0] == STOP:
                return
            yield command

    def is_orphan(self) -> bool:
        """Return whether the player is dead."""
        return os.getppid() != self._parent

    def done(self, answer: Any = None) -> None:
        """Answer."""
        self.pipe.send(("done", answer))

    def refused(self, reason: str) -> None:
        """Answer that it was not done."""
        self.pipe.send(("refused", reason))


def _run(work: Callable[[Commands], None], pipe: Connection, parent: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        work(Commands(pipe, parent))
    except BaseException:
        traceback.print_exc(file=sys.stderr)
        raise


@contextlib.contextmanager
def full_disk(limit: int | None) -> Iterator[None]:
    """Let no file of this process grow beyond so many bytes meanwhile, as on a disk that is full."""
    if limit is None:
        yield
        return
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


@contextlib.contextmanager
def killed_after(cpu_s: float | None) -> Iterator[None]:
    """Let the kernel end this process when it has used so much processor time more; nothing of it runs after that."""
    if cpu_s is None:
        yield
        return
    signal.setitimer(signal.ITIMER_PROF, cpu_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def resident_mb() -> float:
    """Return the memory of this process."""
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
