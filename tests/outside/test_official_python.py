from __future__ import annotations

import base64
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gateway.devnet.keys import Key, new_key
from gateway.settings import DEMO_PAYEE
from generator.catalog.products import PRODUCTS, Product
from tests.outside.processes import Service, get_json, service

OFFICIAL_PYTHON = os.environ.get("OFFICIAL_PYTHON", "")
USDC = 10_458_941
pytestmark = [
    pytest.mark.outside,
    pytest.mark.skipif(not OFFICIAL_PYTHON, reason="OFFICIAL_PYTHON names no Python that has x402-avm[avm,httpx]"),
]


@pytest.fixture(scope="module")
def lent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with service(tmp_path_factory.mktemp("lent"), "testnet") as running:
        yield running


def funded(lent: Service) -> Key:
    key = new_key()
    get_json(f"{lent.devnet}/wallet/fund?address={key.address}")
    return key


def balance(lent: Service, address: str) -> int:
    held = get_json(f"{lent.devnet}/algod/v2/accounts/{address}/assets/{USDC}")
    return int(held["asset-holding"]["amount"])


def buy(lent: Service, product: Product, key: Key) -> dict[str, Any]:
    script = Path(__file__).with_name("official_buyer.py")
    command = [OFFICIAL_PYTHON, str(script), lent.gateway + product.path, f"{lent.devnet}/algod"]
    done = subprocess.run(command, input=key.secret, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr[-2_000:]
    told: dict[str, Any] = json.loads(done.stdout)
    return told


@pytest.mark.parametrize("product", PRODUCTS, ids=lambda product: product.buy_name)
def test_the_official_python_client_buys_and_pays_exactly_once(lent: Service, product: Product) -> None:
    key = funded(lent)
    had, payee_had = balance(lent, key.address), balance(lent, DEMO_PAYEE)

    told = buy(lent, product, key)

    receipt = json.loads(base64.b64decode(told["receipt"]))
    assert told["status"] == 200
    assert json.loads(told["body"])["payment_status"] == "settled"
    assert receipt["success"] is True
    assert receipt["payer"] == key.address
    assert (
        get_json(f"{lent.devnet}/indexer/v2/transactions/{receipt['transaction']}")["transaction"]["sender"]
        == key.address
    )
    assert had - balance(lent, key.address) == product.price_atomic
    assert balance(lent, DEMO_PAYEE) - payee_had == product.price_atomic


def test_an_unfunded_official_client_gets_402_and_pays_nothing(lent: Service) -> None:
    payee_had = balance(lent, DEMO_PAYEE)

    told = buy(lent, PRODUCTS[0], new_key())

    assert told["status"] == 402
    assert balance(lent, DEMO_PAYEE) == payee_had
