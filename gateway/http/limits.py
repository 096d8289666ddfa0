"""Limits on what a client may send: which Host, header size, bodies, payment attempts a minute.

A page elsewhere can point a name of its own at loopback (DNS rebinding). Its requests look like those of our own page,
but for the Host that they name; so where play money is signed, only names of this machine are answered for.
"""

import asyncio
import ipaddress
import math
import re
from collections import OrderedDict
from collections.abc import Collection, Iterable
from contextlib import suppress
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

import structlog
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.clock import Clock
from gateway.http.answers import problem
from gateway.wire.loopback import is_loopback

MAX_HEADER_BYTES: Final = 16 * 1024
DISCARD_S: Final = 0.5
MAX_ADDRESSES: Final = 10_000
IPV6_PREFIX: Final = 64
"""One subscriber holds a whole /64."""
NETWORK_BITS: Final = {4: 24, 6: 48}
"""The network around a subscriber, which one customer of a hoster can hold, by version of the protocol."""
FORWARDED: Final = frozenset({b"x-forwarded-for", b"forwarded", b"x-real-ip"})
UNTRUSTED_PROXY: Final = "a proxy on loopback that is not trusted"
DETAILS: Final = {
    400: "An HTTP/1.1 request names exactly one Host.",
    413: "Send the request without a body.",
    421: "Ask for this service by a name of this machine, such as localhost, or by the host of EMI_BASE_URL.",
    431: "Send less.",
}
_PLAIN_HOST: Final = re.compile(r"[A-Za-z0-9.-]{1,253}(:\d{1,5})?")
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
log = structlog.get_logger("gateway")


class Guard:
    """Refuse a wrong Host, large headers and any body before the application sees the request.

    The hosts that are answered for are loopback and the names, or any without names.
    """

    def __init__(self, app: ASGIApp, project: str, names: Collection[str] | None = None) -> None:
        self._app = app
        self._project = project
        self._names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 400, 413, 421 or 431."""
        if scope["type"] == "http":
            status = self._refusal(scope)
            if status is not None:
                # The rest of the request is not read, so the connection cannot be used again.
                answer = problem(
                    status,
                    DETAILS[status] + (_line_to_type(scope["headers"]) if status == 421 else ""),
                    instance=scope["path"],
                    project=self._project,
                    headers={"connection": "close", "vary": "PAYMENT-SIGNATURE, X-PAYMENT"},
                )
                if status == 413 and not any(name == b"expect" for name, _ in scope["headers"]):
                    await _discard(receive)
                await answer(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _refusal(self, scope: Scope) -> int | None:
        if misses_host(scope.get("http_version", ""), scope["headers"]):
            return 400
        if self._names is not None and is_foreign(scope["headers"], self._names):
            return 421
        return _too_much(scope["method"], scope["headers"])


async def _discard(receive: Receive) -> None:
    """Read a short body that is on its way already, and nothing of it.

    A proxy that is still sending when the connection closes reads a reset and not our answer (RFC 9112, 9.6).
    """
    seen = 0
    more = True
    with suppress(TimeoutError):
        async with asyncio.timeout(DISCARD_S):
            while more and seen <= MAX_HEADER_BYTES:
                message = await receive()
                seen += len(message.get("body", b""))
                more = bool(message.get("more_body"))


def _line_to_type(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """Return how `emi up` answers for the host that a request names, empty where that is not a plain name."""
    host = next((value.decode("latin-1") for name, value in headers if name == b"host"), "")
    if not _PLAIN_HOST.fullmatch(host):
        return ""
    # A forwarded port of a container has its number; a workspace in a cloud is reached by https without one.
    scheme = "http" if ":" in host else "https"
    base = f"EMI_BASE_URL={scheme}://{host}"
    return f" Start it with: {base} EMI_SOURCE=simulated EMI_NETWORK=devnet EMI_PLAY=true emi up"


def _too_much(method: str, headers: Iterable[tuple[bytes, bytes]]) -> int | None:
    total = 0
    body = False
    for name, value in headers:
        total += len(name) + len(value) + 4
        body = body or name == b"transfer-encoding" or (name == b"content-length" and value.strip() != b"0")
    if total > MAX_HEADER_BYTES:
        return 431

    # Methods that are not answered anyway get their 405 and learn which are.
    if body and method in {"GET", "HEAD", "OPTIONS"}:
        return 413
    return None


def own_names(host: str, origin: str) -> frozenset[str]:
    """Return the names that a gateway is reached by: what it listens on, and the host of the URL that quotes name."""
    return frozenset({host.lower(), (urlsplit(origin).hostname or "").lower()})


def misses_host(http_version: str, headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Return whether a request lacks the one Host that HTTP/1.1 demands, or names more than one (RFC 9112, 3.2)."""
    hosts = sum(name == b"host" for name, _ in headers)
    return hosts > 1 or (hosts == 0 and http_version == "1.1")


