import asyncio
import base64
import json
from pathlib import Path
from typing import Any

import pytest
from algosdk.account import address_from_private_key
from starlette.testclient import TestClient

from gateway.app.server import listen
from gateway.devnet.app import build_devnet, serve
from gateway.devnet.errors import DevnetError
from gateway.devnet.keys import load_or_make, new_key
from gateway.devnet.settings import DevnetSettings
from gateway.devnet.transactions import Item, parse_item, signed
from gateway.payments.advice import REFUSED, advice_on
from gateway.settings import DEMO_PAYEE
from gateway.wire.networks import DEVNET, TESTNET
from gateway.wire.notify import ALIVE, READY, STOPPING
from tests.support.devnet_app import PRICE, START_ROUND, DevnetApp, devnet_app, pass_rounds
from tests.support.supervisors import messages, supervisor


def payload_of(header: str) -> dict[str, Any]:
    payload: dict[str, Any] = json.loads(base64.b64decode(header))
    return payload


def with_item(payload: dict[str, Any], place: int, item: Item) -> dict[str, Any]:
    wires = list(payload["payload"]["paymentGroup"])
    wires[place] = base64.b64encode(item.wire).decode()
    return {**payload, "payload": {**payload["payload"], "paymentGroup": wires}}


def item_at(payload: dict[str, Any], place: int) -> Item:
    return parse_item(base64.b64decode(payload["payload"]["paymentGroup"][place]))


def usdc(devnet: DevnetApp, address: str) -> int | None:
    return devnet.ledger.holding(address)


def test_supported_names_the_full_network_form_and_the_fee_payer(tmp_path: Path) -> None:
    with devnet_app(tmp_path) as devnet:
        found = devnet.client.get("/facilitator/supported").json()

        kind = {"x402Version": 2, "scheme": "exact", "network": DEVNET.full, "extra": {"feePayer": devnet.fee_payer}}
        assert found == {"kinds": [kind], "extensions": [], "signers": {"algorand:*": [devnet.fee_payer]}}


def test_verify_accepts_a_good_payment_and_moves_nothing(tmp_path: Path) -> None:
    with devnet_app(tmp_path) as devnet:
        devnet.fund()

        found = devnet.ask("verify", payload_of(devnet.payment().header))

        assert found == {"isValid": True, "payer": devnet.buyer.address}
        assert usdc(devnet, DEMO_PAYEE) == 0


def test_settle_moves_the_price_once_and_the_facilitator_pays_the_fee(tmp_path: Path) -> None:
    with devnet_app(tmp_path) as devnet:
        funded = devnet.fund()
        payment = devnet.payment()
        payload = payload_of(payment.header)
        fee_payer_had = devnet.ledger.micro_algos(devnet.fee_payer)

        found = devnet.ask("settle", payload)
        again = devnet.ask("settle", payload)

        first_txid = item_at(payload, 0).txid
        assert found == {
            "success": True,
            "transaction": first_txid,
            "network": DEVNET.full,
            "payer": devnet.buyer.address,
        }
        assert (again["success"], again["transaction"]) == (False, "")
        assert again["errorReason"] == "transaction_simulation_failed"
        assert "already in ledger" in again["errorMessage"]
        assert usdc(devnet, DEMO_PAYEE) == PRICE
        assert usdc(devnet, devnet.buyer.address) == funded["usdc_atomic"] - PRICE
        assert devnet.ledger.micro_algos(devnet.buyer.address) == funded["micro_algos"]
        assert devnet.ledger.micro_algos(devnet.fee_payer) == fee_payer_had - 2_000


@pytest.mark.parametrize(
    ("terms", "reason"),
    [
        ({"amount": "10001"}, "invalid_exact_avm_payload_amount_insufficient"),
        ({"asset": "31566705"}, "invalid_exact_avm_payload_asset_id_mismatch"),
        ({"payTo": new_key().address}, "invalid_exact_avm_payload_recipient_mismatch"),
        ({"network": DEVNET.caip2}, "network_mismatch"),
        ({"scheme": "upto"}, "unsupported_scheme"),
        ({"extra": {"feePayer": new_key().address}}, "fee_payer_not_managed_by_facilitator"),
    ],
)
def test_a_payment_for_other_terms_is_refused_with_its_reason(
    tmp_path: Path, terms: dict[str, Any], reason: str
) -> None:
    with devnet_app(tmp_path) as devnet:
        devnet.fund()
        payload = payload_of(devnet.payment().header)

        verified = devnet.ask("verify", payload, devnet.offer(**terms))
        settled = devnet.ask("settle", payload, devnet.offer(**terms))

        assert (verified["isValid"], verified["invalidReason"]) == (False, reason)
        assert (settled["success"], settled["transaction"], settled["errorReason"]) == (False, "", reason)
        assert usdc(devnet, DEMO_PAYEE) == 0


