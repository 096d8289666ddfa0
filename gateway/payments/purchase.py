"""The one path of a payment: bind, verify, write the intent, settle, deliver.

Every step is decided by `gateway.payments.decide`. What an unseen payment would buy is found by `orders`; from the
intent on `recorded` carries it to its outcome. All of it runs in a task of its own, so that a client that hangs up
cancels nothing; after a crash the intent on disk makes the same payment continue there.

Steps, reported to the `step` that `build_app` takes (tests kill the process there; by default nothing listens):
`decoded` the header was read and its terms hold; `verified` the facilitator would settle it; `intent_written` the
intent is durable; `settle_answered` the answer of POST /settle, or its failure, is read; `settled_written` the
settlement is durable; `delivered` the 200 was handed to the server.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

import structlog
from sqlalchemy.exc import SQLAlchemyError

from gateway.clock import Clock
from gateway.errors import IdentityTaken, database_reason
from gateway.http.metrics import Metrics
from gateway.ledger.owner import Leases, make_owner
from gateway.ledger.record import KEEP_ROUNDS, Record
from gateway.ledger.thread import LedgerThread
from gateway.payments.advice import advice_on
from gateway.payments.decide import (
    Action,
    Fate,
    Limited,
    Outcome,
    Refused,
    Sighting,
    Unavailable,
    decide,
    fate_of,
    judge,
    outcome_of,
)
from gateway.payments.deliveries import Deliveries
from gateway.payments.orders import LEDGER_UNUSABLE, Order, Orders, identifier_reused
from gateway.payments.receipts import Receipts
from gateway.payments.recorded import RecordedPayments
from gateway.settings import GatewaySettings
from gateway.upstream.chain import TIMEOUT_S, Chain, Finding
from gateway.upstream.facilitator import Facilitator, Verdict
from gateway.upstream.http_client import RemoteError
from gateway.values import Payment, Transfer
from gateway.vault.folder import VaultReader

BUSY_RETRY_S: Final = 2
LEASE_MARGIN_S: Final = 2.0
# How long after verify refused it a payment is looked up again: a facilitator may have broadcast it all the same.
AFTER_VERDICT_S: Final = 2.0
TOO_MANY: Final = "too many payments in progress"
Admit = Callable[[], int | None]
Step = Callable[[str], None]
Request = tuple[str, tuple[str, ...], str | None]
"""Path, group and identifier: whoever presents the same gets the same answer."""
log = structlog.get_logger("gateway.purchase")


def no_step(_name: str) -> None:
    """Listen to nothing."""


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
        self._clock = clock
        self._facilitator = facilitator
        self._chain = chain
        self._ledger = ledger
        self._metrics = metrics
        self._step = step

        self._owner = make_owner()
        self.leases = Leases(clock, self._owner, settings.settle_timeout_seconds + LEASE_MARGIN_S)
        self._deliveries = Deliveries(chain)
        self._orders = Orders(settings=settings, vault=vault, facilitator=facilitator, ledger=ledger)
        self._recorded = RecordedPayments(
            settings=settings,
            clock=clock,
            vault=vault,
            facilitator=facilitator,
            chain=chain,
            ledger=ledger,
            receipts=receipts,
            metrics=metrics,
            deliveries=self._deliveries,
            leases=self.leases,
            owner=self._owner,
            step=step,
        )

        self._slots = asyncio.Semaphore(settings.payments_at_once)
        self._in_flight: dict[str, tuple[Request, asyncio.Task[Outcome]]] = {}

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
        outcome = await self._deliveries.repeated(path, payment)
        return None if outcome is None else self._counted(outcome)

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
        record, holder = await self._ledger.look_up(payment.txid, payment.identifier)
        if record is not None and record.state == "settled":
            return await self._recorded.finish(path, payment, record)

        # The whole way is one slot, so that no intent waits for its settle.
        if not await self._slot():
            return Unavailable(TOO_MANY, BUSY_RETRY_S)
        try:
            if record is not None:
                return await self._recorded.finish(path, payment, record)
            return await self._begin(path, payment, holder, admit)
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

    async def _begin(self, path: str, payment: Payment, holder: str | None, admit: Admit) -> Outcome:
        """Take a payment that the ledger does not know: quote, verify, write the intent, settle.

        The holder is the txid that the ledger has with its identifier, None without one.
        """
        wait_s = admit()
        if wait_s is not None:
            return Limited(wait_s)

        order = self._orders.order_of(path, payment, holder)
        if isinstance(order, Refused):
            return await self._refuse_new(path, payment, order, admit)
        if not isinstance(order, Order):
            return order
        return await self._verify(payment, order, admit)

    async def _refuse_new(self, path: str, payment: Payment, refusal: Refused, admit: Admit) -> Outcome:
        """Refuse a payment that the ledger did not know, unless it was paid, or may have been."""
        sightings = await self._sight((payment.transfer, *payment.others), admit)
        if isinstance(sightings, Limited):
            return sightings

        record = sightings[0].record
        if record is not None:
            # Another process took it meanwhile: then it only looks refusable.
            return await self._recorded.finish(path, payment, record)
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

    async def _verify(self, payment: Payment, order: Order, admit: Admit) -> Outcome:
        try:
            verdict, finding = await self._ask_at_once(payment, order)
        except RemoteError as error:
            log.warning("verify failed", txid=payment.txid, reason=str(error))
            return Unavailable("the facilitator cannot verify right now; the same payment works later")

        decision = decide(None, finding, verdict)
        if decision.action is Action.SETTLE:
            self._step("verified")
            return await self._accept(payment, order, admit)

        if decision.action is Action.ASK_CHAIN:
            await self._wait_without_slot(AFTER_VERDICT_S)
            refusal = Refused(decision.reason, advice_on(verdict.message), payment.network, payment.payer)
            return await self._refuse_new(order.priced.product.path, payment, refusal, admit)

        # Another process may have taken it meanwhile.
        record = await self._ledger.find(payment.txid)
        if record is not None:
            return await self._recorded.finish(order.priced.product.path, payment, record)
        return outcome_of(decision, None, payment)

    async def _ask_at_once(self, payment: Payment, order: Order) -> tuple[Verdict, Finding]:
        """Ask the facilitator to verify and the node about the txid; what fails ends the other question.

        Raises:
            RemoteError: the facilitator gave no readable answer.
        """
        unreadable: Exception | None = None
        failure: Exception | None = None
        try:
            async with asyncio.TaskGroup() as questions:
                presence = questions.create_task(self._chain.pending_status(payment.txid, TIMEOUT_S))
                verdict = await self._facilitator.verify(order.request)
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

    async def _accept(self, payment: Payment, order: Order, admit: Admit) -> Outcome:
        intent = self._intent(payment, order, await self._chain.current_round())
        try:
            await self._ledger.write_intent(intent)
        except IdentityTaken:
            # Another process was first with this txid, or with this identifier.
            record, holder = await self._ledger.look_up(payment.txid, payment.identifier)
            if record is not None:
                return await self._recorded.finish(order.priced.product.path, payment, record)
            if holder is not None:
                return await self._refuse_new(order.priced.product.path, payment, identifier_reused(), admit)
            return Unavailable("the payments ledger refused the payment; the same one works later")

        self._step("intent_written")
        return await self._recorded.settle(payment, intent, order.request)

    def _intent(self, payment: Payment, order: Order, reached: int | None) -> Record:
        priced = order.priced
        return Record(
            txid=payment.txid,
            state="intent",
            product=priced.product.id,
            path=priced.product.path,
            cache_control=priced.product.cache_control,
            snapshot_id=priced.snapshot.snapshot_id,
            sha256=priced.body.sha256,
            price_atomic=priced.body.price_atomic,
            payer=payment.payer,
            network=payment.network,
            identifier=payment.identifier,
            last_valid=payment.last_valid,
            intent_round=reached,
            watched_round=reached,
            owner=self._owner,
            created_at=self._clock.now().timestamp(),
            keep_round=payment.last_valid + KEEP_ROUNDS,
            content=priced.body.content,
        )
