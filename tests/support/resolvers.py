"""Names that resolve to what a test says, and addresses behind which no one answers."""

import asyncio
import contextlib
import socket
from collections.abc import Iterator

from aiohttp.abc import AbstractResolver, ResolveResult

NAME = "outside.test"


class Names(AbstractResolver):
    """Resolve every name to one list of addresses; without one, never answer."""

    def __init__(self, *addresses: str) -> None:
        self._addresses = addresses

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        if not self._addresses:
            await asyncio.Event().wait()
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=_family(address),
                proto=socket.IPPROTO_TCP,
                flags=socket.AI_NUMERICHOST,
            )
            for address in self._addresses
        ]

    async def close(self) -> None:
        """Nothing is held."""


@contextlib.contextmanager
def black_hole(address: str, port: int) -> Iterator[None]:
    """Listen with a full backlog: whoever connects hears nothing, as behind a dead route."""
    family = _family(address)
    with socket.create_server((address, port), family=family, backlog=0), contextlib.ExitStack() as stack:
        for _ in range(4):
            filler = stack.enter_context(socket.socket(family))
            filler.setblocking(False)
            filler.connect_ex((address, port))
        yield


def loopback_addresses() -> list[str]:
    """Return addresses of this machine besides 127.0.0.1, IPv6 first if it has any."""
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return ["127.0.0.2"]
    return ["::1", "127.0.0.2"]


def _family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address else socket.AF_INET
