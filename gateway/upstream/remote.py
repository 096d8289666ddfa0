"""One bounded JSON call to another service: a time limit, a size limit, no redirects, no retries of a POST."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

MAX_ANSWER_BYTES: Final = 64 * 1024
EXCERPT_CHARACTERS: Final = 80


class ExchangeError(Exception):
    """An answer cannot be used; whether the request took effect is not known."""


class Http(Protocol):
    """Send one request, as `gateway.http_client.HttpClient` does."""

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
        """Return status and body; any exception says that there is no answer."""
        ...


class RemoteError(Exception):
    """No readable answer came; the text names the call and what failed, and holds no secret."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A JSON answer, whatever its status.

    Args:
        status: of HTTP.
        content: decoded JSON; None when a status other than 200 came without JSON.
        raw: the body, for `describe`.
    """

    status: int
    content: Any
    raw: bytes = field(default=b"", repr=False, compare=False)


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
        http: the process's client.
        method: GET or POST; a POST is sent once, also on a broken connection.
        url: absolute.
        timeout_s: seconds for everything.
        headers: authorization, if any.
        body: JSON of a POST, encoded.
        sent: called when the body was written to the connection.

    Raises:
        RemoteError: nothing readable came back. Whether the request arrived is then unknown.

    Returns:
        The answer.
    """
    try:
        status, raw = await http.exchange(method, url, headers=headers, body=body, timeout_s=timeout_s, sent=sent)
    except TimeoutError as error:
        message = f"{method} {url}: no whole answer within {timeout_s:g} s"
        raise RemoteError(message) from error
    except Exception as error:
        # Whatever it was: the request may have arrived, and the caller must hear of nothing but that.
        message = f"{method} {url}: {type(error).__name__}: {_excerpt(str(error), headers)}"
        raise RemoteError(message) from error
    try:
        content = json.loads(raw)
    except (ValueError, RecursionError) as error:
        if status == 200:
            raise RemoteError(describe(method, url, headers, Answer(status, None, raw))) from error
        content = None
    return Answer(status, content, raw)


def describe(method: str, url: str, headers: Mapping[str, str], answer: Answer) -> str:
    """Describe an answer that does not say what it should, for a log.

    Args:
        method: of the call.
        url: of the call.
        headers: of the call; what they hold is left out, should the answer repeat it.
        answer: as it came.

    Returns:
        One printable line: the call, the status and the first characters.
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
