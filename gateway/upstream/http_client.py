"""The gateway's HTTP client: a fresh connection for every request, and one bounded JSON call over it.

On a connection that is kept, unsolicited or late bytes are read as the answer to the next request. A fresh one carries
a single request and a single answer, so no call can get another's. Connections are kept only for questions whose answer
proves by itself that it is the answer. docs/explain/payments.md says why it is our own.
"""

import asyncio
import ipaddress
import re
import ssl
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from http import HTTPStatus
from importlib.metadata import version
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import unquote, urlsplit

from gateway.upstream.addresses import Address, Addresses, Resolver, first_connected, system_addresses
from gateway.upstream.answer import Connection
from gateway.wire.foreign import read_json
from gateway.wire.outgoing import proxy_for

DISTRIBUTION: Final = "educational-market-intelligence"
KEEP_ALIVE_S: Final = 15.0
EXCERPT_CHARACTERS: Final = 80
DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_BREAKS_A_LINE: Final = re.compile(r"[\r\n\0]")
_NOT_ENCODED: Final = re.compile(r"[^!-~]")


@cache
def _own_headers() -> str:
    program = f"{DISTRIBUTION}/{version(DISTRIBUTION)}"
    return f"User-Agent: {program}\r\nAccept: application/json\r\nAccept-Encoding: gzip, deflate\r\n"


@cache
def tls_context() -> ssl.SSLContext:
    """Return what verifies servers, by the certificates of the system or of SSL_CERT_FILE."""
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


class RemoteError(Exception):
    """No readable answer came; the text names the call and what failed, and holds no secret."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a connection leads."""

    host: str
    port: int
    tls: bool
    named: bool  # by a name that has addresses, and not by an address

    @classmethod
    def of(cls, origin: str) -> Self:
        """Read the beginning of a URL; ValueError for another scheme than http and https."""
        parts = urlsplit(origin)
        if parts.scheme not in DEFAULT_PORTS or not parts.hostname:
            raise ValueError("only http:// and https:// are asked")

        port = parts.port or DEFAULT_PORTS[parts.scheme]
        return cls(parts.hostname, port, parts.scheme == "https", not _is_address(parts.hostname))


@dataclass(frozen=True, slots=True)
class _Route:
    """How the requests of one origin travel."""

    target: _Place
    authority: str  # host and port as the URL has them
    origin: str
    proxy: _Place | None
    authorization: str  # a header line for the proxy, empty without

    @classmethod
    def of(cls, origin: str) -> Self:
        """Read the beginning of a URL, up to its path, and the proxy that the environment names for it."""
        authority = origin.partition("://")[2]
        if _NOT_ENCODED.search(authority) or "@" in authority:
            raise ValueError("the host of a URL must be encoded, and name no user")

        named = proxy_for(origin)
        proxy = None if named is None else _Place.of(named)
        return cls(_Place.of(origin), authority, origin, proxy, "" if named is None else _authorization(named))

    @property
    def tunnels(self) -> bool:
        """Whether the proxy only passes bytes on."""
        return self.proxy is not None and self.target.tls


def _authorization(proxy: str) -> str:
    parts = urlsplit(proxy)
    if parts.username is None:
        return ""
    credentials = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return f"Proxy-Authorization: Basic {b64encode(credentials.encode()).decode()}\r\n"


