"""A server on loopback that answers byte for byte what a test says."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

OK = b'HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n{"a":1}'


class Peer:
    """A server that sends the same bytes to every request, and then ends the connection or not."""

    def __init__(self, answer: bytes, *, ends: bool = False) -> None:
        self.answer = answer
        self.ends = ends
        self.requests: list[bytes] = []
        self.connections = 0
        self.open = 0
        self.url = ""
        self._writers: list[asyncio.StreamWriter] = []

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.open += 1
        self._writers.append(writer)
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = next(
                    (int(row[15:]) for row in head.split(b"\r\n") if row.lower().startswith(b"content-length:")), 0
                )
                self.requests.append(head + await reader.readexactly(length))
                writer.write(self.answer)
                await writer.drain()
                if self.ends:
                    writer.close()
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()
        finally:
            self.open -= 1

    def say(self, unasked: bytes) -> None:
        """Send bytes over the newest connection."""
        self._writers[-1].write(unasked)

    def hang_up(self) -> None:
        """End the newest connection."""
        self._writers[-1].close()

    @asynccontextmanager
    async def running(self, tls: ssl.SSLContext | None = None) -> AsyncIterator[None]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=tls)
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{server.sockets[0].getsockname()[1]}/f"
        try:
            yield
        finally:
            server.close()
            for writer in self._writers:
                writer.close()
            await asyncio.sleep(0.01)
