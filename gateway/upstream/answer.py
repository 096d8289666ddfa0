"""One connection to another service, and the answers that are read from it within bounds."""

import asyncio
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

import httptools

MAX_ANSWER_BYTES: Final = 64 * 1024
MAX_HEAD_BYTES: Final = 32 * 1024
"""Status lines and headers, those of interim answers included."""
# A chunk of one byte takes six, and its extensions and trailers are read too.
MAX_SENT_BYTES: Final = 8 * MAX_ANSWER_BYTES
GZIP_WINDOW: Final = 16 + zlib.MAX_WBITS
FRAMING: Final = frozenset({"content-length", "transfer-encoding"})


@dataclass(frozen=True, slots=True)
class Answer:
    """One whole answer."""

    status: int
    headers: Mapping[str, str]  # names in lower case; of a repeated one the first
    body: bytes  # as sent, still encoded

    def content(self) -> bytes:
        """Return the decoded body, at most MAX_ANSWER_BYTES.

        Raises:
            ValueError: it is larger, cut, or in an encoding that was not asked for.
        """
        coding = self.headers.get("content-encoding", "identity").strip().lower()
        if coding == "identity" or not self.body:
            return self.body
        if coding == "gzip":
            return _inflated(self.body, GZIP_WINDOW)
        if coding == "deflate":
            # Some send deflate without the header of zlib, whose first byte names the method, 8.
            wrapped = self.body[0] & 0x0F == zlib.DEFLATED
            return _inflated(self.body, zlib.MAX_WBITS if wrapped else -zlib.MAX_WBITS)
        raise ValueError("the answer has an unknown content encoding")


def _inflated(body: bytes, window: int) -> bytes:
    inflater = zlib.decompressobj(window)
    try:
        content = inflater.decompress(body, MAX_ANSWER_BYTES + 1)
    except zlib.error as error:
        raise ValueError("the answer cannot be decompressed") from error

    if len(content) > MAX_ANSWER_BYTES:
        raise ValueError("the answer is too large")
    if not inflater.eof or inflater.unused_data:
        raise ValueError("the compressed answer is cut, or followed by more")
    return content


class Connection(asyncio.Protocol):
    """One connection: a request is written, the answer to it is awaited, and nothing is ever sent again."""

    def __init__(self) -> None:
        self._transport: Any = None
        self._answered: asyncio.Future[Answer] | None = None
        self._opens_tunnel = False
        self._reusable = False
        self._clear()

    def _clear(self) -> None:
        self._headers: dict[str, str] = {}
        self._body: list[bytes] = []
        self._body_bytes = 0
        self._sent_bytes = 0
        self._in_body = False
        self._framed = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep what writes and closes; a tunnel's TLS replaces it."""
        self._transport = transport

    @property
    def reusable(self) -> bool:
        """Whether another request may follow: one whole answer came, nothing after it, and both sides are there."""
        return self._reusable and not self._transport.is_closing()

    async def ask(self, request: bytes) -> Answer:
        """Send a whole request and return the whole answer to it.

        Raises:
            httptools.HttpParserError: what came is not HTTP.
            ValueError: it is larger than the limits.
            OSError: the connection ended before it did.
        """
        self._begin(request)
        return await self._outcome()

    async def open_tunnel(self, request: bytes) -> int:
        """Send a CONNECT to a proxy and return its status; what follows a 200 is the other side's.

        Raises: as `ask` does.
        """
        self._opens_tunnel = True
        self._begin(request)
        try:
            answer = await self._outcome()
        finally:
            self._opens_tunnel = False
        return answer.status

    async def secure(self, context: Any, host: str) -> None:
        """Begin TLS inside an open tunnel."""
        loop = asyncio.get_running_loop()
        self._transport = await loop.start_tls(self._transport, self, context, server_hostname=host)

    def abort(self) -> None:
        """Close at once, whatever is still on its way."""
        if self._transport is not None:
            self._transport.abort()

    def _begin(self, request: bytes) -> None:
        if self._transport.is_closing():
            raise ConnectionAbortedError("the connection ended before the request")

        self._clear()
        self._reusable = False
        self._parser = httptools.HttpResponseParser(self)
        self._answered = asyncio.get_running_loop().create_future()
        self._transport.write(request)

    async def _outcome(self) -> Answer:
        answered = self._answered
        assert answered is not None
        try:
            return await answered
        finally:
            self._answered = None
            if not answered.cancelled():
                # Of a call that was cancelled meanwhile no one reads the failure.
                answered.exception()

    def data_received(self, data: bytes) -> None:
        """Read a piece of the answer."""
        answered = self._answered
        if answered is None or answered.done():
            # No one asked for this: it would be read as the answer to the next request.
            self._reusable = False
            self.abort()
            return

        self._sent_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            self._reusable = False
            self._fail(error)
            return

        if answered.done():
            return
        most_bytes = MAX_SENT_BYTES if self._in_body else MAX_HEAD_BYTES
        if self._sent_bytes > most_bytes or self._body_bytes > MAX_ANSWER_BYTES:
            self._fail(ValueError("the answer is too large"))

    def connection_lost(self, exc: Exception | None) -> None:
        """End an answer whose length was not named, and fail every other."""
        self._reusable = False
        if exc is None and self._in_body and not self._framed and not self._opens_tunnel:
            self._finish()
        else:
            self._fail(exc or ConnectionResetError("the connection ended before the whole answer"))

    def on_message_begin(self) -> None:
        """Forget the headers of an interim answer, and do not take a second whole one for a part of the first."""
        self._reusable = False
        self._headers = {}
        self._framed = False

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header; trailers say nothing that is read here."""
        if self._in_body:
            return
        key = name.decode("latin-1").lower()
        self._headers.setdefault(key, value.decode("utf-8", "surrogateescape"))
        self._framed = self._framed or key in FRAMING

    def on_headers_complete(self) -> None:
        """See whether the answer itself begins, or an interim one ends."""
        self._in_body = self._parser.get_status_code() >= HTTPStatus.OK
        if self._in_body and self._opens_tunnel:
            self._finish()

    def on_body(self, body: bytes) -> None:
        """Keep a piece of the body."""
        self._body_bytes += len(body)
        self._body.append(body)

    def on_message_complete(self) -> None:
        """End the answer, unless it was an interim one."""
        if self._in_body and self._answered is not None and not self._answered.done():
            self._reusable = self._parser.should_keep_alive()
            self._finish()

    def _finish(self) -> None:
        if self._body_bytes > MAX_ANSWER_BYTES:
            self._fail(ValueError("the answer is too large"))
        elif self._answered is not None and not self._answered.done():
            self._answered.set_result(Answer(self._parser.get_status_code(), self._headers, b"".join(self._body)))

    def _fail(self, error: Exception) -> None:
        if self._answered is not None and not self._answered.done():
            self._answered.set_exception(error)