class Http:
    """Send requests, each once over a connection of its own; used as an async context manager.

    Redirects are not followed, cookies are ignored, TLS is verified. The environment names a proxy, but for loopback.

    Args:
        resolver: the system's by default, in a thread.
        connections: so many requests are on their way at once, further ones wait.
    """

    def __init__(self, resolver: Resolver = system_addresses, connections: int = 100) -> None:
        self._addresses = Addresses(resolver)
        self._turns = asyncio.Semaphore(connections)
        self._routes: dict[str, _Route] = {}
        self._idle: dict[str, list[tuple[Connection, asyncio.TimerHandle]]] = {}

    async def __aenter__(self) -> Self:
        """Begin; no connection is made yet."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close every connection that waits for a next request."""
        self._addresses.close()
        for kept in self._idle.values():
            for connection, expiry in kept:
                expiry.cancel()
                connection.abort()
        self._idle.clear()

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
        """Send one request, never twice.

        Args:
            method: of HTTP.
            url: absolute, encoded, without fragment.
            headers: of the request.
            body: JSON, or what a Content-Type among the headers says.
            timeout_s: for everything, DNS and TLS included.
            kept: a connection of before may be used: what comes back may be the answer to another question.
            note: takes the answer's headers, their names in lower case.

        Raises:
            TimeoutError: no whole answer in time.
            ValueError: the answer is larger than MAX_ANSWER_BYTES, decoded; or the request cannot be written.
            OSError, httptools.HttpParserError: no connection, or no HTTP.
        """
        origin, target = _split(url)
        route = self._routes.get(origin)
        if route is None:
            route = self._routes[origin] = _Route.of(origin)
        request = _written(route, method, target, headers, body, closes=not kept)

        async with asyncio.timeout(timeout_s), self._turns:
            connection = self._take(origin) if kept else None
            if connection is None:
                connection = await self._open(route)
            try:
                answer = await connection.ask(request)
            finally:
                if not (kept and self._keep(origin, connection)):
                    connection.abort()

        if note is not None:
            note(answer.headers)
        return answer.status, answer.content()

    def _take(self, origin: str) -> Connection | None:
        kept = self._idle.get(origin, [])
        while kept:
            connection, expiry = kept.pop()
            expiry.cancel()
            if connection.reusable:
                return connection
            connection.abort()
        return None

    def _keep(self, origin: str, connection: Connection) -> bool:
        """Keep a connection whose answer is whole for a next request; return whether it was."""
        if not connection.reusable:
            return False

        kept = self._idle.setdefault(origin, [])
        expiry = asyncio.get_running_loop().call_later(KEEP_ALIVE_S, self._expire, origin, connection)
        kept.append((connection, expiry))
        return True

    def _expire(self, origin: str, connection: Connection) -> None:
        self._idle[origin] = [row for row in self._idle[origin] if row[0] is not connection]
        connection.abort()

    async def _open(self, route: _Route) -> Connection:
        connection = await self._connect(route.proxy or route.target)
        if not route.tunnels:
            return connection

        try:
            place = f"{_bracketed(route.target.host)}:{route.target.port}"
            request = f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n{route.authorization}\r\n"
            status = await connection.open_tunnel(request.encode())
            if status != HTTPStatus.OK:
                raise ConnectionRefusedError(f"the proxy answered {status}")
            await connection.secure(tls_context(), route.target.host)
        except BaseException:
            connection.abort()
            raise
        return connection

    async def _connect(self, place: _Place) -> Connection:
        addresses: tuple[Address, ...] = ((place.host, place.port),)
        if place.named:
            addresses = tuple(await self._addresses.of(place.host, place.port))

        loop = asyncio.get_running_loop()
        context = tls_context() if place.tls else None
        name = place.host.rstrip(".") if place.tls else None
        if len(addresses) == 1:
            host, port = addresses[0]
            _, connection = await loop.create_connection(Connection, host, port, ssl=context, server_hostname=name)
            return connection

        try:
            connected = await first_connected(addresses)
        except OSError:
            self._addresses.failed(place.host, place.port)
            raise
        self._addresses.answered(place.host, place.port, connected.getpeername()[:2])

        try:
            _, connection = await loop.create_connection(Connection, sock=connected, ssl=context, server_hostname=name)
        except BaseException:
            connected.close()
            raise
        return connection


def _split(url: str) -> tuple[str, str]:
    """Return the origin of a URL, and the target of a request for it.

    >>> _split("https://node.example:4001/v2/status")
    ('https://node.example:4001', '/v2/status')
    >>> _split("http://node.example?round=1")
    ('http://node.example', '/?round=1')
    """
    scheme, _, rest = url.partition("://")
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    target = rest[len(authority) :]
    if not target.startswith("/"):
        target = f"/{target}"
    return f"{scheme}://{authority}", target


def _written(
    route: _Route, method: str, target: str, headers: Mapping[str, str], body: bytes | None, *, closes: bool
) -> bytes:
    """Write a request out; ValueError for what would be read as something else."""
    if _NOT_ENCODED.search(target):
        raise ValueError("the URL must be encoded")

    through_proxy = route.proxy is not None and not route.tunnels
    asked = route.origin + target if through_proxy else target
    lines = [f"{method} {asked} HTTP/1.1\r\nHost: {route.authority}\r\n", _own_headers()]
    if through_proxy:
        lines.append(route.authorization)

    typed = headers
    if body is not None:
        typed = {"Content-Type": "application/json", **headers, "Content-Length": str(len(body))}
    for name, value in typed.items():
        if _BREAKS_A_LINE.search(name) or _BREAKS_A_LINE.search(value):
            raise ValueError("a header must not hold the end of a line")
        lines.append(f"{name}: {value}\r\n")

    lines.append("Connection: close\r\n\r\n" if closes else "\r\n")
    return "".join(lines).encode() + (body or b"")


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


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
