"""A payment that came without an identifier: taken, delivered however late, and repeated for 1,300 rounds only."""

from pathlib import Path

import httpx2
import pytest

from gateway.ledger.record import Record
from gateway.payments.decide import REPEAT_ROUNDS
from tests.support.gateway_app import BRAIN, GatewayHarness, gateway_app, in_loop
from tests.support.gateway_wallet import Signed, payment_identifier

LAST_VALID, LATER = 5_500, 20_000
OVER = LAST_VALID + REPEAT_ROUNDS + 1


async def present_at(home: GatewayHarness, payment: Signed, reached: int) -> httpx2.Response:
    """Let the chain reach a round, the loops do what they do each second, and send the payment."""
    home.upstream.round = reached
    home.clock.step(5)
    answer = await home.send(payment)
    await home.refresh()
    return answer


def row_of(home: GatewayHarness, payment: Signed) -> Record:
    record = home.state.ledger.ledger.find(payment.txid)
    assert record is not None
    return record


def assert_withheld(answer: httpx2.Response) -> None:
    assert (answer.status_code, answer.json()["reason"]) == (409, "payment_identifier_required")
    assert "PAYMENT-REQUIRED" not in answer.headers


async def confirmed_while_away(home: GatewayHarness) -> Signed:
    """Pay, lose the answer, and let the reconciler find the payment: settled, and never delivered."""
    home.upstream.settle, home.upstream.lookup_down = "500", True
    payment = home.buyer.pay()
    assert (await home.send(payment)).status_code == 503
    home.upstream.land(payment.txid)
    home.upstream.lookup_down = False
    for _ in range(2):
        home.clock.step(60)
        await home.state.reconciler.step()
    assert row_of(home, payment).state == "settled"
    return payment


@pytest.mark.parametrize("restarted", [False, True])
@in_loop
async def test_it_is_repeated_until_1300_rounds_past_its_last_round(*, restarted: bool, tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        payment = home.buyer.pay()
        await present_at(home, payment, 5_000)
        if restarted:
            await home.restart()

        within = await present_at(home, payment, OVER - 1)
        after = await present_at(home, payment, OVER)
        named = await present_at(
            home, payment.changed(lambda value: value.update(extensions=payment_identifier("a" * 16))), OVER
        )

    assert within.status_code == 200
    assert_withheld(after)
    assert_withheld(named)
    assert len(home.upstream.asked("/settle")) == 1


@pytest.mark.parametrize("restarted", [False, True])
@in_loop
async def test_it_is_delivered_however_late_and_then_for_1300_rounds(*, restarted: bool, tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        payment = await confirmed_while_away(home)

        first = await present_at(home, payment, LATER)
        if restarted:
            await home.restart()
        within = await present_at(home, payment, LATER + REPEAT_ROUNDS)
        after = await present_at(home, payment, LATER + REPEAT_ROUNDS + 1)

    assert (first.status_code, within.status_code) == (200, 200)
    assert_withheld(after)


@in_loop
async def test_one_with_an_identifier_is_repeated_to_its_holder_without_an_end(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        payment = home.buyer.pay().identified("order_0123456789abcdef")
        await present_at(home, payment, 5_000)

        answer = await present_at(home, payment, LATER)

    assert answer.status_code == 200


@pytest.mark.parametrize("restarted", [False, True])
@in_loop
async def test_a_node_that_is_down_takes_nothing_from_a_payer_and_gives_no_rider_more(
    *, restarted: bool, tmp_path: Path
) -> None:
    async with gateway_app(tmp_path) as home:
        payment = await confirmed_while_away(home)
        home.clock.step(120)
        home.upstream.lookup_down = True
        undated = await present_at(home, payment, LATER)
        assert row_of(home, payment).delivered_round is None
        if restarted:
            await home.restart()

        home.upstream.lookup_down = False
        dated = await present_at(home, payment, LATER + 5_000)
        after = await present_at(home, payment, LATER + 5_000 + REPEAT_ROUNDS + 1)

    assert (undated.status_code, dated.status_code) == (200, 200)
    assert_withheld(after)


@in_loop
async def test_a_delivery_whose_note_a_power_cut_took_is_the_first_again(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        payment = home.buyer.pay()
        await home.send(payment)
        home.state.ledger._deliveries.clear()
        home.state.purchases._deliveries._delivered.clear()
        assert row_of(home, payment).delivered_round is None

        late = await present_at(home, payment, LATER)
        after = await present_at(home, payment, LATER + REPEAT_ROUNDS + 1)

    assert late.status_code == 200
    assert_withheld(after)


@in_loop
async def test_the_first_delivery_alone_is_dated(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        payment = home.buyer.pay()
        for reached in (5_000, 5_200):
            await present_at(home, payment, reached)

        record = row_of(home, payment)

    assert (record.deliveries, record.delivered_round) == (2, 5_000)


@in_loop
async def test_a_healthy_purchase_asks_the_chain_no_more_than_before(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        payment = home.buyer.pay()
        await home.send(payment)

    assert home.upstream.looks[payment.txid] == 2


@in_loop
async def test_a_withheld_payment_buys_no_other_product_either(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        payment = home.buyer.pay()
        await present_at(home, payment, 5_000)
        home.upstream.round = OVER
        home.clock.step(5)

        answer = await home.send(payment, BRAIN)

    assert answer.status_code == 402
    assert "payment_used_for_another_product" in answer.json()["error"]
