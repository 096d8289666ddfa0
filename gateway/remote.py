"""One bounded JSON call to another service: a time limit, a size limit, no redirects, no retries."""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeVar

import aiohttp
from aiohttp.abc import AbstractStreamWriter

MAX_ANSWER_BYTES: Final = 64 * 1024
MAX_HEAD_BYTES: Final = 64 * 1024
T = TypeVar("T", bytes, bytearray)


class ExchangeError(Exception):
    """A connection failed in the middle; whether the request arrived is not known."""


class Exchanger(Protocol):
    """Send one request once, as `gateway.line.Lines` does."""

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
        """Return status and body."""
        ...


Http = aiohttp.ClientSession | Exchanger


class RemoteError(Exception):
    """No readable answer came: connection, time, size or JSON failed."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A JSON answer, whatever its status."""

    status: int
    content: Any


async def call(
    http: Http,
    method: str,
    url: str,
    *,
    timeout_s: float,
    headers: Mapping[str, str],
    body: bytes | None = None,
    sent: Callable[[], None] | None = None,
) -> Answer:
    """Send one request and read a JSON answer.

    Args:
        http: the process's connections: its own over httptools, or aiohttp's where that is not installed.
        method: GET or POST; both send a POST once, also on a broken connection.
        url: absolute.
        timeout_s: seconds for everything.
        headers: authorization, if any.
        body: JSON of a POST, encoded.
        sent: called when the body was written to the connection.

    Raises:
        RemoteError: nothing readable came back. Whether the request arrived is then unknown.

    Returns:
        Status and decoded content; content is None when a status other than 200 came without JSON.
    """
    try:
        if not isinstance(http, aiohttp.ClientSession):
            status, raw = await http.exchange(method, url, headers=headers, body=body, timeout_s=timeout_s, sent=sent)
            return Answer(status, _decode(_bounded(raw), status))
        async with http.request(
            method,
            url,
            data=_payload(body, sent),
            headers=headers,
            timeout=_timeout(timeout_s),
            allow_redirects=False,
        ) as response:
            raw = await _read(response)
            return Answer(response.status, _decode(raw, response.status))
    except (TimeoutError, ExchangeError, aiohttp.ClientError, OSError, ValueError) as error:
        message = f"{method} {url}: {type(error).__name__}"
        raise RemoteError(message) from error


class _Noted(aiohttp.BytesPayload):
    """A body that tells when it was written."""

    sent: Callable[[], None]

    async def write_with_length(self, writer: AbstractStreamWriter, content_length: int | None) -> None:
        await super().write_with_length(writer, content_length)
        # Some event loops hand bytes to the socket only at the end of a round.
        await asyncio.sleep(0)
        self.sent()


_timeout: Final = functools.lru_cache(maxsize=16)(lambda seconds: aiohttp.ClientTimeout(total=seconds))


def _payload(body: bytes | None, sent: Callable[[], None] | None) -> aiohttp.BytesPayload | None:
    if body is None:
        return None
    if sent is None:
        return aiohttp.BytesPayload(body, content_type="application/json")
    noted = _Noted(body, content_type="application/json")
    noted.sent = sent
    return noted


async def _read(response: aiohttp.ClientResponse) -> bytes:
    length = response.content_length
    if length is not None and length <= MAX_ANSWER_BYTES and "Content-Encoding" not in response.headers:
        # What was announced is all that can come.
        return await response.read()
    raw = bytearray()
    async for chunk in response.content.iter_chunked(16 * 1024):
        raw += chunk
        _bounded(raw)
    return bytes(raw)


def _bounded(raw: T) -> T:
    if len(raw) > MAX_ANSWER_BYTES:
        message = "the answer is too large"
        raise ValueError(message)
    return raw


def _decode(raw: bytes, status: int) -> Any:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError) as error:
        if status == 200:
            message = "the answer is not JSON"
            raise ValueError(message) from error
        return None
