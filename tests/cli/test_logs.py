"""Log lines: what machines read is one JSON object a line, and a newcomer's first screen has no alarm."""

import json
import socket
import subprocess
import sys
from pathlib import Path

from generator.cli.up import ALARMING
from tests.support.ports import free_port
from tests.support.processes import running

ROOT = Path(__file__).resolve().parents[2]
GARBAGE = b"\x16\x03\x01\x02\x00 no HTTP\r\n\r\n"
UPGRADE = (
    b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
    b"HTTP2-Settings: AAMAAABk\r\n\r\n"
)
LOUD = """
import asyncio, logging, sys, warnings
from generator.cli._console import set_up_logs
set_up_logs(sys.argv[1])
logging.getLogger("uvicorn.error").warning("a library's %s", "line")
warnings.warn("something is deprecated")
async def fail():
    raise ValueError("two\\nlines")
async def main():
    task = asyncio.ensure_future(fail())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    del task
asyncio.run(main())
"""
LEVELS = """
import structlog
from generator.cli._console import set_up_logs
for form in ("console", "json"):
    set_up_logs(form)
    log = structlog.get_logger("gateway")
    log.info("no new offer", reason="ClientConnectorError: not an error yet, nor a warning")
    log.warning("late")
    log.error("lost")
"""


def test_a_real_gateway_logs_json_alone_whatever_is_sent_to_it(tmp_path: Path) -> None:
    port = free_port()
    settings = {
        "EMI_PORT": str(port),
        "EMI_LOG_FORMAT": "json",
        "EMI_FACILITATOR_URL": "http://127.0.0.1:9/f",
        "EMI_ALGOD_URL": "http://127.0.0.1:9/a",
    }
    with running(tmp_path, ["gateway"], f"http://127.0.0.1:{port}", **settings) as gateway:
        gateway.wait_open("/healthz")
        gateway.wait_text("no new offer")  # asked by what runs
        answers = [sent(port, raw) for raw in [*[GARBAGE] * 20, UPGRADE]]
        gateway.stop()

    lines = [json.loads(line) for line in gateway.text().splitlines()]
    assert [answer[9:12] for answer in answers] == [b"400"] * 20 + [b"200"]
    assert all({"event", "level", "timestamp"} <= line.keys() for line in lines)
    assert len(lines) < 10


def sent(port: int, raw: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=60) as wire:
        wire.sendall(raw)
        return wire.recv(65_536)


def test_lines_of_libraries_and_warnings_are_json_with_a_time_and_a_level() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOUD, "json"], cwd=ROOT, capture_output=True, text=True, check=True, timeout=100
    )

    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert [(line["logger"], line["level"]) for line in lines] == [
        ("uvicorn.error", "warning"),
        ("py.warnings", "warning"),
        ("asyncio", "error"),
    ]
    assert lines[0]["event"] == "a library's line"
    assert "two\nlines" in lines[2]["exception"]
    assert all(line["timestamp"] for line in lines)


def test_what_emi_up_shows_of_its_children_depends_on_the_level() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LEVELS], cwd=ROOT, capture_output=True, text=True, check=True, timeout=100
    )

    shown = [bool(ALARMING.search(line)) for line in done.stderr.splitlines()]
    assert shown == [False, True, True] * 2
