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
import functools
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import structlog
from algosdk.encoding import is_valid_address
from sqlalchemy.exc import SQLAlchemyError

from gateway.chain import Chain, Finding, Presence, extend_watch
from gateway.challenge import requirement
from gateway.clock import Clock
from gateway.errors import FacilitatorUnavailable, IdentityTaken
from gateway.facilitator import Facilitator, Offer, SettleAnswer, SettleKind
from gateway.ledger import Intent, Record
from gateway.ledger_thread import LedgerThread
from gateway.metrics import Metrics
from gateway.outcome import Delivered, Limited, Outcome, Pending, Refused, Unavailable
from gateway.owner import is_gone, make_owner
from gateway.payment import Payment
from gateway.settings import GatewaySettings
from gateway.settled import Settled
from gateway.vault import Body, Snapshot, Vault, VaultProduct

LEASE_MARGIN_S: Final = 2.0
PEER_POLL_S: Final = 0.1
Admit = Callable[[], int | None]
Step = Callable[[str], None]
log = structlog.get_logger("gateway.purchase")


def no_step(_name: str) -> None:
    """Listen to nothing."""


@dataclass(frozen=True, slots=True)
class Flight:
    """A payment on its way in this process."""

    path: str
    group_digest: str
    task: asyncio.Task[Outcome]


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
        self._owner = make_owner()
        self._flights: dict[str, Flight] = {}
        self._done = Settled()
        # Few differ: a product, a snapshot and a fee payer at a time.
        self._encode_terms = functools.lru_cache(maxsize=64)(self._encoded_terms)

    def in_flight(self, txid: str) -> bool:
        """Tell whether this process works on a payment right now."""
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
        done = self._done.get(payment.txid)
        if done is not None:
            self._metrics.outcomes_by_kind["delivered"].inc()
            return done if done.path == path else _other_product()
        while (flight := self._flights.get(payment.txid)) is not None:
            if flight.path != path:
                return _other_product()
            if flight.group_digest == payment.group_digest:
                return await asyncio.shield(flight.task)
            # The same transaction in another group text: judged on its own, once the first is through.
            await asyncio.wait({flight.task})
        task = asyncio.create_task(self._fly(path, payment, admit))
        self._flights[payment.txid] = Flight(path, payment.group_digest, task)
        return await asyncio.shield(task)

    async def _fly(self, path: str, payment: Payment, admit: Admit) -> Outcome:
        try:
            record = await self._ledger.run(self._ledger.ledger.find, payment.txid)
            outcome = await (self._known(path, payment, record) if record else self._first(path, payment, admit))
        except SQLAlchemyError as error:
            log.exception("payments ledger failed", txid=payment.txid, kind=type(error).__name__)
            outcome = Unavailable("the payments ledger cannot be used right now; the same payment works later")
        finally:
            del self._flights[payment.txid]
        self._metrics.outcomes_by_kind[type(outcome).__name__.lower()].inc()
        return outcome

    async def _first(self, path: str, payment: Payment, admit: Admit) -> Outcome:
        wait_s = admit()
        if wait_s is not None:
            return Limited(wait_s)
        quote = self._quote(path, payment)
        if not isinstance(quote, Quote):
            return quote
        offer = self._facilitator.offer()
        if offer is None:
            return Unavailable("the facilitator has not said who pays the network fee yet")
        if not _fee_payer_known(payment, offer):
            return Refused("unknown_fee_payer", "the fee payer is not one of the facilitator's")
        if await self._identifier_taken(payment):
            return _identifier_reused()
        terms = self._terms(payment, offer, quote.body.price_atomic, quote.snapshot.snapshot_id)
        return await self._verify(payment, quote, terms)

    def _quote(self, path: str, payment: Payment) -> Quote | Outcome:
        vault = self._vault.current()
        if vault is None or self._vault.too_old():
            return Unavailable("the data is too old to sell")
        blocked = self._settings.quote_refusal(vault.source_mode)
        if blocked is not None:
            return Unavailable(blocked, retry_after_s=60)
        product = vault.products.get(path)
        if product is None:
            return Unavailable("nothing is for sale at this path", retry_after_s=60)
        snapshot = vault.snapshots.get(payment.envelope.snapshot_id or vault.generation)
        return self._priced(payment, product, snapshot)

    def _priced(self, payment: Payment, product: VaultProduct, snapshot: Snapshot | None) -> Quote | Outcome:
        body = snapshot.bodies.get(product.id) if snapshot is not None else None
        if snapshot is None or body is None:
            return Refused("unknown_snapshot", "the payment names a snapshot that is not for sale")
        if not snapshot.payable(self._clock.now()):
            return Refused("quote_expired", "the snapshot was replaced more than 15 minutes ago")
        if payment.amount_atomic != body.price_atomic:
            return Refused("amount_mismatch", f"the price is exactly {body.price_atomic} atomic units")
        return Quote(product, snapshot, body)

    async def _identifier_taken(self, payment: Payment) -> bool:
        identifier = payment.envelope.identifier
        if identifier is None:
            return False
        holder = await self._ledger.run(self._ledger.ledger.find_identifier, identifier)
        return holder not in {None, payment.txid}

    def _terms(self, payment: Payment, offer: Offer, price_atomic: int, snapshot_id: str) -> bytes:
        fee_payer = payment.envelope.fee_payer or offer.fee_payer
        return self._encode_terms(offer.network, price_atomic, fee_payer, snapshot_id)

    def _encoded_terms(self, network: str, price_atomic: int, fee_payer: str, snapshot_id: str) -> bytes:
        terms = requirement(
            self._settings,
            network=network,
            price_atomic=price_atomic,
            fee_payer=fee_payer,
            snapshot_id=snapshot_id,
        )
        return json.dumps(terms, separators=(",", ":")).encode()

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
            return await self._known(quote.product.path, payment, record)
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
                return await self._known(quote.product.path, payment, record)
            if await self._identifier_taken(payment):
                return _identifier_reused()
            return Unavailable("the payments ledger refused the payment; the same one works later")
        self._step("intent_written")
        return await self._settle_first(payment, terms, _delivery(payment, quote))

    def _intent(self, payment: Payment, quote: Quote, intent_round: int | None) -> Intent:
        now = self._clock.now()
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
            owner=self._owner,
            settling_until=now + self._lease(),
            at=now,
        )

    def _lease(self) -> timedelta:
        return timedelta(seconds=self._settings.settle_timeout_seconds + LEASE_MARGIN_S)

    async def _settle_first(self, payment: Payment, terms: bytes, delivery: Delivered) -> Outcome:
        answer = await self._settle(payment, terms)
        if answer.kind is SettleKind.SUCCESS:
            return await self._settled(payment, delivery, "facilitator")
        finding = await self._chain.lookup(payment.txid)
        if finding.presence is Presence.FOUND:
            return await self._settled(payment, delivery, "chain")
        if answer.before_broadcast and finding.presence is Presence.ABSENT:
            return await self._refused(payment, answer.reason, "before_broadcast")
        log.warning("outcome unknown", txid=payment.txid, answer=answer.kind.value, reason=answer.reason)
        return _pending(payment)

    async def _settle(self, payment: Payment, terms: bytes) -> SettleAnswer:
        answer = await self._facilitator.settle(payment, terms)
        self._step("settle_answered")
        self._metrics.settles_by_kind[answer.kind.value].inc()
        return answer

    async def _settled(self, payment: Payment, delivery: Outcome, evidence: str) -> Outcome:
        """Close a payment and deliver it; the row exists, since nothing is settled before its intent."""
        ledger = self._ledger.ledger
        try:
            await self._ledger.write(ledger.mark_settled, payment.txid, self._clock.now(), evidence)
            self._step("settled_written")
        except SQLAlchemyError:
            # It is paid and its intent is durable: deliver; the reconciler closes the row by the chain.
            log.exception("a settled payment could not be closed", txid=payment.txid)
            return delivery
        if isinstance(delivery, Delivered):
            self._done.put(delivery)
        return delivery

    async def _refused(self, payment: Payment, reason: str, evidence: str) -> Outcome:
        await self._ledger.write(self._ledger.ledger.mark_refused, payment.txid, self._clock.now(), reason, evidence)
        return Refused(reason, "", payment.envelope.network, payment.payer)

    async def _known(self, path: str, payment: Payment, record: Record) -> Outcome:
        if record.path != path:
            return _other_product()
        if record.state == "settled":
            return self._remembered(record)
        if record.evidence == "absent":
            return _refusal(record)
        finding = await self._chain.lookup(payment.txid)
        if finding.presence is Presence.FOUND:
            return await self._settled(payment, _delivered(record, replay=False), "chain")
        if finding.presence is not Presence.ABSENT:
            return _pending(payment)
        return _refusal(record) if record.state == "refused" else await self._resume(payment, record, finding)

    async def _resume(self, payment: Payment, record: Record, finding: Finding) -> Outcome:
        """Go on with an intent that the chain does not have: closed by evidence, or settled once more."""
        watched = extend_watch(record.watched_round, finding)
        await self._ledger.write(self._ledger.ledger.watch, payment.txid, watched)
        if finding.proves_absence(record.last_valid, watched):
            return await self._refused(payment, "payment_expired", "absent")
        offer = self._facilitator.offer()
        if offer is None:
            return _pending(payment)
        if not await self._take_over(payment.txid, record):
            return await self._wait_for_peer(payment)
        answer = await self._settle(payment, self._terms(payment, offer, record.price_atomic, record.snapshot_id))
        if answer.kind is SettleKind.SUCCESS:
            return await self._settled(payment, _delivered(record, replay=False), "facilitator")
        # A failure proves nothing here: a payment that settled before fails its second simulation.
        again = await self._chain.lookup(payment.txid)
        if again.presence is Presence.FOUND:
            return await self._settled(payment, _delivered(record, replay=False), "chain")
        return _pending(payment)

    def _remembered(self, record: Record) -> Outcome:
        outcome = _delivered(record, replay=True)
        if isinstance(outcome, Delivered):
            self._done.put(outcome)
        return outcome

    async def _take_over(self, txid: str, record: Record) -> bool:
        """Become the one process that asks the facilitator about an intent."""
        now = self._clock.now()
        owner = record.owner if is_gone(record.owner, self._owner) else self._owner
        ledger = self._ledger.ledger
        return await self._ledger.write(ledger.begin_settle, txid, owner, self._owner, now, now + self._lease())

    async def _wait_for_peer(self, payment: Payment) -> Outcome:
        """Wait while another process settles the same payment, at most as long as it may take."""
        deadline = self._clock.monotonic() + self._lease().total_seconds()
        while self._clock.monotonic() < deadline:
            await asyncio.sleep(PEER_POLL_S)
            record = await self._ledger.run(self._ledger.ledger.find, payment.txid)
            if record is not None and record.state == "settled":
                return self._remembered(record)
            if record is not None and record.state == "refused":
                return _refusal(record)
        return _pending(payment)


def _fee_payer_known(payment: Payment, offer: Offer) -> bool:
    echoed = payment.envelope.fee_payer
    if echoed is None or echoed in offer.signers:
        return True
    # It draws one at random per call; one that lists no signers must judge the echo itself.
    return not offer.lists_signers and is_valid_address(echoed)


def _pending(payment: Payment) -> Pending:
    return Pending(payment.txid, payment.envelope.network, payment.payer)


def _refusal(record: Record) -> Refused:
    return Refused(record.reason or "refused", "", record.network, record.payer)


def _other_product() -> Refused:
    return Refused("payment_used_for_another_product", "one payment buys one product")


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
    )


def _delivered(record: Record, *, replay: bool) -> Outcome:
    if record.content is None:
        return Refused("payment_consumed", "it was delivered before and the answer is kept no longer")
    return Delivered(
        record.txid,
        record.path,
        record.content,
        record.sha256,
        record.cache_control,
        record.network,
        record.payer,
        replay,
    )
