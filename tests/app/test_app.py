import asyncio
import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import pytest

from gateway.app.application import serve
from gateway.settings import GatewaySettings
from gateway.wire.networks import DEVNET
from tests.support.fake_upstream import FakeUpstream
from tests.support.gateway_app import PATIENCE_S, REGIME, gateway_app, in_loop
from tests.support.ports import free_port
from tests.support.vaults import write_vault

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("generator", "numpy", "ccxt", "pandas", "web3")
SERVE = (
    "from gateway.app.application import serve; from gateway.settings import GatewaySettings; import sys;"
    f"serve(GatewaySettings(), preview=True); print([name for name in {HEAVY} if name in sys.modules])"
)


def start(folder: Path, port: int, **environment: str) -> subprocess.Popen[str]:
    found = {
        "EMI_STATE_DIR": str(folder),
        "EMI_PORT": str(port),
        "EMI_FACILITATOR_URL": "http://127.0.0.1:9/f",
        "EMI_ALGOD_URL": "http://127.0.0.1:9/a",
    }
    return subprocess.Popen(
        [sys.executable, "-c", SERVE],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], **found, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@contextlib.asynccontextmanager
async def opened(
    folder: Path, upstream: FakeUpstream
) -> AsyncIterator[tuple[subprocess.Popen[str], httpx2.AsyncClient]]:
    """Run a gateway process over a faked outside, from its first quote on."""
    port = free_port()
    process = start(folder, port, EMI_FACILITATOR_URL=f"{upstream.url}/f", EMI_ALGOD_URL=f"{upstream.url}/a")
    async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE_S) as client:
        quoted = False
        while not quoted:
            assert process.poll() is None, process.communicate()
            with contextlib.suppress(httpx2.TransportError):
                quoted = (await client.get(REGIME)).status_code == 402
            await asyncio.sleep(0.05)
        yield process, client
        process.terminate()
        await asyncio.to_thread(process.communicate)


def raw_request(port: int, request: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=60) as wire:
        wire.sendall(request)
        parts = b""
        with contextlib.suppress(ConnectionResetError):
            while chunk := wire.recv(65_536):
                parts += chunk
        return parts


@in_loop
async def test_a_real_server_stays_small_answers_431_and_413_and_ends_in_order(tmp_path: Path) -> None:
    write_vault(tmp_path / "vault", at=datetime.now(UTC).replace(microsecond=0))
    upstream = FakeUpstream(DEVNET.full)
    async with upstream.running(), opened(tmp_path, upstream) as (process, client):
        port = client.base_url.port
        assert port is not None
        long, body = f"X-A: {'a' * 64_000}\r\n\r\n", "Content-Length: 2\r\n\r\n{}"
        large, refused = [
            await asyncio.to_thread(raw_request, port, f"GET {REGIME} HTTP/1.1\r\nHost: localhost\r\n{rest}".encode())
            for rest in (long, body)
        ]
        status = await asyncio.to_thread(Path(f"/proc/{process.pid}/status").read_text)
        process.send_signal(signal.SIGINT)
        output, errors = await asyncio.to_thread(process.communicate, timeout=PATIENCE_S)

    assert large.startswith(b"HTTP/1.1 431 ")
    assert b"application/problem+json" in large
    assert refused.startswith(b"HTTP/1.1 413 ")
    assert process.returncode in {0, -signal.SIGINT}
    assert "Traceback" not in errors
    assert output.splitlines()[-1] == "[]", "libraries and rooms that only the generator needs"
    assert int(re.findall(r"VmRSS:\s+(\d+) kB", status)[0]) < 120 * 1024


def refused_start(settings: GatewaySettings, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as ended:
        serve(settings)
    assert ended.value.code == 1
    return capsys.readouterr().err


def complete(folder: Path, port: int = 1) -> GatewaySettings:
    nowhere = "http://127.0.0.1:9"
    return GatewaySettings(state_dir=folder, port=port, facilitator_url=nowhere, algod_url=nowhere)


def test_a_port_in_use_is_one_clear_line_and_exit_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        line = refused_start(complete(tmp_path, port), capsys)

    assert line == f"emi gateway: cannot listen on 127.0.0.1:{port}: Address already in use\n"


def test_a_missing_facilitator_is_one_clear_line_and_exit_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = refused_start(GatewaySettings(state_dir=tmp_path), capsys)

    assert "FACILITATOR_URL" in line


@in_loop
async def test_health_is_never_stored_and_unknown_paths_are_problems(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        health, nothing, method = (
            await home.get("/healthz"),
            await home.get("/nothing"),
            await home.client.post("/healthz"),
        )

    assert (health.status_code, health.headers["cache-control"]) == (200, "no-store")
    assert (nothing.status_code, method.status_code) == (404, 405)
    assert set(nothing.json()) == {"type", "title", "status", "detail", "instance", "project", "disclaimer"}
    assert nothing.headers["content-type"] == "application/problem+json"


@in_loop
async def test_an_accident_is_500_with_a_fixed_text(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.state.purchases._orders._vault = None  # type: ignore[assignment]

        answer = await home.send(home.buyer.pay())

    assert answer.status_code == 500
    assert answer.json()["detail"] == "Something failed on our side."
    assert answer.headers["vary"] == "PAYMENT-SIGNATURE, X-PAYMENT"
    assert "NoneType" not in answer.text
