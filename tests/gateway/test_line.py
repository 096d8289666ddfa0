"""Calls to another service, against a server that answers byte for byte what a test says."""

from __future__ import annotations

import asyncio
import gzip
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from ipaddress import IPv4Address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from gateway.line import MAX_IDLE_S, Lines
from gateway.remote import MAX_ANSWER_BYTES, MAX_HEAD_BYTES, Answer, Http, RemoteError, call
from tests.gateway.house import in_loop

OK = b'HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n{"a":1}'


class Peer:
    """A server that sends the same bytes to every request, and then ends the connection or not."""

    def __init__(self, answer: bytes, *, ends: bool = False) -> None:
        self.answer = answer
        self.ends = ends
        self.requests: list[bytes] = []
        self.connections = 0
        self.url = ""
        self.asked = asyncio.Event()
        self.ended = asyncio.Event()
        self._writers: list[asyncio.StreamWriter] = []

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._writers.append(writer)
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = next(
                    (int(row[15:]) for row in head.split(b"\r\n") if row.lower().startswith(b"content-length:")), 0
                )
                self.requests.append(head + await reader.readexactly(length))
                self.asked.set()
                writer.write(self.answer)
                await writer.drain()
                if self.ends:
                    writer.close()
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            self.ended.set()
            writer.close()

    @asynccontextmanager
    async def running(self, tls: ssl.SSLContext | None = None) -> AsyncIterator[None]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=tls)
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{server.sockets[0].getsockname()[1]}/f"
        try:
            yield
        finally:
            server.close()
            for writer in self._writers:
                writer.close()
            await asyncio.sleep(0.01)


@asynccontextmanager
async def client() -> AsyncIterator[Http]:
    lines = Lines(MAX_HEAD_BYTES + MAX_ANSWER_BYTES)
    yield lines
    await lines.close()


async def post(http: Http, peer: Peer, timeout_s: float = 60.0) -> Answer:
    return await call(http, "POST", peer.url + "/settle", timeout_s=timeout_s, headers={"X-T": "k"}, body=b'{"b":2}')


GOOD = {
    "length": OK,
    "chunked": b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{"a\r\n4\r\n":1}\r\n0\r\n\r\n',
    "interim": b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + OK,
    "closing": OK.replace(b"OK\r\n", b"OK\r\nConnection: close\r\n"),
}
BAD = {
    "nothing": b"",
    "cut head": b"HTTP/1.1 200 OK\r\nConte",
    "cut body": OK[:-3],
    "cut chunks": GOOD["chunked"][:-9],
    "no http": b"hello there\r\n\r\n",
    "no json": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n<>",
    "large": b"HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n" + b"1" * 200_000,
    "large chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"8000\r\n" + b"1" * 0x8000 * 5,
    "large head": b"HTTP/1.1 200 OK\r\nX: " + b"x" * 300_000,
}


@pytest.mark.parametrize("answer", GOOD.values(), ids=GOOD)
@in_loop
async def test_an_answer_is_read_however_it_is_framed(answer: bytes) -> None:
    peer = Peer(answer)
    async with peer.running(), client() as http:
        answers = [await post(http, peer) for _ in range(3)]

    assert answers == [Answer(200, {"a": 1})] * 3
    assert len(peer.requests) == 3


@pytest.mark.parametrize("answer", BAD.values(), ids=BAD)
@in_loop
async def test_what_is_no_whole_answer_is_an_error_and_asked_once(answer: bytes) -> None:
    peer = Peer(answer, ends=True)
    async with peer.running(), client() as http:
        with pytest.raises(RemoteError):
            await post(http, peer)

    assert len(peer.requests) == 1


@in_loop
async def test_an_answer_that_ends_with_its_connection_is_whole() -> None:
    peer = Peer(b'HTTP/1.1 200 OK\r\n\r\n{"a":1}', ends=True)
    async with peer.running(), client() as http:
        assert await post(http, peer) == Answer(200, {"a": 1})


@in_loop
async def test_silence_is_an_error_in_time_and_the_connection_is_not_used_again() -> None:
    peer = Peer(b"")
    async with peer.running(), client() as http:
        with pytest.raises(RemoteError):
            await post(http, peer, timeout_s=0.1)
        peer.answer = OK

        again = await post(http, peer)

    assert again.status == 200
    assert peer.connections == 2


@in_loop
async def test_a_redirect_is_an_answer_and_not_followed() -> None:
    peer = Peer(b"HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n")
    async with peer.running(), client() as http:
        assert await post(http, peer) == Answer(302, None)

    assert len(peer.requests) == 1


@in_loop
async def test_connections_are_kept_and_used_one_request_at_a_time() -> None:
    peer = Peer(OK)
    async with peer.running(), client() as http:
        for _ in range(5):
            await post(http, peer)
        one = peer.connections
        await asyncio.gather(*(post(http, peer) for _ in range(4)))

    assert (one, peer.connections) == (1, 4)
    assert all(request.endswith(b'{"b":2}') and b"\r\nX-T: k\r\n" in request for request in peer.requests)


