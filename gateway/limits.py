"""Limits on what a client may send: header size, bodies, payment attempts a minute."""

from __future__ import annotations

import asyncio
import ipaddress
import math
from collections import OrderedDict
from collections.abc import Collection, Iterable
from contextlib import suppress
from functools import lru_cache
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.clock import Clock
from gateway.problem import problem

MAX_HEADER_BYTES: Final = 16 * 1024
DISCARD_S: Final = 0.5
MAX_ADDRESSES: Final = 10_000
IPV6_PREFIX: Final = 64
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Guard:
    """Refuse large headers and any body before the application sees the request.

    Args:
        app: the application.
        project: the service's name, for the problem document.
    """

    def __init__(self, app: ASGIApp, project: str) -> None:
        self._app = app
        self._project = project

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 431 or 413."""
        if scope["type"] == "http":
            status = _refusal(scope["method"], scope["headers"])
            if status is not None:
                # The rest of the request is not read, so the connection cannot be used again.
                answer = problem(
                    status,
                    "Send less." if status == 431 else "Send the request without a body.",
                    instance=scope["path"],
                    project=self._project,
                    headers={"connection": "close", "vary": "PAYMENT-SIGNATURE, X-PAYMENT"},
                )
                if status == 413 and not any(name == b"expect" for name, _ in scope["headers"]):
                    await _discard(receive)
                await answer(scope, receive, send)
                return
        await self._app(scope, receive, send)


async def _discard(receive: Receive) -> None:
    """Read a short body that is on its way already, and nothing of it.

    A proxy that is still sending when the connection closes reads a reset and not our answer (RFC 9112, 9.6).
    """
    seen, more = 0, True
    with suppress(TimeoutError):
        async with asyncio.timeout(DISCARD_S):
            while more and seen <= MAX_HEADER_BYTES:
                message = await receive()
                seen += len(message.get("body", b""))
                more = bool(message.get("more_body"))


def _refusal(method: str, headers: Iterable[tuple[bytes, bytes]]) -> int | None:
    total = 0
    body = False
    for name, value in headers:
        total += len(name) + len(value) + 4
        body = body or name == b"transfer-encoding" or (name == b"content-length" and value.strip() != b"0")
    if total > MAX_HEADER_BYTES:
        return 431
    # Methods that are not answered anyway get their 405 and learn which are.
    return 413 if body and method in {"GET", "HEAD", "OPTIONS"} else None


class RateLimit:
    """A token bucket per client address; the least recently seen of many addresses is forgotten.

    Args:
        per_minute: attempts that may come at once, refilled over a minute.
        clock: the process's clock.
    """

    def __init__(self, per_minute: int, clock: Clock) -> None:
        self._capacity = float(per_minute)
        self._per_second = per_minute / 60
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, address: str) -> int | None:
        """Count one attempt.

        Args:
            address: the client's, from `client_address`.

        Returns:
            None when it may go on, else whole seconds until the next may.
        """
        key = _bucket(address)
        if key is None:
            return None
        now = self._clock.monotonic()
        tokens, at = self._buckets.pop(key, (self._capacity, now))
        tokens = min(self._capacity, tokens + (now - at) * self._per_second)
        allowed = tokens >= 1
        self._buckets[key] = (tokens - 1 if allowed else tokens, now)
        while len(self._buckets) > MAX_ADDRESSES:
            self._buckets.popitem(last=False)
        return None if allowed else max(1, math.ceil((1 - tokens) / self._per_second))


def client_address(scope: Scope, trusted: Collection[str]) -> str:
    """Return who really asks, behind the proxies that are trusted.

    Args:
        scope: the request.
        trusted: addresses or networks whose X-Forwarded-For is believed.

    Returns:
        The nearest address that is not a trusted proxy.
    """
    address = scope["client"][0] if scope.get("client") else ""
    if not trusted:
        return str(address)
    networks = [ipaddress.ip_network(name, strict=False) for name in trusted]
    chain = [value.decode("latin-1") for name, value in scope["headers"] if name == b"x-forwarded-for"]
    hops = [hop.strip() for hop in ",".join(chain).split(",") if hop.strip()]
    while hops and _is_trusted(address, networks):
        address = hops.pop()
    return address


def _is_trusted(address: str, networks: list[ipaddress.IPv4Network | ipaddress.IPv6Network]) -> bool:
    host = _parse(address)
    return host is not None and any(host in network for network in networks)


def _parse(address: str) -> Address | None:
    try:
        host = ipaddress.ip_address(address)
    except ValueError:
        return None
    mapped = host.ipv4_mapped if isinstance(host, ipaddress.IPv6Address) else None
    return mapped or host


@lru_cache(maxsize=4_096)
def _bucket(address: str) -> str | None:
    """Return whose bucket an address draws from, None for loopback, which is not counted."""
    host = _parse(address)
    if host is None:
        return address
    return None if host.is_loopback else _key(host)


def _key(host: Address) -> str:
    if isinstance(host, ipaddress.IPv4Address):
        return str(host)
    # One subscriber holds a whole /64.
    return str(ipaddress.ip_network((host, IPV6_PREFIX), strict=False))
