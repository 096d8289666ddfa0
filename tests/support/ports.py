"""Ports for servers that take a port number: no one else gets them between the choice and the bind."""

from __future__ import annotations

import fcntl
import functools
import itertools
import os
import socket
import tempfile
from pathlib import Path

FIRST, LAST, BLOCK = 20_000, 32_000, 100
"""Below the range from which the system takes ports for outgoing connections (32768 and up on Linux)."""


def free_port(and_next: int = 0) -> int:
    """Return a port of ours that is free now, as are the `and_next` ports after it; each is given once a round.

    Raises:
        OSError: no port of this process's block is free.
    """
    first, turns = _block()
    for _ in range(BLOCK):
        offset = next(turns) % BLOCK
        if offset + and_next < BLOCK and all(_is_free(first + offset + step) for step in range(and_next + 1)):
            for _ in range(and_next):
                next(turns)
            return first + offset
    raise OSError(f"no free port from {first} to {first + BLOCK - 1}")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


@functools.cache
def _block() -> tuple[int, itertools.count[int]]:
    """Return the first port of a block that no other process holds; the lock lives as long as this process."""
    folder = Path(tempfile.gettempdir()) / f"ports-of-tests-{os.getuid()}"
    folder.mkdir(exist_ok=True)
    for first in range(FIRST, LAST, BLOCK):
        handle = os.open(folder / str(first), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            continue
        return first, itertools.count()
    raise OSError("every block of ports is held by another process")
