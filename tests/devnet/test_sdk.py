"""The Algorand SDK's own clients against the devnet's node and indexer: code of others."""

from collections.abc import Iterator
from typing import Any

import pytest
from algosdk import transaction
from algosdk.v2client.algod import AlgodClient
from algosdk.v2client.indexer import IndexerClient

from gateway.devnet.keys import Key, new_key
from gateway.devnet.ledger import DevnetLedger
from gateway.wire.networks import DEVNET
from tests.support.local_servers import devnet_at

pytestmark = pytest.mark.filterwarnings("ignore:Use :DeprecationWarning")


@pytest.fixture(scope="module")
def devnet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, DevnetLedger]]:
    with devnet_at(tmp_path_factory.mktemp("sdk")) as running:
        yield running


def funded(ledger: DevnetLedger) -> Key:
    key = new_key()
    ledger.fund(key.address, 10_000_000, 1_000)
    return key


def transfer(node: AlgodClient, key: Key, receiver: str, amount: int) -> Any:
    return transaction.AssetTransferTxn(key.address, node.suggested_params(), receiver, amount, DEVNET.asset_id)


def test_the_sdk_sends_an_asset_sees_it_confirmed_and_finds_it_in_the_indexer(devnet: tuple[str, DevnetLedger]) -> None:
    origin, ledger = devnet
    node, indexer = AlgodClient("", f"{origin}/algod"), IndexerClient("", f"{origin}/indexer")
    ann, bob = funded(ledger), funded(ledger)
    part = transfer(node, ann, bob.address, 250)

    txid = node.send_transaction(part.sign(ann.secret))
    confirmed: Any = transaction.wait_for_confirmation(node, txid, 4)
    found: Any = indexer.transaction(txid)

    assert txid == part.get_txid()
    assert confirmed["confirmed-round"] == found["transaction"]["confirmed-round"]
    assert found["transaction"]["asset-transfer-transaction"]["amount"] == 250
    content: Any = node.account_info(bob.address)
    assert content["assets"] == [{"asset-id": DEVNET.asset_id, "amount": 1_250, "is-frozen": False}]


def test_the_sdk_simulates_a_good_and_a_bad_group(devnet: tuple[str, DevnetLedger]) -> None:
    origin, ledger = devnet
    node = AlgodClient("", f"{origin}/algod")
    ann, bob = funded(ledger), funded(ledger)

    good: Any = node.simulate_raw_transactions([transfer(node, ann, bob.address, 1).sign(ann.secret)])
    bad: Any = node.simulate_raw_transactions([transfer(node, ann, bob.address, 9_999).sign(ann.secret)])

    assert "failure-message" not in good["txn-groups"][0]
    assert "underflow" in bad["txn-groups"][0]["failure-message"]
    assert ledger.holding(bob.address) == 1_000
