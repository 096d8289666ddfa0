"""The connection over a fake transport: what is answered at once, what is passed on, what is cut."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

import pytest
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from gateway.app.server import (
    KNOWN_REQUEST_BYTES,
    KNOWN_REQUESTS,
    MAX_HEAD_BYTES,
    MAX_OPEN_PER_ADDRESS,
    MAX_PIPELINED,
    MAX_REQUEST_BYTES,
    QUOTES_LOOK_S,
    REQUEST_TIMEOUT_S,
    STALL_TIMEOUT_S,
    Connection,
    http_server,
)
from tests.support.gateway_app import REGIME, GatewayHarness, gateway_app, in_loop


class Wire(asyncio.Transport):
    """A transport that keeps what was written."""

    def __init__(self, peer: str = "203.0.113.9") -> None:
        super().__init__({"peername": (peer, 4), "sockname": ("127.0.0.1", 80)})
        self.written = b""
        self.closed = self.aborted = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += bytes(data)

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.closed = self.aborted = True

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass


class Client:
    """One connection to a gateway, and the requests that its application was asked."""

    def __init__(self, home: GatewayHarness) -> None:
        self.asked: list[str] = []
        self.heads: list[list[tuple[bytes, bytes]]] = []

        async def app(scope: Scope, _receive: Receive, send: Send) -> None:
            self.asked.append(scope["method"])
            self.heads.append(scope["headers"])
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"3")]})
            await send({"type": "http.response.body", "body": b"app"})

        config = http_server(app, 1, Connection).config
        self.server = ServerState()
        self.server.default_headers = [(b"date", b"Fri, 20 Nov 2026 12:00:00 GMT")]
        self.connection = cast("type[Connection]", config.http)(config, self.server, home.running.handed)
        self.wire = Wire()
        self.others: list[Connection] = []
        self.connection.connection_made(self.wire)

    def another(self, peer: str) -> Wire:
        """Open one more connection to the same gateway."""
        wire = Wire(peer)
        connection = Connection(self.connection.config, self.server, self.connection.app_state)
        self.others.append(connection)
        connection.connection_made(wire)
        return wire

    async def send(self, *parts: bytes) -> bytes:
        for part in parts:
            self.connection.data_received(part)
            await settle()
        return self.wire.written


async def settle() -> None:
    """Let the loop do all that is ready, and what comes of it: nothing here waits for time, disk or network."""
    for _ in range(50):
        await asyncio.sleep(0)


@asynccontextmanager
async def client_of(folder: Path, **settings: Any) -> AsyncIterator[Client]:
    async with gateway_app(folder, **settings) as home:
        made = Client(home)
        yield made
        for connection in (made.connection, *made.others):
            connection.connection_lost(None)


def get(*lines: str, method: str = "GET", path: str = REGIME) -> bytes:
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: gateway", *lines, "", ""]).encode()


def attributes_of(thing: object) -> set[str]:
    return {name for name in dir(thing) if not name.startswith("__")}


@in_loop
async def test_uvicorn_still_has_what_the_connection_extends(tmp_path: Path) -> None:
    async with client_of(tmp_path) as made:
        made.connection.data_received(get("PAYMENT-SIGNATURE: abc"))
        parser, cycle = made.connection.parser, made.connection.cycle
        await settle()
        config = made.connection.config
    plain = HttpToolsProtocol(config, ServerState(), {})
    plain.connection_made(Wire())
    plain.on_message_begin()

    needs: list[tuple[object, str]] = [
        (
            plain,
            "app_state client config cycle flow headers expect_100_continue logger loop parser pipeline server_state",
        ),
        (plain, "timeout_keep_alive_task transport url connection_lost data_received eof_received on_header"),
        (plain, "_unset_keepalive_if_required"),
        (plain, "on_headers_complete on_message_begin on_message_complete pause_writing send_400_response"),
        (plain.flow, "write_paused"),
        (plain.server_state, "default_headers total_requests"),
        (parser, "get_http_version get_method should_keep_alive"),
        (cycle, "disconnected keep_alive message_event response_complete"),
    ]
    gone = [name for thing, names in needs for name in names.split() if name not in attributes_of(thing)]

    assert not gone, f"uvicorn {version('uvicorn')} lacks {gone}: see docs/explain/payments.md"


@in_loop
async def test_a_challenge_is_sent_without_the_application_and_is_its_answer(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        through_application = await home.get()
        made = Client(home)
        written = await made.send(get())

    head, _, body = written.partition(b"\r\n\r\n")
    status, *lines = head.decode().split("\r\n")
    sent = {tuple(row.split(": ", 1)) for row in lines}
    assert (status, made.asked) == ("HTTP/1.1 402 Payment Required", [])
    assert body == through_application.content
    assert sent - {("date", "Fri, 20 Nov 2026 12:00:00 GMT")} == set(through_application.headers.items())


@in_loop
async def test_pipelined_requests_are_answered_each_and_in_order(tmp_path: Path) -> None:
    async with client_of(tmp_path) as made:
        written = await made.send(get() + get(), get("PAYMENT-SIGNATURE: x") + get(path="/healthz") + get())

    # While the application works on one, those behind it are left to it as well.
    assert written.count(b"HTTP/1.1 402 ") == 2
    assert written.endswith(b"\r\n\r\napp")
    assert written.count(b"\r\n\r\napp") == len(made.asked) == 3


@in_loop
async def test_a_request_that_came_before_is_answered_without_being_parsed(tmp_path: Path) -> None:
    async with client_of(tmp_path) as made:
        first = await made.send(get())
        parsed = made.connection.parser
        made.connection.parser = None  # type: ignore[assignment]
        twice = await made.send(get())
        made.connection.parser = parsed
        after = await made.send(get(path="/healthz"))

    assert (twice, made.asked) == (first * 2, ["GET"])
    assert after.endswith(b"\r\n\r\napp")


@in_loop
async def test_known_bytes_are_parsed_where_they_are_no_request_of_their_own(tmp_path: Path) -> None:
    async with client_of(tmp_path) as made:
        known = await made.send(get())
        # The end of another request's head, whose payment counts.
        begun = await made.send(b"GET /healthz HTTP/1.1\r\nHost: gateway\r\nPAYMENT-SIGNATURE: x\r\nX-Text: ", get())
        # And behind a request that the application still works on.
        made.connection.data_received(get(path="/healthz"))
        behind = await made.send(get())

    assert begun.count(b"HTTP/1.1 402 ") == 1
    assert begun.removeprefix(known).endswith(b"\r\n\r\napp")
    assert behind.count(b"\r\n\r\napp") == len(made.asked) == 3


@in_loop
async def test_a_known_request_gets_no_challenge_once_quotes_have_ended(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        made = Client(home)
        await made.send(get())
        home.clock.step(3_600)
        await asyncio.sleep(2 * QUOTES_LOOK_S)
        await made.send(get())

    assert made.asked == ["GET"]


@in_loop
async def test_known_requests_are_few_and_short(tmp_path: Path) -> None:
    async with client_of(tmp_path) as made:
        others = made.connection.others
        for number in range(KNOWN_REQUESTS):
            await made.send(get(f"X-Number: {number}"))
        assert len(others._known) == KNOWN_REQUESTS

        await made.send(get("X-Long: " + "a" * KNOWN_REQUEST_BYTES), get())
        assert list(others._known) == [get()]


@pytest.mark.parametrize(
    "request_",
    [
        get("PAYMENT-SIGNATURE: abc"),
        get("X-PAYMENT: abc"),
        get("Content-Length: 2") + b"{}",
        get("Transfer-Encoding: chunked") + b"0\r\n\r\n",
        get("Connection: close"),
        get(method="HEAD"),
        get(method="OPTIONS"),
        get(path=REGIME + "?x=1"),
        get("X-Long: " + "a" * 17_000),
        get().replace(b"HTTP/1.1", b"HTTP/1.0"),
    ],
)
@in_loop
async def test_anything_else_is_passed_on(request_: bytes, tmp_path: Path) -> None:
    async with client_of(tmp_path) as made:
        await made.send(request_)

    assert len(made.asked) == 1


@in_loop
async def test_without_an_honest_quote_the_application_is_asked(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.clock.step(3_600)
        made = Client(home)
        await made.send(get())

    assert made.asked == ["GET"]


@pytest.mark.parametrize(
    "slowly",
    [
        [],
        [b"GET / HT"],
        [b"GET / HTTP/1.1\r\n", b"X: y\r\n", b"Z: y\r\n"],
        [b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n", b"a", b"b"],
        [get(path="/healthz"), b"\r\n"],
    ],
)
@in_loop
async def test_a_client_that_sends_too_slowly_is_cut(slowly: list[bytes], tmp_path: Path) -> None:
    async with client_of(tmp_path) as made:
        await made.send(*slowly)
        now = made.connection.loop.time()
        made.connection.close_if_late(now + REQUEST_TIMEOUT_S - 5)
        early = made.wire.closed

        made.connection.close_if_late(now + REQUEST_TIMEOUT_S + 5)

    assert (early, made.wire.closed) == (False, True)


@in_loop
async def test_an_answer_that_takes_long_is_not_cut(tmp_path: Path) -> None:
    async with client_of(tmp_path) as made:
        made.connection.data_received(get("PAYMENT-SIGNATURE: abc"))

        made.connection.close_if_late(made.connection.loop.time() + 3_600)
        await settle()

        assert not made.wire.closed
    assert made.wire.written.endswith(b"app")


@in_loop
async def test_a_head_without_end_is_431_and_cut(tmp_path: Path) -> None:
    async with client_of(tmp_path) as made:
        written = await made.send(get()[:-2], *([b"X: " + b"a" * 8_000 + b"\r\n"] * (MAX_HEAD_BYTES // 8_000 + 1)))

    assert written.startswith(b"HTTP/1.1 431 ")
    assert made.wire.closed
    assert made.asked == []


CHUNKED = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"


@in_loop
async def test_what_comes_after_a_chunked_body_is_not_a_header(tmp_path: Path) -> None:
    async with client_of(tmp_path) as made:
        await made.send(CHUNKED + b"0\r\nPAYMENT-SIGNATURE: x\r\n\r\n")

    assert made.heads == [[(b"transfer-encoding", b"chunked")]]


@pytest.mark.parametrize("part", [b"X: " + b"a" * 30_000 + b"\r\n", b"Y: b\r\n" * 5_000])
@in_loop
async def test_a_request_without_end_is_cut_after_its_answer(part: bytes, tmp_path: Path) -> None:
    async with client_of(tmp_path) as made:
        await made.send(CHUNKED + b"0\r\n", *([part] * (MAX_REQUEST_BYTES // len(part))))
        early = made.wire.closed

        written = await made.send(part, part)

    assert (early, made.wire.closed) == (False, True)
    assert written.count(b"HTTP/1.1 ") == 1
    assert len(made.heads[0]) == 1


@in_loop
async def test_more_pipelined_requests_than_any_client_sends_are_cut(tmp_path: Path) -> None:
    async with client_of(tmp_path) as made:
        made.connection.data_received(get(path="/healthz") * 6_000)
        waiting = len(made.connection.pipeline)
        await settle()

    assert waiting == MAX_PIPELINED
    assert made.wire.closed
    assert len(made.asked) <= MAX_PIPELINED + 1


@in_loop
async def test_a_client_that_only_listens_any_more_gets_its_answer(tmp_path: Path) -> None:
    async with client_of(tmp_path) as made:
        made.connection.data_received(get("PAYMENT-SIGNATURE: abc") + get("PAYMENT-SIGNATURE: abc"))

        stays = made.connection.eof_received()
        await settle()

    assert stays
    assert made.wire.written.count(b"\r\n\r\napp") == 2
    assert b"connection: close" in made.wire.written
    assert made.wire.closed


@in_loop
async def test_a_client_that_left_before_it_asked_is_let_go(tmp_path: Path) -> None:
    async with client_of(tmp_path) as made:
        await made.send(get(), b"GET / HT")

        assert not made.connection.eof_received()


@pytest.mark.parametrize("reads", [True, False])
@in_loop
async def test_a_client_that_never_reads_is_cut_and_a_slow_one_is_not(reads: bool, tmp_path: Path) -> None:
    async with client_of(tmp_path) as made:
        now = made.connection.loop.time()
        made.connection.pause_writing()
        made.connection.close_if_late(now)
        if reads:
            made.connection.resume_writing()
            made.connection.close_if_late(now + 1)
            made.connection.pause_writing()

        made.connection.close_if_late(now + STALL_TIMEOUT_S + 1)

        assert made.wire.aborted is not reads


@in_loop
async def test_a_connection_whose_end_its_client_does_not_read_is_cut(tmp_path: Path) -> None:
    async with client_of(tmp_path) as made:
        made.wire.close()
        now = made.connection.loop.time()
        made.connection.close_if_late(now)

        made.connection.close_if_late(now + STALL_TIMEOUT_S + 1)

        assert made.wire.aborted


@in_loop
async def test_a_challenge_waits_while_the_client_does_not_read(tmp_path: Path) -> None:
    async with client_of(tmp_path) as made:
        made.connection.pause_writing()

        written = await made.send(get())

    assert written == b""


@in_loop
async def test_half_a_request_behind_one_that_is_worked_on_does_not_cut_its_answer(tmp_path: Path) -> None:
    async with client_of(tmp_path) as made:
        made.connection.data_received(get("PAYMENT-SIGNATURE: abc") + b"GET / HT")
        late = made.connection.loop.time() + REQUEST_TIMEOUT_S + 5
        made.connection.close_if_late(late)
        early = made.wire.closed
        await settle()

        made.connection.close_if_late(late)

    assert made.wire.written.endswith(b"app")
    assert (early, made.wire.closed) == (False, True)


@in_loop
async def test_more_connections_than_the_process_has_files_for_are_503(tmp_path: Path) -> None:
    async with client_of(tmp_path) as made:
        made.connection.others.most = 1

        second = made.another("203.0.113.9")
        first_closed = made.wire.closed

    assert second.written.startswith(b"HTTP/1.1 503 ")
    assert (first_closed, second.closed) == (False, True)


@pytest.mark.parametrize(
    ("peers", "trusted", "taken"),
    [
        (["203.0.113.7"], "", MAX_OPEN_PER_ADDRESS),
        (["127.0.0.1"], "", MAX_OPEN_PER_ADDRESS),
        ([f"2001:db8::{n:x}" for n in range(1, 80)], "", MAX_OPEN_PER_ADDRESS),
        ([f"203.0.113.{n}" for n in range(1, 80)], "", 80),
        (["10.0.0.1"], "10.0.0.0/8", 80),
        (["127.0.0.1"], "10.0.0.0/8", 80),
    ],
)
@in_loop
async def test_one_address_takes_its_share_of_the_connections_and_a_trusted_proxy_more(
    peers: list[str], trusted: str, taken: int, tmp_path: Path
) -> None:
    async with client_of(tmp_path, trusted_proxies=trusted, free_votes_per_address=1) as made:
        wires = [made.another(peers[number % len(peers)]) for number in range(80)]
        buyer = made.another("198.51.100.1")

    refused = [wire for wire in wires if wire.written.startswith(b"HTTP/1.1 503 ") and wire.closed]
    assert len(wires) - len(refused) == taken
    assert buyer.written == b""


@in_loop
async def test_an_address_of_many_voters_has_six_connections_for_each(tmp_path: Path) -> None:
    async with client_of(tmp_path, free_votes_per_address=12) as made:
        wires = [made.another("203.0.113.7") for _ in range(80)]

    assert sum(not wire.written for wire in wires) == 6 * 12


@in_loop
async def test_an_address_that_closed_its_connections_is_let_in_again(tmp_path: Path) -> None:
    async with client_of(tmp_path, free_votes_per_address=1) as made:
        for _ in range(MAX_OPEN_PER_ADDRESS + 5):
            made.another("203.0.113.7")
        for connection in made.others:
            connection.connection_lost(None)
        made.others.clear()

        again = made.another("203.0.113.7")

    assert again.written == b""


@pytest.mark.parametrize("hosts", [[], ["Host: gateway", "Host: other"]])
@in_loop
async def test_a_request_without_its_one_host_gets_no_challenge(hosts: list[str], tmp_path: Path) -> None:
    request = "\r\n".join([f"GET {REGIME} HTTP/1.1", *hosts, "", ""]).encode()
    async with client_of(tmp_path) as made:
        written = await made.send(request)

    assert b"402" not in written
    assert made.asked == ["GET"]  # which answers 400


@in_loop
async def test_bytes_that_are_not_http_are_400_cut_counted_and_not_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with gateway_app(tmp_path) as home:
        clients = [Client(home) for _ in range(3)]
        answers = [await made.send(b"\x16\x03\x01 no HTTP\r\n\r\n") for made in clients]
        await Client(home).send(get("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", path="/healthz"))
        counted = home.state.metrics.registry.get_sample_value("emi_requests_malformed_total")

    assert all(written.startswith(b"HTTP/1.1 400 ") for written in answers)
    assert all(made.wire.closed for made in clients)
    assert counted == 3
    assert caplog.messages == []