def test_a_tampered_group_is_refused(tmp_path: Path) -> None:
    with devnet_app(tmp_path) as devnet:
        devnet.fund()
        payload = payload_of(devnet.payment().header)
        fee, payment = item_at(payload, 0), item_at(payload, 1)

        def reason(place: int, item: Item) -> str:
            found = devnet.ask("verify", with_item(payload, place, item))
            return f"{found['invalidReason']} {found['invalidMessage']}"

        assert "signature validation failed" in reason(1, signed(payment, new_key().secret))
        assert "fee_payer_transaction_invalid" in reason(0, Item({**fee.fields, "fee": 20_000}))
        assert "fee_payer_has_amount" in reason(0, Item({**fee.fields, "amt": 5}))
        assert "wrong group id" in reason(0, Item({**fee.fields, "grp": bytes(32)}))


@pytest.mark.parametrize(
    ("inner", "reason"),
    [
        ({}, "invalid_exact_avm_payload_empty_group"),
        ({"paymentGroup": [], "paymentIndex": 0}, "invalid_exact_avm_payload_empty_group"),
        ({"paymentGroup": ["AA=="] * 17, "paymentIndex": 0}, "invalid_exact_avm_payload_group_too_large"),
        ({"paymentGroup": ["AA=="], "paymentIndex": True}, "invalid_exact_avm_payload_payment_index"),
        ({"paymentGroup": ["AA=="], "paymentIndex": 1}, "invalid_exact_avm_payload_payment_index"),
        ({"paymentGroup": ["AA=="], "paymentIndex": 0}, "invalid_exact_avm_payload_group_decode_failed"),
        ({"paymentGroup": ["*"], "paymentIndex": 0}, "invalid_exact_avm_payload_group_decode_failed"),
        ({"paymentGroup": [7], "paymentIndex": 0}, "invalid_exact_avm_payload_group_decode_failed"),
    ],
)
def test_an_unreadable_group_is_refused_with_its_reason(tmp_path: Path, inner: dict[str, Any], reason: str) -> None:
    with devnet_app(tmp_path) as devnet:
        payload = {"x402Version": 2, "payload": inner, "accepted": devnet.offer()}

        assert devnet.ask("verify", payload)["invalidReason"] == reason


def test_an_unfunded_or_expired_payment_fails_its_simulation(tmp_path: Path) -> None:
    with devnet_app(tmp_path) as devnet:
        poor = devnet.ask("settle", payload_of(devnet.payment().header))
        devnet.fund()
        late = payload_of(devnet.payment().header)
        pass_rounds(devnet.clock, 1_001)
        expired = devnet.ask("settle", late)

        for answer, words in ((poor, "missing from"), (expired, "txn dead")):
            assert (answer["success"], answer["transaction"]) == (False, "")
            assert answer["errorReason"] == "transaction_simulation_failed"
            assert words in answer["errorMessage"]
            assert advice_on(answer["errorMessage"]) != REFUSED


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b"nope", b'{"x402Version":2}', b"[" * 100_000])
def test_a_request_that_is_not_one_is_400(tmp_path: Path, body: bytes) -> None:
    with devnet_app(tmp_path) as devnet:
        for what in ("verify", "settle"):
            assert devnet.client.post(f"/facilitator/{what}", content=body).status_code == 400


def test_the_node_shows_a_commit_for_a_thousand_rounds_and_the_indexer_for_ever(tmp_path: Path) -> None:
    with devnet_app(tmp_path) as devnet:
        devnet.fund()
        payment = devnet.payment()
        node, indexer = f"/algod/v2/transactions/pending/{payment.txid}", f"/indexer/v2/transactions/{payment.txid}"
        assert devnet.client.get(node).status_code == 404
        assert devnet.client.get(indexer).status_code == 404
        devnet.ask("settle", payload_of(payment.header))

        shown = devnet.client.get(node).json()
        assert shown["confirmed-round"] == START_ROUND
        assert shown["txn"]["txn"]["aamt"] == PRICE
        assert shown["txn"]["txn"]["arcv"] == DEMO_PAYEE
        pass_rounds(devnet.clock, 1_001)

        assert devnet.client.get(node).status_code == 404
        kept = devnet.client.get(indexer).json()["transaction"]
        moved = {"amount": PRICE, "asset-id": DEVNET.asset_id, "receiver": DEMO_PAYEE, "close-amount": 0}
        assert (kept["id"], kept["asset-transfer-transaction"]) == (payment.txid, moved)


