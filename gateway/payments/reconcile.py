"""Close every payment whose outcome is not known, by evidence, without waiting for its payer."""

from __future__ import annotations

import asyncio
from typing import Final

import structlog
from sqlalchemy.exc import SQLAlchemyError

from gateway.app.metrics import Metrics
from gateway.clock import Clock
from gateway.errors import database_reason
from gateway.ledger.statements import OPEN_LIMIT, PURGE_LIMIT
from gateway.ledger.store import BEGINNING, Record
from gateway.ledger.thread import LedgerThread
from gateway.payments.purchase import Purchases
from gateway.payments.second_look import SecondLook
from gateway.upstream.chain import LIFE_MARGIN_ROUNDS, Chain, Presence, extend_watch

FIRST_WAIT_S: Final = 2.0
LONGEST_WAIT_S: Final = 120.0
LOOKS_AT_ONCE: Final = 8
PURGE_EVERY_S: Final = 3_600.0
PURGE_RETRY_S: Final = 60.0
ROUND_S: Final = 2.8
log = structlog.get_logger("gateway.reconcile")


class Reconciler:
    """Look open payments up again and again, later each time, and only ever look.

    Args:
        clock: the process's clock.
        chain: the evidence.
        ledger: the payments ledger's thread.
        purchases: whose payments on their way are left to it.
        metrics: the gauges of open payments.
    """

    def __init__(
        self, clock: Clock, chain: Chain, ledger: LedgerThread, purchases: Purchases, metrics: Metrics
    ) -> None:
        self._clock = clock
        self._chain = chain
        self._ledger = ledger
        self._purchases = purchases
        self._metrics = metrics
        self._second_look = SecondLook(clock, chain, ledger, metrics)
        self._due: dict[str, tuple[float, float]] = {}
        self._reported: set[str] = set()
        self._turns = asyncio.Semaphore(LOOKS_AT_ONCE)
        self._after = BEGINNING
        self._seen: set[str] = set()
        self._first_seen: dict[str, float] = {}
        self._purge_at = clock.monotonic()
        self._purge_round: int | None = None

    async def step(self) -> int:
        """Look up the open payments of the next page that are due, so that each has its turn, however many there are.

        Returns:
            How many were closed.
        """
        await self._purge()
        records = await self._ledger.run(self._ledger.ledger.open_payments, self._after)
        self._turn_page(records)
        closed = await asyncio.gather(*(self._in_turn(record) for record in records if self._is_due(record)))
        await self._measure()
        await self._second_look.step()
        return sum(closed)

    def _turn_page(self, records: list[Record]) -> None:
        self._seen |= {record.txid for record in records}
        for record in records:
            self._first_seen.setdefault(record.txid, self._clock.monotonic())
        if len(records) == OPEN_LIMIT:
            self._after = (records[-1].created_at, records[-1].txid)
            return
        self._forget_closed(self._seen)
        self._after, self._seen = BEGINNING, set()

    def _is_due(self, record: Record) -> bool:
        now = self._clock.monotonic()
        at, _ = self._due.setdefault(record.txid, (now, FIRST_WAIT_S))
        over = self._purchases.leases.is_over(record)
        return now >= at and over and not self._purchases.in_flight(record.txid)

    async def _in_turn(self, record: Record) -> bool:
        # A node that hangs is waited for several times at once, not once after the other.
        async with self._turns:
            return await self._look(record)

    async def _look(self, record: Record) -> bool:
        _, wait_s = self._due[record.txid]
        self._due[record.txid] = (self._clock.monotonic() + wait_s, min(wait_s * 2, LONGEST_WAIT_S))
        finding = await self._chain.lookup(record.txid)
        ledger, now = self._ledger.ledger, self._clock.now()
        if finding.presence is Presence.FOUND:
            log.info("unknown payment found on the chain", txid=record.txid)
            return await self._ledger.write(ledger.mark_settled, record.txid, now, "chain")
        if finding.confirms_refusal(record.refused_since):
            reason = record.reason or "refused"
            log.info("a refusal is certain now", txid=record.txid, reason=reason)
            return await self._ledger.write(ledger.mark_refused, record.txid, now, reason, "before_broadcast")
        watched = extend_watch(record.watched_round, finding)
        await self._ledger.write(ledger.watch, record.txid, watched)
        if finding.proves_absence(record.last_valid, watched):
            log.info("unknown payment can never land", txid=record.txid, last_valid=record.last_valid)
            return await self._ledger.write(ledger.mark_refused, record.txid, now, "payment_expired", "absent")
        self._report(record, finding.round, watched)
        return False

    def _report(self, record: Record, reached: int | None, watched: int | None) -> None:
        """Say once that a payment can be closed by no evidence that we can get."""
        past = reached is not None and reached > record.last_valid + LIFE_MARGIN_ROUNDS
        if past and watched is None and record.txid not in self._reported:
            self._reported.add(record.txid)
            log.error("payment stays unknown: algod forgot, and no indexer answers for it", txid=record.txid)

    def _forget_closed(self, still_open: set[str]) -> None:
        self._due = {txid: due for txid, due in self._due.items() if txid in still_open}
        self._first_seen = {txid: at for txid, at in self._first_seen.items() if txid in still_open}
        self._purchases.leases.keep_only(still_open)
        self._reported &= still_open

    async def _measure(self) -> None:
        count, oldest_round = await self._ledger.run(self._ledger.ledger.count_open)
        self._metrics.unknown_open.set(count)
        self._metrics.unknown_oldest.set(self._age_s(oldest_round) if count else 0)
        self._metrics.unclosable.set(len(self._reported))

    def _age_s(self, oldest_round: int | None) -> float:
        """Return how long the oldest unknown payment has waited: as watched here, or as the chain's rounds tell."""
        now, reached = self._clock.monotonic(), self._chain.last_round
        watched_s = now - min(self._first_seen.values(), default=now)
        rounds = reached - oldest_round if reached is not None and oldest_round is not None else 0
        return max(watched_s, rounds * ROUND_S)

    async def _purge(self) -> None:
        """Drop the bodies whose time is over by the chain's rounds, seen at two looks an hour apart.

        One look may be a node's error, and a wall clock may be days wrong; a body that is gone never comes back.
        """
        now = self._clock.monotonic()
        if now < self._purge_at:
            return
        reached = await self._chain.current_round()
        self._purge_at = now + (PURGE_RETRY_S if reached is None else PURGE_EVERY_S)
        if reached is None:
            return
        before, self._purge_round = self._purge_round, reached
        if before is None:
            return
        dropped = PURGE_LIMIT
        while dropped == PURGE_LIMIT:
            dropped = await self._ledger.write(self._ledger.ledger.purge, min(before, reached))


async def run_forever(step: Reconciler, every_s: float = 1.0) -> None:
    """Reconcile until cancelled; after a failure the next round goes on. Of an outage one line is logged.

    Args:
        step: the reconciler.
        every_s: seconds between rounds.
    """
    failing = False
    while True:
        try:
            await step.step()
            failing = False
        except SQLAlchemyError as error:
            if not failing:
                log.error("unknown payments cannot be looked up", reason=database_reason(error))  # noqa: TRY400
            failing = True
        except Exception:
            log.exception("a round of reconciling failed")
        await asyncio.sleep(every_s)
