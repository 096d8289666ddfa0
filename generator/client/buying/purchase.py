"""One purchase: ask for the terms, sign once, send until it is known how it ended.

A signed payment is a file before it is sent. As long as it may have landed, or did and brought nothing, no other one is
signed for the same product of the same origin. What the seller says is believed only where it can be checked.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from gateway.devnet.errors import WalletError
from gateway.wire.algorand import VALID_ROUNDS
from generator.client.buying.chain import PaymentStatus, identity, look_up
from generator.client.buying.offer import OfferRefused, read_terms
from generator.client.buying.proof import failures, receipt_of
from generator.client.buying.purchases import Purchase, PurchaseFolder, Status
from generator.client.buying.web import Unanswered, Web, WebAnswer
from generator.errors import GeneratorError

if TYPE_CHECKING:
    from gateway.devnet.keys import Key

PATIENCE_S: Final = 60.0
MOST_SENDS: Final = 12
DEFAULT_WAIT_S: Final = 2.0
SHORTEST_WAIT_S: Final = 1.0
LONGEST_WAIT_S: Final = 10.0
PAID_BEFORE: Final = frozenset({409, 410})


@dataclass(frozen=True, slots=True)
class Order:
    """What to buy and how far to go.

    Args:
        url: the paid resource.
        product: id of what is sold there.
        node_url: origin of the node (below /algod) and indexer (below /indexer) that are asked what the chain has.
        devnet_url: origin of the devnet, from which play money comes.
        key: the throwaway wallet's.
        max_amount_atomic: the most that is paid, atomic units.
        accept_payee: the payee that the buyer agrees to, None for the one of before.
        own_payee: the payee that the settings here name, taken without a question where none was paid before.
        patience_s: seconds to keep asking while the outcome is not known.
    """

    url: str
    product: str
    node_url: str
    devnet_url: str
    key: Key
    max_amount_atomic: int
    accept_payee: str | None = None
    own_payee: str | None = None
    patience_s: float = PATIENCE_S


@dataclass(frozen=True, slots=True)
class Bought:
    """What was bought.

    Args:
        purchase: as it is kept.
        content: the bytes of the document.
    """

    purchase: Purchase
    content: bytes


@dataclass(frozen=True, slots=True)
class Context:
    """What a purchase touches.

    Args:
        web: asks for answers.
        purchases: keeps what was signed.
        sleep: waits some seconds.
        monotonic: seconds that never go back.
        agree: asks a person to agree to a payee; None where no person can be asked.
    """

    web: Web
    purchases: PurchaseFolder
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    monotonic: Callable[[], float] = time.monotonic
    agree: Callable[[str], bool] | None = None


async def purchase(order: Order, context: Context) -> Bought:
    """Buy once; a payment of an earlier run that may have landed is sent again instead of signing another.

    What is returned is not closed yet: its reader keeps it as settled once it was shown, so that a run that dies before
    is repeated with the same payment.

    Raises:
        GeneratorError: nothing was bought, or it is not known yet, or what came does not agree with what was paid for.
    """
    signed = await _earlier(order, context)
    if signed is None:
        signed = context.purchases.keep(await _sign(order, context))
    return await _send(order, context, signed)


def abandon(purchases: PurchaseFolder, txid: str) -> None:
    """Forget a payment that brought nothing, so that another may be signed; GeneratorError: there is no such one."""
    purchase = purchases.find(txid)
    if purchase is None:
        raise GeneratorError(f"no payment {txid} is kept in {purchases.path(txid).parent}")
    purchases.keep(replace(purchase, status="abandoned"))


async def _earlier(order: Order, context: Context) -> Purchase | None:
    """Return the payment of an earlier run that has to be finished first, None when there is none."""
    while (unfinished := context.purchases.unfinished(order.url)) is not None:
        finding = await look_up(context.web, order.node_url, unfinished)

        # Only one that cannot settle any more makes room for another payment.
        if finding.state != "never":
            _say(
                f"payment {unfinished.txid} of an earlier run is not finished ({finding.words}): "
                "sending the same one again"
            )
            return unfinished

        context.purchases.keep(replace(unfinished, status="refused"))
        _say(f"payment {unfinished.txid} of an earlier run never settled: {finding.words}")
    return None


async def _sign(order: Order, context: Context) -> Purchase:
    """Ask for the terms and sign them, once the payee is the one of before and the wallet has money."""
    from gateway.devnet.wallet import pay  # with the library of the protocol, which only who signs needs

    answer = await _ask(order, context)
    network, last_round = await identity(context.web, order.node_url)
    terms = read_terms(answer, order.url, network)
    _check_payee(order, context, terms.payee)
    try:
        payment = pay(terms.header, order.key, network, last_round, order.max_amount_atomic, VALID_ROUNDS)
    except WalletError as refusal:
        raise OfferRefused(str(refusal)) from refusal

    await _fund(order, context, payment.payer)
    context.purchases.pin_payee(order.url, terms.payee)
    return Purchase(
        txid=payment.txid,
        url=order.url,
        header=payment.header,
        network=payment.network,
        payer=payment.payer,
        amount_atomic=payment.amount_atomic,
        payee=terms.payee,
        product=order.product,
        snapshot_id=terms.snapshot_id,
        sha256=terms.sha256,
    )


async def _ask(order: Order, context: Context) -> WebAnswer:
    """Ask for the price, and again where the service says when, as one that is starting does."""
    until = context.monotonic() + order.patience_s
    while True:
        try:
            answer = await context.web.get(order.url)
        except Unanswered as problem:
            raise GeneratorError(f"{order.url} cannot be reached ({problem}); is `emi up` running?") from problem

        wait_s = _asked_wait_s(answer) if answer.status == 503 else None
        if wait_s is None or context.monotonic() + wait_s > until:
            break
        _say(f"there is no price yet: {answer.reason()} Asking again in {wait_s:g} s")
        await context.sleep(wait_s)

    if 300 <= answer.status < 400:
        raise OfferRefused(f"{order.url} redirects elsewhere, which is not followed")
    if answer.status != 402:
        raise OfferRefused(f"{order.url} answered {answer.status} instead of a price; {answer.reason()}")
    return answer


def _check_payee(order: Order, context: Context, payee: str) -> None:
    """Refuse a payee that is not known here: offers are unsigned, so who answers could name himself."""
    before = context.purchases.payee_of(order.url)
    expected = order.accept_payee or before or order.own_payee
    if expected == payee:
        if before is None:
            _say(f"{payee} is paid at this origin from now on")
        return
    if order.accept_payee is not None:
        raise OfferRefused(f"the payee is {payee!a}, not {expected}, the only one accepted")
    if before is None:
        _agree(order, context, payee)
        return

    raise OfferRefused(
        f"the payee of this service was {before} and is now {payee!a}; "
        "if its operator confirms the new one, add --accept-payee with that address"
    )


def _agree(order: Order, context: Context, payee: str) -> None:
    """Ask a person about a payee that is new here."""
    shown = f"{order.url} asks for a payment to {payee!a}, which was never paid from here"
    if context.agree is None:
        raise OfferRefused(f"{shown}; if its operator confirms that address, add --accept-payee with it")
    if not context.agree(f"{shown}. Pay it, now and from now on?"):
        raise OfferRefused(f"{payee!a} was not agreed to")


async def _fund(order: Order, context: Context, payer: str) -> None:
    url = f"{order.devnet_url}/wallet/fund?address={payer}"

    try:
        answer = await context.web.get(url)
    except Unanswered as problem:
        raise OfferRefused(
            f"the devnet's faucet at {order.devnet_url} does not answer ({problem}); name it with --devnet-url"
        ) from problem

    if answer.status != 200:
        raise OfferRefused(
            f"the devnet's faucet answered {answer.status}; {answer.reason()}; name the devnet with --devnet-url"
        )


async def _send(order: Order, context: Context, signed: Purchase) -> Bought:
    """Present one signed payment until its end is known, or patience ends."""
    until = context.monotonic() + order.patience_s
    for sent in range(1, MOST_SENDS + 1):
        wait_s = DEFAULT_WAIT_S
        try:
            answer = await context.web.get(order.url, {"PAYMENT-SIGNATURE": signed.header})
        except Unanswered as problem:
            why = f"no answer ({problem})"
        else:
            if answer.status == 200:
                return await _delivered(order, context, signed, answer)
            if answer.status == 402:
                await _refused(order, context, signed, answer)
            if answer.status in PAID_BEFORE:
                _paid_before(context, signed, answer)
            why = f"the answer was {answer.status}; {answer.reason()}"
            wait_s = _wait_s(answer)
        if sent == MOST_SENDS or context.monotonic() + wait_s > until:
            break
        _say(f"{why}; the same payment again in {wait_s:g} s")
        await context.sleep(wait_s)

    finding = await look_up(context.web, order.node_url, signed)
    raise GeneratorError(
        f"the outcome of payment {signed.txid} is not known yet: {why}; {finding.words}. It is kept in "
        f"{context.purchases.path(signed.txid)}; run the same command again and the same payment is sent, "
        "none is signed again"
    )


def _wait_s(answer: WebAnswer) -> float:
    asked_s = _asked_wait_s(answer)
    return DEFAULT_WAIT_S if asked_s is None else min(asked_s, LONGEST_WAIT_S)


def _asked_wait_s(answer: WebAnswer) -> float | None:
    """Return the seconds of Retry-After, at least one; None where it says none."""
    asked = (answer.values("retry-after") or [""])[0]
    if not (asked.isascii() and asked.isdigit()):
        return None
    return max(float(asked), SHORTEST_WAIT_S)


async def _delivered(order: Order, context: Context, signed: Purchase, answer: WebAnswer) -> Bought:
    """Return what came when all of it agrees with what was signed, and write down what does not."""
    failed = failures(signed, answer)
    arrived = replace(signed, receipt=receipt_of(answer), body=answer.json(), failed=tuple(failed))
    if not failed:
        return Bought(replace(arrived, status="settled"), answer.content)

    finding = await look_up(context.web, order.node_url, signed)
    context.purchases.keep(replace(arrived, status=_status_by(finding)))
    raise GeneratorError(
        f"payment {signed.txid} was answered, but not settled as quoted: {'; '.join(failed)}. Of the payment: "
        f"{finding.words}. What came is kept in {context.purchases.path(signed.txid)}. {_next_step(signed)}"
    )


async def _refused(order: Order, context: Context, signed: Purchase, answer: WebAnswer) -> None:
    """Report how a payment ended that the seller answered with another challenge: the chain decides, not the seller."""
    receipt = receipt_of(answer)
    reason = (receipt or {}).get("errorReason")
    words = f"its reason: {ascii(reason)[:120]}" if reason else answer.reason()
    finding = await look_up(context.web, order.node_url, signed)
    if finding.state == "never":
        context.purchases.keep(replace(signed, status="refused", receipt=receipt))
        raise GeneratorError(f"payment {signed.txid} was refused and nothing was paid ({words}); {finding.words}")

    context.purchases.keep(replace(signed, status=_status_by(finding), receipt=receipt))
    if finding.state == "landed":
        raise GeneratorError(
            f"payment {signed.txid} was paid before: {finding.words}, and the seller asks for another one ({words}). "
            f"Do not pay again. {_next_step(signed)}"
        )
    raise GeneratorError(
        f"the seller refuses payment {signed.txid} ({words}), and it may still be settled: {finding.words}. "
        "Until then no other one is signed; run the same command again later"
    )


def _paid_before(context: Context, signed: Purchase, answer: WebAnswer) -> None:
    context.purchases.keep(replace(signed, status="paid", receipt=receipt_of(answer) or signed.receipt))
    raise GeneratorError(
        f"payment {signed.txid} was paid before, says the seller ({answer.status}; {answer.reason()}). "
        f"Do not pay again. {_next_step(signed)}"
    )


def _status_by(finding: PaymentStatus) -> Status:
    if finding.state == "landed":
        return "paid"
    return "refused" if finding.state == "never" else "signed"


def _next_step(signed: Purchase) -> str:
    return (
        "The same command sends the same payment again and signs no other one; to forget it and sign a new one, "
        f"add --abandon {signed.txid}"
    )


def _say(line: str) -> None:
    print(f"emi: {line}", file=sys.stderr, flush=True)
