"""One devnet lent the test network's ids, and a gateway for each facilitator that settles on it."""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gateway.devnet.keys import Key, new_key
from gateway.wire.networks import TESTNET
from generator.catalog.products import Product
from tests.outside.processes import (
    OFFICIAL_JS,
    OFFICIAL_PYTHON,
    devnet,
    gateway,
    get_json,
    official_facilitator,
    peer,
)
from tests.support.vaults import write_sample_vault

HAVE = {"python": bool(OFFICIAL_PYTHON), "js": bool(OFFICIAL_JS)}
MISSING = {
    "python": "OFFICIAL_PYTHON names no Python that has x402-avm[avm,httpx]",
    "js": "OFFICIAL_JS names no folder whose node_modules has @x402/avm, @x402/core and @x402/fetch",
}
FACILITATORS = {
    "ours": ("", ()),
    "python": ("python", (TESTNET.full,)),
    "js": ("js", (TESTNET.caip2,)),
    "js-full": ("js", (TESTNET.full,)),
}
"""Name of a facilitator: its language and the network forms that it is registered for."""


@dataclass(frozen=True)
class Market:
    """Where everything answers."""

    chain: str
    gateways: dict[str, str]
    facilitators: dict[str, str]
    folder: Path

    def funded(self) -> Key:
        key = new_key()
        get_json(f"{self.chain}/wallet/fund?address={key.address}")
        return key

    def balance(self, address: str) -> int:
        held = get_json(f"{self.chain}/algod/v2/accounts/{address}/assets/{TESTNET.asset_id}")
        return int(held["asset-holding"]["amount"])

    def transaction(self, txid: str) -> Any:
        return get_json(f"{self.chain}/indexer/v2/transactions/{txid}")["transaction"]

    def run_buyer(
        self, language: str, facilitator: str, product: Product, key: Key, form: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run an official client to its end."""
        arguments = [self.gateways[facilitator] + product.path, f"{self.chain}/algod", *([form] if form else [])]
        command = peer(self.folder / "buyers", language, "buyer", arguments)
        return subprocess.run(command, input=key.secret, capture_output=True, text=True, timeout=60, check=False)

    def buy(self, language: str, facilitator: str, product: Product, key: Key, form: str | None = None) -> Bought:
        """Buy with an official client that must not fail."""
        done = self.run_buyer(language, facilitator, product, key, form)
        assert done.returncode == 0, done.stderr[-2_000:]
        found = json.loads(done.stdout)
        receipt = json.loads(base64.b64decode(found["receipt"])) if found["receipt"] else {}
        return Bought(found["status"], receipt, json.loads(found["body"]))


def need(*names: str) -> None:
    """Skip the test when this machine has not all of these languages and facilitators."""
    for name in names:
        language = FACILITATORS[name][0] if name in FACILITATORS else name
        if language and not HAVE[language]:
            pytest.skip(MISSING[language])


@dataclass(frozen=True)
class Bought:
    """What an official client came back with."""

    status: int
    receipt: dict[str, Any]
    body: dict[str, Any]


@contextmanager
def market(folder: Path) -> Iterator[Market]:
    """Run the chain, every facilitator that this machine has, and a gateway before each."""
    with ExitStack() as stack:
        chain = stack.enter_context(devnet(folder / "chain", "testnet"))
        gateways, facilitators = {}, {}
        for name, (language, forms) in FACILITATORS.items():
            if language and not HAVE[language]:
                continue
            url = f"{chain}/facilitator"
            if language:
                url = stack.enter_context(official_facilitator(folder / name, language, chain, forms))
            facilitators[name] = url
            write_sample_vault(folder / f"gateway-{name}" / "vault")
            gateways[name] = stack.enter_context(gateway(folder / f"gateway-{name}", "testnet", chain, url))
        yield Market(chain, gateways, facilitators, folder)
