import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgpack
import pytest
from aiohttp import web

from gateway.http.metrics import Metrics
from gateway.settings import GatewaySettings
from gateway.upstream.chain import Chain, Finding, Presence, extend_watch
from gateway.upstream.http_client import Http
from gateway.wire.networks import DEVNET, TESTNET
from tests.support.clock import ManualClock
from tests.support.fake_upstream import FakeUpstream
from tests.support.gateway_app import gateway_app, in_loop
from tests.support.gateway_wallet import Buyer, Signed

TXID = "T" * 52


@asynccontextmanager
async def chain_of(upstream: FakeUpstream, *, indexer: str = "/i") -> AsyncIterator[Chain]:
    async with upstream.running():
        settings = GatewaySettings(algod_url=f"{upstream.url}/a", indexer_url=f"{upstream.url}{indexer}")
        async with Http() as http:
            yield Chain(settings, http, ManualClock(), Metrics())


@in_loop
async def test_both_404s_after_a_round_are_absence_at_that_round() -> None:
    async with chain_of(FakeUpstream(DEVNET.full)) as chain:
        finding = await chain.lookup(TXID)

    assert finding == Finding(Presence.ABSENT, 5_000, indexed=True)


@pytest.mark.parametrize(
    ("confirmed", "looks", "presence"),
    [(5_000, 0, Presence.FOUND), (5_000, 1, Presence.FOUND), (0, 0, Presence.UNKNOWN)],
    ids=["at the node", "at the indexer alone", "in the pool"],
)
@in_loop
async def test_what_is_confirmed_is_found_and_what_waits_in_the_pool_is_unclear(
    confirmed: int, looks: int, presence: Presence
) -> None:
    upstream = FakeUpstream(DEVNET.full)
    upstream.confirmed[TXID] = confirmed
    upstream.behind_looks = looks

    async with chain_of(upstream) as chain:
        finding = await chain.lookup(TXID)

    assert finding.presence is presence


@in_loop
async def test_an_indexers_wrong_address_whose_every_answer_is_404_proves_nothing() -> None:
    async with chain_of(FakeUpstream(DEVNET.full), indexer="/nowhere") as chain:
        finding = await chain.lookup(TXID)

    assert finding.round is None
    assert not finding.proves_absence(last_valid=1, watched_round=None)


@pytest.mark.parametrize(
    ("finding", "watched", "proof"),
    [
        (Finding(Presence.ABSENT, 111, indexed=True), None, True),
        (Finding(Presence.ABSENT, 110, indexed=True), None, False),
        (Finding(Presence.ABSENT, None, indexed=True), None, False),
        (Finding(Presence.ABSENT, 111, indexed=False), None, False),
        (Finding(Presence.ABSENT, 111, indexed=False), 111, True),
        (Finding(Presence.ABSENT, 111, indexed=False), 110, False),
        (Finding(Presence.UNKNOWN, 999, indexed=True), 999, False),
        (Finding(Presence.FOUND, 999, indexed=True), 999, False),
    ],
)
def test_absence_is_proven_only_ten_rounds_past_last_valid(finding: Finding, watched: int | None, proof: bool) -> None:
    assert finding.proves_absence(100, watched) is proof


@pytest.mark.parametrize(
    ("watched", "finding", "end"),
    [
        (1_000, Finding(Presence.ABSENT, 1_005, indexed=False), 1_005),
        # A node that is behind says 404 of an earlier round: what was watched stays watched.
        (1_000, Finding(Presence.ABSENT, 990, indexed=False), 1_000),
        (1_000, Finding(Presence.ABSENT, 1_900, indexed=False), 1_900),
        (1_000, Finding(Presence.ABSENT, 1_901, indexed=False), None),
        (1_000, Finding(Presence.ABSENT, None, indexed=False), 1_000),
        (1_000, Finding(Presence.UNKNOWN, 1_005, indexed=False), 1_000),
        (None, Finding(Presence.ABSENT, 1_005, indexed=False), None),
    ],
)
def test_a_watch_only_grows_and_ends_with_a_gap(watched: int | None, finding: Finding, end: int | None) -> None:
    assert extend_watch(watched, finding) == end


