"""One GET of a bounded answer; no redirect is followed and nothing is unpacked."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, Protocol

import aiohttp

from gateway.wire.foreign import read_json
from gateway.wire.outgoing import proxy_for

ANSWER_TIMEOUT_S: Final = 30.0
CONNECT_TIMEOUT_S: Final = 5.0
MAX_BODY: Final = 8 * 1024 * 1024
MAX_FIELD: Final = 65_536
CHUNK: Final = 65_536
MOST_WORDS: Final = 300


class Unanswered(Exception):
    """No whole answer came, so nothing is known; the text says why."""


@dataclass(frozen=True, slots=True)
class WebAnswer:
    """One HTTP answer.

    Args:
        status: its code.
        headers: names in lower case, in the order in which they came.
        content: the body, whole.
    """

    status: int
    headers: tuple[tuple[str, str], ...]
    content: bytes

    def values(self, name: str) -> list[str]:
        """Return every value of a header."""
        return [value for key, value in self.headers if key == name]

    def json(self) -> Any:
        """Return the body as JSON, None when it is none."""
        try:
            return read_json(self.content)
        except ValueError:
            return None

    def reason(self) -> str:
        """Return what the other side says for people, as a bounded quote of its own: it may be anybody's prose.

        Nothing in it steers a terminal, and no quotation mark in it ends the quote.
        """
        body = self.json()
        fields = body if isinstance(body, dict) else {}
        line = fields.get("detail") or fields.get("error") or fields.get("message")
        if not line:
            return "no reason given"
        printable = "".join(letter if letter.isprintable() else " " for letter in str(line))
        words = " ".join(printable.replace('"', "'").split())[:MOST_WORDS]
        return f'it says "{words}"'


class Web(Protocol):
    """What asks for answers."""

    async def get(self, url: str, headers: Mapping[str, str] | None = None) -> WebAnswer:
        """Return the answer to one GET; raise Unanswered when none came whole."""


class AiohttpWeb:
    """The web over aiohttp."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session

    async def get(self, url: str, headers: Mapping[str, str] | None = None) -> WebAnswer:
        """Return the answer to one GET; raise Unanswered when none came whole."""
        asked = {"accept-encoding": "identity", **(headers or {})}
        try:
            async with self._session.get(url, headers=asked, allow_redirects=False, proxy=proxy_for(url)) as answer:
                named = tuple((name.lower(), value) for name, value in answer.headers.items())
                return WebAnswer(answer.status, named, await _body(answer))
        except TimeoutError as problem:
            raise Unanswered("timeout") from problem
        except (aiohttp.ClientError, ValueError) as problem:
            raise Unanswered(str(problem) or type(problem).__name__) from problem


async def _body(answer: aiohttp.ClientResponse) -> bytes:
    content = bytearray()
    async for chunk in answer.content.iter_chunked(CHUNK):
        content += chunk
        if len(content) > MAX_BODY:
            raise Unanswered(f"the answer is larger than {MAX_BODY:,} bytes")
    return bytes(content)


@asynccontextmanager
async def open_web() -> AsyncIterator[AiohttpWeb]:
    """Open connections for the time of a purchase."""
    timeout = aiohttp.ClientTimeout(total=ANSWER_TIMEOUT_S, connect=CONNECT_TIMEOUT_S)
    async with aiohttp.ClientSession(
        timeout=timeout, max_field_size=MAX_FIELD, auto_decompress=False, cookie_jar=aiohttp.DummyCookieJar()
    ) as session:
        yield AiohttpWeb(session)
