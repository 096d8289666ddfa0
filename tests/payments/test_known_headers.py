from dataclasses import replace
from pathlib import Path

from gateway.payments.deliveries import MAX_REMEMBERED
from gateway.payments.known_headers import KnownHeaders
from gateway.payments.parse import read_payment
from gateway.settings import DEMO_PAYEE
from gateway.wire.networks import DEVNET
from tests.support.gateway_app import BRAIN, REGIME, gateway_app, in_loop
from tests.support.gateway_wallet import Buyer


@in_loop
async def test_a_repeat_of_the_same_header_is_the_same_answer_and_not_read_again(tmp_path: Path) -> None:
    steps: list[str] = []
    async with gateway_app(tmp_path, step=steps.append) as home:
        payment = home.buyer.pay().identified("0123456789abcdef")
        first = await home.send(payment)
        again = [await home.send(payment) for _ in range(3)]

        known = home.state.metrics.registry.get_sample_value("emi_payment_headers_known_total")

    assert [(answer.status_code, answer.content, answer.headers["PAYMENT-RESPONSE"]) for answer in again] == [
        (200, first.content, first.headers["PAYMENT-RESPONSE"])
    ] * 3
    assert len(home.upstream.asked("/settle")) == 1
    assert known == 3


@in_loop
async def test_another_path_and_another_identifier_are_judged_on_their_own(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        payment = home.buyer.pay().identified("0123456789abcdef")
        await home.send(payment)
        await home.send(payment)

        elsewhere = await home.send(payment, BRAIN)
        without = await home.send(payment.changed(lambda value: value.pop("extensions")))
        twice = await home.client.get(REGIME, headers=[("PAYMENT-SIGNATURE", payment.header)] * 2)

    assert (elsewhere.status_code, without.status_code) == (402, 409)
    assert twice.status_code in {200, 402}


@in_loop
async def test_nothing_is_remembered_of_what_was_not_delivered(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.settle = "insufficient"
        refused = await home.send(home.buyer.pay())
        garbage = await home.get(PAYMENT_SIGNATURE="x" * 900)

    assert (refused.status_code, garbage.status_code) == (402, 402)
    assert home.state.metrics.registry.get_sample_value("emi_payment_headers_known_total") == 0


def test_headers_are_bounded_and_the_least_used_goes_first() -> None:
    payment = read_payment(Buyer().pay().identified("0123456789abcdef").header, DEVNET, DEMO_PAYEE)
    known = KnownHeaders(most=3)
    for name in (b"a", b"b", b"c"):
        known.add(name, REGIME, payment)
    known.find(b"a", REGIME)

    known.add(b"d", REGIME, payment)

    assert [known.find(name, REGIME) is not None for name in (b"a", b"b", b"c", b"d")] == [True, False, True, True]
    assert known.find(b"a", BRAIN) is None
    assert known.find(b"a", REGIME) == replace(payment, group=(), resource=None, extensions=None)


def test_as_many_headers_are_remembered_as_deliveries() -> None:
    payment = read_payment(Buyer().pay().header, DEVNET, DEMO_PAYEE)
    known = KnownHeaders()
    for number in range(MAX_REMEMBERED + 1):
        known.add(b"%d" % number, REGIME, payment)

    assert [known.find(b"%d" % number, REGIME) is not None for number in (0, 1, MAX_REMEMBERED)] == [False, True, True]


@in_loop
async def test_a_header_whose_delivery_is_forgotten_is_read_in_full_again(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        payment = home.buyer.pay().identified("0123456789abcdef")
        first = await home.send(payment)
        home.state.purchases._deliveries._delivered.clear()

        again = await home.send(payment)

    assert (again.status_code, again.content) == (200, first.content)
