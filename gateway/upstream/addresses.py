"""The addresses of a name, and the first of them that takes a connection (RFC 8305)."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from itertools import chain, zip_longest
from typing import Final

Address = tuple[str, int]
"""An address in digits, and a port."""
Resolver = Callable[[str, int], Awaitable[Sequence[Address]]]
"""Return the addresses of a name at a port, the preferred one first; OSError where it has none."""
# Recommended by RFC 8305 before the next address is tried as well.
CONNECTION_ATTEMPT_DELAY_S: Final = 0.25
KEPT_S: Final = 10.0


async def system_addresses(name: str, port: int) -> list[Address]:
    """Ask the system's resolver, in a thread."""
    loop = asyncio.get_running_loop()
    rows = await loop.getaddrinfo(name, port, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
    return _alternating((str(row[4][0]), int(row[4][1])) for row in rows)


def _alternating(addresses: Iterable[Address]) -> list[Address]:
    """Return addresses with the families in turn, that of the first one first: one family may be dead as a whole."""
    listed = list(dict.fromkeys(addresses))
    preferred = [address for address in listed if _is_v6(address) == _is_v6(listed[0])]
    others = [address for address in listed if _is_v6(address) != _is_v6(listed[0])]
    pairs = zip_longest(preferred, others)
    return [address for address in chain.from_iterable(pairs) if address is not None]


def _is_v6(address: Address) -> bool:
    return ":" in address[0]


class Addresses:
    """Addresses of names, kept for some seconds; a name is looked up once at a time, whoever else waits for it."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self._lookups: dict[Address, asyncio.Task[Sequence[Address]]] = {}
        self._kept: dict[Address, tuple[float, Sequence[Address]]] = {}

    async def of(self, name: str, port: int) -> Sequence[Address]:
        """Return the addresses of a name, the one that answered last first; OSError where it has none."""
        key = (name, port)
        until, addresses = self._kept.get(key, (0.0, ()))
        if asyncio.get_running_loop().time() < until:
            return addresses

        lookup = self._lookups.get(key)
        if lookup is None:
            lookup = asyncio.create_task(self._look_up(key))
            self._lookups[key] = lookup
            lookup.add_done_callback(lambda done: self._looked_up(key, done))
        # Whoever gives up leaves it to the others: a thread that asks the system cannot be stopped.
        return await asyncio.shield(lookup)

    async def _look_up(self, key: Address) -> Sequence[Address]:
        addresses = await self._resolver(*key)
        if not addresses:
            raise OSError(f"{key[0]} has no address")
        self._keep(key, addresses)
        return addresses

    def _looked_up(self, key: Address, lookup: asyncio.Task[Sequence[Address]]) -> None:
        del self._lookups[key]
        if not lookup.cancelled():
            # Where everyone gave up no one reads the failure.
            lookup.exception()

    def _keep(self, key: Address, addresses: Sequence[Address]) -> None:
        self._kept[key] = (asyncio.get_running_loop().time() + KEPT_S, addresses)

    def answered(self, name: str, port: int, address: Address) -> None:
        """Prefer an address of a name from now on."""
        until, addresses = self._kept.get((name, port), (0.0, ()))
        if address in addresses:
            others = [other for other in addresses if other != address]
            self._kept[name, port] = (until, (address, *others))

    def failed(self, name: str, port: int) -> None:
        """Forget the addresses of a name, since none of them answers."""
        self._kept.pop((name, port), None)

    def close(self) -> None:
        """Give up every lookup."""
        for lookup in self._lookups.values():
            lookup.cancel()


async def first_connected(addresses: Sequence[Address]) -> socket.socket:
    """Return a socket that is connected to whichever address answers first.

    Each is tried when the one before failed, or has not answered for CONNECTION_ATTEMPT_DELAY_S.

    Raises:
        OSError: none answers; that of the first one that failed.
    """
    failures: list[BaseException] = []
    attempts: set[asyncio.Task[socket.socket]] = set()
    untried = list(addresses)
    try:
        while untried or attempts:
            if untried:
                attempts.add(asyncio.create_task(_connected(untried.pop(0))))
            patience_s = CONNECTION_ATTEMPT_DELAY_S if untried else None
            ended, _ = await asyncio.wait(attempts, timeout=patience_s, return_when=asyncio.FIRST_COMPLETED)

            for attempt in ended:
                attempts.remove(attempt)
                failure = attempt.exception()
                if failure is None:
                    return attempt.result()
                failures.append(failure)
    finally:
        for attempt in attempts:
            attempt.cancel()
            attempt.add_done_callback(_close_late)
    raise failures[0]


async def _connected(address: Address) -> socket.socket:
    family = socket.AF_INET6 if _is_v6(address) else socket.AF_INET
    connecting = socket.socket(family, socket.SOCK_STREAM)
    connecting.settimeout(0)
    try:
        await asyncio.get_running_loop().sock_connect(connecting, address)
    except BaseException:
        connecting.close()
        raise
    return connecting


def _close_late(attempt: asyncio.Task[socket.socket]) -> None:
    if not attempt.cancelled() and attempt.exception() is None:
        attempt.result().close()
