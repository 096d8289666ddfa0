"""How long anyone waits for a payment, and how far back one is followed: as docs/explain/payments.md says."""

from pathlib import Path
from typing import Final

import pytest

from gateway.payments.reconcile import HORIZON_ROUNDS
from gateway.payments.recorded import ASK_EVERY_S, ASK_TIMEOUT_S, REFUSAL_WAIT_S
from tests.support.gateway_app import GatewayHarness, gateway_app, in_loop
from tests.support.gateway_wallet import Signed
from tests.support.payments_page import published

CLIENTS_GIVE_UP_S: Final = 5.0


async def waited_s(home: GatewayHarness, payment: Signed, status: int) -> float:
    """Send a payment; return for how long its buyer waited."""
    began = home.clock.monotonic()
    assert (await home.send(payment)).status_code == status
    return home.clock.monotonic() - began


@in_loop
async def test_a_success_that_the_node_does_not_have_is_asked_for_as_often_as_published(tmp_path: Path) -> None:
    most_s, every_s = published("asked again every 0.25 s for up to # seconds"), published("asked again every # s for")
    async with gateway_app(tmp_path) as home:
        home.upstream.settle = "lie"
        payment = home.buyer.pay()

        assert await waited_s(home, payment, 503) == most_s

        with_verify = 1
        assert home.upstream.looks[payment.txid] == most_s / every_s + with_verify


@in_loop
async def test_a_refusal_is_asked_about_for_as_long_as_published(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.settle = "insufficient"

        assert await waited_s(home, home.buyer.pay(), 402) == published("up to # seconds; a node that cannot tell")


@in_loop
async def test_after_an_invalid_verdict_the_chain_is_asked_as_late_as_published(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.verify = {"isValid": False, "invalidReason": "insufficient_funds"}

        assert await waited_s(home, home.buyer.pay(), 402) == published("the look-up comes # seconds later")


def test_the_last_question_about_a_refusal_ends_before_clients_give_up() -> None:
    assert REFUSAL_WAIT_S + ASK_EVERY_S + ASK_TIMEOUT_S < CLIENTS_GIVE_UP_S


@in_loop
async def test_another_process_s_attempt_is_waited_for_as_long_as_published(tmp_path: Path) -> None:
    async with gateway_app(tmp_path, settle_timeout_seconds=7) as home:
        assert home.state.purchases.leases.seconds == 7 + published("(`EMI_SETTLE_TIMEOUT_SECONDS` plus # s)")


@in_loop
async def test_unknown_payments_are_looked_up_as_often_as_published(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        waits, due = [], home.state.reconciler.open
        for _ in range(8):
            assert due.is_due("a")
            waits.append(due.due["a"][0] - home.clock.monotonic())
            home.clock.step(waits[-1])

    assert waits[0] == published("by itself, first after # seconds")
    assert waits[-1] == 60 * published("and later every # minutes")
    assert waits == [2, 4, 8, 16, 32, 64, 120, 120]


@in_loop
async def test_what_was_closed_on_the_facilitators_word_is_looked_up_ever_more_seldom(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        waits, due = [], home.state.reconciler.unproven
        assert not due.is_due("a")
        for _ in range(6):
            waits.append(due.due["a"][0] - home.clock.monotonic())
            home.clock.step(waits[-1])
            assert due.is_due("a")

    assert waits[0] == published("is looked up again after # seconds")
    assert waits == [10, 40, 160, 640, 1_200, 1_200]


@pytest.mark.parametrize(("late_s", "looks"), [(-1, 0), (0, 1)])
@in_loop
async def test_a_delivery_that_no_node_confirmed_is_looked_up_when_published(
    late_s: int, looks: int, tmp_path: Path
) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.settle, home.upstream.lookup_down = "lie", True
        payment = home.buyer.pay()
        await home.send(payment)
        home.upstream.lookup_down = False
        await home.state.reconciler.step()
        before = home.upstream.looks[payment.txid]

        home.clock.step(published("is looked up again after # seconds") + late_s)
        await home.state.reconciler.step()

        assert home.upstream.looks[payment.txid] - before == looks


def test_closed_payments_are_followed_for_as_many_rounds_as_published() -> None:
    assert published("or its last round is past, for # rounds") == HORIZON_ROUNDS
