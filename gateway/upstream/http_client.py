"""The gateway's HTTP client: aiohttp, with a fresh connection for every request, and one bounded JSON call over it.

On a connection that is kept, unsolicited or late bytes are read as the answer to the next request. A fresh one carries
a single request and a single answer, so no call can get another's. Connections are kept only for questions whose answer
proves by itself that it is the answer.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from http import HTTPStatus
from importlib.metadata import version
from types import TracebackType
from typing import Any, Final, Self

import aiohttp
from aiohttp.abc import AbstractResolver
from yarl import URL

from gateway.wire.foreign import read_json
from gateway.wire.outgoing import proxy_for

DISTRIBUTION: Final = "educational-market-intelligence"
# Recommended by RFC 8305 before the next address is tried as well.
CONNECTION_ATTEMPT_DELAY_S: Final = 0.25
MAX_ANSWER_BYTES: Final = 64 * 1024
EXCERPT_CHARACTERS: Final = 80


@cache
def _user_agent() -> str:
    return f"{DISTRIBUTION}/{version(DISTRIBUTION)}"


class RemoteError(Exception):
    """No readable answer came; the text names the call and what failed, and holds no secret."""


class Http:
    """Send requests, each once over a connection of its own; used as an async context manager.

    Redirects are not followed, cookies are ignored, TLS is verified. The environment names a proxy, but for loopback.

    Args:
        resolver: the system's by default, in a thread.
        connections: so many are open at once, further requests wait for one.
    """

    def __init__(self, resolver: AbstractResolver | None = None, connections: int = 100) -> None:
        self._resolver = resolver
        self._connections = connections

    async def __aenter__(self) -> Self:
        """Open the sessions; no connection is made yet."""
        self._session = self._open_session(force_close=True)
        self._keeping = self._open_session(force_close=False)
        return self

    def _open_session(self, *, force_close: bool) -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(
            force_close=force_close,
            limit=self._connections,
            happy_eyeballs_delay=CONNECTION_ATTEMPT_DELAY_S,
            resolver=self._resolver,
        )
        return aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
            headers={
                "User-Agent": _user_agent(),
                "Accept": "application/json",
                "Accept-Encoding": "gzip, deflate",
            },
        )

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close every connection."""
        await self._session.close()
        await self._keeping.close()

    async def exchange(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        body: bytes | None,
        timeout_s: float,
        kept: bool = False,
        note: Callable[[Mapping[str, str]], None] | None = None,
    ) -> tuple[int, bytes]:
        """Send one request, a POST never twice, a GET again if the connection ended without an answer.

        Args:
            method: of HTTP.
            url: absolute, encoded, without fragment.
            headers: of the request.
            body: JSON, or what a Content-Type among the headers says.
            timeout_s: for everything, DNS and TLS included.
            kept: a connection of before may be used: what comes back may be the answer to another question.
            note: takes the answer's headers, whose names may be of any case.

        Raises:
            TimeoutError: no whole answer in time.
            ValueError: the answer is larger than MAX_ANSWER_BYTES, decoded.
            aiohttp.ClientError, OSError, ValueError: no connection, no HTTP, or a request that cannot be written.
        """
        typed = headers
        if body is not None:
            typed = {"Content-Type": "application/json", **headers}
        session = self._keeping if kept else self._session
        async with (
            asyncio.timeout(timeout_s),
            session.request(
                method,
                URL(url, encoded=True),
                headers=typed,
                data=body,
                allow_redirects=False,
                proxy=proxy_for(url),
            ) as answer,
        ):
            if note is not None:
                note(answer.headers)
            return answer.status, await _read(answer)


async def _read(answer: aiohttp.ClientResponse) -> bytes:
    # Decompression stops at each piece, so that a small answer cannot unpack to more than the limit and one piece.
    body = bytearray()
    async for piece in answer.content.iter_any():
        body += piece
        if len(body) > MAX_ANSWER_BYTES:
            raise ValueError("the answer is too large")
    return bytes(body)


@dataclass(frozen=True, slots=True)
class JsonAnswer:
    """A JSON answer, whatever its status."""

    status: int
    content: Any  # decoded; None when a status other than 200 came without JSON
    raw: bytes = field(default=b"", repr=False, compare=False)  # for `describe`

    @property
    def fields(self) -> Mapping[str, Any]:
        """The members of the content, none where it is not an object."""
        return self.content if isinstance(self.content, dict) else {}


async def call(
    http: Http,
    method: str,
    url: str,
    *,
    timeout_s: float,
    headers: Mapping[str, str],
    body: bytes | None = None,
    note: Callable[[Mapping[str, str]], None] | None = None,
) -> JsonAnswer:
    """Send one request as `Http.exchange` does, and read a JSON answer; `note` takes the answer's headers.

    Raises:
        RemoteError: nothing readable came back. Whether the request arrived is then unknown.
    """
    try:
        status, raw = await http.exchange(method, url, headers=headers, body=body, timeout_s=timeout_s, note=note)
    except TimeoutError as error:
        raise RemoteError(f"{method} {url}: no whole answer within {timeout_s:g} s") from error
    except Exception as error:
        # Whatever it was: the request may have arrived, and the caller must hear of nothing but that.
        raise RemoteError(f"{method} {url}: {type(error).__name__}: {_excerpt(str(error), headers)}") from error
    try:
        content = read_json(raw)
    except ValueError as error:
        if status == HTTPStatus.OK:
            raise RemoteError(describe(method, url, headers, JsonAnswer(status, None, raw))) from error
        content = None
    return JsonAnswer(status, content, raw)


def describe(method: str, url: str, headers: Mapping[str, str], answer: JsonAnswer) -> str:
    """Describe in one printable line, for a log, an answer that does not say what it should.

    What the call's headers hold is left out, should the answer repeat it.
    """
    beginning = _excerpt(answer.raw.decode(errors="replace"), headers)
    return f"{method} {url}: status {answer.status}, unexpected answer {beginning!r}"


def _excerpt(text: str, headers: Mapping[str, str]) -> str:
    for value in headers.values():
        # Of 'Bearer TOKEN' an answer may repeat the token alone.
        for secret in (value, value.rpartition(" ")[2]):
            text = text.replace(secret, "***") if secret else text
    line = " ".join(text[: 4 * EXCERPT_CHARACTERS].split())[:EXCERPT_CHARACTERS]
    return "".join(char if char.isprintable() else "?" for char in line)
