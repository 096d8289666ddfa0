"""Names that resolve to what a test says, and addresses behind which no one answers."""

import asyncio
import contextlib
import socket
from collections.abc import Iterator

NAME = "outside.test"


class Names:
    """Resolve every name to one list of addresses; without one, never answer."""

    def __init__(self, *addresses: str) -> None:
        self._addresses = addresses

    async def __call__(self, name: str, port: int) -> list[tuple[str, int]]:
        if not self._addresses:
            await asyncio.Event().wait()
        return [(address, port) for address in self._addresses]


@contextlib.contextmanager
def black_hole(address: str, port: int) -> Iterator[int]:
    """Listen with a full backlog: whoever connects hears nothing, as behind a dead route; yield the port."""
    family = _family(address)
    with socket.create_server((address, port), family=family, backlog=0) as server, contextlib.ExitStack() as stack:
        port = server.getsockname()[1]
        for _ in range(4):
            filler = stack.enter_context(socket.socket(family))
            filler.setblocking(False)
            filler.connect_ex((address, port))
        yield port


def loopback_addresses() -> list[str]:
    """Return addresses of this machine besides 127.0.0.1, IPv6 first if it has any."""
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return ["127.0.0.2"]
    return ["::1", "127.0.0.2"]


def _family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address else socket.AF_INET
