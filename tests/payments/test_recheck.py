from dataclasses import replace
from functools import partial
from pathlib import Path

from gateway.ledger.record import Settle
from gateway.ledger.store import PAGE
from gateway.payments.reconcile import HORIZON_ROUNDS
from tests.support.gateway_app import GatewayHarness, gateway_app, in_loop
from tests.support.gateway_wallet import Signed
from tests.support.intents import INTENT

PAST_LAST_VALID = 5_511


async def refused(home: GatewayHarness) -> Signed:
    home.upstream.settle, home.upstream.rounds_a_look = "simulation", 1
    payment = home.buyer.pay()
    assert (await home.send(payment)).status_code == 402
    home.upstream.rounds_a_look = 0
    return payment


async def believed(home: GatewayHarness) -> Signed:
    """Let a payment be delivered on the facilitator's word."""
    home.upstream.settle, home.upstream.lookup_down = "lie", True
    payment = home.buyer.pay()
    assert (await home.send(payment)).status_code == 200
    home.upstream.lookup_down = False
    return payment


async def look(home: GatewayHarness, seconds: float = 60.0) -> None:
    for _ in range(2):
        home.clock.step(seconds)
        await home.state.reconciler.step()


def closed(home: GatewayHarness, payment: Signed) -> tuple[str, str | None, str | None]:
    record = home.state.ledger.ledger.find(payment.txid)
    assert record is not None
    return record.state, record.evidence, record.reason


def counted(home: GatewayHarness, name: str) -> float | None:
    return home.state.metrics.registry.get_sample_value(f"{name}_total")


@in_loop
async def test_a_refused_payment_that_landed_is_found_counted_and_delivered(
    tmp_path: Path,
) -> None:
    async with gateway_app(tmp_path) as home:
        payment = await refused(home)
        home.upstream.land(payment.txid)

        await look(home)

        assert closed(home, payment) == ("settled", "chain", "landed_after_refusal")
        assert counted(home, "emi_payments_refused_but_landed") == 1
        assert (await home.send(payment)).status_code == 200
        assert home.upstream.transfers[payment.txid] == 1


@in_loop
async def test_a_refusal_is_looked_at_until_its_payment_can_never_land_and_then_no_more(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        payment = await refused(home)
        await look(home)
        before = closed(home, payment)
        home.upstream.round = PAST_LAST_VALID
        await look(home, 300)
        after, looks = closed(home, payment), home.upstream.looks[payment.txid]
        await look(home, 3_000)

        assert (before[:2], after[:2]) == (("refused", "before_broadcast"), ("refused", "absent"))
        assert home.upstream.looks[payment.txid] == looks
        assert counted(home, "emi_payments_refused_but_landed") == 0


@in_loop
async def test_without_an_indexer_the_recheck_watches_algod_from_the_intent_on(tmp_path: Path) -> None:
    async with gateway_app(tmp_path, indexer=False) as home:
        payment = await refused(home)
        for home.upstream.round in (5_400, PAST_LAST_VALID):
            await look(home, 300)

        assert closed(home, payment)[:2] == ("refused", "absent")


@in_loop
async def test_a_delivery_on_the_facilitators_word_is_confirmed_once_the_node_answers(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        payment = await believed(home)
        home.upstream.land(payment.txid)

        await look(home)

        assert closed(home, payment) == ("settled", "chain", None)
        assert counted(home, "emi_payments_delivered_unpaid") == 0


@in_loop
async def test_a_delivery_whose_payment_can_never_land_is_counted_and_stays_a_delivery(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        payment = await believed(home)
        home.upstream.round = PAST_LAST_VALID

        await look(home)
        await look(home)

        assert closed(home, payment)[:2] == ("settled", "never_landed")
        assert counted(home, "emi_payments_delivered_unpaid") == 1
        assert (await home.send(payment)).status_code == 200


@in_loop
async def test_what_cannot_be_known_for_a_day_of_rounds_is_left(tmp_path: Path) -> None:
    async with gateway_app(tmp_path, indexer=False) as home:
        payment = await refused(home)
        home.upstream.round += HORIZON_ROUNDS + 2_000
        await home.state.chain.lookup("Z" * 52)
        looks = home.upstream.looks[payment.txid]

        await look(home)

        assert home.upstream.looks[payment.txid] == looks
        assert closed(home, payment)[:2] == ("refused", "before_broadcast")


@in_loop
async def test_what_was_refused_is_looked_at_for_30_000_rounds_past_its_last_one(tmp_path: Path) -> None:
    async with gateway_app(tmp_path, indexer=False) as home:
        payment = await refused(home)
        record = home.state.ledger.ledger.find(payment.txid)
        assert record is not None
        looks = []
        for home.upstream.round in (record.last_valid + 30_000, record.last_valid + 30_001):
            await home.state.chain.lookup("Z" * 52)
            before = home.upstream.looks[payment.txid]
            await look(home, 1_200)
            looks.append(home.upstream.looks[payment.txid] - before)

    assert looks[0] > 0
    assert looks[1] == 0


@in_loop
async def test_rechecks_come_seldom_and_later_each_time(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        await refused(home)
        home.clock.step(10)
        waits = []
        for _ in range(6):
            await home.state.reconciler.step()
            at, _wait = next(iter(home.state.reconciler.unproven.due.values()))
            waits.append(at - home.clock.monotonic())
            home.clock.step(waits[-1])

    assert waits == [10, 40, 160, 640, 1_200, 1_200]


@in_loop
async def test_what_cannot_be_looked_up_keeps_nothing_else_from_its_turn(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        ledger, now = home.state.ledger.ledger, home.clock.now()
        older = [replace(INTENT, txid=f"{number:052d}", created_at=now.timestamp()) for number in range(PAGE)]
        ledger.write_all([partial(ledger.write_intent, intent) for intent in older])
        ledger.write_all([partial(ledger.apply, intent.txid, Settle("facilitator"), now) for intent in older])
        for intent in older:
            home.state.reconciler.unproven.due[intent.txid] = (1e12, 1.0)
        home.clock.step(1)
        payment = await believed(home)
        home.upstream.land(payment.txid)

        for _ in range(4):
            await look(home)

        assert closed(home, payment) == ("settled", "chain", None)
