"""What the facilitator is sent, byte for byte."""

import json
from typing import Any

import pytest

from gateway.payments.challenge import requirement
from gateway.settings import DEMO_PAYEE, GatewaySettings
from gateway.upstream.facilitator import encode_request
from gateway.values import Payment
from gateway.wire.networks import DEVNET

TERMS = requirement(
    GatewaySettings(), network=DEVNET.full, price_atomic=10_000, fee_payer=DEMO_PAYEE, snapshot_id="000000000007"
)
WRITTEN_TERMS = json.dumps(TERMS, separators=(",", ":"))


def payment(resource: dict[str, Any] | None, extensions: dict[str, Any] | None) -> Payment:
    return Payment(
        txid="T" * 52,
        payer=DEMO_PAYEE,
        amount_atomic=10_000,
        first_valid=1,
        last_valid=1_001,
        group=("AAA=", "BBB="),
        index=1,
        network=DEVNET.caip2,
        fee_payer=DEMO_PAYEE,
        snapshot_id="000000000007",
        resource=resource,
        extensions=extensions,
        identifier=None,
    )


@pytest.mark.parametrize(
    ("resource", "extensions", "written"),
    [
        (None, None, ""),
        # In the client's order, with what no model knows, and with its nulls: x402's VerifyRequest keeps none of these.
        (
            {"mimeType": None, "url": "https://a.example/\u00e9", "of_ours": [1, None]},
            {"bazaar": {"info": None}},
            (
                r',"resource":{"mimeType":null,"url":"https://a.example/\u00e9","of_ours":[1,null]}'
                ',"extensions":{"bazaar":{"info":null}}'
            ),
        ),
        ({}, {}, ',"resource":{},"extensions":{}'),
    ],
)
def test_a_request_holds_our_terms_and_what_the_client_sent_untouched(
    resource: dict[str, Any] | None, extensions: dict[str, Any] | None, written: str
) -> None:
    body = encode_request(payment(resource, extensions), TERMS).decode()

    assert body == (
        '{"x402Version":2,"paymentPayload":{"x402Version":2,'
        '"payload":{"paymentGroup":["AAA=","BBB="],"paymentIndex":1},'
        f'"accepted":{WRITTEN_TERMS}{written}}},"paymentRequirements":{WRITTEN_TERMS}}}'
    )