@pytest.mark.parametrize("value", [2**62, 10**30, -1, True, "5000", 5.0, None])
@in_loop
async def test_a_round_that_is_none_is_not_known(value: object) -> None:
    upstream = FakeUpstream(DEVNET.full)
    upstream.status = {"last-round": value}

    async with chain_of(upstream) as chain:
        finding, current = await chain.lookup(TXID), await chain.current_round()

    assert (finding.round, current) == (None, None)


@in_loop
async def test_a_node_of_another_network_proves_nothing_and_is_named(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.settle = "500"
        payment = home.buyer.pay()
        await home.send(payment)
        home.upstream.genesis_hash = TESTNET.genesis_hash
        home.upstream.round = 9_000_000
        home.clock.step(60)

        await home.state.reconciler.step()

        record = home.state.ledger.ledger.find(payment.txid)
        reasons = (await home.get("/readyz")).json()["reasons"]
        home.upstream.genesis_hash = DEVNET.genesis_hash
        home.clock.step(60)
        healed = await home.state.chain.current_round()
    assert record is not None
    assert record.state == "intent"
    assert any("another network" in reason for reason in reasons)
    assert healed == 9_000_000


@in_loop
async def test_a_settled_payment_is_confirmed_over_a_kept_connection(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        payment = home.buyer.pay()
        answer = await home.send(payment)

    assert answer.status_code == 200
    # One query before it was accepted, over a connection of its own.
    assert (home.upstream.looks[payment.txid], home.upstream.shown) == (2, 1)


@pytest.mark.parametrize("stray", ["another transaction", "a changed one", "none", "no msgpack", "a list"])
@in_loop
async def test_a_stray_answer_on_a_kept_connection_proves_nothing(stray: str) -> None:
    upstream, payment = FakeUpstream(DEVNET.full), Buyer().pay()
    signed = signed_transaction(payment)
    changed = {**signed, "txn": {**signed["txn"], "aamt": 1}}
    answers = {
        "another transaction": signed_transaction(Buyer().pay()),
        "a changed one": changed,
        "none": None,
        "no msgpack": b"\xc1",
        "a list": [1],
    }
    upstream.signed[payment.txid] = answers[stray]

    async with chain_of(upstream) as chain:
        upstream.confirmed[payment.txid] = 5_001
        assert await chain.algod.show(payment.txid, 1.0) is None
        upstream.confirmed.clear()
        assert await chain.confirm(payment.txid) is Presence.ABSENT


@in_loop
async def test_a_404_on_a_kept_connection_is_asked_for_again_over_a_fresh_one() -> None:
    upstream, payment = FakeUpstream(DEVNET.full), Buyer().pay()
    upstream.confirmed[payment.txid] = 5_001  # found, and shown to whoever asks over a fresh connection alone

    async with chain_of(upstream) as chain:
        presence = await chain.confirm(payment.txid)

    assert (presence, upstream.shown, upstream.looks[payment.txid]) == (Presence.FOUND, 0, 1)


class Answers(FakeUpstream):
    """A node whose answer in msgpack is dictated."""

    def __init__(self, status: int, content: dict[str, Any]) -> None:
        super().__init__(DEVNET.full)
        self.shown_status = status
        self.content = content

    def _show(self, _txid: str) -> web.Response:
        return web.Response(status=self.shown_status, body=msgpack.packb(self.content))


@pytest.mark.parametrize(
    ("status", "said", "presence"),
    [
        (200, {"confirmed-round": 5_001}, Presence.FOUND),
        (200, {}, Presence.POOLED),
        (200, {"pool-error": ""}, Presence.POOLED),
        (200, {"pool-error": "overspend"}, Presence.DROPPED),
        (200, {"pool-error": 7}, Presence.UNKNOWN),
        (201, {"confirmed-round": 5_001}, None),
        (500, {"confirmed-round": 5_001}, None),
    ],
)
@in_loop
async def test_what_algod_shows_over_a_kept_connection_is_read_as_over_a_fresh_one(
    status: int, said: dict[str, Any], presence: Presence | None
) -> None:
    payment = Buyer().pay()
    upstream = Answers(status, {"txn": signed_transaction(payment), **said})

    async with chain_of(upstream) as chain:
        assert await chain.algod.show(payment.txid, 1.0) is presence


def signed_transaction(payment: Signed) -> Any:
    payload = payment.value["payload"]
    return msgpack.unpackb(base64.b64decode(payload["paymentGroup"][payload["paymentIndex"]]))
