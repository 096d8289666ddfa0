"""What a payment that was never seen would buy, and in which words it is not taken."""

from pathlib import Path
from typing import Any

import pytest

from gateway.clock import STOP_QUOTING_S
from gateway.errors import IdentityTaken
from gateway.ledger.record import Record
from gateway.payments.decide import Outcome, Refused, Unavailable
from gateway.payments.orders import Order, Orders
from gateway.payments.parse import read_payment
from gateway.settings import DEMO_PAYEE, GatewaySettings
from gateway.wire.foreign import read_json
from gateway.wire.networks import DEVNET
from tests.support.fake_upstream import FEE_PAYER, OTHER_SIGNER, FakeUpstream
from tests.support.gateway_app import REGIME, GatewayHarness, gateway_app, in_loop
from tests.support.gateway_wallet import Buyer, Signed
from tests.support.vaults import GENERATION, write_manifest, write_vault

WITHHELD = "it has no verdict"


async def order_of(
    home: GatewayHarness, path: str = REGIME, payment: Signed | None = None, settings: GatewaySettings | None = None
) -> Order | Outcome:
    state = home.state
    orders = Orders(
        settings=settings or state.settings, vault=state.vault, facilitator=state.facilitator, ledger=state.ledger
    )
    read = read_payment((payment or home.buyer.pay()).header, DEVNET, DEMO_PAYEE)
    _, holder = await state.ledger.look_up(read.txid, read.identifier)
    return orders.order_of(path, read, holder)


def asked(order: Order) -> Any:
    """Return the terms that the facilitator is asked about."""
    return read_json(order.request)["paymentRequirements"]


def with_a_body_withheld(folder: Path) -> None:
    manifest = write_vault(folder)
    manifest["snapshots"][0]["bodies"]["x402-market-regime"]["unavailable"] = WITHHELD
    write_manifest(folder, manifest)


@pytest.mark.parametrize("snapshot", [GENERATION, None])
@in_loop
async def test_an_order_is_for_what_the_challenge_offers(snapshot: str | None, tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        offered = (await home.get()).json()["accepts"][0]

        order = await order_of(home, payment=home.buyer.pay(snapshot=snapshot))

    assert isinstance(order, Order)
    assert asked(order) == offered
    assert asked(order)["extra"]["feePayer"] == FEE_PAYER
    assert (order.priced.product.path, order.priced.snapshot.snapshot_id) == (REGIME, GENERATION)
    assert str(order.priced.body.price_atomic) == offered["amount"]


@in_loop
async def test_what_an_operator_or_the_generator_must_change_is_worth_a_wait_of_a_minute(tmp_path: Path) -> None:
    async with gateway_app(tmp_path, vault=with_a_body_withheld) as home:
        real_money = home.state.settings.model_copy(update={"network": "mainnet", "base_url": "https://example.org"})

        assert real_money.quote_refusal("simulated")
        assert await order_of(home, settings=real_money) == Unavailable(real_money.quote_refusal("simulated") or "", 60)
        assert await order_of(home, "/nowhere.php") == Unavailable("nothing is for sale at this path", 60)
        assert await order_of(home) == Unavailable(WITHHELD, 86_400)


@in_loop
async def test_a_vault_or_a_facilitator_that_may_be_back_soon_is_worth_a_short_wait(tmp_path: Path) -> None:
    async with gateway_app(tmp_path, vault=None) as home:
        assert await order_of(home) == Unavailable("no data has been published yet", 5)

        write_vault(tmp_path / "vault")
        home.upstream.supported = 500
        home.clock.step(STOP_QUOTING_S + 1)
        write_vault(tmp_path / "vault", at=home.clock.now())
        await home.refresh()
        assert await order_of(home) == Unavailable(
            "the facilitator gave no good answer lately; the same payment works later"
        )


@in_loop
async def test_without_a_list_of_signers_any_address_may_be_echoed(
    tmp_path: Path,
) -> None:
    def echoing(fee_payer: str) -> Signed:
        return Buyer().pay().changed(lambda value: value["accepted"]["extra"].update(feePayer=fee_payer))

    upstream = FakeUpstream(DEVNET.full)
    upstream.supported.pop("signers")
    async with gateway_app(tmp_path, upstream=upstream) as home:
        ours, junk = [await order_of(home, payment=echoing(name)) for name in (OTHER_SIGNER, OTHER_SIGNER[:-1])]

    assert isinstance(ours, Order)
    assert asked(ours)["extra"]["feePayer"] == OTHER_SIGNER
    assert junk == Refused("unknown_fee_payer", "the fee payer is not one of the facilitator's")


@in_loop
async def test_while_the_ledger_is_unusable_nothing_is_quoted_and_no_new_payment_is_taken(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        quoted = await home.get()
        home.state.ledger.ledger.fault = "the payments ledger is damaged"

        refused, order = await home.get(), await order_of(home)

    assert (quoted.status_code, refused.status_code) == (402, 503)
    assert refused.json()["detail"] == "The payments ledger cannot be used right now."
    assert order == Unavailable("the payments ledger cannot be used right now; the same payment works later")


@in_loop
async def test_an_intent_that_the_ledger_refuses_for_no_known_payment_may_be_sent_again(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:

        async def refuses(_intent: Record) -> None:
            raise IdentityTaken("another has it")

        home.state.ledger.write_intent = refuses  # type: ignore[method-assign, assignment]
        answer = await home.send(home.buyer.pay())

    assert answer.status_code == 503
    assert answer.json()["detail"] == "The payments ledger refused the payment; the same one works later."
    assert home.upstream.asked("/settle") == []
