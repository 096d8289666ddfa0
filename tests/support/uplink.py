"""A slow line to a server of this machine: whatever is sent through it shares so many bytes a second."""

import contextlib
import socket
import threading
import time
from collections.abc import Iterator

PIECE = 16_384


class Uplink:
    """A proxy that hands on what clients send at a rate, and what the server answers at once."""

    def __init__(self, server_port: int, bytes_per_s: float) -> None:
        self._server_port = server_port
        self._rate = bytes_per_s
        self._free_at = time.monotonic()
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]

    def run(self) -> None:
        """Take connections until the listener is closed."""
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                # Little is buffered on the way: a client that has sent everything has seen it received.
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, PIECE)
                server = socket.create_connection(("127.0.0.1", self._server_port))
                for source, goal, slow in ((client, server, True), (server, client, False)):
                    threading.Thread(target=self._hand_on, args=(source, goal, slow), daemon=True).start()

    def close(self) -> None:
        """Take no more connections."""
        self._listener.close()

    def _hand_on(self, source: socket.socket, goal: socket.socket, slow: bool) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(PIECE):
                if slow:
                    self._wait(len(data))
                goal.sendall(data)
            goal.shutdown(socket.SHUT_WR)

    def _wait(self, size: int) -> None:
        """Wait until a share of the line is free."""
        with self._lock:
            until = self._free_at = max(self._free_at, time.monotonic()) + size / self._rate
        time.sleep(max(0.0, until - time.monotonic()))


@contextlib.contextmanager
def uplink(server_port: int, bytes_per_s: float) -> Iterator[Uplink]:
    """Run one for the length of the block."""
    line = Uplink(server_port, bytes_per_s)
    thread = threading.Thread(target=line.run, daemon=True)
    thread.start()
    try:
        yield line
    finally:
        line.close()