def test_the_node_states_its_genesis_round_and_accounts(tmp_path: Path) -> None:
    with devnet_app(tmp_path) as devnet:
        devnet.fund()
        pass_rounds(devnet.clock, 2)

        params = devnet.client.get("/algod/v2/transactions/params").json()
        account = devnet.client.get(f"/algod/v2/accounts/{devnet.buyer.address}").json()
        holding = devnet.client.get(f"/algod/v2/accounts/{devnet.buyer.address}/assets/{DEVNET.asset_id}").json()

        assert (params["genesis-hash"], params["genesis-id"]) == (DEVNET.genesis_hash, "emi-devnet-v1")
        assert params["last-round"] == devnet.client.get("/algod/v2/status").json()["last-round"] == START_ROUND + 2
        assert devnet.client.get("/indexer/health").json()["round"] == START_ROUND + 2
        assert account["assets"] == [holding["asset-holding"]]
        assert devnet.client.get(f"/algod/v2/accounts/{new_key().address}/assets/5").status_code == 404
        assert devnet.client.get("/algod/v2/accounts/someone").status_code == 400


def test_with_lent_ids_the_page_wallet_has_a_key_of_its_own(tmp_path: Path) -> None:
    accounts = []
    for identity in (DEVNET, TESTNET):
        app = build_devnet(DevnetSettings(tmp_path / f"{identity.name}.sqlite3", identity=identity))
        with TestClient(app, base_url="http://localhost") as client:
            params = client.get("/algod/v2/transactions/params").json()
            accounts.append(client.post("/wallet/account").json()["address"])
            funded = client.get("/wallet/fund", params={"address": new_key().address}).json()

    assert accounts[0] != accounts[1]
    assert (params["genesis-id"], params["genesis-hash"]) == ("testnet-v1.0", TESTNET.genesis_hash)
    assert funded["asset"] == 10_458_941


def test_the_devnet_hands_out_new_accounts_with_play_money(tmp_path: Path) -> None:
    with devnet_app(tmp_path) as devnet:
        first, second = (devnet.client.post("/wallet/new").text.strip() for _ in range(2))

        assert first != second
        assert usdc(devnet, address_from_private_key(first)) == 5_000_000
        assert devnet.client.get("/wallet/new").status_code == 405


def test_keys_are_made_once_and_only_their_owner_can_read_them(tmp_path: Path) -> None:
    path = tmp_path / "state" / "keys" / "facilitator.key"

    key = load_or_make(path)

    assert load_or_make(path) == key
    assert [part.stat().st_mode & 0o777 for part in (path, path.parent, path.parent.parent)] == [0o600, 0o700, 0o700]
    assert key.secret not in repr(key)
    path.write_text("no key")
    with pytest.raises(DevnetError, match="holds no key"):
        load_or_make(path)


def test_a_port_in_use_is_one_clear_line_and_touches_no_state(tmp_path: Path) -> None:
    taken = listen("127.0.0.1", 0)
    taken.listen()
    try:
        with pytest.raises(DevnetError, match="is in use; choose another"):
            serve(DevnetSettings(tmp_path / "devnet.sqlite3", port=taken.getsockname()[1]), say=print)
    finally:
        taken.close()

    assert list(tmp_path.iterdir()) == []


def test_the_devnet_says_that_it_is_ready_and_that_it_stops(tmp_path: Path) -> None:
    place = str(tmp_path / "notify")
    app = build_devnet(DevnetSettings(tmp_path / "devnet.sqlite3"))

    async def serve_for_a_moment() -> None:
        async with app.router.lifespan_context(app):
            pass

    with supervisor(place, place) as listening:
        asyncio.run(serve_for_a_moment())
        heard = [message for message in messages(listening) if message != ALIVE.encode()]

    assert heard == [READY.encode(), STOPPING.encode()]
