"""The one path of a payment: bind, verify, write the intent, settle, deliver.

Every step is decided by `gateway.payments.decide`. Everything after the intent runs in a task of its own, so that a
client that hangs up cancels nothing; after a crash the intent on disk makes the same payment continue here.

Steps, reported to the `step` that `build_app` takes (tests kill the process there; by default nothing listens):
`decoded` the header was read and its terms hold; `verified` the facilitator would settle it; `intent_written` the
intent is durable; `settle_answered` the answer of POST /settle, or its failure, is read; `settled_written` the
settlement is durable; `delivered` the 200 was handed to the server.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import structlog
from algosdk.encoding import is_valid_address
from sqlalchemy.exc import SQLAlchemyError

from gateway.clock import Clock
from gateway.errors import IdentityTaken, database_reason
from gateway.http.metrics import Metrics
from gateway.ledger.owner import Leases, make_owner
from gateway.ledger.record import KEEP_ROUNDS, NoteRefusal, Record, Refuse, Settle
from gateway.ledger.thread import LedgerThread
from gateway.payments.challenge import requirement
from gateway.payments.decide import (
    Action,
    Decision,
    Delivered,
    Fate,
    Limited,
    Outcome,
    Refused,
    Sighting,
    Unavailable,
    decide,
    fate_of,
    judge,
    outcome_elsewhere,
    outcome_of,
    repeat,
)
from gateway.payments.receipts import Receipts
from gateway.settings import GatewaySettings
from gateway.upstream.chain import TIMEOUT_S, Chain, Finding, Presence
from gateway.upstream.facilitator import Facilitator, FacilitatorOffer, SettleAnswer, SettleKind, Verdict
from gateway.upstream.http_client import RemoteError
from gateway.values import Payment, Transfer
from gateway.vault.folder import Snapshot, VaultBody, VaultProduct, VaultReader

BUSY_RETRY_S: Final = 2
LEASE_MARGIN_S: Final = 2.0
PEER_POLL_S: Final = 0.1
# How long a buyer waits while the chain is asked again and again: clients give up after 5 s.
SUCCESS_WAIT_S: Final = 3.0
REFUSAL_WAIT_S: Final = 4.0
# How long after verify refused it a payment is looked up again: a facilitator may have broadcast it all the same.
AFTER_VERDICT_S: Final = 2.0
ASK_EVERY_S: Final = 0.25
ASK_TIMEOUT_S: Final = 0.5
MAX_REMEMBERED_BYTES: Final = 32 * 1024 * 1024
LEDGER_UNUSABLE: Final = "the payments ledger cannot be used right now; the same payment works later"
NOTHING_TO_DELIVER: Final = "the payment is settled, and there is nothing to deliver yet; the same one works later"
TOO_MANY: Final = "too many payments in progress"
PENDING: Final = Decision(Action.PENDING)
Admit = Callable[[], int | None]
Step = Callable[[str], None]
Request = tuple[str, tuple[str, ...], str | None]
"""Path, group and identifier: whoever presents the same gets the same answer."""
log = structlog.get_logger("gateway.purchase")


def no_step(_name: str) -> None:
    """Listen to nothing."""


@dataclass(frozen=True, slots=True)
class PricedSnapshot:
    """What an unseen payment would buy."""

    product: VaultProduct
    snapshot: Snapshot
    body: VaultBody


@dataclass(frozen=True, slots=True)
class KnownPayment:
    """What is known of a payment that the ledger has."""

    record: Record
    finding: Finding | None = None  # what the chain showed, None when it was not asked since the answer
    answer: SettleAnswer | None = None  # the facilitator's, when it was asked just now


class Purchases:
    """Buy with payments; `step` is called with the name of each step that was just done."""

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
        step: Step,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._vault = vault
        self._facilitator = facilitator
        self._chain = chain
        self._ledger = ledger
        self._receipts = receipts
        self._metrics = metrics
        self._step = step
        self._owner = make_owner()
        self.leases = Leases(clock, self._owner, settings.settle_timeout_seconds + LEASE_MARGIN_S)
        self._slots = asyncio.Semaphore(settings.payments_at_once)
        self._in_flight: dict[str, tuple[Request, asyncio.Task[Outcome]]] = {}
        # The newest deliveries, to repeat without a disk. What is settled is final: nothing here can become untrue.
        self._delivered: OrderedDict[str, Delivered] = OrderedDict()
        self._delivered_bytes = 0

    def in_flight(self, txid: str) -> bool:
        """Return whether this process works on a payment right now."""
        return txid in self._in_flight

    async def drain(self) -> None:
        """Wait for every payment in flight; each ends by its own time limits."""
        while self._in_flight:
            await asyncio.wait({task for _, task in self._in_flight.values()})

    async def buy(self, path: str, payment: Payment, admit: Admit) -> Outcome:
        """Take a payment for the product of a path; every duplicate that comes meanwhile gets the same outcome.

        Args:
            path: the product's path.
            payment: checked against our table.
            admit: called if the txid was never seen, and for each look-up beyond the first; returns seconds to wait
                when too many came.
        """
        repeated = await self.repeated(path, payment)
        if repeated is not None:
            return repeated

        request = (path, payment.group, payment.identifier)
        while (working := self._in_flight.get(payment.txid)) is not None:
            if request == working[0]:
                return await asyncio.shield(working[1])
            # For another product, in another group text, or with another identifier: judged on its own, once the
            # first is through. Which product it belongs to is read in the ledger, and not from who came first here.
            await asyncio.wait({working[1]})

        task = asyncio.create_task(self._process(path, payment, admit))
        self._in_flight[payment.txid] = (request, task)
        return await asyncio.shield(task)

    async def refuse(self, refusal: Refused, transfers: Sequence[Transfer], admit: Admit) -> Outcome:
        """Refuse what cannot be taken as a payment, unless a transfer to our payee in it was paid, or may have been."""
        for transfer in transfers:
            while (working := self._in_flight.get(transfer.txid)) is not None:
                await asyncio.wait({working[1]})

        if not await self._slot():
            return self._counted(Unavailable(TOO_MANY, BUSY_RETRY_S))
        try:
            sightings = await self._sight(transfers, admit)
            outcome = sightings if isinstance(sightings, Limited) else judge(refusal, sightings)
        except SQLAlchemyError as error:
            log.error("payments ledger failed", reason=database_reason(error))  # noqa: TRY400
            outcome = Unavailable(LEDGER_UNUSABLE)
        finally:
            self._slots.release()
        return self._counted(outcome)

    async def repeated(self, path: str, payment: Payment) -> Outcome | None:
        """Return the outcome for a payment that was delivered before, None if that is not remembered here."""
        delivered = self._delivered.get(payment.txid)
        if delivered is None:
            return None
        self._delivered.move_to_end(payment.txid)
        return self._counted(await self._repeat(delivered, path, payment))

    async def _process(self, path: str, payment: Payment, admit: Admit) -> Outcome:
        began = self._clock.monotonic()
        try:
            outcome = await self._take(path, payment, admit)
        except SQLAlchemyError as error:
            # One line: an outage has many.
            log.error("payments ledger failed", txid=payment.txid, reason=database_reason(error))  # noqa: TRY400
            outcome = Unavailable(LEDGER_UNUSABLE)
        finally:
            del self._in_flight[payment.txid]
            self._metrics.purchase_seconds.observe(self._clock.monotonic() - began)
        return self._counted(outcome)

    def _counted(self, outcome: Outcome) -> Outcome:
        self._metrics.outcomes_by_kind[type(outcome).__name__.lower()].inc()
        return outcome

    async def _take(self, path: str, payment: Payment, admit: Admit) -> Outcome:
        record = await self._ledger.find(payment.txid)
        if record is not None and record.state == "settled":
            return await self._finish(path, payment, record)

        # The whole way is one slot, so that no intent waits for its settle.
        if not await self._slot():
            return Unavailable(TOO_MANY, BUSY_RETRY_S)
        try:
            if record is not None:
                return await self._finish(path, payment, record)
            return await self._begin(path, payment, admit)
        finally:
            self._slots.release()

    async def _slot(self) -> bool:
        """Take a slot; return whether there was one. No one waits for it: the client's own retry does."""
        return not self._slots.locked() and await self._slots.acquire()

    async def _wait_without_slot(self, seconds: float) -> None:
        """Wait without asking anyone: others may use the slot meanwhile, so that refusals never crowd out buyers."""
        self._slots.release()
        try:
            await self._clock.sleep(seconds)
        finally:
            await self._slots.acquire()

    async def _begin(self, path: str, payment: Payment, admit: Admit) -> Outcome:
        """Take a payment that the ledger does not know: quote, verify, write the intent, settle."""
        wait_s = admit()
        if wait_s is not None:
            return Limited(wait_s)

        offered = await self._offered(path, payment)
        if isinstance(offered, Refused):
            return await self._refuse_new(path, payment, offered, admit)
        if not isinstance(offered, tuple):
            return offered

        quote, terms = offered
        return await self._verify(payment, quote, terms, admit)

    async def _offered(self, path: str, payment: Payment) -> tuple[PricedSnapshot, dict[str, Any]] | Outcome:
        """Return what a new payment would buy, and the terms for the facilitator; or why it is not taken."""
        if payment.others:
            return Refused(
                "group_pays_twice", "the group holds another transfer to the payee: sign one payment at a time"
            )
        quote = self._quote(path, payment)
        if not isinstance(quote, PricedSnapshot):
            return quote

        offer = self._facilitator.offer()
        if offer is None:
            return Unavailable("the facilitator gave no good answer lately; the same payment works later")
        if not _fee_payer_known(payment, offer):
            return Refused("unknown_fee_payer", "the fee payer is not one of the facilitator's")

        if await self._identifier_taken(payment):
            return _identifier_reused()
        return quote, self._terms(payment, offer, quote.body.price_atomic, quote.snapshot.snapshot_id)

    async def _refuse_new(self, path: str, payment: Payment, refusal: Refused, admit: Admit) -> Outcome:
        """Refuse a payment that the ledger did not know, unless it was paid, or may have been."""
        sightings = await self._sight((payment.transfer, *payment.others), admit)
        if isinstance(sightings, Limited):
            return sightings

        record = sightings[0].record
        if record is not None:
            # Another process took it meanwhile: then it only looks refusable.
            return await self._finish(path, payment, record)
        return judge(refusal, sightings)

    async def _sight(self, transfers: Sequence[Transfer], admit: Admit) -> list[Sighting] | Limited:
        """Ask ledger and chain about transfers to our payee, until one of them decides what is answered.

        The request was counted once: each look-up beyond its first is counted as a further one.
        """
        sightings = [Sighting(transfer, await self._ledger.find(transfer.txid)) for transfer in transfers]
        if any(fate_of(sighting) in {Fate.PAID, Fate.OPEN} for sighting in sightings):
            return sightings

        counted = False
        for place, sighting in enumerate(sightings):
            if fate_of(sighting) is Fate.UNPAID:
                continue
            wait_s = admit() if counted else None
            if wait_s is not None:
                return Limited(wait_s)
            counted = True

            transfer = sighting.transfer
            finding = await self._chain.trace(transfer.txid, transfer.last_valid)
            # Read after the chain: what another process took meanwhile is in the ledger before it is on the chain.
            record = sighting.record or await self._ledger.find(transfer.txid)
            sightings[place] = Sighting(transfer, record, finding)
            if fate_of(sightings[place]) is not Fate.UNPAID:
                break
        return sightings

    def _quote(self, path: str, payment: Payment) -> PricedSnapshot | Outcome:
        if self._ledger.fault() is not None:
            return Unavailable(LEDGER_UNUSABLE)
        vault = self._vault.current()
        if vault is None:
            return Unavailable("no data has been published yet")

        named = payment.snapshot_id
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

    def _priced(self, payment: Payment, product: VaultProduct, snapshot: Snapshot | None) -> PricedSnapshot | Outcome:
        body = snapshot.bodies.get(product.id) if snapshot is not None else None
        if snapshot is None or body is None:
            return Refused("unknown_snapshot", "the payment names a snapshot that is not for sale")
        if not self._vault.payable(snapshot):
            return Refused("quote_expired", "the time for which this quote was good is over")

        if body.unavailable is not None:
            return Unavailable(body.unavailable, retry_after_s=60)
        if payment.amount_atomic != body.price_atomic:
            return Refused("amount_mismatch", f"the price is exactly {body.price_atomic} atomic units")
        return PricedSnapshot(product, snapshot, body)

    async def _identifier_taken(self, payment: Payment) -> bool:
        identifier = payment.identifier
        if identifier is None:
            return False
        holder = await self._ledger.find_identifier(identifier)
        return holder not in {None, payment.txid}

    async def _verify(self, payment: Payment, quote: PricedSnapshot, terms: dict[str, Any], admit: Admit) -> Outcome:
        try:
            verdict, finding = await self._ask_at_once(payment, terms)
        except RemoteError as error:
            log.warning("verify failed", txid=payment.txid, reason=str(error))
            return Unavailable("the facilitator cannot verify right now; the same payment works later")

        decision = decide(None, finding, verdict)
        if decision.action is Action.SETTLE:
            self._step("verified")
            return await self._accept(payment, quote, terms, admit)

        if decision.action is Action.ASK_CHAIN:
            await self._wait_without_slot(AFTER_VERDICT_S)
            refusal = Refused(decision.reason, "the facilitator refused it", payment.network, payment.payer)
            return await self._refuse_new(quote.product.path, payment, refusal, admit)

        # Another process may have taken it meanwhile.
        record = await self._ledger.find(payment.txid)
        if record is not None:
            return await self._finish(quote.product.path, payment, record)
        return outcome_of(decision, None, payment)

    async def _ask_at_once(self, payment: Payment, terms: dict[str, Any]) -> tuple[Verdict, Finding]:
        """Ask the facilitator to verify and the node about the txid; what fails ends the other question.

        Raises:
            RemoteError: the facilitator gave no readable answer.
        """
        unreadable: Exception | None = None
        failure: Exception | None = None
        try:
            async with asyncio.TaskGroup() as questions:
                presence = questions.create_task(self._chain.pending_status(payment.txid, TIMEOUT_S))
                verdict = await self._facilitator.verify(payment, terms)
        except* RemoteError as group:
            unreadable = group.exceptions[0]
        except* Exception as group:  # noqa: BLE001 - raised again below
            failure = group.exceptions[0]

        # Alone and as it was raised: no one further up has to know that two were asked.
        if unreadable is not None:
            raise unreadable
        if failure is not None:
            raise failure
        return verdict, Finding(presence.result(), None, indexed=False)

    async def _accept(self, payment: Payment, quote: PricedSnapshot, terms: dict[str, Any], admit: Admit) -> Outcome:
        intent = self._intent(payment, quote, await self._chain.current_round())
        try:
            await self._ledger.write_intent(intent)
        except IdentityTaken:
            # Another process was first with this txid, or with this identifier.
            record = await self._ledger.find(payment.txid)
            if record is not None:
                return await self._finish(quote.product.path, payment, record)
            if await self._identifier_taken(payment):
                return await self._refuse_new(quote.product.path, payment, _identifier_reused(), admit)
            return Unavailable("the payments ledger refused the payment; the same one works later")

        self._step("intent_written")
        answer = await self._settle(payment, terms)
        return await self._finish(intent.path, payment, intent, answer)

    def _intent(self, payment: Payment, quote: PricedSnapshot, reached: int | None) -> Record:
        return Record(
            txid=payment.txid,
            state="intent",
            product=quote.product.id,
            path=quote.product.path,
            cache_control=quote.product.cache_control,
            snapshot_id=quote.snapshot.snapshot_id,
            sha256=quote.body.sha256,
            price_atomic=quote.body.price_atomic,
            payer=payment.payer,
            network=payment.network,
            identifier=payment.identifier,
            last_valid=payment.last_valid,
            intent_round=reached,
            watched_round=reached,
            owner=self._owner,
            created_at=self._clock.now().timestamp(),
            keep_round=payment.last_valid + KEEP_ROUNDS,
            content=quote.body.content,
        )

    async def _finish(self, path: str, payment: Payment, record: Record, answer: SettleAnswer | None = None) -> Outcome:
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
                    settle_until = settle_until or self._clock.monotonic() + self.leases.seconds
                    asked_again = await self._settle_again(payment, current.record, settle_until)
                    if asked_again is None:
                        return await self._ended(PENDING, current.record, payment, None)
                    current = asked_again

                case _:
                    if current.record.path != path:
                        return outcome_elsewhere(decision, current.record, payment)
                    return await self._ended(decision, current.record, payment, current.answer)

    async def _repeat(self, delivered: Delivered, path: str, payment: Payment) -> Outcome:
        """Repeat what this process delivered before; a first delivery that could not be dated is dated now."""
        record = delivered.record
        reached = await self._reached(record)

        if record.delivered_round is None and reached is not None and record.txid in self._delivered:
            delivered = replace(delivered, record=replace(record, delivered_round=reached))
            self._delivered[record.txid] = delivered

        return repeat(delivered, path, payment, reached)

    async def _reached(self, record: Record) -> int | None:
        """Return the chain's round where a repeat depends on it, None where it does not or no node answers."""
        if record.identifier is not None:
            return None
        return await self._chain.current_round(self._chain.quick_timeout_s)

    async def _ended(
        self, decision: Decision, record: Record, payment: Payment, answer: SettleAnswer | None
    ) -> Outcome:
        # What was not settled until now is delivered for the first time, without a further question.
        reached = await self._reached(record) if record.state == "settled" else None
        outcome = outcome_of(decision, record, payment, reached)

        if isinstance(outcome, Delivered):
            self._remember(outcome)
        elif decision.action is Action.PENDING and answer is not None:
            if answer.kind is SettleKind.SUCCESS:
                log.error("settle answered success, and the chain does not have the payment", txid=payment.txid)
                self._metrics.unconfirmed.inc()
            else:
                log.warning("outcome unknown", txid=payment.txid, answer=answer.kind.value, reason=answer.reason)
        return outcome

    def _remember(self, delivered: Delivered) -> None:
        record = delivered.record
        if record.delivered_round is None:
            record = replace(record, delivered_round=self._chain.round_now())

        if record.txid not in self._delivered:
            self._delivered[record.txid] = Delivered(record, delivered.content)
            self._delivered_bytes += len(delivered.content)

        # The least used go first.
        while self._delivered_bytes > MAX_REMEMBERED_BYTES:
            _, oldest = self._delivered.popitem(last=False)
            self._delivered_bytes -= len(oldest.content)

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

        terms = self._terms(payment, offer, record.price_atomic, record.snapshot_id)
        ours = replace(record, owner=self._owner, settles=record.settles + 1)
        return KnownPayment(ours, answer=await self._settle(payment, terms))

    async def _take_over(self, record: Record) -> bool:
        """Become the one process that asks the facilitator about an intent."""
        if not self.leases.is_over(record):
            return False
        return await self._ledger.begin_settle(record.txid, record.owner, record.settles, self._owner)

    async def _wait_for_peer(self, record: Record, until: float) -> Record | None:
        """Return the row as soon as another process has closed it, or asks no more; None when the time is over."""
        while self._clock.monotonic() < until:
            await asyncio.sleep(PEER_POLL_S)
            latest = await self._ledger.find(record.txid)
            if latest is not None and (latest.state != "intent" or self.leases.is_over(latest)):
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

    async def _settle(self, payment: Payment, terms: dict[str, Any]) -> SettleAnswer:
        answer = await self._facilitator.settle(payment, terms)
        self._step("settle_answered")
        self._metrics.settles_by_kind[answer.kind.value].inc()
        return answer

    def _terms(self, payment: Payment, offer: FacilitatorOffer, price_atomic: int, snapshot_id: str) -> dict[str, Any]:
        """Return what the facilitator is asked about: from our table, the network in its own form."""
        fee_payer = payment.fee_payer or offer.fee_payer
        return requirement(
            self._settings,
            network=offer.network,
            price_atomic=price_atomic,
            fee_payer=fee_payer,
            snapshot_id=snapshot_id,
        )


def _fee_payer_known(payment: Payment, offer: FacilitatorOffer) -> bool:
    echoed = payment.fee_payer
    if echoed is None or echoed in offer.signers:
        return True
    # It draws one at random per call; one that lists no signers must judge the echo itself.
    return not offer.lists_signers and is_valid_address(echoed)


def _identifier_reused() -> Refused:
    return Refused("payment_identifier_reused", "the payment identifier belongs to another payment")
