import asyncio
import base64
import json
from typing import Any

import httpx2
import pytest
from algosdk import encoding
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from gateway.buyer.prepare import MAX_AT_ONCE, PER_MINUTE, Prepare
from gateway.devnet.keys import new_key
from gateway.devnet.transactions import parse_item, signed
from gateway.http.answers import Problems
from gateway.http.limits import Clients
from gateway.payments.challenge import Challenge, encode_challenges
from gateway.payments.parse import read_payment
from gateway.settings import DEMO_PAYEE, GatewaySettings
from gateway.upstream.http_client import JsonAnswer
from gateway.wire.algorand import group_id_of
from gateway.wire.networks import DEVNET, MAINNET
from tests.support.buyer_pages import PRICE, ROUND, FakeNode, FakeQuotes, holding, page_client, params
from tests.support.clock import ManualClock
from tests.support.gateway_app import in_loop
from tests.support.vaults import write_vault
from tests.vault.test_vault import load

BUYER = new_key()
FEE_PAYER = new_key().address
QUESTION = f"/b?product=human&address={BUYER.address}"


@pytest.fixture(scope="module")
def challenges(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Challenge]:
    folder = tmp_path_factory.mktemp("prepare")
    write_vault(folder)
    return encode_challenges(load(folder), FEE_PAYER, GatewaySettings())


@pytest.fixture
def node() -> FakeNode:
    return FakeNode(BUYER.address)


def prepare(challenges: dict[str, Challenge], node: Any = None, clock: ManualClock | None = None) -> Prepare:
    return Prepare(
        settings=GatewaySettings(),
        clock=clock or ManualClock(),
        chain=node,
        quotes=FakeQuotes(challenges),  # type: ignore[arg-type]
        clients=Clients(()),
        problems=Problems("A project", lambda: None),
    )


@pytest.fixture
def selling(challenges: dict[str, Challenge], node: FakeNode) -> Prepare:
    return prepare(challenges, node)


@pytest.fixture
def client(selling: Prepare) -> TestClient:
    return page_client(selling.show)


def test_the_group_pays_the_newest_quote_exactly_and_only_the_wallet_is_missing(client: TestClient) -> None:
    answer = client.get(QUESTION)

    received = answer.json()
    fee, payment = (parse_item(base64.b64decode(item)) for item in received["payment"]["group"])
    assert (answer.status_code, answer.headers["cache-control"], received["obstacle"]) == (200, "no-store", None)
    assert dict(payment.fields) | {"note": b"", "grp": b"", "lx": b""} == {
        "type": "axfer", "snd": encoding.decode_address(BUYER.address), "arcv": encoding.decode_address(DEMO_PAYEE),
        "aamt": PRICE, "xaid": DEVNET.asset_id, "fv": ROUND, "lv": ROUND + 100, "gen": DEVNET.genesis_id,
        "gh": DEVNET.genesis_hash_bytes, "note": b"", "grp": b"", "lx": b"",
    }  # fmt: skip
    assert (fee.sender, fee.fields["fee"], fee.fields["rcv"]) == (FEE_PAYER, 2_000, fee.fields["snd"])
    assert "amt" not in fee.fields
    assert fee.fields["grp"] == payment.fields["grp"] == group_id_of([fee.fields, payment.fields])
    wanted = {"sign": [1], "index": 1, "txid": payment.txid, "first_valid": ROUND, "last_valid": ROUND + 100}
    assert received["payment"] | wanted == received["payment"]
    assert (received["price_atomic"], received["pay_to"], received["asset"]) == (PRICE, DEMO_PAYEE, DEVNET.asset_id)


def test_once_signed_it_is_a_payment_that_the_gateway_takes(client: TestClient) -> None:
    received = client.get(QUESTION).json()
    group = received["payment"]["group"]
    item = signed(parse_item(base64.b64decode(group[1])), BUYER.secret)

    sent = {
        "x402Version": 2,
        "payload": {"paymentGroup": [group[0], base64.b64encode(item.wire).decode()], "paymentIndex": 1},
        "accepted": received["accepted"],
    }
    payment = read_payment(base64.b64encode(json.dumps(sent).encode()).decode(), DEVNET, DEMO_PAYEE)

    assert (payment.txid, payment.payer, payment.amount_atomic) == (received["payment"]["txid"], BUYER.address, PRICE)


def test_two_groups_of_one_attempt_share_a_lease_so_that_the_chain_takes_one(client: TestClient) -> None:
    def payment(query: str) -> Any:
        group = client.get(f"/b{query}&address={BUYER.address}").json()["payment"]["group"]
        return parse_item(base64.b64decode(group[1])).fields

    one = "&attempt=0123456789abcdef"
    first, second = (payment("?product=human" + one) for _ in range(2))

    assert first["lx"] == second["lx"]
    assert first["note"] != second["note"]
    assert payment("?product=human&attempt=another-attempt-of-mine")["lx"] != first["lx"]
    assert "lx" not in payment("?product=human")


NONE = JsonAnswer(404, {"message": "account asset info not found"})


