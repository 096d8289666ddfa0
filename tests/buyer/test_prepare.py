from __future__ import annotations

import asyncio
import base64
import inspect
import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, cast

import pytest
from algosdk import encoding
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from gateway.app.application import build_app
from gateway.app.limits import Clients
from gateway.buyer.account import NodeUnusable, look_up
from gateway.buyer.prepare import MAX_AT_ONCE, PER_MINUTE, Prepare
from gateway.devnet.transactions import group_id, parse_item, signed
from gateway.devnet.wallet import new_key
from gateway.payments.parse import read_payment
from gateway.settings import DEMO_PAYEE, GatewaySettings
from gateway.wire.networks import DEVNET, MAINNET
from tests.support.gateway_app import in_loop
from tests.support.local_servers import devnet_at, open_port, serving
from tests.support.vaults import write_sample_vault

BUYER = new_key()
PRICE = 100_000
ROUND = 77_000
SECRET = "token-of-the-node"


@dataclass
class Node:
    """An algod whose every answer a test can replace."""

    account: Any = field(default_factory=lambda: {"address": BUYER.address, "amount": 1_000_000})
    holding: Any = field(
        default_factory=lambda: {"asset-holding": {"asset-id": DEVNET.asset_id, "amount": PRICE, "is-frozen": False}}
    )
    params: Any = field(
        default_factory=lambda: {"last-round": ROUND, "genesis-hash": DEVNET.genesis_hash, "min-fee": 1_000}
    )
    asked: list[str] = field(default_factory=list)

    def reset(self) -> None:
        """Answer as a good node again."""
        vars(self).update(vars(Node()))

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/v2/accounts/{address}", self._tell("account")),
                Route("/v2/accounts/{address}/assets/{asset:int}", self._tell("holding")),
                Route("/v2/transactions/params", self._tell("params")),
                Route("/v2/status", self._tell("params")),
            ]
        )

    def _tell(self, name: str) -> Any:
        async def answer(request: Request) -> Response:
            self.asked.append(request.url.path)
            received = getattr(self, name)
            if inspect.iscoroutinefunction(received):
                received = await received()
            return received if isinstance(received, Response) else JSONResponse(received)

        return answer


@dataclass(frozen=True)
class Counter:
    """A gateway before that node."""

    origin: str
    node: Node

    def prepare(self, query: str = f"?product=human&address={BUYER.address}") -> tuple[int, Any, Any]:
        try:
            with urllib.request.urlopen(f"{self.origin}/x402-buyer/prepare{query}", timeout=20) as answer:
                return answer.status, json.load(answer), answer.headers
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error), error.headers


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Counter]:
    folder = tmp_path_factory.mktemp("prepare")
    write_sample_vault(folder / "vault")
    counter_node = Node()
    with devnet_at(folder) as (devnet, _ledger), serving(counter_node.app()) as algod:
        listener = open_port()
        settings = GatewaySettings(
            state_dir=folder,
            port=listener.getsockname()[1],
            facilitator_url=f"{devnet}/facilitator",
            algod_url=algod,
            algod_token=SECRET,
        )
        with serving(build_app(settings), listener) as origin:
            yield Counter(origin, counter_node)


@pytest.fixture
def counter(gateway: Counter) -> Counter:
    gateway.node.reset()
    return gateway


def test_the_group_pays_the_newest_quote_exactly_and_only_the_wallet_is_missing(counter: Counter) -> None:
    status, received, headers = counter.prepare()

    fee, payment = (parse_item(base64.b64decode(item)) for item in received["payment"]["group"])
    extra = received["accepted"]["extra"]
    assert (status, headers["cache-control"], received["obstacle"]) == (200, "no-store", None)
    assert dict(payment.fields) | {"note": b"", "grp": b"", "lx": b""} == {
        "type": "axfer", "snd": encoding.decode_address(BUYER.address), "arcv": encoding.decode_address(DEMO_PAYEE),
        "aamt": PRICE, "xaid": DEVNET.asset_id, "fv": ROUND, "lv": ROUND + 100, "gen": DEVNET.genesis_id,
        "gh": DEVNET.genesis_hash_bytes, "note": b"", "grp": b"", "lx": b"",
    }  # fmt: skip
    assert (fee.sender, fee.fields["fee"], fee.fields["rcv"]) == (extra["feePayer"], 2_000, fee.fields["snd"])
    assert "amt" not in fee.fields
    assert fee.fields["grp"] == payment.fields["grp"] == group_id([fee, payment])
    assert received["payment"]["txid"] == payment.txid
    assert (received["payment"]["sign"], received["payment"]["index"], received["payment"]["last_valid"]) == (
        [1],
        1,
        ROUND + 100,
    )
    assert (received["price_atomic"], received["pay_to"], received["asset"]) == (PRICE, DEMO_PAYEE, DEVNET.asset_id)


