"""The answer to one call is never read as the answer to the next, whatever a peer does with its connection.

Were it otherwise, one buyer's `success: true` would pay for another, and one payment's 404 would refuse another.
"""

import asyncio
import contextlib
import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from gateway.upstream.http_client import Answer, Http, RemoteError, call
from tests.support.gateway_app import in_loop


def answer(number: int, head: bytes = b"HTTP/1.1 200 OK", *more: bytes) -> bytes:
    """Return an answer that names the request that it answers."""
    body = b'{"id":%d}' % number
    lines = [head, *more, b"Content-Length: %d" % len(body)]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def chunked(number: int, size: bytes) -> bytes:
    return b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%b\r\n{"id":%d}\r\n0\r\n\r\n' % (size, number)


@dataclass
class Echo:
    """A server that answers each request with its number; `first` is sent in place of the first answer.

    Args:
        first: made of the first request's number.
        late: sent after it, on the same connection, when the test says so.
        ends: the first connection ends after `first`.
    """

    first: bytes = b""
    late: bytes = b""
    ends: bool = False
    url: str = ""
    asked: Counter[int] = field(default_factory=Counter)
    connections: list[asyncio.StreamWriter] = field(default_factory=list)
    at_first: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections.append(writer)
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                number = await request_number(reader)
                self.asked[number] += 1
                if self.asked.total() > 1:
                    writer.write(answer(number))
                    continue
                writer.write(self.first)
                self.at_first.set()
                if self.ends:
                    break
        writer.close()

    def say_late(self) -> None:
        """Send what comes late; on loopback it lies in the client's socket when this returns."""
        if not self.connections[0].is_closing():
            self.connections[0].write(self.late)


async def request_number(reader: asyncio.StreamReader) -> int:
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(int(row[15:]) for row in head.split(b"\r\n") if row.lower().startswith(b"content-length:"))
    return int(json.loads(await reader.readexactly(length))["id"])


@asynccontextmanager
async def serving(peer: Echo) -> AsyncIterator[Http]:
    server = await asyncio.start_server(peer.serve, "127.0.0.1", 0)
    peer.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        async with Http() as http:
            yield http
    finally:
        server.close()
        for writer in peer.connections:
            writer.close()
        await asyncio.sleep(0.01)


async def ask(http: Http, peer: Echo, number: int, timeout_s: float = 60.0) -> Answer | None:
    """Ask once; None when no whole answer came."""
    try:
        body = b'{"id":%d}' % number
        return await call(http, "POST", peer.url + "/settle", timeout_s=timeout_s, headers={}, body=body)
    except RemoteError:
        return None


OURS = Answer(200, {"id": 1})
NEXT = Answer(200, {"id": 2})
STOLEN = answer(666)
FIRST = {
    "twice": (answer(1) + answer(1), OURS),
    "and another's": (answer(1) + STOLEN, OURS),
    "and the beginning of another's": (answer(1) + STOLEN[:30], OURS),
    "with a body longer than it says": (answer(1) + b" " * 5 + STOLEN, None),
    "after an interim one": (b"HTTP/1.1 100 Continue\r\n\r\n" + answer(1), OURS),
    "in chunks with more behind": (chunked(1, b"8") + STOLEN, OURS),
    "of HTTP/1.0": (answer(1, b"HTTP/1.0 200 OK") + STOLEN, None),
    "of HTTP/1.0, kept": (answer(1, b"HTTP/1.0 200 OK", b"Connection: keep-alive"), OURS),
    "and says that it closes": (answer(1, b"HTTP/1.1 200 OK", b"Connection: close") + STOLEN, None),
    "with 204 and a body": (answer(1, b"HTTP/1.1 204 No Content") + STOLEN, None),
    "with 304 and a body": (answer(1, b"HTTP/1.1 304 Not Modified") + STOLEN, None),
    "with a chunk longer than any number": (chunked(1, b"F" * 17), None),
    "with a chunk longer than any memory": (chunked(1, b"7FFFFFFFFFFFFFFF"), None),
    "with a chunk of a negative length": (chunked(1, b"-8"), None),
    "with a folded length": (
        b'HTTP/1.1 200 OK\r\nX: y\r\n Content-Length: 0\r\nContent-Length: 8\r\n\r\n{"id":1}',
        OURS,
    ),
    "with a space before the colon": (b'HTTP/1.1 200 OK\r\nContent-Length : 8\r\n\r\n{"id":1}' + STOLEN, OURS),
    "with length and chunks": (answer(1, b"HTTP/1.1 200 OK", b"Transfer-Encoding: chunked") + STOLEN, None),
    "with two lengths": (answer(1, b"HTTP/1.1 200 OK", b"Content-Length: 0") + STOLEN, None),
    "in an unknown coding": (answer(1, b"HTTP/1.1 200 OK", b"Transfer-Encoding: gzip") + STOLEN, None),
    "cut in its head": (answer(1)[:20], None),
    "cut in its body": (answer(1)[:-1], None),
    "interim only": (b"HTTP/1.1 102 Processing\r\n\r\n", None),
    "never": (b"", None),
}


@pytest.mark.parametrize("ends", [False, True], ids=["stays open", "closes"])
@pytest.mark.parametrize(("sent", "expected"), FIRST.values(), ids=FIRST)
@in_loop
async def test_whatever_comes_of_one_call_the_next_gets_its_own_answer(
    sent: bytes, expected: Answer | None, ends: bool
) -> None:
    peer = Echo(first=sent, ends=ends)
    async with serving(peer) as http:
        first = await ask(http, peer, 1, 0.1 if expected is None else 10.0)

        second = await ask(http, peer, 2)

    assert (first, second) == (expected, NEXT)
    assert peer.asked == {1: 1, 2: 1}


@pytest.mark.parametrize("gives_up", [False, True], ids=["out of time", "cancelled"])
@pytest.mark.parametrize("late", [answer(1), STOLEN, answer(1)[5:]], ids=["its own", "another's", "the rest"])
@in_loop
async def test_an_answer_that_comes_after_its_time_is_nobodys(late: bytes, gives_up: bool) -> None:
    peer = Echo(first=answer(1)[:5] if late == answer(1)[5:] else b"", late=late)
    async with serving(peer) as http:
        asking = asyncio.create_task(ask(http, peer, 1, 10.0 if gives_up else 0.05))
        await peer.at_first.wait()
        if gives_up:
            asking.cancel()
        await asyncio.wait({asking})
        peer.say_late()

        answers = [await ask(http, peer, number) for number in (2, 3)]

    assert asking.cancelled() if gives_up else asking.result() is None
    assert answers == [NEXT, Answer(200, {"id": 3})]
    assert len(peer.connections) == len(peer.asked)


@pytest.mark.parametrize("looked", [False, True], ids=["unread", "read by the loop"])
@in_loop
async def test_an_unsolicited_answer_reaches_no_call_also_while_it_lies_unread(looked: bool) -> None:
    peer = Echo(first=answer(1), late=STOLEN)
    async with serving(peer) as http:
        first = await ask(http, peer, 1)
        peer.say_late()
        if looked:
            await asyncio.sleep(0.01)

        second = await ask(http, peer, 2)

    assert (first, second) == (OURS, NEXT)
    assert len(peer.connections) == len(peer.asked)


@in_loop
async def test_a_connection_whose_end_lies_unread_carries_no_settle() -> None:
    peer = Echo(first=answer(1))
    async with serving(peer) as http:
        await ask(http, peer, 1)
        peer.connections[0].close()
        await asyncio.sleep(0)

        assert await ask(http, peer, 2) == NEXT
