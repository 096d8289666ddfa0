"""Back up over a slow line: `python -m tests.backups.uplink [--megabytes 60] [--rate 200000]`.

Whatever is sent to an S3 of this machine shares so many bytes a second; 60 MB at 200 kB/s take five minutes. The exit
code is 1 where the backup does not end.
"""

import argparse
import contextlib
import os
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from generator.errors import BackupError
from generator.operate.keep.targets import BucketTarget
from tests.support.servers import make_bucket, s3

PIECE: Final = 16_384
NAME: Final = "20261125T200409Z"


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


def main() -> int:
    """Send a backup of random bytes, and print how long that took."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--megabytes", type=int, default=60)
    options.add_argument("--rate", type=float, default=200_000, help="bytes a second")
    chosen = options.parse_args()

    with tempfile.TemporaryDirectory(prefix="uplink-") as name, s3(Path(name) / "s3") as (environment, _):
        make_bucket(environment, "kept")
        server_port = int(environment["AWS_ENDPOINT_URL"].rpartition(":")[2])
        with uplink(server_port, chosen.rate) as line:
            os.environ.update(environment, AWS_ENDPOINT_URL=f"http://127.0.0.1:{line.port}")
            return _send(BucketTarget("s3://kept/emi", Path(name)), chosen.megabytes)


def _send(target: BucketTarget, megabytes: int) -> int:
    began_s = time.monotonic()
    try:
        with target.adding(NAME) as folder:
            (folder / "memory.sqlite3.gz").write_bytes(os.urandom(megabytes << 20))
            (folder / "manifest.json").write_bytes(b"{}")
    except BackupError as error:
        print(f"failed after {time.monotonic() - began_s:.0f} s: {error}")
        return 1
    print(f"{megabytes} MB after {time.monotonic() - began_s:.0f} s: {target.names()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
