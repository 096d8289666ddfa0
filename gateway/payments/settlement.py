"""Settle a payment and find out what became of it: by the facilitator's word, else by the chain's."""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import Callable
from typing import Final

import structlog
from sqlalchemy.exc import SQLAlchemyError

from gateway.app.metrics import Metrics
from gateway.clock import Clock
from gateway.errors import database_reason
from gateway.ledger.owner import make_owner
from gateway.ledger.record import Record
from gateway.ledger.thread import LedgerThread
from gateway.payments.challenge import requirement
from gateway.payments.leases import Leases
from gateway.payments.outcome import Delivered, Gone, Outcome, Pending, Refused, Unavailable
from gateway.payments.payment import Payment
from gateway.payments.settled import Settled
from gateway.settings import GatewaySettings
from gateway.upstream.chain import Chain, Finding, Presence, extend_watch
from gateway.upstream.facilitator import Facilitator, FacilitatorOffer, SettleAnswer, SettleKind

LEASE_MARGIN_S: Final = 2.0
PEER_POLL_S: Final = 0.1
# How long a buyer waits while the chain is asked again and again: clients give up after 5 s.
SUCCESS_WAIT_S: Final = 3.0
REFUSAL_WAIT_S: Final = 4.0
LOOK_EVERY_S: Final = 0.25
LOOK_TIMEOUT_S: Final = 0.5
Step = Callable[[str], None]
log = structlog.get_logger("gateway.settlement")


