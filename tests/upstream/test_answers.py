"""Every way in which another service can answer, or not: what is read, what is an error, and that nothing is repeated.

An error is a `RemoteError`, of which the caller knows only that the request may have arrived.
"""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import uvloop

from gateway.upstream.answer import MAX_ANSWER_BYTES, MAX_HEAD_BYTES
from gateway.upstream.http_client import Http, JsonAnswer, RemoteError, call
from tests.support.certificates import self_signed
from tests.support.gateway_app import in_loop, until
from tests.support.raw_peer import OK, Peer
from tests.support.resolvers import NAME, Names, black_hole, loopback_addresses

HEAD = b"HTTP/1.1 200 OK\r\n"
CHUNKED = HEAD + b'Transfer-Encoding: chunked\r\n\r\n3\r\n{"a\r\n4\r\n":1}\r\n'
READ = {
    "interim answers first": b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + OK,
    "chunks with trailers": CHUNKED + b"0\r\nX-Sum: 1\r\nX-Other: 2\r\n\r\n",
    "chunks with extensions": CHUNKED.replace(b"3\r\n", b"3;name=value\r\n") + b"0\r\n\r\n",
    "another content type": OK.replace(b"Content", b"Content-Type: text/html\r\nContent"),
    "a second answer behind it": OK + OK.replace(b"1}", b"2}"),
    "bytes behind it": OK + b"hello there\r\n\r\n",
    "no length, then the end": HEAD + b'\r\n{"a":1}',
    "HTTP/1.0": b'HTTP/1.0 200 OK\r\n\r\n{"a":1}',
}
REFUSED = {
    "half of a body": OK[:-3],
    "a body longer than it says": OK.replace(b": 7", b": 6"),
    "a body shorter than it says": OK.replace(b": 7", b": 8"),
    "two lengths": OK.replace(b"Content-Length: 7", b"Content-Length: 7\r\nContent-Length: 6"),
    "a length and chunks": CHUNKED.replace(b"Transfer", b"Content-Length: 7\r\nTransfer") + b"0\r\n\r\n",
    "a length that is none": OK.replace(b": 7", b": x"),
    "a length below zero": OK.replace(b": 7", b": -7"),
    "chunks without an end": CHUNKED,
    "an encoding of the transfer that is cut": HEAD + b'Transfer-Encoding: gzip\r\n\r\n{"a":1}',
    "a switch to another protocol": b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
    "an interim answer alone": b"HTTP/1.1 100 Continue\r\n\r\n",
    "no length, half, then the end": HEAD + b'\r\n{"a"',
    "no length, too much": HEAD + b"\r\n" + b"1" * (MAX_ANSWER_BYTES + 1),
    "many headers": HEAD + b"X: y\r\n" * (MAX_HEAD_BYTES // 6 + 1),
    "many trailers": CHUNKED + b"0\r\n" + b"X: y\r\n" * MAX_ANSWER_BYTES * 2,
    "a line that ends early": b"HTTP/1.1 200 OK\nContent-Length: 7\n\n" + b'{"a":1}',
    "HTTP/2": b"\x00\x00\x12\x04\x00\x00\x00\x00\x00" + b"\x00" * 18,
    "TLS where none was expected": b"\x15\x03\x01\x00\x02\x02\x16",
}


async def post(http: Http, url: str, timeout_s: float = 60.0) -> JsonAnswer:
    return await call(http, "POST", url, timeout_s=timeout_s, headers={}, body=b'{"b":2}')


@pytest.mark.parametrize("answer", READ.values(), ids=READ)
@in_loop
async def test_an_answer_that_is_whole_is_read(answer: bytes) -> None:
    peer = Peer(answer, ends=True)
    async with peer.running(), Http() as http:
        assert await post(http, peer.url) == JsonAnswer(200, {"a": 1})

    assert len(peer.requests) == 1


@pytest.mark.parametrize("answer", REFUSED.values(), ids=REFUSED)
@in_loop
async def test_an_answer_that_is_not_whole_is_an_error_and_asked_once(answer: bytes) -> None:
    peer = Peer(answer, ends=True)
    async with peer.running(), Http() as http:
        with pytest.raises(RemoteError):
            await post(http, peer.url)

    assert len(peer.requests) == 1


HANGS = {
    "before the head": b"",
    "in the head": HEAD,
    "after an interim answer": b"HTTP/1.1 100 Continue\r\n\r\n",
    "in the body": OK[:-3],
    "in a chunk": CHUNKED[:-3],
    "before the trailers end": CHUNKED + b"0\r\nX-Sum: 1\r\n",
    "without a length": HEAD + b'\r\n{"a":1}',
}


@pytest.mark.parametrize("answer", HANGS.values(), ids=HANGS)
@in_loop
async def test_an_answer_that_stops_ends_in_time(answer: bytes) -> None:
    peer = Peer(answer)
    async with peer.running(), Http() as http:
        with pytest.raises(RemoteError, match=r"no whole answer within 0\.2 s"):
            await post(http, peer.url, timeout_s=0.2)

    assert len(peer.requests) == 1


@in_loop
async def test_a_peer_that_never_takes_the_connection_ends_in_time() -> None:
    with black_hole("127.0.0.1", 0) as port:
        async with Http() as http:
            with pytest.raises(RemoteError, match=r"no whole answer within 0\.2 s"):
                await post(http, f"http://127.0.0.1:{port}/", timeout_s=0.2)


@in_loop
async def test_a_peer_that_never_speaks_tls_ends_in_time() -> None:
    async def hanging(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async with await asyncio.start_server(hanging, "127.0.0.1", 0) as server, Http() as http:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(RemoteError, match=r"no whole answer within 0\.2 s"):
            await post(http, f"https://127.0.0.1:{port}/", timeout_s=0.2)


@in_loop
async def test_a_peer_that_speaks_no_tls_and_one_that_is_not_there_are_errors() -> None:
    async def plain(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(OK)
        writer.close()

    async with await asyncio.start_server(plain, "127.0.0.1", 0) as server, Http() as http:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(RemoteError, match="SSLError"):
            await post(http, f"https://127.0.0.1:{port}/")
        server.close()
        with pytest.raises(RemoteError, match="ConnectionRefusedError"):
            await post(http, f"http://127.0.0.1:{port}/")


@pytest.mark.parametrize("loop", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def test_an_answer_over_tls_is_read_and_its_certificate_is_of_that_name(
    loop: Callable[[], asyncio.AbstractEventLoop], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate, key = self_signed(tmp_path, (NAME,))
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(certificate, key)
    trusting = ssl.create_default_context(cafile=str(certificate))
    monkeypatch.setattr("gateway.upstream.http_client.tls_context", lambda: trusting)
    peer = Peer(OK)

    async def ask() -> JsonAnswer:
        async with peer.running(serving), Http(Names("127.0.0.1")) as http:
            port = peer.url.split(":")[2]
            answer = await post(http, f"https://{NAME}:{port}")
            with pytest.raises(RemoteError, match="CertVerification"):
                await post(http, f"https://other.test:{port}")
            return answer

    with asyncio.Runner(loop_factory=loop) as runner:
        assert runner.run(ask()) == JsonAnswer(200, {"a": 1})

    assert len(peer.requests) == 1


@in_loop
async def test_a_name_whose_addresses_all_refuse_is_an_error_and_looked_up_again() -> None:
    class Counting(Names):
        lookups = 0

        async def __call__(self, name: str, port: int) -> list[tuple[str, int]]:
            self.lookups += 1
            return await super().__call__(name, port)

    peer = Peer(OK)
    names = Counting(*loopback_addresses(), "127.0.0.1")
    async with peer.running(), Http(names) as http:
        url = f"http://{NAME}:{peer.url.split(':')[2]}"
        answers = [await post(http, url) for _ in range(2)]
        kept = names.lookups

    async with Http(names) as http:
        for _ in range(2):
            with pytest.raises(RemoteError, match="ConnectionRefusedError"):
                await post(http, url)

    assert answers == [JsonAnswer(200, {"a": 1})] * 2
    assert (kept, names.lookups) == (1, 3)


@in_loop
async def test_a_name_without_an_address_is_an_error() -> None:
    async def none(_name: str, _port: int) -> list[tuple[str, int]]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    async with Http(none) as http:
        with pytest.raises(RemoteError, match="gaierror"):
            await post(http, "http://nowhere.test/")


@in_loop
async def test_calls_that_wait_for_one_name_share_its_lookup_and_none_ends_it_for_another() -> None:
    asked: list[str] = []
    resolved = asyncio.Event()
    peer = Peer(OK)

    async def slow(name: str, port: int) -> list[tuple[str, int]]:
        asked.append(name)
        await resolved.wait()
        return [("127.0.0.1", port)]

    async with peer.running(), Http(slow) as http:
        url = f"http://{NAME}:{peer.url.split(':')[2]}"
        waiting = asyncio.create_task(post(http, url))
        with pytest.raises(RemoteError, match="no whole answer"):
            await post(http, url, timeout_s=0.1)
        resolved.set()

        assert await waiting == JsonAnswer(200, {"a": 1})

    assert asked == [NAME]


@in_loop
async def test_more_requests_than_connections_wait_for_their_turn() -> None:
    peer = Peer(b"")
    async with peer.running(), Http(connections=1) as http:
        first = asyncio.create_task(post(http, peer.url))
        await until(lambda: len(peer.requests) == 1)

        with pytest.raises(RemoteError, match="no whole answer"):
            await post(http, peer.url, timeout_s=0.1)
        first.cancel()

    assert len(peer.requests) == 1


STRAY = {
    "a second answer": OK + OK,
    "half of one": OK + OK[:9],
    "an end": OK.replace(b"Content", b"Connection: close\r\nContent"),
    "an answer of HTTP/1.0": OK.replace(b"1.1", b"1.0"),
}


@pytest.mark.parametrize("answer", STRAY.values(), ids=STRAY)
@in_loop
async def test_a_connection_with_anything_behind_its_answer_is_not_kept(answer: bytes) -> None:
    peer = Peer(answer)
    async with peer.running(), Http() as http:
        for _ in range(2):
            await http.exchange("GET", peer.url, headers={}, body=None, timeout_s=60, kept=True)

    assert peer.connections == 2


@in_loop
async def test_a_kept_connection_that_hears_something_unasked_or_ends_is_not_used_again() -> None:
    peer = Peer(OK)

    async def ask() -> None:
        await http.exchange("GET", peer.url, headers={}, body=None, timeout_s=60, kept=True)

    async with peer.running(), Http() as http:
        await ask()
        peer.say(OK)
        await until(lambda: not any(connection.reusable for connection, _ in http._idle[origin_of(peer)]))
        await ask()
        peer.hang_up()
        await until(lambda: not any(connection.reusable for connection, _ in http._idle[origin_of(peer)]))
        await ask()

    assert (peer.connections, len(peer.requests)) == (3, 3)


def origin_of(peer: Peer) -> str:
    return peer.url.removesuffix("/f")


@in_loop
async def test_a_question_over_a_kept_connection_that_ends_is_an_error_and_not_repeated() -> None:
    peer = Peer(OK)
    async with peer.running(), Http() as http:
        await http.exchange("GET", peer.url, headers={}, body=None, timeout_s=60, kept=True)
        peer.answer, peer.ends = b"", True

        with pytest.raises(ConnectionResetError):
            await http.exchange("GET", peer.url, headers={}, body=None, timeout_s=60, kept=True)

    assert (peer.connections, len(peer.requests)) == (1, 2)


@asynccontextmanager
async def proxy(answer: bytes, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Peer]:
    """Run a proxy that answers everything so, and name it to the environment, with a user."""
    peer = Peer(answer)
    async with peer.running():
        for name in ("HTTP_PROXY", "HTTPS_PROXY"):
            monkeypatch.setenv(name, peer.url.replace("http://", "http://us%40er:secret@").removesuffix("/f"))
        monkeypatch.delenv("NO_PROXY", raising=False)
        yield peer


@in_loop
async def test_a_plain_request_goes_to_the_proxy_with_its_whole_url(monkeypatch: pytest.MonkeyPatch) -> None:
    async with proxy(OK, monkeypatch) as peer, Http(Names()) as http:
        answer = await post(http, "http://facilitator.test/settle")

    assert answer == JsonAnswer(200, {"a": 1})
    assert peer.requests[0].startswith(
        b"POST http://facilitator.test/settle HTTP/1.1\r\nHost: facilitator.test\r\n",
    )
    assert b"\r\nProxy-Authorization: Basic dXNAZXI6c2VjcmV0\r\n" in peer.requests[0]


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.1 502 Bad Gateway\r\n\r\n<html>",
        b"HTTP/1.1 204 No Content\r\n\r\n",
        b"SSH-2.0\r\n",
    ],
    ids=["authentication", "an error", "nothing", "no HTTP"],
)
@in_loop
async def test_a_proxy_that_opens_no_tunnel_is_an_error_and_hears_nothing_of_the_request(
    answer: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with proxy(answer, monkeypatch) as peer, Http(Names()) as http:
        with pytest.raises(RemoteError) as failure:
            await post(http, "https://facilitator.test/settle")

    assert peer.requests[0].startswith(b"CONNECT facilitator.test:443 HTTP/1.1\r\nHost: facilitator.test:443\r\n")
    assert len(peer.requests) == 1
    assert b"settle" not in peer.requests[0]
    assert "secret" not in str(failure.value)


@in_loop
async def test_a_proxy_that_never_answers_ends_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    async with proxy(b"", monkeypatch), Http(Names()) as http:
        with pytest.raises(RemoteError, match="no whole answer"):
            await post(http, "https://facilitator.test/settle", timeout_s=0.2)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:1/a b",
        "http://127.0.0.1:1/a\r\nX: y",
        "ftp://127.0.0.1/",
        "http://u:p@127.0.0.1/",
        "http:///x",
    ],
)
@in_loop
async def test_a_url_that_would_be_read_as_something_else_is_never_asked(url: str) -> None:
    async with Http() as http:
        with pytest.raises(RemoteError, match="ValueError"):
            await post(http, url)


@in_loop
async def test_no_connection_outlives_its_call() -> None:
    peer = Peer(OK)
    async with peer.running(), Http() as http:
        await post(http, peer.url)
        with contextlib.suppress(RemoteError):
            peer.answer = b""
            await post(http, peer.url, timeout_s=0.1)

        await until(lambda: peer.open == 0)
