"""Reading an origin: within a time for everything, however slowly it answers."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from generator.client.published import Published, PublishedError, fetch
from tests.support import local_servers
from tests.support.local_servers import open_port

HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"


@contextmanager
def dripping(begin: bytes) -> Iterator[str]:
    """Answer one request with some bytes, and then with one more in each hundredth of a second."""
    ended = threading.Event()

    def drip(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            connection.sendall(begin)
            while not ended.wait(0.01):
                try:
                    connection.sendall(b"x")
                except OSError:
                    return

    with open_port() as listener:
        listener.listen()
        thread = threading.Thread(target=drip, args=(listener,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            ended.set()
            thread.join()


@pytest.mark.parametrize("begin", [HEAD, b"HTTP/1.1 200 OK\r\nX-Slow: "], ids=["body", "head"])
def test_an_answer_that_drips_ends_with_its_time(begin: bytes) -> None:
    with dripping(begin) as origin, pytest.raises(TimeoutError):
        fetch(origin, whole_s=0.2)


def test_a_whole_body_is_read_whatever_the_status() -> None:
    with local_servers.answering(lambda path, _: (200 if path == "/whole" else 404, b"0" * 200_000)) as origin:
        assert fetch(f"{origin}/whole") == (200, b"0" * 200_000)
        assert fetch(f"{origin}/other") == (404, b"0" * 200_000)


def test_a_command_reads_an_origin_for_so_long_and_no_longer() -> None:
    with local_servers.answering(lambda *_: (200, b"{}")) as origin:
        assert Published(origin).read("/status.json") == b"{}"

        with pytest.raises(PublishedError, match="what was read before took 0 s, which is all it may"):
            Published(origin, within_s=0).read("/status.json")
