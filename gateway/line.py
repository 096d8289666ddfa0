"""Kept connections to other services over httptools: a third of what a general client costs a call.

One request at a time goes over a connection, nothing is ever sent twice, redirects are not followed, and a connection
that did anything unexpected is closed and not used again.
"""

from __future__ import annotations

import asyncio
import select
import ssl
from collections import deque
from collections.abc import Callable, Mapping
from typing import Final, cast
from urllib.parse import urlsplit

import httptools

from gateway.remote import ExchangeError

# Shorter than the 5 s after which Node and uvicorn close: a settle that meets a closing connection is an unknown one.
MAX_IDLE_S: Final = 4.0
MAX_IDLE: Final = 512
FINAL_STATUSES: Final = range(200, 600)


class _Line(asyncio.Protocol):
    """One connection.

    Args:
        limit: bytes that one answer may have, head and body.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parser = httptools.HttpResponseParser(self)
        self._waiter: asyncio.Future[tuple[int, bytes]] | None = None
        self._transport: asyncio.Transport | None = None
        self._arrived = select.poll()
        self._body: list[bytes] = []
        self._seen = 0
        self._status = 0
        self._until_end = True
        self._readable = True
        self.reusable = False
        self.idle_since = 0.0

    @property
    def closed(self) -> bool:
        """Whether it can carry nothing any more."""
        return self._transport is None or self._transport.is_closing()

    @property
    def silent(self) -> bool:
        """Whether nothing has come that the loop has not read yet: an answer that nobody asked for, or the end.

        Bytes that lie there when a request is written would be read as its answer.
        """
        return not self._arrived.poll(0)

    async def exchange(self, request: bytes, sent: Callable[[], None] | None) -> tuple[int, bytes]:
        """Send one request and wait for its answer."""
        transport = self._transport
        if transport is None:
            raise ExchangeError("the connection ended")
        self._waiter = asyncio.get_running_loop().create_future()
        self._begin()
        try:
            transport.write(request)
            if sent is not None:
                # Some event loops hand bytes to the socket only at the end of a round.
                await asyncio.sleep(0)
                sent()
            return await self._waiter
        finally:
            self._waiter = None

    def close(self) -> None:
        """End it at once: a peer that neither reads nor says goodbye must not keep it."""
        self.reusable = False
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._arrived.register(transport.get_extra_info("socket"), select.POLLIN)

    def data_received(self, data: bytes) -> None:
        self._seen += len(data)
        if self._waiter is None or self._waiter.done():
            # Nobody asked for this.
            self.close()
            return
        if self._seen > self._limit:
            self._fail("the answer is too large")
            return
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self._fail("the answer is not HTTP")

    def connection_lost(self, exc: Exception | None) -> None:
        self.reusable = False
        self._transport = None
        if self._waiter is not None and not self._waiter.done():
            if self._status and self._until_end and exc is None:
                self._done()
            else:
                self._fail("the connection ended")

    def on_message_begin(self) -> None:
        if self._waiter is None or self._waiter.done():
            # A second answer to one request.
            self.close()
        # Nothing of an interim answer belongs to the real one.
        self._body, self._status, self._until_end, self._readable = [], 0, True, True

    def on_header(self, name: bytes, value: bytes) -> None:
        name = name.lower()
        if name in {b"content-length", b"transfer-encoding"}:
            self._until_end = False
        elif name == b"content-encoding" and value.strip().lower() != b"identity":
            self._readable = False

    def on_headers_complete(self) -> None:
        self._status = self._parser.get_status_code()
        if not self._readable:
            self._fail("the answer is encoded in a way that was not asked for")

    def on_body(self, body: bytes) -> None:
        self._body.append(body)

    def on_message_complete(self) -> None:
        if self._status not in FINAL_STATUSES:
            # An interim answer: the real one follows.
            self._status = 0
            return
        if self._waiter is not None and not self._waiter.done():
            self.reusable = self._parser.should_keep_alive()
        self._done()

    def _begin(self) -> None:
        self._body, self._seen, self._status = [], 0, 0
        self.reusable = False

    def _done(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result((self._status, b"".join(self._body)))

    def _fail(self, reason: str) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_exception(ExchangeError(reason))
        self.close()


class Lines:
    """Connections to a few services.

    Args:
        limit: bytes that one answer may have, head and body.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._idle: dict[str, deque[_Line]] = {}
        self._tls: ssl.SSLContext | None = None

    async def exchange(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        body: bytes | None,
        timeout_s: float,
        sent: Callable[[], None] | None = None,
    ) -> tuple[int, bytes]:
        """Send one request, once.

        Args:
            method: GET or POST.
            url: absolute, encoded, without fragment.
            headers: more headers.
            body: JSON, or what a Content-Type among the headers says.
            timeout_s: seconds for everything, connecting included.
            sent: called when the request was handed to the connection.

        Raises:
            ExchangeError: no whole answer came.
            TimeoutError: nor in time.
            OSError: no connection.
            ValueError: the request cannot be written.

        Returns:
            Status and body.
        """
        slash = url.find("/", len("https://"))
        origin, target = (url, "/") if slash < 0 else (url[:slash], url[slash:])
        request = _request(method, origin, target, headers, body)
        async with asyncio.timeout(timeout_s):
            line = self._take(origin) or await self._connect(origin)
            try:
                answer = await line.exchange(request, sent)
            except BaseException:
                # Also when the caller gave up: its answer may still come.
                line.close()
                raise
        self._keep(origin, line)
        return answer

    async def close(self) -> None:
        """Close every connection that waits."""
        for lines in self._idle.values():
            for line in lines:
                line.close()
        self._idle.clear()
        await asyncio.sleep(0)

    def _take(self, origin: str) -> _Line | None:
        lines = self._idle.get(origin)
        oldest = asyncio.get_running_loop().time() - MAX_IDLE_S
        while lines:
            line = lines.pop()
            if line.reusable and not line.closed and line.idle_since > oldest and line.silent:
                return line
            line.close()
        return None

    def _keep(self, origin: str, line: _Line) -> None:
        lines = self._idle.setdefault(origin, deque())
        if not line.reusable or line.closed or len(lines) >= MAX_IDLE:
            line.close()
            return
        line.idle_since = asyncio.get_running_loop().time()
        lines.append(line)
        if lines[0].idle_since < line.idle_since - MAX_IDLE_S:
            lines.popleft().close()

    async def _connect(self, origin: str) -> _Line:
        parts = urlsplit(origin)
        secure = parts.scheme == "https"
        if secure and self._tls is None:
            self._tls = ssl.create_default_context()
        _, line = await asyncio.get_running_loop().create_connection(
            lambda: _Line(self._limit),
            parts.hostname or "",
            parts.port or (443 if secure else 80),
            ssl=self._tls if secure else None,
        )
        return line


def _request(method: str, origin: str, target: str, headers: Mapping[str, str], body: bytes | None) -> bytes:
    lines = [f"{method} {target} HTTP/1.1\r\nHost: {origin.partition('//')[2]}\r\nAccept: application/json\r\n"]
    lines += [f"{name}: {value}\r\n" for name, value in headers.items()]
    typed = any(name.lower() == "content-type" for name in headers)
    if body is not None:
        lines += [] if typed else ["Content-Type: application/json\r\n"]
        lines.append(f"Content-Length: {len(body)}\r\n")
    head = "".join(lines).encode("latin-1")
    # More lines than were written were smuggled in.
    expected = 3 + len(headers) + (0 if body is None else 1 if typed else 2)
    if not head.count(b"\n") == head.count(b"\r") == expected or target.find(" ") >= 0:
        raise ValueError("a request's target or header holds a line break or a space")
    return head + b"\r\n" + (body or b"")
