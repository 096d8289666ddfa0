"""The HTTP server, and the only module that knows which one: uvicorn, over httptools.

Every connection has limits on how slowly and how much its client may send. A request that carries no payment for a
product gets the finished bytes of its challenge as soon as its head is read; every other request goes the usual way
through the application.

`Connection` extends a protocol class of uvicorn that is not public. `tests/app/test_server.py` names what it needs of
it, and pyproject.toml keeps uvicorn below the next minor version; docs/explain/payments.md says why.
"""

from __future__ import annotations

import asyncio
import logging
import resource
import socket
from collections import Counter
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any, Final, Literal

import uvicorn
from prometheus_client import Counter as PrometheusCounter
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from gateway.http.answers import Encoded
from gateway.http.limits import MAX_HEADER_BYTES, Clients
from gateway.payments.challenge import Challenge

# Larger than the 64 KiB of headers that still get a proper 431; beyond it the connection is cut.
MAX_HEAD_BYTES: Final = 128 * 1024
# No request here has a body: what is sent all the same is read so far, that its answer may arrive, and then cut.
MAX_REQUEST_BYTES: Final = 1024 * 1024
# Requests that wait behind one that is worked on: no client sends so many, and each costs more than its bytes.
MAX_PIPELINED: Final = 32
KEEP_ALIVE_S: Final = 15
BACKLOG: Final = 2_048
MAX_OPEN: Final = 4_096
MAX_OPEN_PER_ADDRESS: Final = 64
"""Where few voters share an address; where they may be many, a browser of each has its connections."""
BROWSER_OPENS: Final = 6
"""So many connections a browser opens to one host."""
# Database, vault, log, listening sockets: more than they ever need.
OTHER_FILES: Final = 128
REQUEST_TIMEOUT_S: Final = 10.0
IDLE_TIMEOUT_S: Final = 15.0
# How long a client may leave an answer unread, or an ended connection unfinished.
STALL_TIMEOUT_S: Final = 30.0
SWEEP_S: Final = 1.0
# How old the answer may be to whether quotes are made: no older than an answer is once it has reached its client.
QUOTES_LOOK_S: Final = 0.05
# Clients of one kind send one text: so many of so many bytes are known again without being parsed.
KNOWN_REQUESTS: Final = 256
KNOWN_REQUEST_BYTES: Final = 1_024
TOO_MANY: Final = STATUS_LINE[503] + b"retry-after: 5\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
TOO_LARGE: Final = STATUS_LINE[431] + b"content-length: 0\r\nconnection: close\r\n\r\n"
# What a client does wrong is answered and no news for the operator; a failure of the application still is.
QUIET: Final = logging.getLogger("gateway.http")
QUIET.setLevel(logging.ERROR)
CONNECTIONS: Final = "connections"
"""Under this name the lifespan of a gateway hands its `Connections` to the server."""
# A request with one of these is looked at by the application.
NOT_PLAIN: Final = frozenset(
    {b"payment-signature", b"x-payment", b"content-length", b"transfer-encoding", b"expect", b"upgrade"}
)