def test_once_signed_it_is_a_payment_that_the_gateway_takes(counter: Counter) -> None:
    _, received, _ = counter.prepare()
    group = received["payment"]["group"]
    item = signed(parse_item(base64.b64decode(group[1])), BUYER.secret)

    sent = {
        "x402Version": 2,
        "payload": {"paymentGroup": [group[0], base64.b64encode(item.wire).decode()], "paymentIndex": 1},
        "accepted": received["accepted"],
    }
    payment = read_payment(base64.b64encode(json.dumps(sent).encode()).decode(), DEVNET, DEMO_PAYEE)

    assert (payment.txid, payment.payer, payment.amount_atomic) == (received["payment"]["txid"], BUYER.address, PRICE)


def test_two_groups_of_one_attempt_share_a_lease_so_that_the_chain_takes_one(counter: Counter) -> None:
    def payment(query: str) -> Any:
        group = counter.prepare(f"{query}&address={BUYER.address}")[1]["payment"]["group"]
        return parse_item(base64.b64decode(group[1])).fields

    one = "&attempt=0123456789abcdef"
    first, second = (payment("?product=human" + one) for _ in range(2))

    assert first["lx"] == second["lx"]
    assert first["note"] != second["note"]
    assert payment("?product=human&attempt=another-attempt-of-mine")["lx"] != first["lx"]
    assert payment("?product=agent" + one)["lx"] != first["lx"]
    assert "lx" not in payment("?product=human")


def no_holding() -> Response:
    return JSONResponse({"message": "account asset info not found"}, 404)


@pytest.mark.parametrize(
    ("changes", "obstacle", "account"),
    [
        ({"holding": no_holding()}, "not_opted_in", {"exists": True, "opted_in": False, "asset_atomic": 0}),
        (
            {"holding": no_holding(), "account": {"address": BUYER.address, "amount": 0}},
            "no_account",
            {"exists": False, "opted_in": False, "asset_atomic": 0},
        ),
        ({"holding": no_holding(), "account": JSONResponse({}, 404)}, "no_account", {"exists": False}),
        (
            {"holding": {"asset-holding": {"asset-id": DEVNET.asset_id, "amount": PRICE - 1}}},
            "too_little_usdc",
            {"exists": True, "opted_in": True, "asset_atomic": PRICE - 1},
        ),
        (
            {"holding": {"asset-holding": {"asset-id": DEVNET.asset_id, "amount": PRICE, "is-frozen": True}}},
            "asset_frozen",
            {"frozen": True},
        ),
    ],
)
def test_an_obstacle_is_named_and_nothing_is_prepared(
    counter: Counter, changes: dict[str, Any], obstacle: str, account: dict[str, Any]
) -> None:
    for name, value in changes.items():
        setattr(counter.node, name, value)

    status, received, _ = counter.prepare()

    assert (status, received["obstacle"], received["payment"]) == (200, obstacle, None)
    assert received["account"] | account == received["account"]


def test_a_rekeyed_account_is_named_with_its_signer(counter: Counter) -> None:
    counter.node.account |= {"auth-addr": DEMO_PAYEE}

    assert counter.prepare()[1]["account"]["auth_address"] == DEMO_PAYEE


def big() -> Response:
    return JSONResponse({"address": BUYER.address, "amount": 1, "fill": "x" * 100_000})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"account": JSONResponse({}, 500)}, "does not answer"),
        ({"account": Response(b"<html>", media_type="text/html")}, "does not answer"),
        ({"account": ["a list"]}, "does not answer"),
        ({"account": big()}, "does not answer"),
        ({"account": RedirectResponse("https://elsewhere.example/")}, "does not answer"),
        ({"account": {"address": DEMO_PAYEE, "amount": 5}}, "another account"),
        ({"account": {"address": BUYER.address, "amount": -1}}, "invalid amount"),
        ({"account": {"address": BUYER.address, "amount": True}}, "invalid amount"),
        ({"account": {"address": BUYER.address, "amount": 1, "auth-addr": "SOMEONE"}}, "signer that is not an address"),
        ({"holding": JSONResponse({}, 403)}, "does not answer"),
        ({"holding": {"asset-holding": {"asset-id": 7, "amount": 10**9}}}, "another asset"),
        ({"holding": {"asset-holding": {"asset-id": DEVNET.asset_id, "amount": 1 << 64}}}, "invalid amount"),
        ({"holding": {"asset-holding": {"asset-id": DEVNET.asset_id, "amount": "100000"}}}, "invalid amount"),
        ({"holding": {}}, "another asset"),
        ({"params": JSONResponse({}, 404)}, "does not answer"),
        ({"params": {"last-round": ROUND, "genesis-hash": MAINNET.genesis_hash}}, "another network"),
        ({"params": {"last-round": True, "genesis-hash": DEVNET.genesis_hash}}, "which round"),
        ({"params": {"last-round": 1 << 63, "genesis-hash": DEVNET.genesis_hash}}, "which round"),
        (
            {"params": {"last-round": ROUND, "genesis-hash": DEVNET.genesis_hash, "min-fee": 10**9}},
            "invalid fee",
        ),
    ],
)
def test_a_node_that_is_down_slow_or_lying_is_503_and_nothing_is_prepared(
    counter: Counter, changes: dict[str, Any], words: str
) -> None:
    for name, value in changes.items():
        setattr(counter.node, name, value)

    status, received, headers = counter.prepare()

    assert (status, headers["content-type"], headers["retry-after"]) == (503, "application/problem+json", "5")
    assert headers["cache-control"] == "no-store"
    assert words in received["detail"]
    assert "Nothing was signed" in received["detail"]
    assert SECRET not in json.dumps(received)


