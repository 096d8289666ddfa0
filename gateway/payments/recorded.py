"""From a payment's row to its outcome: decide, write, act, until nothing is left to do.

It continues where the row says, whoever wrote it: this request, an earlier one, another process, one that died. Here
alone the facilitator is asked to settle.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import structlog
from sqlalchemy.exc import SQLAlchemyError

from gateway.clock import Clock
from gateway.errors import database_reason
from gateway.http.metrics import Metrics
from gateway.ledger.owner import Leases
from gateway.ledger.record import KEEP_ROUNDS, NoteRefusal, Record, Refuse, Settle
from gateway.ledger.thread import LedgerThread
from gateway.payments.decide import (
    Action,
    Decision,
    Delivered,
    Outcome,
    Unavailable,
    decide,
    outcome_elsewhere,
    outcome_of,
)
from gateway.payments.deliveries import Deliveries
from gateway.payments.orders import terms_for
from gateway.payments.receipts import Receipts
from gateway.settings import GatewaySettings
from gateway.upstream.chain import Chain, Finding, Presence
from gateway.upstream.facilitator import Facilitator, SettleAnswer, SettleKind, encode_request
from gateway.values import Payment
from gateway.vault.folder import VaultReader

PEER_POLL_S: Final = 0.1
# How long a buyer waits while the chain is asked again and again: clients give up after 5 s.
SUCCESS_WAIT_S: Final = 3.0
REFUSAL_WAIT_S: Final = 4.0
ASK_EVERY_S: Final = 0.25
ASK_TIMEOUT_S: Final = 0.5
NOTHING_TO_DELIVER: Final = "the payment is settled, and there is nothing to deliver yet; the same one works later"
PENDING: Final = Decision(Action.PENDING)
log = structlog.get_logger("gateway.purchase")


@dataclass(frozen=True, slots=True)
class KnownPayment:
    """What is known of a payment that the ledger has."""

    record: Record
    finding: Finding | None = None  # what the chain showed, None when it was not asked since the answer
    answer: SettleAnswer | None = None  # the facilitator's, when it was asked just now


class RecordedPayments:
    """Finish or repeat the payments that the ledger knows; `owner` is the name of this process in their rows."""

    def __init__(
        self,
        *,
        settings: GatewaySettings,
        clock: Clock,
        vault: VaultReader,
        facilitator: Facilitator,
        chain: Chain,
        ledger: LedgerThread,
        receipts: Receipts,
        metrics: Metrics,
        deliveries: Deliveries,
        leases: Leases,
        owner: str,
        step: Callable[[str], None],
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._vault = vault
        self._facilitator = facilitator
        self._chain = chain
        self._ledger = ledger
        self._receipts = receipts
        self._metrics = metrics
        self._deliveries = deliveries
        self._leases = leases
        self._owner = owner
        self._step = step

    async def settle(self, payment: Payment, intent: Record, request: bytes) -> Outcome:
        """Ask the facilitator about an intent that was written just now, and finish the payment."""
        answer = await self._ask_to_settle(request)
        return await self.finish(intent.path, payment, intent, answer)

    async def finish(self, path: str, payment: Payment, record: Record, answer: SettleAnswer | None = None) -> Outcome:
        """Finish or repeat a payment that the ledger knows: decide, write, act, until there is an outcome.

        The path is of the product asked for now; the answer is the facilitator's, when it was asked just now.
        """
        if record.path != path and record.state != "refused":
            return outcome_elsewhere(PENDING, record, payment)

        current = KnownPayment(record, answer=answer)
        settle_until: float | None = None
        while True:
            decision, latest = await self._write(
                decide(current.record, current.finding, current.answer), current.record
            )
            current = replace(current, record=latest)

            match decision.action:
                case Action.ASK_CHAIN:
                    current = replace(current, finding=await self._ask_chain(current.record, current.answer))

                case Action.KEEP_ASKING:
                    # The refusal is noted in the row by now, where `decide` reads it.
                    current = KnownPayment(current.record, finding=await self._keep_asking(current.record))

                case Action.CHOOSE_BODY:
                    chosen = await self._choose_body(payment, current.record)
                    if chosen is None:
                        return Unavailable(NOTHING_TO_DELIVER)
                    current = replace(current, record=chosen)

                case Action.SETTLE:
                    # Waiting for other processes is limited once, however often they take turns.
                    settle_until = settle_until or self._clock.monotonic() + self._leases.seconds
                    asked_again = await self._settle_again(payment, current.record, settle_until)
                    if asked_again is None:
                        return await self._ended(PENDING, current.record, payment, None)
                    current = asked_again

                case _:
                    if current.record.path != path:
                        return outcome_elsewhere(decision, current.record, payment)
                    return await self._ended(decision, current.record, payment, current.answer)

    async def _ended(
        self, decision: Decision, record: Record, payment: Payment, answer: SettleAnswer | None
    ) -> Outcome:
        # What was not settled until now is delivered for the first time, without a further question.
        reached = await self._deliveries.reached(record) if record.state == "settled" else None
        outcome = outcome_of(decision, record, payment, reached)

        if isinstance(outcome, Delivered):
            self._deliveries.remember(outcome)
        elif decision.action is Action.PENDING and answer is not None:
            if answer.kind is SettleKind.SUCCESS:
                log.error("settle answered success, and the chain does not have the payment", txid=payment.txid)
                self._metrics.unconfirmed.inc()
            else:
                log.warning("outcome unknown", txid=payment.txid, answer=answer.kind.value, reason=answer.reason)
        return outcome

    async def _write(self, decision: Decision, record: Record) -> tuple[Decision, Record]:
        """Make a decision's change durable; return what it is now that others may have changed the row meanwhile."""
        now = self._clock.now()
        change = self._receipts.added_to(decision.change, record, now)
        if change is None:
            return decision, record

        try:
            written = await self._ledger.apply(record.txid, change, now)
            if isinstance(change, Settle):
                record = await self._with_receipt(record, change, written=written)
        except SQLAlchemyError as error:
            if isinstance(change, Refuse | NoteRefusal):
                raise
            # It is paid and its intent is durable: deliver, also when it is sent again; the reconciler closes the row.
            log.error("a payment's row could not be changed", txid=record.txid, reason=database_reason(error))  # noqa: TRY400
            return decision, record

        if isinstance(change, Settle):
            self._step("settled_written")
        if not isinstance(change, Refuse | NoteRefusal):
            return decision, record
        if written:
            if isinstance(change, NoteRefusal):
                record = replace(record, reason=change.reason, refusal_round=change.round)
            return decision, record

        # Another process closed it, or asks the facilitator about it: theirs counts.
        latest = await self._ledger.find(record.txid)
        if latest is None or latest.state == "intent":
            return PENDING, record
        return decide(latest, None, None), latest

    async def _with_receipt(self, record: Record, change: Settle, *, written: bool) -> Record:
        """Return a settled payment with the receipt that its row has: another process may have been first."""
        if written:
            return replace(record, receipt=change.receipt)
        latest = await self._ledger.find(record.txid)
        return replace(record, receipt=None if latest is None else latest.receipt)

    async def _ask_chain(self, record: Record, answer: SettleAnswer | None) -> Finding:
        """Ask once; after a success as often as a buyer waits, since our node may be a second behind theirs."""
        if answer is None or answer.kind is not SettleKind.SUCCESS:
            return await self._chain.lookup(record.txid)

        until = self._clock.monotonic() + SUCCESS_WAIT_S
        while self._clock.monotonic() < until:
            finding = Finding(await self._chain.confirm(record.txid), None, indexed=False)
            if decide(record, finding, answer).action is not Action.PENDING:
                return finding
            await self._clock.sleep(ASK_EVERY_S)

        # It showed nothing for as long as a buyer waits: does that count?
        if await self._chain.confirms_absence(record.txid):
            return Finding(Presence.ABSENT, None, indexed=False)
        return Finding(Presence.UNKNOWN, None, indexed=False)

    async def _keep_asking(self, record: Record) -> Finding:
        """Ask until a noted refusal is certain or the payment is found, at most as long as a client waits.

        A payment that settled a moment ago can look refused: a second simulation of it fails. A node that is a block
        behind has it one or two rounds later. Where the wait ends before two rounds do, an absence counts as held:
        every lookup found nothing and the node follows the chain; the recheck mends what lands all the same.
        """
        until = self._clock.monotonic() + REFUSAL_WAIT_S
        while True:
            await self._clock.sleep(ASK_EVERY_S)
            finding = await self._chain.lookup(record.txid, ASK_TIMEOUT_S)
            if decide(record, finding, None).action is not Action.PENDING:
                return finding
            if self._clock.monotonic() >= until:
                return replace(finding, held=True)

    async def _settle_again(self, payment: Payment, record: Record, until: float) -> KnownPayment | None:
        """Ask the facilitator about an intent once more, or wait while another process does; None when neither works.

        Without an answer the row is as another process left it.
        """
        offer = self._facilitator.last_offer()
        if offer is None:
            return None

        if not await self._take_over(record):
            latest = await self._wait_for_peer(record, until)
            if latest is None:
                return None
            return KnownPayment(latest)

        terms = terms_for(self._settings, payment, offer, record.price_atomic, record.snapshot_id)
        ours = replace(record, owner=self._owner, settles=record.settles + 1)
        return KnownPayment(ours, answer=await self._ask_to_settle(encode_request(payment, terms)))

    async def _take_over(self, record: Record) -> bool:
        """Become the one process that asks the facilitator about an intent."""
        if not self._leases.is_over(record):
            return False
        return await self._ledger.begin_settle(record.txid, record.owner, record.settles, self._owner)

    async def _wait_for_peer(self, record: Record, until: float) -> Record | None:
        """Return the row as soon as another process has closed it, or asks no more; None when the time is over."""
        while self._clock.monotonic() < until:
            await asyncio.sleep(PEER_POLL_S)
            latest = await self._ledger.find(record.txid)
            if latest is not None and (latest.state != "intent" or self._leases.is_over(latest)):
                return latest
        return None

    async def _choose_body(self, payment: Payment, record: Record) -> Record | None:
        """Attach to an adopted payment what it quotes, while the vault has that, else the newest."""
        vault = self._vault.current()
        if vault is None:
            return None
        quoted = vault.snapshots.get(payment.snapshot_id or vault.generation)

        for snapshot in (quoted, vault.newest):
            body = snapshot.bodies.get(record.product) if snapshot is not None else None
            if snapshot is None or body is None:
                continue

            # Kept from now on: the payment may have landed long ago.
            reached = await self._chain.current_round() or 0
            chosen = replace(
                record,
                snapshot_id=snapshot.snapshot_id,
                sha256=body.sha256,
                content=body.content,
                keep_round=max(record.last_valid, reached) + KEEP_ROUNDS,
            )
            receipt = self._receipts.sign(chosen, self._clock.now())
            await self._ledger.attach_body(replace(chosen, receipt=receipt))

            # Read again: another process may have been first, and its choice counts.
            latest = await self._ledger.find(record.txid)
            if latest is None or latest.awaits_body:
                return None
            return latest

        return None

    async def _ask_to_settle(self, request: bytes) -> SettleAnswer:
        answer = await self._facilitator.settle(request)
        self._step("settle_answered")
        self._metrics.settles_by_kind[answer.kind.value].inc()
        return answer
