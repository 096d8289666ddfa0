"""Calls to another service, against a server that answers byte for byte what a test says."""

import asyncio
import contextlib
import gzip
import ssl
import zlib
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
import uvloop

from gateway.upstream.answer import MAX_ANSWER_BYTES
from gateway.upstream.http_client import Http, JsonAnswer, RemoteError, call
from tests.support.certificates import self_signed
from tests.support.gateway_app import PATIENCE_S, in_loop
from tests.support.raw_peer import OK, Peer
from tests.support.resolvers import NAME, Names, black_hole, loopback_addresses


async def post(http: Http, peer: Peer, timeout_s: float = 60.0) -> JsonAnswer:
    return await call(http, "POST", peer.url + "/settle", timeout_s=timeout_s, headers={"X-T": "k"}, body=b'{"b":2}')


BAD = {
    "nothing": b"",
    "cut head": b"HTTP/1.1 200 OK\r\nConte",
    "cut body": OK[:-3],
    "cut chunks": b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{"a\r\n4\r\n":1}\r\n',
    "no http": b"hello there\r\n\r\n",
    "no json": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n<>",
    "large": b"HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n" + b"1" * 200_000,
    "large chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"8000\r\n" + b"1" * 0x8000 * 5,
    "large head": b"HTTP/1.1 200 OK\r\nX: " + b"x" * 300_000,
    "interim answers only": b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" * 5_000,
}


@pytest.mark.parametrize("more", [b"", OK], ids=["nothing", "an answer that no one asked for"])
@in_loop
async def test_each_call_has_its_own_connection_and_reads_no_answer_to_another(more: bytes) -> None:
    peer = Peer(OK + more)
    async with peer.running(), Http() as http:
        answers = [await post(http, peer) for _ in range(3)]

    assert answers == [JsonAnswer(200, {"a": 1})] * 3
    assert len(peer.requests) == peer.connections == 3


@pytest.mark.parametrize(("kept", "connections"), [(True, 1), (False, 3)])
@in_loop
async def test_a_connection_is_kept_only_where_it_is_asked_for(kept: bool, connections: int) -> None:
    peer = Peer(OK)
    async with peer.running(), Http() as http:
        for _ in range(3):
            await http.exchange("GET", peer.url, headers={}, body=None, timeout_s=60, kept=kept)

    assert (peer.connections, len(peer.requests)) == (connections, 3)


@pytest.mark.parametrize("answer", BAD.values(), ids=BAD)
@in_loop
async def test_an_incomplete_answer_is_an_error_and_asked_once(answer: bytes) -> None:
    peer = Peer(answer, ends=True)
    async with peer.running(), Http() as http:
        with pytest.raises(RemoteError):
            await post(http, peer)

    assert len(peer.requests) == 1


@in_loop
async def test_a_redirect_is_an_answer_and_not_followed() -> None:
    peer = Peer(b"HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n")
    async with peer.running(), Http() as http:
        assert await post(http, peer) == JsonAnswer(302, None)

    assert len(peer.requests) == 1


@pytest.mark.parametrize("token", ["k\r\nX-Evil: 1", "k\nX-Evil: 1", "k\rX-Evil: 1"])
@in_loop
async def test_a_header_that_smuggles_a_line_is_never_sent(token: str) -> None:
    peer = Peer(OK)
    async with peer.running(), Http() as http:
        with pytest.raises(RemoteError):
            await call(http, "GET", peer.url, timeout_s=60, headers={"X": token})

    assert peer.requests == []


def serving_tls(folder: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*self_signed(folder))
    return context


@in_loop
async def test_a_certificate_that_is_self_signed_is_refused(tmp_path: Path) -> None:
    peer = Peer(OK)
    async with peer.running(serving_tls(tmp_path)), Http() as http:
        with pytest.raises(RemoteError, match=r"Certificate|CertVerification"):
            await call(http, "GET", peer.url, timeout_s=60, headers={})

    assert peer.requests == []


LOOPS = pytest.mark.parametrize("loop", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])


