"""Clients of x402 by others: each buys one product, and a wallet without money reads why it cannot."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from gateway.devnet.keys import Key, new_key
from generator.catalog.products import PRODUCTS
from tests.jury.court import Court, Judge, installed, node, python, required
from tests.outside.processes import get_json

Buy = Callable[[Court, list[str]], str]
"""Buys (URL, origin of algod, private key); gives the program's one line of JSON."""


def _bought(buy: Buy, court: Court, key: Key) -> dict[str, Any]:
    url = court.origin + PRODUCTS[0].path
    found: dict[str, Any] = json.loads(buy(court, [url, f"{court.chain}/algod", key.secret]))
    receipt = found["receipt"]
    return found | {"receipt": json.loads(base64.b64decode(receipt)) if receipt else {}}


def pays(buy: Buy, court: Court) -> str:
    """Buy once with money and once without; fails unless the second says what to do."""
    rich, poor = new_key(), new_key()
    get_json(f"{court.chain}/wallet/fund?address={rich.address}")

    made, refused = _bought(buy, court, rich), _bought(buy, court, poor)

    assert made["status"] == 200, made
    assert made["receipt"]["success"] is True
    assert json.loads(made["body"])["payment_status"] == "settled"
    assert refused["status"] == 402, refused
    assert "opt in and hold the amount" in json.loads(refused["body"])["error"], refused["body"][:200]
    return "bought once; the refusal says what to do"


JUDGES: Final = (
    Judge(
        "x402", "@x402/axios", installed("@x402/axios"), "js",
        partial(pays, lambda court, given: node(court, "axios_buyer.mjs", given)),
    ),
    Judge(
        "x402", "no x402 package (py-algorand-sdk)", required("py-algorand-sdk"), "python",
        partial(pays, lambda court, given: python("bare_buyer.py", given, court.folder)),
    ),
)  # fmt: skip
