"""A settled payment that comes again: who gets its answer, and what everyone else gets."""

import asyncio
from pathlib import Path

import httpx2
import pytest

from gateway.ledger.retired import OLD_ROUNDS
from tests.support.gateway_app import BRAIN, GatewayHarness, gateway_app, in_loop
from tests.support.gateway_wallet import Signed, decode_header, payment_identifier
from tests.support.vaults import write_vault

SECRET = "order_0123456789abcdef"
HOUR_S = 3_600


def without_identifier(payment: Signed) -> Signed:
    """Rebuild the payment as anyone can who reads the chain."""
    return payment.changed(lambda value: value.pop("extensions"))


def assert_settled_without_challenge(answer: httpx2.Response, status: int, reason: str) -> None:
    assert answer.status_code == status
    assert answer.json()["reason"] == reason
    assert "PAYMENT-REQUIRED" not in answer.headers
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["vary"] == "PAYMENT-SIGNATURE, X-PAYMENT"
    assert SECRET not in answer.text + str(answer.headers)


@pytest.mark.parametrize("restarted", [False, True])
@in_loop
async def test_who_rebuilds_a_payment_from_the_chain_gets_nothing_for_it(*, restarted: bool, tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        payment = home.buyer.pay().identified(SECRET)
        first = await home.send(payment)
        if restarted:
            await home.restart()

        stolen = await home.send(without_identifier(payment))
        guessed = await home.send(payment.identified("another_0123456789"))
        repeated = await home.send(payment)

    assert_settled_without_challenge(stolen, 409, "payment_identifier_required")
    assert_settled_without_challenge(guessed, 409, "payment_identifier_required")
    assert (first.status_code, repeated.status_code) == (200, 200)
    assert (repeated.content, repeated.headers["PAYMENT-RESPONSE"]) == (
        first.content,
        first.headers["PAYMENT-RESPONSE"],
    )
    assert len(home.upstream.asked("/settle")) == 1


@in_loop
async def test_who_presents_a_payment_while_it_settles_gets_nothing_without_its_identifier(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.settle_delay_s = 0.05
        payment = home.buyer.pay().identified(SECRET)
        paying = asyncio.create_task(home.send(payment))
        await home.upstream.settling.wait()

        stolen = await home.send(without_identifier(payment))

        assert (await paying).status_code == 200
    assert_settled_without_challenge(stolen, 409, "payment_identifier_required")


@in_loop
async def test_a_payment_without_identifier_is_repeated_to_everyone_for_an_hour(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        payment = home.buyer.pay()
        first = await home.send(payment)

        again = await home.send(payment.changed(lambda value: value.update(extensions=payment_identifier(SECRET))))

    assert (first.status_code, again.status_code) == (200, 200)


@in_loop
async def test_withheld_answers_are_counted_apart(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        payment = home.buyer.pay().identified(SECRET)
        await home.send(payment)
        await home.send(without_identifier(payment))
        value = home.state.metrics.registry.get_sample_value

        counts = [value("emi_purchases_total", {"outcome": kind}) for kind in ("delivered", "withheld")]
        deliveries = home.state.ledger._deliveries

    assert counts == [1, 1]
    assert deliveries == {payment.txid: 1} or not deliveries


async def look_for_bodies(home: GatewayHarness, *, rounds: int = 0, hours: float = 0) -> None:
    home.upstream.round += rounds
    home.clock.step(hours * HOUR_S)
    await home.state.reconciler.step()


async def settled_long_ago(home: GatewayHarness) -> Signed:
    """Buy, and let the chain pass the rounds for which the answer is kept, seen at two looks an hour apart."""
    payment = home.buyer.pay()
    assert (await home.send(payment)).status_code == 200
    await look_for_bodies(home, rounds=36_000, hours=30)
    await look_for_bodies(home, rounds=1_300, hours=1)
    await home.restart()
    return payment


@in_loop
async def test_a_settled_payment_whose_body_is_gone_is_410_without_a_challenge(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        payment = await settled_long_ago(home)

        answer = await home.send(payment)

        assert_settled_without_challenge(answer, 410, "payment_consumed")
        receipt = decode_header(answer.headers["PAYMENT-RESPONSE"])
        assert (receipt["success"], receipt["transaction"]) == (True, payment.txid)
        assert len(home.upstream.asked("/settle")) == 1


@in_loop
async def test_a_payment_that_left_the_ledger_is_410_for_whatever_it_is_presented(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        payment = home.buyer.pay().identified(SECRET)
        assert (await home.send(payment)).status_code == 200
        await look_for_bodies(home, rounds=36_000 + OLD_ROUNDS, hours=24 * 91)
        await look_for_bodies(home, rounds=1_300, hours=1)
        await home.restart()
        challenges = len(home.upstream.asked("/verify"))

        answers = [
            await home.send(payment),
            await home.send(without_identifier(payment)),
            await home.send(payment.identified("another_0123456789")),
            await home.send(payment, BRAIN),
        ]

        assert len(home.upstream.asked("/verify")) == challenges
        assert list(home.folder.rglob("settled-*.csv")) != []
    for answer in answers:
        assert_settled_without_challenge(answer, 410, "payment_consumed")
        receipt = decode_header(answer.headers["PAYMENT-RESPONSE"])
        assert (receipt["success"], receipt["transaction"]) == (True, payment.txid)


@in_loop
async def test_a_payment_of_long_ago_buys_no_other_product(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        payment = await settled_long_ago(home)
        write_vault(home.folder / "vault", generation="000000000008", at=home.clock.now())
        await home.state.refresh()

        answer = await home.send(payment, BRAIN)

    assert answer.status_code == 402
    assert "payment_used_for_another_product" in answer.json()["error"]


@pytest.mark.parametrize(("first", "second"), [(36_000, -35_000), (0, 36_000)])
@in_loop
async def test_one_look_at_a_round_drops_no_body(first: int, second: int, tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        payment = home.buyer.pay()
        await home.send(payment)
        await look_for_bodies(home, rounds=first, hours=2)
        await look_for_bodies(home, rounds=second, hours=2)

        record = home.state.ledger.ledger.find(payment.txid)

    assert record is not None
    assert record.content is not None


@in_loop
async def test_looks_less_than_an_hour_apart_drop_no_body(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        payment = home.buyer.pay()
        await home.send(payment)
        await look_for_bodies(home, rounds=36_000, hours=1)
        home.clock.set_wall(5 * HOUR_S)
        await look_for_bodies(home, hours=0.9)

        record = home.state.ledger.ledger.find(payment.txid)

    assert record is not None
    assert record.content is not None
