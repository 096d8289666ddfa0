"""What the official JavaScript client asks of a node, and the Python SDK does not."""

from pathlib import Path

import msgpack
import pytest

from tests.support.devnet_app import devnet_app, send_asset


@pytest.mark.parametrize("path", ["/v2/status", "/v2/transactions/params", "/algod/v2/status"])
def test_the_node_answers_at_the_root_too(path: str, tmp_path: Path) -> None:
    with devnet_app(tmp_path) as devnet:
        answer = devnet.client.get(path)

    assert answer.status_code == 200
    assert answer.json()["last-round"] > 0


@pytest.mark.parametrize(("amount", "fails"), [(1, False), (10**12, True)])
def test_a_simulation_is_answered_in_msgpack_when_asked_so(amount: int, fails: bool, tmp_path: Path) -> None:
    with devnet_app(tmp_path) as devnet:
        devnet.fund()
        item = send_asset(devnet.buyer, amount, devnet.buyer.address, devnet.ledger.rounds.current())
        body = msgpack.packb({"txn-groups": [{"txns": [msgpack.unpackb(item.wire)]}]})

        answer = devnet.client.post("/v2/transactions/simulate?format=msgpack", content=body)

    group = msgpack.unpackb(answer.content)["txn-groups"][0]
    assert answer.headers["content-type"] == "application/msgpack"
    assert ("failure-message" in group) is fails
    assert msgpack.packb(group["txn-results"][0]["txn-result"]["txn"]) == item.wire