class Connections:
    """Every open connection of a gateway, and the loop that closes those that take too long.

    Args:
        quotes: returns the challenges that may be sent right now, by path.
        clients: who really asks.
        malformed: counts what is not HTTP.
        payments: how many payments may be in flight.
        per_address: so many connections one address may have open.
    """

    def __init__(
        self,
        *,
        quotes: Callable[[], Mapping[str, Challenge]],
        clients: Clients,
        malformed: PrometheusCounter,
        payments: int,
        per_address: int = MAX_OPEN_PER_ADDRESS,
    ) -> None:
        self._quotes = quotes
        self._clients = clients
        self._look_at = 0.0
        self._made_of: tuple[object, object] = (None, None)
        self._challenges: dict[bytes, bytes] = {}
        self._known: dict[bytes, bytes] = {}
        self.malformed = malformed
        self.open: set[Connection] = set()
        self._of: Counter[str] = Counter()
        self.most = _clients_at_once(payments)
        self.per_address = per_address

    def challenge(self, url: bytes, server_headers: list[tuple[bytes, bytes]], now: float) -> bytes | None:
        """Return the finished challenge for a request target without query, if it may be quoted now.

        The server's own headers (Date) are another list when they change; `now` is the loop's time.
        """
        if now >= self._look_at or server_headers is not self._made_of[1]:
            self._look_at = now + QUOTES_LOOK_S
            quotes = self._quotes()
            if quotes is not self._made_of[0] or server_headers is not self._made_of[1]:
                self._made_of = (quotes, server_headers)
                self._challenges = {
                    path.encode(): _wire(challenge.answer, server_headers) for path, challenge in quotes.items()
                }
        return self._challenges.get(url)

    def known(self, request: bytes) -> bytes | None:
        """Return the target of a whole request that was answered with a challenge before, None if it was not."""
        return self._known.get(request)

    def remember(self, request: bytes, url: bytes) -> None:
        """Know a whole request that carries no payment again by its bytes: what they say does not change."""
        if len(request) > KNOWN_REQUEST_BYTES:
            return
        if len(self._known) >= KNOWN_REQUESTS:
            self._known.clear()
        self._known[request] = url

    def admit(self, connection: Connection) -> bool:
        """Count a connection in; return whether there is room, in all and for its address."""
        self.open.add(connection)
        group = connection.group
        if group is not None:
            self._of[group] += 1
        return len(self.open) <= self.most and (group is None or self._of[group] <= self.per_address)

    def forget(self, connection: Connection) -> None:
        """Count a connection out."""
        self.open.discard(connection)
        group = connection.group
        if group is not None:
            self._of[group] -= 1
            if not self._of[group]:
                del self._of[group]

    def group(self, client: tuple[str, int] | None) -> str | None:
        """Return whose share of the connections a client takes, None for one who has no limit of its own."""
        return self._clients.group(client)

    async def sweep_forever(self) -> None:
        """Close what is past its time, once a second, until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(SWEEP_S)
            now = loop.time()
            for connection in tuple(self.open):
                connection.close_if_late(now)


class Connection(HttpToolsProtocol):
    """One connection of a gateway, whose lifespan hands over the `Connections` that it belongs to."""

    others: Connections
    group: str | None = None
    _deadline: float | None = None
    _stalled_since: float | None = None
    _in_head = False
    _in_request = False
    _request_bytes = 0
    _begun = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin, with limited time for the first request."""
        self.logger = QUIET
        self.others = self.app_state[CONNECTIONS]
        super().connection_made(transport)
        self.group = self.others.group(self.client)
        if not self.others.admit(self):
            transport.write(TOO_MANY)
            transport.close()
        self._deadline = self.loop.time() + REQUEST_TIMEOUT_S

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self.others.forget(self)
        super().connection_lost(exc)

    def close_if_late(self, now: float) -> None:
        """Close when a request's head or body, or the next request, did not come in time; cut who does not read."""
        if self.transport.is_closing() or self.flow.write_paused:
            if self._stalled_since is None:
                self._stalled_since = now
            if now - self._stalled_since > STALL_TIMEOUT_S:
                # Closing alone would wait for the client to read the rest.
                self.transport.abort()
            return

        self._stalled_since = None
        # An answer that is being made is never cut, whatever follows its request.
        if self._deadline is not None and now > self._deadline and not self._is_busy():
            self.transport.close()

    def eof_received(self) -> bool:  # type: ignore[override]
        """Answer also a client that has said all and only listens; return whether to stay open for it."""
        if not self._is_busy():
            return False
        self.cycle.keep_alive = False
        return True

    def send_400_response(self, msg: str) -> None:
        """Reject malformed HTTP; count it, do not log it: a line for each would fill a disk."""
        self.others.malformed.inc()
        super().send_400_response(msg)

    def data_received(self, data: bytes) -> None:
        """Read what came; a head without end is refused, anything else without end is cut."""
        begins = not self._in_request
        if begins and not self.transport.is_closing():
            url = self.others.known(data)
            if url is not None and self._sends_challenge(url):
                self._unset_keepalive_if_required()
                return

        self._begun = 0
        if self._in_request:
            self._request_bytes += len(data)
            if self._in_head and self._request_bytes > MAX_HEAD_BYTES:
                self.transport.write(TOO_LARGE)
            if self._request_bytes > (MAX_HEAD_BYTES if self._in_head else MAX_REQUEST_BYTES):
                self.transport.close()
                return
        super().data_received(data)
        if begins and self._begun == 1 and not self._in_request and self.cycle is FINISHED:
            self.others.remember(data, self.url)
        if self._deadline is None and self.timeout_keep_alive_task is None and not self._is_busy():
            # Bytes that begin no request: they do not keep a connection open.
            self._deadline = self.loop.time() + REQUEST_TIMEOUT_S

    def on_message_begin(self) -> None:
        """Note that a head began; the scope is made only when the application is asked."""
        self.url = b""
        self.headers = []
        self.expect_100_continue = False
        self._in_head = self._in_request = True
        self._request_bytes = 0
        self._begun += 1
        self._deadline = self.loop.time() + REQUEST_TIMEOUT_S

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header of the head; trailers are ignored."""
        if self._in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Answer at once if that is all there is to it, else let the application."""
        self._in_head = False
        if self._answered():
            return
        if len(self.pipeline) >= MAX_PIPELINED:
            # The parser hands this to the protocol, which answers 400 and closes.
            raise ValueError("too many requests at once")

        # The base class begins a message by forgetting what was read of the last one: here that is this very head.
        url = self.url
        headers = self.headers
        expects = self.expect_100_continue
        super().on_message_begin()
        self.url = url
        self.expect_100_continue = expects
        self.headers.extend(headers)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Stop the clock: from here on the answer's own limits hold."""
        self._in_request = False
        if self.cycle is not FINISHED:
            self._deadline = None
        super().on_message_complete()

    def _is_busy(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _answered(self) -> bool:
        return self._is_plain() and self._sends_challenge(self.url)

    def _sends_challenge(self, url: bytes) -> bool:
        """Send the challenge of a request that carries no payment; return whether there was one to send at once."""
        if self._is_busy() or self.flow.write_paused:
            return False
        now = self.loop.time()
        challenge = self.others.challenge(url, self.server_state.default_headers, now)
        if challenge is None:
            return False

        self.transport.write(challenge)
        self.server_state.total_requests += 1
        self.cycle = FINISHED
        self._deadline = now + IDLE_TIMEOUT_S
        return True

    def _is_plain(self) -> bool:
        parser = self.parser
        if parser.get_method() != b"GET" or parser.get_http_version() != "1.1" or not parser.should_keep_alive():
            return False

        total = hosts = 0
        for name, value in self.headers:
            if name in NOT_PLAIN:
                return False
            hosts += name == b"host"
            total += len(name) + len(value) + 4

        return total <= MAX_HEADER_BYTES and hosts == 1


# Stands for the cycle of a request that was answered at once.
FINISHED: Final[Any] = SimpleNamespace(
    response_complete=True, disconnected=False, message_event=SimpleNamespace(set=lambda: None)
)


def _clients_at_once(payments: int) -> int:
    """Return how many clients may be connected, after raising this process's limit of open files as far as it may.

    Every payment on its way has up to two connections to the outside, and some files are the ledger's and the vault's.
    Where the limit is lower, clients get half.
    """
    ours = 2 * payments + OTHER_FILES
    wanted = MAX_OPEN + ours

    # Below zero means: without a limit.
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= soft < wanted:
        soft = wanted if hard < 0 else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    if soft < 0:
        return MAX_OPEN
    return min(MAX_OPEN, max(soft - ours, soft // 2))


def _wire(answer: Encoded, server_headers: list[tuple[bytes, bytes]]) -> bytes:
    """Return status line, headers and body."""
    lines = [name + b": " + value + b"\r\n" for name, value in (*server_headers, *answer.headers)]
    return b"".join([STATUS_LINE[answer.status], *lines, b"\r\n", answer.body])


def listen(host: str, port: int) -> socket.socket:
    """Take a port; raise OSError when it is in use, or must not be taken."""
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host.strip("[]"), port))
    except OSError:
        listener.close()
        raise
    return listener


def http_server(
    app: ASGIApp, grace_s: int, protocol: type[asyncio.Protocol] | Literal["auto"] = "auto"
) -> uvicorn.Server:
    """Make the server of an application; its `run` takes the sockets and returns after SIGINT or SIGTERM.

    Args:
        app: the application.
        grace_s: how long requests may take to finish once the server was asked to stop.
        protocol: `Connection` for a gateway: its challenges are answered at once and its clients are limited.
    """
    config = uvicorn.Config(
        app,
        http=protocol,
        ws="none",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=grace_s,
        backlog=BACKLOG,
        log_config=None,
        log_level="warning",
        lifespan="on",
    )
    return uvicorn.Server(config)
