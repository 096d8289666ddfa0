"""Real processes on free ports: a devnet, gateways and official facilitators, as in production."""

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gateway.devnet.keys import new_key
from tests.support.ports import free_port

REPOSITORY = Path(__file__).resolve().parents[2]
PEERS = REPOSITORY / "tests" / "peers"
READY_S = 60.0
OFFICIAL_PYTHON = os.environ.get("OFFICIAL_PYTHON", "")
"""A Python that has x402-avm[avm,httpx]."""
OFFICIAL_JS = os.environ.get("OFFICIAL_JS", "")
"""A folder whose node_modules has @x402/avm, @x402/core and @x402/fetch."""


@contextmanager
def devnet(folder: Path, network: str) -> Iterator[str]:
    """Run `emi devnet` as this network; gives its origin."""
    port = free_port()
    origin = f"http://127.0.0.1:{port}"
    command = ["devnet", "--port", str(port), "--as", network]
    with emi(command, {"EMI_STATE_DIR": str(folder)}, folder, f"{origin}/algod/health"):
        yield origin


@contextmanager
def gateway(folder: Path, network: str, chain: str, facilitator: str) -> Iterator[str]:
    """Run `emi gateway` over the vault in `folder`, with this chain and facilitator; gives its origin."""
    port = free_port()
    origin = f"http://127.0.0.1:{port}"
    settings = {
        "EMI_STATE_DIR": str(folder),
        "EMI_NETWORK": network,
        "EMI_PORT": str(port),
        "EMI_FACILITATOR_URL": facilitator,
        "EMI_ALGOD_URL": f"{chain}/algod",
        "EMI_INDEXER_URL": f"{chain}/indexer",
    }
    with emi(["gateway"], settings, folder, f"{origin}/healthz"):
        yield origin


@contextmanager
def official_facilitator(folder: Path, language: str, chain: str, networks: Sequence[str]) -> Iterator[str]:
    """Run an official facilitator with a funded fee payer of its own; gives its URL."""
    key, port = new_key(), free_port()
    get_json(f"{chain}/wallet/fund?address={key.address}")
    command = peer(folder, language, "facilitator", [str(port), f"{chain}/algod", *networks])
    url = f"http://127.0.0.1:{port}"
    with running(command, {}, folder, f"{url}/supported", key.secret):
        yield url


def peer(folder: Path, language: str, program: str, arguments: Sequence[str]) -> list[str]:
    """Return the command of a helper program in an official environment."""
    if language == "python":
        return [OFFICIAL_PYTHON, str(PEERS / f"{program}.py"), *arguments]
    # Node looks for packages next to the program, so the program is put there.
    folder.mkdir(parents=True, exist_ok=True)
    modules, copy = folder / "node_modules", folder / f"{program}.mjs"
    if not modules.exists():
        modules.symlink_to(Path(OFFICIAL_JS).resolve() / "node_modules")
    copy.write_bytes((PEERS / f"{program}.mjs").read_bytes())
    return ["node", str(copy), *arguments]


@contextmanager
def emi(arguments: list[str], settings: Mapping[str, str], folder: Path, ready: str) -> Iterator[None]:
    """Run one `emi` command until the context ends; it must answer first."""
    command = [sys.executable, "-m", "generator.cli", *arguments]
    with running(command, {**settings, "PYTHONPATH": str(REPOSITORY)}, folder, ready):
        yield


@contextmanager
def running(
    command: Sequence[str], settings: Mapping[str, str], folder: Path, ready: str, given: str = ""
) -> Iterator[None]:
    """Run a command until the context ends; it must answer first. `given` is its standard input."""
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / f"{time.monotonic_ns()}.log"
    plain = {name: value for name, value in os.environ.items() if not name.startswith("EMI_")}
    with log.open("wb") as out:
        process = subprocess.Popen(
            command, env={**plain, **settings}, cwd=folder, stdin=subprocess.PIPE, stdout=out, stderr=out
        )
        try:
            assert process.stdin is not None
            process.stdin.write(given.encode())
            process.stdin.close()
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
