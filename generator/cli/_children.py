"""The children of `emi up`: started in order, watched, ended in reverse order."""

from __future__ import annotations

import ctypes
import os
import re
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from typing import IO, Final

GRACE_S: Final = 60
LAST_LINES: Final = 20
# The level of a log line in either format, and the beginning of what no log has formatted.
ALARMING: Final = re.compile(r'\[(warning|error|critical) *\]|"level": "(warning|error|critical)"|^Traceback|^emi')


class Child:
    """One process of production, run by the very command of production."""

    def __init__(self, name: str, arguments: Sequence[str], environment: Mapping[str, str], *, shown: bool) -> None:
        self.name = name
        self.last: deque[str] = deque(maxlen=LAST_LINES)
        self._process = subprocess.Popen(  # noqa: S603  our own interpreter and module
            [sys.executable, "-m", "generator.cli", *arguments],
            env={**os.environ, **environment, "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=None if shown and sys.stderr.isatty() else subprocess.STDOUT,  # a bar needs the terminal itself
            text=True,
            errors="replace",
            start_new_session=True,  # Ctrl-C reaches the parent alone, which ends the children in order
            preexec_fn=_die_with_parent,  # noqa: PLW1509  no thread of ours runs before follow()
        )
        self.shown = shown
        self._relay = threading.Thread(target=self._read, args=(self._process.stdout,), daemon=True)

    def follow(self) -> None:
        """Relay its lines; call this once every child is started."""
        self._relay.start()

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    def exit_code(self) -> int | None:
        """Return the exit code, or None while it runs."""
        return self._process.poll()

    def end(self) -> None:
        """Ask it to stop, wait for its drain, and kill it only after a minute."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._relay.is_alive():
            self._relay.join(1)

    def _read(self, stream: IO[str] | None) -> None:
        for line in stream or ():
            self.last.append(line.rstrip())
            if self.shown or ALARMING.search(line):
                print(line if self.shown else f"{self.name}: {line}", end="", flush=True)


def _die_with_parent() -> None:
    """Ask Linux to end this child when `emi up` is killed; elsewhere the lock file tells who still runs."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)
