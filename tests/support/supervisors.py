"""A supervisor that hears what a process says to it, as systemd does of a unit of `Type=notify`."""

import contextlib
import os
import socket
from collections.abc import Iterator


@contextlib.contextmanager
def supervisor(place: str, address: str) -> Iterator[socket.socket]:
    """Listen at a place for the length of the block, in which NOTIFY_SOCKET names it by an address."""
    before = os.environ.get("NOTIFY_SOCKET")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.settimeout(5)
        listening.bind(place)
        os.environ["NOTIFY_SOCKET"] = address
        try:
            yield listening
        finally:
            del os.environ["NOTIFY_SOCKET"]
            if before is not None:
                os.environ["NOTIFY_SOCKET"] = before


def messages(listening: socket.socket) -> Iterator[bytes]:
    """Yield what has arrived by now."""
    listening.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while True:
            yield listening.recv(4096)