class Settlements:
    """Settle payments whose intent is durable.

    Args:
        settings: the gateway's settings.
        clock: the process's clock.
        facilitator: settles.
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
        facilitator: Facilitator,
        chain: Chain,
        ledger: LedgerThread,
        metrics: Metrics,
        step: Step,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._facilitator = facilitator
        self._chain = chain
        self._ledger = ledger
        self._metrics = metrics
        self._step = step
        self.owner = make_owner()
        self.leases = Leases(clock, self.owner, settings.settle_timeout_seconds + LEASE_MARGIN_S)
        self.done = Settled()
        # Few differ: a product, a snapshot and a fee payer at a time.
        self._encode_terms = functools.lru_cache(maxsize=64)(self._encoded_terms)

    def terms(self, payment: Payment, offer: FacilitatorOffer, price_atomic: int, snapshot_id: str) -> bytes:
        """Encode what the facilitator is told of a payment: from our table, network in its own form."""
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

    async def first(self, payment: Payment, terms: bytes, delivery: Delivered) -> Outcome:
        """Settle a payment whose intent has just become durable.

        Args:
            payment: verified.
            terms: encoded requirements that it was verified with.
            delivery: what it bought.

        Returns:
            Delivered, definitely refused, or pending.
        """
        answer = await self._settle(payment, terms)
        if answer.kind is SettleKind.SUCCESS:
            return await self._succeeded(payment, delivery)
        finding = await self._chain.lookup(payment.txid)
        if finding.presence is Presence.FOUND:
            return await self._settled(payment, delivery, "chain")
        if answer.before_broadcast and finding.presence is Presence.ABSENT and finding.round is not None:
            return await self._check_refusal(payment, delivery, answer.reason, finding.round)
        log.warning("outcome unknown", txid=payment.txid, answer=answer.kind.value, reason=answer.reason)
        return _pending(payment)

    async def _succeeded(self, payment: Payment, delivery: Outcome) -> Outcome:
        """Deliver what the facilitator calls settled, unless our node, asked for a while, does not have it."""
        evidence = await self._confirm(payment.txid)
        if evidence is None:
            log.error("settle answered success, and the chain does not have the payment", txid=payment.txid)
            self._metrics.unconfirmed.inc()
            return _pending(payment)
        return await self._settled(payment, delivery, evidence)

    async def _confirm(self, txid: str) -> str | None:
        """Return what vouches for a settlement: the chain, or the facilitator where our node cannot tell.

        A payment that was just settled is in a pool or a block of the facilitator's node; ours may be a second behind.
        """
        until = self._clock.monotonic() + SUCCESS_WAIT_S
        while self._clock.monotonic() < until:
            seen = await self._chain.glance(txid)
            if seen is Presence.FOUND:
                return "chain"
            if seen in {Presence.POOLED, Presence.UNCLEAR}:
                return "facilitator"
            await self._clock.sleep(LOOK_EVERY_S)
        return None if await self._chain.denied(txid) else "facilitator"

    async def _check_refusal(self, payment: Payment, delivery: Outcome, reason: str, since: int) -> Outcome:
        """Look on until the refusal is certain or the payment is found, at most as long as a client waits.

        A payment that settled a moment ago can look refused: a second simulation of it fails. A node that is a block
        behind has it one or two rounds later. Where the wait ends before two rounds do, rule 14 decides: every look
        found nothing and the node follows the chain, so it is refused; the second look mends what lands all the same.
        """
        noted = await self._ledger.write(self._ledger.ledger.note_refusal, payment.txid, reason, since)
        until = self._clock.monotonic() + REFUSAL_WAIT_S
        finding: Finding | None = None
        while noted and self._clock.monotonic() < until:
            await self._clock.sleep(LOOK_EVERY_S)
            finding = await self._chain.lookup(payment.txid, LOOK_TIMEOUT_S)
            if finding.presence is Presence.FOUND:
                return await self._settled(payment, delivery, "chain")
            if finding.confirms_refusal(since):
                return await self._refused(payment, reason, "before_broadcast")
        if finding is not None and finding.presence is Presence.ABSENT and finding.following:
            return await self._refused(payment, reason, "before_broadcast")
        log.warning("refusal not certain yet", txid=payment.txid, reason=reason)
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
        except SQLAlchemyError as error:
            # It is paid and its intent is durable: deliver, also when it is sent again; the reconciler closes the row.
            log.error("a settled payment could not be closed", txid=payment.txid, reason=database_reason(error))  # noqa: TRY400
        if isinstance(delivery, Delivered):
            self.done.put(delivery)
        return delivery

    async def _refused(self, payment: Payment, reason: str, evidence: str) -> Outcome:
        ledger = self._ledger.ledger
        if await self._ledger.write(ledger.mark_refused, payment.txid, self._clock.now(), reason, evidence):
            return Refused(reason, "", payment.envelope.network, payment.payer)
        # Somebody else closed it, or asks the facilitator about it: theirs counts.
        record = await self._ledger.run(ledger.find, payment.txid)
        return _pending(payment) if record is None or record.state == "intent" else self._closed(record)

    async def known(self, path: str, payment: Payment, record: Record) -> Outcome:
        """Finish or repeat a payment that stands in the payments ledger.

        Args:
            path: of the product that is asked for now.
            payment: as presented now.
            record: as it stands.

        Returns:
            Delivered, refused by evidence, or pending.
        """
        if record.path != path:
            return other_product()
        if record.state == "settled" or record.evidence == "absent":
            return self._closed(record)
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
        if finding.confirms_refusal(record.refused_since):
            return await self._refused(payment, record.reason or "refused", "before_broadcast")
        if record.refused_since is not None:
            # Asking again would take from the first answer what it proves.
            return _pending(payment)
        return await self._settle_again(payment, record)

    async def _settle_again(self, payment: Payment, record: Record) -> Outcome:
        offer = self._facilitator.last_offer()
        if offer is None:
            return _pending(payment)
        if not await self._take_over(payment.txid, record):
            return await self._wait_for_peer(payment)
        answer = await self._settle(payment, self.terms(payment, offer, record.price_atomic, record.snapshot_id))
        if answer.kind is SettleKind.SUCCESS:
            return await self._succeeded(payment, _delivered(record, replay=False))
        # A failure proves nothing here: a payment that settled before fails its second simulation.
        again = await self._chain.lookup(payment.txid)
        if again.presence is Presence.FOUND:
            return await self._settled(payment, _delivered(record, replay=False), "chain")
        return _pending(payment)

    def _closed(self, record: Record) -> Outcome:
        return self._remembered(record) if record.state == "settled" else _refusal(record)

    def _remembered(self, record: Record) -> Outcome:
        outcome = _delivered(record, replay=True)
        if isinstance(outcome, Delivered):
            self.done.put(outcome)
        return outcome

    async def _take_over(self, txid: str, record: Record) -> bool:
        """Become the one process that asks the facilitator about an intent."""
        if not self.leases.is_over(record):
            return False
        ledger = self._ledger.ledger
        return await self._ledger.write(ledger.begin_settle, txid, record.owner, record.settles, self.owner)

    async def _wait_for_peer(self, payment: Payment) -> Outcome:
        """Wait while another process settles the same payment, at most as long as it may take, or as it lives."""
        deadline = self._clock.monotonic() + self.leases.seconds
        while self._clock.monotonic() < deadline:
            await asyncio.sleep(PEER_POLL_S)
            record = await self._ledger.run(self._ledger.ledger.find, payment.txid)
            if record is not None and record.state != "intent":
                return self._closed(record)
            if record is not None and self.leases.is_over(record):
                return await self.known(record.path, payment, record)
        return _pending(payment)


def _pending(payment: Payment) -> Pending:
    return Pending(payment.txid, payment.envelope.network, payment.payer)


def _refusal(record: Record) -> Refused:
    return Refused(record.reason or "refused", "", record.network, record.payer)


def other_product() -> Refused:
    """Refuse a payment that buys another product."""
    return Refused("payment_used_for_another_product", "one payment buys one product")


def _delivered(record: Record, *, replay: bool) -> Outcome:
    if record.awaits_body:
        # Adopted while this request was under way: the next one chooses the body.
        return Unavailable("the payment is settled; send the same one again")
    if record.content is None:
        return Gone(record.txid, record.network, record.payer, record.identifier)
    return Delivered(
        record.txid,
        record.path,
        record.content,
        record.sha256,
        record.cache_control,
        record.network,
        record.payer,
        replay,
        record.identifier,
    )