def is_foreign(headers: Iterable[tuple[bytes, bytes]], names: Collection[str]) -> bool:
    """Return whether a request names a host that is neither loopback nor one of our names, lower case, without port."""
    return any(not _is_ours(value, names) for name, value in headers if name == b"host")


def _is_ours(host: bytes, names: Collection[str]) -> bool:
    try:
        name = urlsplit(f"//{host.decode('latin-1')}").hostname or ""
    except ValueError:
        return False
    return is_loopback(name) or name in names


class RateLimit:
    """A token bucket per client address; the least recently seen of many addresses is forgotten.

    `per_minute` attempts may come at once, refilled over a minute.
    """

    def __init__(self, per_minute: int, clock: Clock) -> None:
        self._capacity = float(per_minute)
        self._per_second = per_minute / 60
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, address: str) -> int | None:
        """Count one attempt; return None when it is allowed, else whole seconds until the next may."""
        key = share_of(address)
        if key is None:
            return None

        # What was refilled since the last attempt; the newest address goes to the end of the row.
        now = self._clock.monotonic()
        tokens, at = self._buckets.pop(key, (self._capacity, now))
        tokens = min(self._capacity, tokens + (now - at) * self._per_second)

        wait_s: int | None = None
        if tokens >= 1:
            tokens -= 1
        else:
            wait_s = max(1, math.ceil((1 - tokens) / self._per_second))

        self._buckets[key] = (tokens, now)
        while len(self._buckets) > MAX_ADDRESSES:
            self._buckets.popitem(last=False)
        return wait_s


class Clients:
    """Who really asks, behind the trusted addresses or networks whose X-Forwarded-For is believed."""

    def __init__(self, trusted: Collection[str]) -> None:
        self._trusted = [ipaddress.ip_network(name, strict=False) for name in trusted]
        self._warned = False

    def address(self, scope: Scope) -> str:
        """Return the nearest address that is not a trusted proxy.

        A proxy on loopback that is not trusted speaks for the public, so it is not loopback's own: all behind it
        count as one address.
        """
        address = str(scope["client"][0]) if scope.get("client") else ""
        if not self._is_trusted(address):
            if self._is_hidden(address, scope["headers"]):
                return self._untrusted(scope)
            return address

        chain = [value.decode("latin-1") for name, value in scope["headers"] if name == b"x-forwarded-for"]
        hops = [hop.strip() for hop in ",".join(chain).split(",") if hop.strip()]
        while hops and self._is_trusted(address):
            address = hops.pop()
        return address

    def group(self, client: tuple[str, int] | None) -> str | None:
        """Return whose share of the connections a peer takes; None for a trusted proxy, which speaks for many."""
        host = _parse(client[0]) if client else None
        if host is None or self._is_trusted(str(host)) or (self._trusted and host.is_loopback):
            return None
        return _key(host)

    def _is_trusted(self, address: str) -> bool:
        host = _parse(address) if self._trusted else None
        return host is not None and any(host in network for network in self._trusted)

    def _is_hidden(self, address: str, headers: Iterable[tuple[bytes, bytes]]) -> bool:
        host = _parse(address)
        return host is not None and host.is_loopback and any(name in FORWARDED for name, _ in headers)

    def _untrusted(self, scope: Scope) -> str:
        if not self._warned:
            self._warned = True
            log.warning(
                "a proxy on loopback is not in EMI_TRUSTED_PROXIES: everybody behind it counts as one address",
                peer=scope["client"][0],
            )
        return UNTRUSTED_PROXY


@lru_cache(maxsize=4_096)
def _parse(address: str) -> Address | None:
    try:
        host = ipaddress.ip_address(address)
    except ValueError:
        return None

    if isinstance(host, ipaddress.IPv6Address):
        return host.ipv4_mapped or host
    return host


def share_of(address: str) -> str | None:
    """Return whose bucket an address draws from, None for loopback, which is not counted."""
    host = _parse(address)
    if host is None:
        return address
    if host.is_loopback:
        return None
    return _key(host)


def _key(host: Address) -> str:
    if host.version == 4:
        return str(host)
    return _prefix(host, IPV6_PREFIX)


def network_of(address: str) -> str | None:
    """Return the network around an address, an IPv4 /24 or an IPv6 /48; None for loopback and for what is none."""
    host = _parse(address)
    if host is None or host.is_loopback:
        return None
    return _prefix(host, NETWORK_BITS[host.version])


def _prefix(host: Address, bits: int) -> str:
    return str(ipaddress.ip_network((host, bits), strict=False))