@in_loop
async def test_each_question_to_the_node_has_a_time_limit() -> None:
    limits = []

    class HungNode:
        async def algod(self, _path: str, timeout_s: float) -> None:
            limits.append(timeout_s)

    with pytest.raises(NodeUnusable, match="does not answer"):
        await look_up(cast("Any", HungNode()), BUYER.address, DEVNET)

    assert limits == [3.0, 3.0, 3.0]


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
    counter: Counter, query: str, words: str
) -> None:
    status, received, headers = counter.prepare(query)

    assert (status, headers["content-type"]) == (400, "application/problem+json")
    assert received["detail"].startswith(words)
    assert [path for path in counter.node.asked if "accounts" in path] == []


@dataclass
class State:
    """As little of the gateway as preparing needs."""

    settings: GatewaySettings
    chain: Any
    quoted: dict[str, Any] = field(default_factory=dict)
    clients: Clients = field(default_factory=lambda: Clients(()))
    project: str = "P"
    disclaimer: str = "D"
    now_s: float = 0.0

    @property
    def clock(self) -> Any:
        return self

    def monotonic(self) -> float:
        return self.now_s

    def quotes(self) -> dict[str, Any]:
        return self.quoted


def client_of(state: State, address: str = "203.0.113.9") -> TestClient:
    app = Starlette(routes=[Route("/prepare", Prepare(cast("Any", state)).show, methods=["GET", "OPTIONS"])])
    return TestClient(app, client=(address, 40_000))


def test_without_a_quote_nothing_is_prepared() -> None:
    answer = client_of(State(GatewaySettings(), None)).get(f"/prepare?product=human&address={BUYER.address}")

    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert "Quotes are temporarily unavailable" in answer.json()["detail"]


def test_one_address_prepares_thirty_a_minute_and_learns_when_it_may_again() -> None:
    state = State(GatewaySettings(), None)
    client = client_of(state)
    question = f"/prepare?product=human&address={BUYER.address}"

    before = [client.get(question).status_code for _ in range(PER_MINUTE)]
    refused = client.get(question)
    state.now_s += 3
    after = client.get(question)

    assert set(before) == {503}
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "2")
    assert after.status_code == 503


def test_options_and_head_are_answered(counter: Counter) -> None:
    request = urllib.request.Request(f"{counter.origin}/x402-buyer/prepare", method="OPTIONS")
    with urllib.request.urlopen(request, timeout=60) as answer:
        assert answer.status == 204


def test_a_crowd_that_waits_for_a_slow_node_is_bounded(counter: Counter) -> None:
    asking, most = 0, 0
    full = asyncio.Event()

    async def slow() -> Response:
        nonlocal asking, most
        asking += 1
        most = max(most, asking)
        if most == MAX_AT_ONCE:
            full.set()
        await asyncio.wait_for(full.wait(), 2)
        asking -= 1
        return JSONResponse({"last-round": ROUND, "genesis-hash": DEVNET.genesis_hash})

    async def crowd() -> list[int]:
        return [
            status for status, _, _ in await asyncio.gather(*(asyncio.to_thread(counter.prepare) for _ in range(48)))
        ]

    counter.node.params = slow
    loop = asyncio.new_event_loop()
    loop.set_default_executor(ThreadPoolExecutor(48))
    try:
        statuses = loop.run_until_complete(crowd())
    finally:
        loop.close()

    assert 1 < most <= MAX_AT_ONCE
    assert 200 in statuses
    assert set(statuses) <= {200, 503}