@in_loop
async def test_bytes_that_nobody_asked_for_end_the_connection() -> None:
    peer = Peer(OK + OK)
    async with peer.running(), client() as http:
        first = await post(http, peer)
        peer.answer = OK

        second = await post(http, peer)

    assert first == Answer(200, {"a": 1})
    assert second.status == 200
    assert peer.connections == 2


AMBIGUOUS = {
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\nContent-Length: 2\r\n\r\n" + b'{"a":1}',
    "a list of lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 7, 7\r\n\r\n" + b'{"a":1}',
    "a negative length": b"HTTP/1.1 200 OK\r\nContent-Length: -7\r\n\r\n" + b'{"a":1}',
    "length and chunks": b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\nTransfer-Encoding: chunked\r\n\r\n7\r\n"
    b'{"a":1}\r\n0\r\n\r\n',
    "a chunk of no length": b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n{"a":1}\r\n0\r\n\r\n',
    "an upgrade": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n" + OK,
    "an interim answer with chunks": b"HTTP/1.1 103 Early Hints\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"2\r\n{}\r\n0\r\n\r\n" + OK,
    "an interim answer with a length": b"HTTP/1.1 103 Early Hints\r\nContent-Length: 2\r\n\r\n{}" + OK,
    "endless interim answers": b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" * 5_000,
}


@pytest.mark.parametrize("answer", AMBIGUOUS.values(), ids=AMBIGUOUS)
@in_loop
async def test_an_answer_that_two_readers_would_cut_differently_is_an_error(answer: bytes) -> None:
    peer = Peer(answer)
    async with peer.running(), client() as http:
        with pytest.raises(RemoteError):
            await post(http, peer)
        peer.answer = OK

        again = await post(http, peer)

    assert again == Answer(200, {"a": 1})
    assert (len(peer.requests), peer.connections) == (2, 2)


@in_loop
async def test_a_trailer_is_no_part_of_the_answer() -> None:
    peer = Peer(b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7\r\n{"a":1}\r\n0\r\nX: y\r\n\r\n')
    async with peer.running(), client() as http:
        answers = [await post(http, peer) for _ in range(2)]

    assert answers == [Answer(200, {"a": 1})] * 2


@in_loop
async def test_a_connection_that_a_server_may_be_closing_is_not_used_again() -> None:
    peer = Peer(OK)
    async with peer.running():
        lines = Lines(MAX_HEAD_BYTES + MAX_ANSWER_BYTES)
        await post(lines, peer)
        for kept in lines._idle.values():
            kept[0].idle_since -= MAX_IDLE_S

        await post(lines, peer)

        await lines.close()
    assert peer.connections == 2


@in_loop
async def test_a_caller_that_gives_up_ends_its_connection_at_once() -> None:
    peer = Peer(b"")
    async with peer.running(), client() as http:
        asking = asyncio.create_task(post(http, peer))
        await peer.asked.wait()
        asking.cancel()
        await asyncio.wait({asking})

        await peer.ended.wait()

    assert asking.cancelled()


@in_loop
async def test_an_encoding_that_was_not_asked_for_is_an_error() -> None:
    body = gzip.compress(b'{"a":1}')
    peer = Peer(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    async with peer.running(), client() as http:
        with pytest.raises(RemoteError):
            await post(http, peer)


@pytest.mark.parametrize("token", ["k\r\nX-Evil: 1", "k\nX-Evil: 1", "k\rX-Evil: 1", "é\u20ac"])
@in_loop
async def test_a_header_that_smuggles_a_line_is_never_sent(token: str) -> None:
    peer = Peer(OK)
    async with peer.running(), client() as http:
        with pytest.raises(RemoteError):
            await call(http, "GET", peer.url, timeout_s=60, headers={"X": token})

    assert peer.requests == []


def signed_by_nobody(folder: Path) -> ssl.SSLContext:
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
    times = datetime(2020, 1, 1, tzinfo=UTC), datetime(2120, 1, 1, tzinfo=UTC)
    made = x509.CertificateBuilder(name, name, key.public_key(), 1, *times)
    here = x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))])
    certificate = made.add_extension(here, critical=False).sign(key, hashes.SHA256())
    plain = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (folder / "server.pem").write_bytes(plain + certificate.public_bytes(Encoding.PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem")
    return context


@in_loop
async def test_a_certificate_that_nobody_signed_is_refused(tmp_path: Path) -> None:
    peer = Peer(OK)
    async with peer.running(signed_by_nobody(tmp_path)), client() as http:
        with pytest.raises(RemoteError, match=r"Certificate|CertVerification"):
            await call(http, "GET", peer.url, timeout_s=60, headers={})

    assert peer.requests == []
