"""Which Host a request names: exactly one in HTTP/1.1, and where play money is signed only one of this machine.

A page elsewhere can point a name of its own at loopback (DNS rebinding). Its requests look like those of our own page,
but for the Host that they name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from urllib.parse import urlsplit

from gateway.settings import GatewaySettings
from gateway.wire.loopback import is_loopback

Headers = Iterable[tuple[bytes, bytes]]


def own_names(settings: GatewaySettings) -> frozenset[str]:
    """Return the host names that a gateway is configured with."""
    return frozenset({settings.host.lower(), (urlsplit(settings.origin).hostname or "").lower()})


def misses_host(http_version: str, headers: Headers) -> bool:
    """Return whether a request lacks the one Host that HTTP/1.1 demands, or names more than one (RFC 9112, 3.2)."""
    hosts = sum(name == b"host" for name, _ in headers)
    return hosts > 1 or (hosts == 0 and http_version == "1.1")


def is_foreign(headers: Headers, names: Collection[str]) -> bool:
    """Return whether a request names a host that is neither loopback nor one of ours.

    Args:
        headers: of the request.
        names: further names that are ours, lower case, without port.
    """
    return any(not _is_ours(value, names) for name, value in headers if name == b"host")


def _is_ours(host: bytes, names: Collection[str]) -> bool:
    try:
        name = urlsplit(f"//{host.decode('latin-1')}").hostname or ""
    except ValueError:
        return False
    return is_loopback(name) or name in names