@pytest.mark.parametrize(
    ("changes", "obstacle", "account"),
    [
        ({"holding": NONE}, "not_opted_in", {"exists": True, "opted_in": False, "asset_atomic": 0}),
        (
            {"holding": NONE, "account": {"address": BUYER.address, "amount": 0}},
            "no_account",
            {"exists": False, "opted_in": False, "asset_atomic": 0},
        ),
        ({"holding": NONE, "account": JsonAnswer(404, {})}, "no_account", {"exists": False}),
        ({"holding": holding(amount=PRICE - 1)}, "too_little_usdc", {"opted_in": True, "asset_atomic": PRICE - 1}),
        ({"holding": holding(**{"is-frozen": True})}, "asset_frozen", {"frozen": True}),
    ],
)
def test_an_obstacle_is_named_and_nothing_is_prepared(
    client: TestClient, node: FakeNode, changes: dict[str, Any], obstacle: str, account: dict[str, Any]
) -> None:
    vars(node).update(changes)

    answer = client.get(QUESTION)

    received = answer.json()
    assert (answer.status_code, received["obstacle"], received["payment"]) == (200, obstacle, None)
    assert received["account"] | account == received["account"]


def test_a_rekeyed_account_is_named_with_its_signer(client: TestClient, node: FakeNode) -> None:
    node.account |= {"auth-addr": DEMO_PAYEE}

    assert client.get(QUESTION).json()["account"]["auth_address"] == DEMO_PAYEE


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"account": None}, "does not answer"),
        ({"account": JsonAnswer(500, {})}, "does not answer"),
        ({"account": ["a list"]}, "does not answer"),
        ({"account": JsonAnswer(302, None)}, "does not answer"),
        ({"account": {"address": DEMO_PAYEE, "amount": 5}}, "another account"),
        ({"account": {"address": BUYER.address, "amount": -1}}, "invalid amount"),
        ({"account": {"address": BUYER.address, "amount": True}}, "invalid amount"),
        ({"account": {"address": BUYER.address, "amount": 1, "auth-addr": "SOMEONE"}}, "signer that is not an address"),
        ({"holding": JsonAnswer(403, {})}, "does not answer"),
        ({"holding": holding(**{"asset-id": 7})}, "another asset"),
        ({"holding": holding(amount=1 << 64)}, "invalid amount"),
        ({"holding": holding(amount=str(PRICE))}, "invalid amount"),
        ({"holding": {}}, "another asset"),
        ({"params": JsonAnswer(404, {})}, "does not answer"),
        ({"params": params(**{"genesis-hash": MAINNET.genesis_hash})}, "another network"),
        ({"params": params(**{"last-round": True})}, "which round"),
        ({"params": params(**{"last-round": 1 << 63})}, "which round"),
        ({"params": params(**{"min-fee": 10**9})}, "invalid fee"),
    ],
)
def test_a_node_that_is_down_slow_or_lying_is_503_and_nothing_is_prepared(
    client: TestClient, node: FakeNode, changes: dict[str, Any], words: str
) -> None:
    vars(node).update(changes)

    answer = client.get(QUESTION)

    assert (answer.status_code, answer.headers["content-type"]) == (503, "application/problem+json")
    assert (answer.headers["retry-after"], answer.headers["cache-control"]) == ("5", "no-store")
    assert words in answer.json()["detail"]
    assert "Nothing was signed" in answer.json()["detail"]
    assert node.limits == [3.0, 3.0, 3.0]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("", "product"),
        (f"?product=everything&address={BUYER.address}", "product"),
        (f"?address={BUYER.address}", "product"),
        ("?product=human", "address"),
        ("?product=human&address=" + "A" * 58, "address"),
        ("?product=human&address=../../v2/status", "address"),
        (f"?product=human&address={BUYER.address.lower()}", "address"),
        (f"?product=human&address={BUYER.address}&attempt=short", "attempt"),
        (f"?product=human&address={BUYER.address}&attempt={'x' * 65}", "attempt"),
    ],
    ids=range(9),  # the buyer's address is another one in every process
)
def test_a_question_that_cannot_be_understood_is_400_and_no_node_is_asked(
    client: TestClient, node: FakeNode, query: str, words: str
) -> None:
    answer = client.get(f"/b{query}")

    assert (answer.status_code, answer.headers["content-type"]) == (400, "application/problem+json")
    assert answer.json()["detail"].startswith(words)
    assert node.asked == []


def test_one_address_prepares_thirty_a_minute_and_learns_when_it_may_again() -> None:
    clock = ManualClock()
    client = page_client(prepare({}, clock=clock).show, "203.0.113.9")

    before = [client.get(QUESTION) for _ in range(PER_MINUTE)]
    refused = client.get(QUESTION)
    clock.step(3)
    after = client.get(QUESTION)

    assert {(answer.status_code, answer.headers["retry-after"]) for answer in (*before, after)} == {(503, "5")}
    assert "There is no quote now" in after.json()["detail"]
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "2")


@in_loop
async def test_a_crowd_that_waits_for_a_slow_node_is_bounded(selling: Prepare, node: FakeNode) -> None:
    full = asyncio.Event()

    async def slow() -> Any:
        if sum(path == "/v2/transactions/params" for path in node.asked) == MAX_AT_ONCE:
            full.set()
        await full.wait()
        return params()

    node.params = slow
    transport = httpx2.ASGITransport(app=Starlette(routes=[Route("/b", selling.show)]))
    async with httpx2.AsyncClient(transport=transport, base_url="http://gateway") as client:
        answers = await asyncio.gather(*(client.get(QUESTION) for _ in range(48)))

    assert sorted(answer.status_code for answer in answers) == [200] * MAX_AT_ONCE + [503] * (48 - MAX_AT_ONCE)
