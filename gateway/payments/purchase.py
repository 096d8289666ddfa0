"""The one path of a payment: bind, verify, write the intent, settle, deliver.

Outcomes are settled, refused or unknown. Everything after the intent runs in a task of its own, so that a client
that hangs up cancels nothing; after a crash the intent on disk makes the same payment continue here.

Steps, told to the `step` that `build_app` takes (tests kill the process there; by default nobody listens):
`decoded` the header was read and its terms hold; `verified` the facilitator would settle it; `intent_written` the
intent is durable; `settle_sent` POST /settle has left; `settle_answered` its answer, or its failure, is read;
`settled_written` the settlement is durable; `delivered` the 200 was handed to the server.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import structlog
from algosdk.encoding import is_valid_address
from sqlalchemy.exc import SQLAlchemyError

from gateway.app.metrics import Metrics
from gateway.clock import Clock
from gateway.errors import FacilitatorUnavailable, IdentityTaken, database_reason
from gateway.ledger.store import KEEP_ROUNDS, Intent, Record
from gateway.ledger.thread import LedgerThread
from gateway.payments.leases import Leases
from gateway.payments.outcome import Delivered, Gone, Limited, Outcome, Refused, Unavailable, Withheld
from gateway.payments.payment import Payment
from gateway.payments.settlement import Settlements, Step, other_product
from gateway.settings import GatewaySettings
from gateway.upstream.chain import Chain
from gateway.upstream.facilitator import Facilitator, FacilitatorOffer
from gateway.vault.folder import Body, Snapshot, Vault, VaultProduct

# Payments that may be with the facilitator or the chain at once, and that may wait for their turn.
MAX_AT_ONCE: Final = 256
MAX_WAITING: Final = 256
MAX_WAIT_S: Final = 5.0
BUSY_RETRY_S: Final = 2
LEDGER_UNUSABLE: Final = "the payments ledger cannot be used right now; the same payment works later"
__all__ = ["Purchases", "Step", "no_step"]
Admit = Callable[[], int | None]
log = structlog.get_logger("gateway.purchase")


def no_step(_name: str) -> None:
    """Listen to nothing."""


@dataclass(frozen=True, slots=True)
class Flight:
    """A payment on its way in this process."""

    path: str
    group_digest: str
    identifier: str | None
    task: asyncio.Task[Outcome]

    def answers(self, path: str, payment: Payment) -> bool:
        """Return whether a payment presented for a path is the same request, so that it gets the same answer."""
        asked = (path, payment.group_digest, payment.envelope.identifier)
        return asked == (self.path, self.group_digest, self.identifier)


@dataclass(frozen=True, slots=True)
class Quote:
    """What an unseen payment would buy."""

    product: VaultProduct
    snapshot: Snapshot
    body: Body


class Purchases:
    """Buy with payments.

    Args:
        settings: the gateway's settings.
        clock: the process's clock.
        vault: what is sold.
        facilitator: verifies and settles.
        chain: the evidence.
        ledger: the payments ledger's thread.
        metrics: counted here.
        step: told the name of each step that was just done.
    """

    def __init__(
        self,
        *,
        settings: GatewaySettings,
        clock: Clock,
        vault: Vault,
        facilitator: Facilitator,
        chain: Chain,
        ledger: LedgerThread,
        metrics: Metrics,
        step: Step,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._vault = vault
        self._facilitator = facilitator
        self._chain = chain
        self._ledger = ledger
        self._metrics = metrics
        self._step = step
        self._flights: dict[str, Flight] = {}
        self._settlements = Settlements(
            settings=settings,
            clock=clock,
            facilitator=facilitator,
            chain=chain,
            ledger=ledger,
            metrics=metrics,
            step=step,
        )
        self._turns = asyncio.Semaphore(MAX_AT_ONCE)
        self._waiting = 0

    @property
    def leases(self) -> Leases:
        """Who may be asking the facilitator, for the reconciler."""
        return self._settlements.leases

    def in_flight(self, txid: str) -> bool:
        """Return whether this process works on a payment right now."""
        return txid in self._flights

    async def drain(self) -> None:
        """Wait for every payment on its way; each ends by its own time limits."""
        while self._flights:
            await asyncio.wait({flight.task for flight in self._flights.values()})

    async def buy(self, path: str, payment: Payment, admit: Admit) -> Outcome:
        """Take a payment for a product.

        Args:
            path: the product's path.
            payment: checked against our table.
            admit: called once if the txid was never seen; returns seconds to wait when too many came.

        Returns:
            The outcome; the same for every duplicate that came meanwhile.
        """
        done = self._settlements.done.get(payment.txid)
        if done is not None:
            return self._counted(_guarded(done if done.path == path else other_product(), payment))
        while (flight := self._flights.get(payment.txid)) is not None:
            if flight.answers(path, payment):
                return await asyncio.shield(flight.task)
            # For another product, in another group text, or with another identifier: judged on its own, once the
            # first is through. Which product it belongs to stands in the ledger, and not in who came first here.
            await asyncio.wait({flight.task})
        task = asyncio.create_task(self._fly(path, payment, admit))
        self._flights[payment.txid] = Flight(path, payment.group_digest, payment.envelope.identifier, task)
        return await asyncio.shield(task)

    async def _fly(self, path: str, payment: Payment, admit: Admit) -> Outcome:
        began = self._clock.monotonic()
        try:
            record = await self._ledger.run(self._ledger.ledger.find, payment.txid)
            outcome = _guarded(await self._in_turn(path, payment, record, admit), payment)
        except SQLAlchemyError as error:
            # One line: an outage has many.
            log.error("payments ledger failed", txid=payment.txid, reason=database_reason(error))  # noqa: TRY400
            outcome = Unavailable(LEDGER_UNUSABLE)
        finally:
            del self._flights[payment.txid]
            self._metrics.purchase_seconds.observe(self._clock.monotonic() - began)
        return self._counted(outcome)

    def _counted(self, outcome: Outcome) -> Outcome:
        self._metrics.outcomes_by_kind[type(outcome).__name__.lower()].inc()
        return outcome

    async def _in_turn(self, path: str, payment: Payment, record: Record | None, admit: Admit) -> Outcome:
        """Go on when it is this payment's turn; the whole way is one turn, so that no intent waits for its settle."""
        if record is not None and record.state == "settled":
            known = await self._choose_body(payment, record) if record.awaits_body and record.path == path else record
            return await self._settlements.known(path, payment, known) if isinstance(known, Record) else known
        if not await self._turn():
            return Unavailable("too many payments are on their way", BUSY_RETRY_S)
        try:
            return await (
                self._settlements.known(path, payment, record) if record else self._first(path, payment, admit)
            )
        finally:
            self._turns.release()

    async def _choose_body(self, payment: Payment, record: Record) -> Record | Unavailable:
        """Attach to an adopted payment what it quotes, while the vault has that, else the newest."""
        vault = self._vault.current()
        named = payment.envelope.snapshot_id
        quoted = (vault.snapshots.get(named or vault.generation), vault.newest) if vault is not None else ()
        for snapshot in quoted:
            body = snapshot.bodies.get(record.product) if snapshot is not None else None
            if snapshot is not None and body is not None:
                reached = await self._chain.current_round() or 0
                ledger = self._ledger.ledger
                keep = max(record.last_valid, reached) + KEEP_ROUNDS
                attach = (record.txid, snapshot.snapshot_id, body.sha256, body.content, keep)
                await self._ledger.write(ledger.attach_body, *attach)
                # Read again: another process may have been first, and its choice counts.
                return await self._ledger.run(ledger.find, record.txid) or record
        return Unavailable("the payment is settled, and there is nothing to deliver yet; the same one works later")

    async def _turn(self) -> bool:
        if not self._turns.locked():
            return await self._turns.acquire()
        if self._waiting >= MAX_WAITING:
            return False
        self._waiting += 1
        try:
            return await asyncio.wait_for(self._turns.acquire(), MAX_WAIT_S)
        except TimeoutError:
            return False
        finally:
            self._waiting -= 1

    async def _first(self, path: str, payment: Payment, admit: Admit) -> Outcome:
        wait_s = admit()
        if wait_s is not None:
            return Limited(wait_s)
        quote = self._quote(path, payment)
        if not isinstance(quote, Quote):
            return quote
        offer = self._facilitator.offer()
        if offer is None:
            return Unavailable("the facilitator gave no good answer lately; the same payment works later")
        if not _fee_payer_known(payment, offer):
            return Refused("unknown_fee_payer", "the fee payer is not one of the facilitator's")
        if await self._identifier_taken(payment):
            return _identifier_reused()
        terms = self._settlements.terms(payment, offer, quote.body.price_atomic, quote.snapshot.snapshot_id)
        return await self._verify(payment, quote, terms)

    def _quote(self, path: str, payment: Payment) -> Quote | Outcome:
        if self._ledger.fault() is not None:
            return Unavailable(LEDGER_UNUSABLE)
        vault = self._vault.current()
        if vault is None:
            return Unavailable("no data has been published yet")
        named = payment.envelope.snapshot_id
        snapshot = vault.snapshots.get(named or vault.generation)
        # What was quoted is sold until the time that the quote named, also when nothing new may be quoted any more.
        promised = named is not None and snapshot is not None and self._vault.promised(snapshot)
        fault = self._vault.fault()
        if fault is not None and not promised:
            return Unavailable(fault)
        blocked = self._settings.quote_refusal(vault.source_mode)
        if blocked is not None:
            return Unavailable(blocked, retry_after_s=60)
        product = vault.products.get(path)
        if product is None:
            return Unavailable("nothing is for sale at this path", retry_after_s=60)
        return self._priced(payment, product, snapshot)

    def _priced(self, payment: Payment, product: VaultProduct, snapshot: Snapshot | None) -> Quote | Outcome:
        body = snapshot.bodies.get(product.id) if snapshot is not None else None
        if snapshot is None or body is None:
            return Refused("unknown_snapshot", "the payment names a snapshot that is not for sale")
        if not self._vault.payable(snapshot):
            return Refused("quote_expired", "the time for which this quote was good is over")
        if payment.amount_atomic != body.price_atomic:
            return Refused("amount_mismatch", f"the price is exactly {body.price_atomic} atomic units")
        return Quote(product, snapshot, body)

    async def _identifier_taken(self, payment: Payment) -> bool:
        identifier = payment.envelope.identifier
        if identifier is None:
            return False
        holder = await self._ledger.run(self._ledger.ledger.find_identifier, identifier)
        return holder not in {None, payment.txid}

    async def _verify(self, payment: Payment, quote: Quote, terms: bytes) -> Outcome:
        try:
            looking = asyncio.ensure_future(self._chain.landed(payment.txid))
            verdict = await self._facilitator.verify(payment, terms)
            landed = await looking
        except FacilitatorUnavailable as error:
            looking.cancel()
            log.warning("verify failed", txid=payment.txid, reason=str(error))
            return Unavailable("the facilitator cannot verify right now; the same payment works later")
        if not verdict.valid or landed:
            return await self._not_accepted(payment, quote, "" if landed else verdict.reason)
        self._step("verified")
        return await self._accept(payment, quote, terms)

    async def _not_accepted(self, payment: Payment, quote: Quote, reason: str) -> Outcome:
        """Refuse an unseen payment, unless another process took it meanwhile: then it only looks refusable."""
        record = await self._ledger.run(self._ledger.ledger.find, payment.txid)
        if record is not None:
            return await self._settlements.known(quote.product.path, payment, record)
        if not reason:
            return Refused("payment_already_on_chain", "it landed before this gateway accepted it")
        return Refused(reason, "the facilitator refused it", payment.envelope.network, payment.payer)

    async def _accept(self, payment: Payment, quote: Quote, terms: bytes) -> Outcome:
        intent = self._intent(payment, quote, await self._chain.current_round())
        try:
            await self._ledger.write(self._ledger.ledger.write_intent, intent)
        except IdentityTaken:
            # Another process was first with this txid, or with this identifier.
            record = await self._ledger.run(self._ledger.ledger.find, payment.txid)
            if record is not None:
                return await self._settlements.known(quote.product.path, payment, record)
            if await self._identifier_taken(payment):
                return _identifier_reused()
            return Unavailable("the payments ledger refused the payment; the same one works later")
        self._step("intent_written")
        return await self._settlements.first(payment, terms, _delivery(payment, quote))

    def _intent(self, payment: Payment, quote: Quote, intent_round: int | None) -> Intent:
        return Intent(
            txid=payment.txid,
            product=quote.product.id,
            path=quote.product.path,
            cache_control=quote.product.cache_control,
            snapshot_id=quote.snapshot.snapshot_id,
            sha256=quote.body.sha256,
            content=quote.body.content,
            price_atomic=quote.body.price_atomic,
            payer=payment.payer,
            network=payment.envelope.network,
            identifier=payment.envelope.identifier,
            last_valid=payment.last_valid,
            intent_round=intent_round,
            owner=self._settlements.owner,
            at=self._clock.now(),
        )


def _fee_payer_known(payment: Payment, offer: FacilitatorOffer) -> bool:
    echoed = payment.envelope.fee_payer
    if echoed is None or echoed in offer.signers:
        return True
    # It draws one at random per call; one that lists no signers must judge the echo itself.
    return not offer.lists_signers and is_valid_address(echoed)


def _identifier_reused() -> Refused:
    return Refused("payment_identifier_reused", "the payment identifier belongs to another payment")


def _delivery(payment: Payment, quote: Quote) -> Delivered:
    return Delivered(
        payment.txid,
        quote.product.path,
        quote.body.content,
        quote.body.sha256,
        quote.product.cache_control,
        payment.envelope.network,
        payment.payer,
        replay=False,
        identifier=payment.envelope.identifier,
    )


def _guarded(outcome: Outcome, payment: Payment) -> Outcome:
    """Keep what a payment bought from everybody who cannot name the identifier that it came with.

    The signed group is public once it is on the chain, so that anybody can present it; the identifier is not.
    """
    if not isinstance(outcome, Delivered | Gone) or outcome.identifier is None:
        return outcome
    named = payment.envelope.identifier
    return outcome if named is not None and secrets.compare_digest(named, outcome.identifier) else Withheld()
