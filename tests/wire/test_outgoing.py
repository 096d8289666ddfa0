"""What is asked of others goes by the proxy and the certificates of the environment, by gateway and ccxt alike."""

import asyncio
import json
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path

import pytest

from gateway.wire.outgoing import described, proxy_for
from generator.client.published import fetch
from tests.support.certificates import self_signed
from tests.support.local_servers import answering
from tests.support.ports import free_port
from tests.support.processes import clean_environment

ROOT = Path(__file__).parents[2]
BODY = b'{"error": [], "result": {"unixtime": 1763640000}}'
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(BODY), BODY)
# Names that resolve nowhere: what answers came by the proxy.
ASKING = """
import asyncio, json
from gateway.upstream.http_client import Http
from generator.market.live.client import VenueClient
from generator.market.live.venues import VENUES

async def main():
    async with Http() as http:
        status, _ = await http.exchange("GET", "https://facilitator.invalid/", headers={}, body=None, timeout_s=10)
    client = VenueClient(VENUES["kraken"], ("BTC",))
    answer = await client.exchange.fetch("https://venue.invalid/0/public/Time")
    await client.aclose()
    print(json.dumps([status, answer["result"]["unixtime"]]))

asyncio.run(main())
"""


@pytest.fixture(autouse=True)
def no_proxy_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("https_proxy", "http_proxy", "no_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def test_the_proxy_of_the_environment_is_used_but_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    assert proxy_for("https://api.example.org/x") is None

    monkeypatch.setenv("HTTPS_PROXY", "http://user:secret@proxy.example:3128")
    monkeypatch.setenv("NO_PROXY", "node.example")

    assert proxy_for("https://api.example.org/x") == "http://user:secret@proxy.example:3128"
    assert proxy_for("http://api.example.org/x") is None
    assert [proxy_for(f"https://{host}/") for host in ("node.example", "127.0.0.1:8402", "localhost", "[::1]")] == [
        None
    ] * 4


def test_the_way_out_is_described_without_credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    assert described() is None

    authority, _ = self_signed(tmp_path)
    monkeypatch.setenv("HTTPS_PROXY", "http://user:secret@proxy.example:3128")
    monkeypatch.setenv("SSL_CERT_FILE", str(authority))

    assert described() == f"HTTPS_PROXY leads through proxy.example:3128, SSL_CERT_FILE trusts {authority}"


def test_the_service_of_this_machine_is_looked_at_directly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{free_port()}")

    with answering(lambda _path, _body: (200, b"here")) as origin:
        assert fetch(origin) == (200, b"here")


@asynccontextmanager
async def proxied(folder: Path, connected: list[str]) -> AsyncIterator[tuple[int, Path]]:
    """Serve HTTPS of a company of its own behind a proxy; yield the proxy's port and the certificate."""
    certificate, key = self_signed(folder, ("facilitator.invalid", "venue.invalid"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with closing(writer), suppress(OSError, asyncio.IncompleteReadError):
            while await reader.readuntil(b"\r\n\r\n"):
                writer.write(ANSWER)

    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with closing(writer), suppress(OSError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            connected.append(head.split()[1].decode())
            upstream = await asyncio.open_connection("127.0.0.1", behind)
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            with closing(upstream[1]):
                await asyncio.gather(pump(reader, upstream[1]), pump(upstream[0], writer))

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65_536):
            writer.write(data)
        writer.close()

    async with (
        await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context) as server,
        await asyncio.start_server(connect, "127.0.0.1", 0) as proxy,
    ):
        behind = server.sockets[0].getsockname()[1]
        yield proxy.sockets[0].getsockname()[1], certificate


def test_gateway_and_venues_reach_others_by_a_proxy_with_its_own_authority(tmp_path: Path) -> None:
    connected: list[str] = []

    async def ask(*, trusting: bool) -> subprocess.CompletedProcess[str]:
        async with proxied(tmp_path, connected) as (port, certificate):
            extra = {"SSL_CERT_FILE": str(certificate)} if trusting else {}
            environment = clean_environment(HTTPS_PROXY=f"http://127.0.0.1:{port}", **extra)
            command = [sys.executable, "-c", ASKING]
            return await asyncio.to_thread(
                subprocess.run, command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False
            )

    asked = asyncio.run(ask(trusting=True))
    refused = asyncio.run(ask(trusting=False))

    assert asked.returncode == 0, asked.stderr
    assert json.loads(asked.stdout) == [200, 1763640000]
    assert connected[:2] == ["facilitator.invalid:443", "venue.invalid:443"]
    assert "CERTIFICATE_VERIFY_FAILED" in refused.stderr
