"""What the buyer page prepares is taken by facilitators of others."""

import base64
import json
from typing import Any

import pytest

from gateway.devnet.transactions import parse_item, signed
from tests.outside.market import FACILITATORS, Market, need
from tests.outside.processes import get_json
from tests.support.processes import get
from tests.support.vaults import PRICES

pytestmark = pytest.mark.outside
PRICE = PRICES["x402-atlas-human-report"]


@pytest.mark.parametrize("attempt", ["", "&attempt=0123456789abcdef"])
@pytest.mark.parametrize("facilitator", FACILITATORS)
def test_a_prepared_and_signed_group_is_settled_and_its_repeat_gives_the_same_bytes(
    lent: Market, facilitator: str, attempt: str
) -> None:
    need(facilitator)
    key, origin = lent.funded(), lent.gateways[facilitator]
    had = lent.balance(key.address)
    found: Any = get_json(f"{origin}/x402-buyer/prepare?product=human&address={key.address}{attempt}")
    group = found["payment"]["group"]
    item = signed(parse_item(base64.b64decode(group[1])), key.secret)
    payload = {"paymentGroup": [group[0], base64.b64encode(item.wire).decode()], "paymentIndex": 1}
    sent = {"x402Version": 2, "payload": payload, "accepted": found["accepted"]}
    header = {"PAYMENT-SIGNATURE": base64.b64encode(json.dumps(sent).encode()).decode()}

    first, second = (get(origin + found["path"], header) for _ in range(2))

    assert (first[0], second[0]) == (200, 200), first[2][:500]
    assert json.loads(base64.b64decode(first[1]["payment-response"]))["transaction"] == found["payment"]["txid"]
    assert (first[1]["payment-response"], first[2]) == (second[1]["payment-response"], second[2])
    assert had - lent.balance(key.address) == PRICE