def in_each_loop(test: Callable[[], Awaitable[None]]) -> Callable[..., None]:
    """Run an async test in asyncio's own loop and in that of production."""

    def run(loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
        with asyncio.Runner(loop_factory=loop) as runner:
            runner.run(asyncio.wait_for(test(), PATIENCE_S))

    run.__name__ = test.__name__
    return LOOPS(run)


@in_each_loop
async def test_a_dead_first_address_costs_no_call() -> None:
    dead = loopback_addresses()
    peer = Peer(OK)
    async with peer.running(), Http(Names(*dead, "127.0.0.1")) as http:
        port = int(peer.url.split(":")[2].split("/")[0])
        peer.url = f"http://{NAME}:{port}/f"
        with contextlib.ExitStack() as stack:
            for address in dead:
                stack.enter_context(black_hole(address, port))
            answers = await asyncio.gather(*(post(http, peer, timeout_s=20) for _ in range(4)))

    assert answers == [JsonAnswer(200, {"a": 1})] * 4
    assert len(peer.requests) == 4


@in_each_loop
async def test_names_that_are_never_resolved_end_in_time_and_hold_up_no_other_call() -> None:
    peer = Peer(OK)
    async with peer.running(), Http(Names()) as http:
        unresolved = call(http, "GET", "http://outside.test/", timeout_s=0.2, headers={})

        failed, answered = await asyncio.gather(unresolved, post(http, peer), return_exceptions=True)

    assert str(failed) == "GET http://outside.test/: no whole answer within 0.2 s"
    assert answered == JsonAnswer(200, {"a": 1})


@in_loop
async def test_a_request_says_who_asks_and_which_encodings_are_read() -> None:
    peer = Peer(OK)
    async with peer.running(), Http() as http:
        await post(http, peer)

    head = peer.requests[0].decode()
    assert "\r\nUser-Agent: educational-market-intelligence/0" in head
    assert "\r\nAccept-Encoding: gzip, deflate\r\n" in head
    assert "\r\nContent-Type: application/json\r\n" in head
    assert "\r\nX-T: k\r\n" in head
    assert head.endswith('\r\n\r\n{"b":2}')


def encoded(coding: str, body: bytes) -> bytes:
    return (
        b"HTTP/1.1 200 OK\r\nContent-Encoding: %b\r\nContent-Length: %d\r\n\r\n" % (coding.encode(), len(body)) + body
    )


@pytest.mark.parametrize(("coding", "compress"), [("gzip", gzip.compress), ("deflate", zlib.compress)])
@in_loop
async def test_a_compressed_answer_is_decoded(coding: str, compress: Callable[[bytes], bytes]) -> None:
    peer = Peer(encoded(coding, compress(b'{"a":1}')))
    async with peer.running(), Http() as http:
        assert await post(http, peer) == JsonAnswer(200, {"a": 1})


BROKEN = {
    "a bomb": encoded("gzip", gzip.compress(b" " * 50_000_000, 1)),
    "just too large": encoded("gzip", gzip.compress(b'"' + b" " * MAX_ANSWER_BYTES + b'"', 1)),
    "cut": encoded("gzip", gzip.compress(b'{"a":1}')[:-12]),
    "not what it says": encoded("gzip", b'{"a":1}'),
    "an unknown coding": encoded("pigeon", b"\x01\x02"),
}


@pytest.mark.parametrize("answer", BROKEN.values(), ids=BROKEN)
@in_loop
async def test_what_cannot_be_decoded_within_the_limit_is_an_error(answer: bytes) -> None:
    peer = Peer(answer)
    async with peer.running(), Http() as http:
        with pytest.raises(RemoteError):
            await post(http, peer)


@in_loop
async def test_proxies_of_the_environment_are_ignored_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    peer = Peer(OK)
    async with peer.running(), Http() as http:
        assert await post(http, peer) == JsonAnswer(200, {"a": 1})


HTML = b"<html>\r\n<h1>Blocked</h1>\x07 token hush-1" + b" and more" * 100


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(HTML) + HTML,
            "status 200, unexpected answer '<html> <h1>",
        ),
        (b"", "no whole answer within 0.2 s"),
        (b"hello there hush-1\r\n\r\n", "HttpParserError: "),
    ],
)
@in_loop
async def test_a_failed_call_names_itself_and_what_came_but_no_secret(answer: bytes, words: str) -> None:
    peer = Peer(answer)
    async with peer.running(), Http() as http:
        with pytest.raises(RemoteError) as failure:
            await call(http, "POST", peer.url, timeout_s=0.2, headers={"Authorization": "Bearer hush-1"}, body=b"{}")

    text = str(failure.value)
    assert text.startswith(f"POST {peer.url}: ")
    assert words in text
    assert "hush" not in text
    assert text.isprintable()
    assert len(text) < 200
