"""Real processes on free ports: a devnet and a gateway, started by the very commands of production."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.buyer.little_vault import write_vault

REPOSITORY = Path(__file__).resolve().parents[2]
READY_S = 60.0


@dataclass(frozen=True)
class Service:
    """Where the running service answers and keeps its state."""

    gateway: str
    devnet: str
    state: Path


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def service(folder: Path, network: str) -> Iterator[Service]:
    """Run a devnet that is this network and a gateway over a small vault, until the context ends."""
    devnet_port, gateway_port = free_port(), free_port()
    devnet, gateway = f"http://127.0.0.1:{devnet_port}", f"http://127.0.0.1:{gateway_port}"
    write_vault(folder / "vault")
    settings = {
        "EMI_STATE_DIR": str(folder),
        "EMI_NETWORK": network,
        "EMI_PORT": str(gateway_port),
        "EMI_FACILITATOR_URL": f"{devnet}/facilitator",
        "EMI_ALGOD_URL": f"{devnet}/algod",
        "EMI_INDEXER_URL": f"{devnet}/indexer",
    }
    devnet_command = ["devnet", "--port", str(devnet_port), "--as", network]
    with (
        running(devnet_command, settings, folder, f"{devnet}/algod/health"),
        running(["gateway"], settings, folder, f"{gateway}/healthz"),
    ):
        yield Service(gateway, devnet, folder)


@contextmanager
def running(arguments: list[str], settings: dict[str, str], folder: Path, ready: str) -> Iterator[None]:
    """Run one `emi` command until the context ends; it must answer first."""
    log = folder / f"{arguments[0]}.log"
    plain = {name: value for name, value in os.environ.items() if not name.startswith("EMI_")}
    environment = plain | settings | {"PYTHONPATH": str(REPOSITORY)}
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "generator.cli", *arguments], env=environment, cwd=folder, stdout=out, stderr=out
        )
        try:
            _wait(ready, process, log)
            yield
        finally:
            process.terminate()
            process.wait(30)


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + READY_S
    while time.monotonic() < until:
        if process.poll() is not None:
            break
        try:
            get_json(url)
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
        else:
            return
    raise AssertionError(f"{url} never answered:\n{log.read_text(errors='replace')[-2_000:]}")


def get_json(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=10) as answer:
        return json.load(answer)
