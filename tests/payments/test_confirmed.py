"""Where the facilitator's word and our node's do not agree at first, or never."""

from collections.abc import Callable
from pathlib import Path

import pytest
from aiohttp import web

from gateway.ledger.record import Settle
from gateway.ledger.store import Ledger
from gateway.payments.recorded import REFUSAL_WAIT_S
from gateway.wire.networks import DEVNET
from tests.support.fake_upstream import FakeUpstream
from tests.support.gateway_app import REGIME, GatewayHarness, gateway_app, in_loop, second_gateway
from tests.support.gateway_wallet import Signed, decode_header
from tests.support.vaults import START


def closed(home: GatewayHarness, payment: Signed) -> tuple[str, str | None, str | None]:
    record = home.state.ledger.ledger.find(payment.txid)
    assert record is not None
    return record.state, record.evidence, record.reason


@in_loop
async def test_a_success_that_the_chain_never_shows_is_never_delivered(
    tmp_path: Path,
) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.settle = "lie"
        payment, before = home.buyer.pay(), home.clock.monotonic()

        answers = [await home.send(payment) for _ in range(2)]

        assert home.clock.monotonic() - before <= 2 * 3.5  # no longer than clients wait
        assert closed(home, payment)[0] == "intent"
        assert home.state.metrics.registry.get_sample_value("emi_settles_unconfirmed_total") == 2
    receipt = decode_header(answers[0].headers["PAYMENT-RESPONSE"])
    assert [answer.status_code for answer in answers] == [503, 503]
    assert (receipt["errorReason"], receipt["transaction"]) == ("settlement_pending", payment.txid)
    assert "PAYMENT-REQUIRED" not in answers[0].headers


@pytest.mark.parametrize(("error", "status"), [("", 200), ("overspend", 503)], ids=["waits", "was thrown out"])
@in_loop
async def test_what_waits_in_a_pool_is_delivered_and_what_a_pool_threw_out_is_not(
    error: str, status: int, tmp_path: Path
) -> None:
    async with gateway_app(tmp_path, indexer=False) as home:
        home.upstream.pool_error = error

        answer = await home.send(home.buyer.pay())

    assert answer.status_code == status


@in_loop
async def test_a_refusal_that_the_chain_agrees_with_for_as_long_as_a_client_waits_is_402(
    tmp_path: Path,
) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.settle = "insufficient"
        payment = home.buyer.pay()
        before = home.clock.monotonic()

        answers = [await home.send(payment) for _ in range(2)]

        assert home.clock.monotonic() - before >= REFUSAL_WAIT_S
        assert closed(home, payment) == ("refused", "before_broadcast", "insufficient_funds")
    assert [answer.status_code for answer in answers] == [402, 402]
    assert decode_header(answers[0].headers["PAYMENT-RESPONSE"])["errorReason"] == "insufficient_funds"
    assert len(home.upstream.asked("/settle")) == 1


@in_loop
async def test_a_node_that_is_catching_up_confirms_no_refusal(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.settle, home.upstream.rounds_a_look = "simulation", 10
        home.upstream.status = {"catchup-time": 10**9}

        answer = await home.send(home.buyer.pay())

    assert answer.status_code == 503


@in_loop
async def test_a_refusal_is_closed_without_its_payer(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.settle, home.upstream.status = "insufficient", {"catchup-time": 10**9}
        payment = home.buyer.pay()
        await home.send(payment)
        home.clock.step(60)
        early = await home.state.reconciler.step()
        home.upstream.status, home.upstream.round = {}, 5_002
        home.clock.step(60)

        late = await home.state.reconciler.step()

        assert (early, late) == (0, 1)
        assert closed(home, payment) == ("refused", "before_broadcast", "insufficient_funds")


@pytest.mark.parametrize(("reached", "evidence"), [(5_002, "before_broadcast"), (5_511, "absent")])
@in_loop
async def test_a_refusal_that_is_not_certain_keeps_its_reason_over_a_restart(
    reached: int, evidence: str, tmp_path: Path
) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.settle, home.upstream.status = "insufficient", {"catchup-time": 10**9}
        payment = home.buyer.pay()
        await home.send(payment)
        await home.restart()
        home.upstream.status, home.upstream.round = {}, reached

        answer = await home.send(payment)

        assert closed(home, payment) == ("refused", evidence, "insufficient_funds")
    assert answer.status_code == 402
    assert len(home.upstream.asked("/settle")) == 1


@in_loop
async def test_another_gateway_does_not_ask_again_while_a_refusal_is_checked(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home, second_gateway(home) as other:
        home.upstream.settle, home.upstream.status = "simulation", {"catchup-time": 10**9}
        payment = home.buyer.pay()
        await home.send(payment)
        home.clock.step(60)

        answer = await other.get(REGIME, headers={"PAYMENT-SIGNATURE": payment.header})

    assert answer.status_code == 503
    assert len(home.upstream.asked("/settle")) == 1


class Meanwhile(FakeUpstream):
    """Another gateway changes the row while this one asks the chain whether a refusal is certain."""

    def __init__(self, change: Callable[[Ledger, str], object]) -> None:
        super().__init__(DEVNET.full)
        self.settle = "insufficient"
        self.change = change
        self.ledger: Ledger | None = None

    def _pending(self, txid: str) -> web.Response:
        if self.looks[txid] == 10 and self.ledger is not None:
            self.change(self.ledger, txid)
        return super()._pending(txid)


def settled(ledger: Ledger, txid: str) -> None:
    assert ledger.apply(txid, Settle("chain"), START)


def asked_again(ledger: Ledger, txid: str) -> None:
    record = ledger.find(txid)
    assert record is not None
    assert ledger.begin_settle(txid, record.owner, record.settles, "another")


@pytest.mark.parametrize(("change", "status", "state"), [(settled, 200, "settled"), (asked_again, 503, "intent")])
@in_loop
async def test_what_another_gateway_makes_of_a_payment_counts_before_our_refusal(
    change: Callable[[Ledger, str], object], status: int, state: str, tmp_path: Path
) -> None:
    upstream = Meanwhile(change)
    async with gateway_app(tmp_path, upstream=upstream) as home:
        upstream.ledger = home.state.ledger.ledger
        payment = home.buyer.pay()

        answer = await home.send(payment)

        assert closed(home, payment)[0] == state
    assert (answer.status_code, len(upstream.asked("/settle"))) == (status, 1)
