"""Real processes on free ports: a devnet, gateways and official facilitators, as in production."""

import json
import os
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gateway.devnet.keys import new_key
from tests.support.ports import free_port
from tests.support.processes import REPOSITORY, clean_environment, running, started

PEERS = REPOSITORY / "tests" / "peers"
OFFICIAL_PYTHON = os.environ.get("OFFICIAL_PYTHON", "")
"""A Python that has x402-avm[avm,httpx]."""
OFFICIAL_JS = os.environ.get("OFFICIAL_JS", "")
"""A folder whose node_modules has @x402/avm, @x402/core and @x402/fetch."""


@contextmanager
def devnet(folder: Path, network: str) -> Iterator[str]:
    """Run `emi devnet` as this network; gives its origin."""
    port = free_port()
    command = ["devnet", "--port", str(port), "--as", network]
    with running(folder, command, f"http://127.0.0.1:{port}", EMI_STATE_DIR=str(folder)) as process:
        process.wait_open("/algod/v2/status")
        yield process.origin


@contextmanager
def gateway(folder: Path, network: str, chain: str, facilitator: str = "", **extra: str) -> Iterator[str]:
    """Run `emi gateway` over the vault in `folder`, with this chain and facilitator; gives its origin."""
    port = int(extra.pop("EMI_PORT", 0)) or free_port()
    settings = {
        "EMI_STATE_DIR": str(folder),
        "EMI_NETWORK": network,
        "EMI_PORT": str(port),
        "EMI_FACILITATOR_URL": facilitator or f"{chain}/facilitator",
        "EMI_ALGOD_URL": f"{chain}/algod",
        "EMI_INDEXER_URL": f"{chain}/indexer",
    }
    with running(folder, ["gateway"], f"http://127.0.0.1:{port}", **settings, **extra) as process:
        process.wait_open("/healthz")
        yield process.origin


@contextmanager
def official_facilitator(folder: Path, language: str, chain: str, networks: Sequence[str]) -> Iterator[str]:
    """Run an official facilitator with a funded fee payer of its own; gives its URL."""
    key, port = new_key(), free_port()
    get_json(f"{chain}/wallet/fund?address={key.address}")
    command = peer(folder, language, "facilitator", [str(port), f"{chain}/algod", *networks])
    url = f"http://127.0.0.1:{port}"
    with started(command, folder, clean_environment(), url, key.secret) as process:
        process.wait_open("/supported")
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


def get_json(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=10) as answer:
        return json.load(answer)
