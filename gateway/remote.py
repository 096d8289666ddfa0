"""One bounded JSON call to another service: a time limit, a size limit, no redirects, no retries."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

MAX_ANSWER_BYTES: Final = 64 * 1024
MAX_HEAD_BYTES: Final = 64 * 1024


class ExchangeError(Exception):
    """A connection failed in the middle; whether the request arrived is not known."""


class Http(Protocol):
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
        http: the process's connections.
        method: GET or POST; a POST is sent once, also on a broken connection.
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
        status, raw = await http.exchange(method, url, headers=headers, body=body, timeout_s=timeout_s, sent=sent)
        if len(raw) > MAX_ANSWER_BYTES:
            raise ExchangeError("the answer is too large")
        return Answer(status, _decode(raw, status))
    except (TimeoutError, ExchangeError, OSError, ValueError) as error:
        message = f"{method} {url}: {type(error).__name__}"
        raise RemoteError(message) from error


def _decode(raw: bytes, status: int) -> Any:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError) as error:
        if status == 200:
            message = "the answer is not JSON"
            raise ValueError(message) from error
        return None
