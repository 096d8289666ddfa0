"""Payments before facilitators of others, and the trap that they all set."""

import base64
import json
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from gateway.devnet.keys import Key
from gateway.devnet.wallet import SignedPayment, pay
from gateway.settings import DEMO_PAYEE
from gateway.wire.networks import TESTNET
from generator.catalog.products import PRODUCTS
from tests.outside.market import FACILITATORS, Market, need
from tests.outside.processes import get_json
from tests.support.processes import get

pytestmark = pytest.mark.outside
PRODUCT = PRODUCTS[0]
DUPLICATES = 25


def signed(lent: Market, facilitator: str, key: Key) -> SignedPayment:
    header = get(lent.gateways[facilitator] + PRODUCT.path)[1]["payment-required"]
    last_round = get_json(f"{lent.chain}/algod/v2/status")["last-round"]
    return pay(header, key, TESTNET, last_round, PRODUCT.price_atomic)


def present(lent: Market, facilitator: str, payment: SignedPayment) -> tuple[int, dict[str, str], bytes]:
    return get(lent.gateways[facilitator] + PRODUCT.path, {"PAYMENT-SIGNATURE": payment.header})


def settle_directly(lent: Market, facilitator: str, payment: SignedPayment) -> Any:
    """Ask a facilitator past the gateway, in the form of the network that it advertises."""
    sent = json.loads(base64.b64decode(payment.header))
    networks = [kind["network"] for kind in get_json(lent.facilitators[facilitator] + "/supported")["kinds"]]
    sent["accepted"]["network"] = next(name for name in networks if name in TESTNET.forms)
    body = {"x402Version": 2, "paymentPayload": sent, "paymentRequirements": sent["accepted"]}
    url = lent.facilitators[facilitator] + "/settle"
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)


@pytest.mark.parametrize("facilitator", FACILITATORS)
def test_duplicates_are_one_transfer_and_one_answer(lent: Market, facilitator: str) -> None:
    need(facilitator)
    key = lent.funded()
    had, payment = lent.balance(key.address), signed(lent, facilitator, key)

    with ThreadPoolExecutor(DUPLICATES) as pool:
        sent = [pool.submit(present, lent, facilitator, payment) for _ in range(DUPLICATES)]
        answers = [one.result() for one in sent]

    assert {status for status, _, _ in answers} == {200}
    assert len({(headers["payment-response"], body) for _, headers, body in answers}) == 1
    assert had - lent.balance(key.address) == PRODUCT.price_atomic


@pytest.mark.parametrize("facilitator", FACILITATORS)
def test_a_settled_payment_that_reads_like_a_refusal_on_retry_is_delivered(lent: Market, facilitator: str) -> None:
    need(facilitator)
    key = lent.funded()
    payment = signed(lent, facilitator, key)
    first = present(lent, facilitator, payment)

    found = settle_directly(lent, facilitator, payment)
    replay = present(lent, facilitator, payment)

    # The trap that a refusal is only definite when the chain confirms it: if this changes, read payments.md again.
    assert (found["success"], found["transaction"]) == (False, "")
    assert "simulation" in found["errorReason"]
    assert (first[0], replay[0]) == (200, 200)
    assert (first[1]["payment-response"], first[2]) == (replay[1]["payment-response"], replay[2])


@pytest.mark.parametrize("facilitator", FACILITATORS)
def test_a_payment_that_somebody_else_settled_before_is_refused(lent: Market, facilitator: str) -> None:
    need(facilitator)
    key = lent.funded()
    payment, payee_had = signed(lent, facilitator, key), lent.balance(DEMO_PAYEE)
    found = settle_directly(lent, facilitator, payment)

    status, _, _ = present(lent, facilitator, payment)

    assert found["success"] is True
    assert status == 409
    assert lent.balance(DEMO_PAYEE) - payee_had == PRODUCT.price_atomic
