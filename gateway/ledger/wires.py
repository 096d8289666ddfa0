"""The connections to PostgreSQL: the limits that it and the kernel keep, and how to cut what still hangs."""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import Any, Final

import sqlalchemy as sa

CONNECT_S: Final = 3
STATEMENT_MS: Final = 4_000
LOCK_MS: Final = 3_000
WIRE_OPTIONS: Final = {
    "connect_timeout": CONNECT_S,
    # A partition: bytes that nobody acknowledges, and a silence in which nothing is sent.
    "tcp_user_timeout": 5_000,
    "keepalives": 1,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
}
"""libpq's, in seconds, the second in milliseconds."""


class Wires:
    """The sockets of an engine's connections.

    A server that is stopped, or whose disk hangs, acknowledges every byte and answers none: no option of libpq's ends
    that. Shutting the socket down from another thread does; the driver fails at once, and a new connection is made.

    Args:
        engine: with no connection yet.
    """

    def __init__(self, engine: sa.Engine) -> None:
        self._lock = threading.Lock()
        self._sockets: dict[int, socket.socket] = {}
        sa.event.listen(engine, "connect", self._opened)
        sa.event.listen(engine, "close", self._closed)

    def cut(self) -> None:
        """Shut every connection down; never blocks."""
        with self._lock:
            for wire in self._sockets.values():
                with contextlib.suppress(OSError):
                    wire.shutdown(socket.SHUT_RDWR)

    def _opened(self, connection: Any, _record: object) -> None:
        with self._lock:
            # A copy of ours: a number that libpq has closed may be another's by now.
            self._sockets[id(connection)] = socket.fromfd(connection.fileno(), socket.AF_INET, socket.SOCK_STREAM)
        try:
            # Not as an option of the connection: the URL may have its own, and poolers refuse it.
            connection.execute(f"SET statement_timeout = {STATEMENT_MS}")
            connection.execute(f"SET lock_timeout = {LOCK_MS}")
            connection.commit()
        except Exception:
            self._closed(connection, None)
            connection.close()
            raise

    def _closed(self, connection: Any, _record: object) -> None:
        with self._lock:
            wire = self._sockets.pop(id(connection), None)
        if wire is not None:
            wire.close()
