"""Asking an Algorand indexer over HTTP, with a limit on everything."""

from collections.abc import Mapping
from typing import Any, Final

import aiohttp

from gateway.wire.foreign import read_json
from gateway.wire.outgoing import proxy_for
from generator.record.inbox.chain import IndexerError

TIMEOUT_S: Final = 4.0
LARGEST: Final = 8_000_000
TOKEN_HEADER: Final = "X-Indexer-API-Token"  # noqa: S105  a header's name


class Indexer:
    """One indexer; the connection is made at the first question."""

    def __init__(self, url: str, token: str | None, timeout_s: float = TIMEOUT_S) -> None:
        self._url = url.rstrip("/")
        self._timeout_s = timeout_s
        self._headers = {TOKEN_HEADER: token} if token else {}
        self._session: aiohttp.ClientSession | None = None

    async def ask(self, path: str, query: Mapping[str, str]) -> Any:
        """Return the JSON of one answer; IndexerError: none in time, a status other than 200, too large, not JSON."""
        if self._session is None:
            self._session = aiohttp.ClientSession(
                timeout=aiohttp.ClientTimeout(total=self._timeout_s),
                headers=self._headers,
                cookie_jar=aiohttp.DummyCookieJar(),
            )

        try:
            url = self._url + path
            proxy = proxy_for(url)
            async with self._session.get(url, params=dict(query), allow_redirects=False, proxy=proxy) as answer:
                if answer.status != 200:
                    raise IndexerError(f"the indexer answered {answer.status}")
                return read_json(await _body(answer))
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            raise IndexerError(f"the indexer did not answer ({type(error).__name__})") from error

    async def aclose(self) -> None:
        """Close the connection."""
        if self._session is not None:
            await self._session.close()


async def _body(answer: aiohttp.ClientResponse) -> bytes:
    parts = []
    size = 0
    async for part in answer.content.iter_chunked(65_536):
        size += len(part)
        if size > LARGEST:
            raise IndexerError("the indexer's answer is too large")
        parts.append(part)
    return b"".join(parts)
