"""Close by evidence what needs no payer: unknown payments, and what was closed on the facilitator's word alone.

Unknown payments are looked up until the chain shows them or they can never land. So are two kinds of closed ones that
the chain has not shown: settled ones that our node could not confirm in time, and refusals before any broadcast. What
this recheck finds costs no one anything again: a refused payment that landed is settled, and delivered when it is sent
again; a delivered one that never landed stays delivered. It is counted, logged and kept in the ledger.
"""

import asyncio
from typing import Final

import structlog

from gateway.clock import Clock
from gateway.http.metrics import Metrics
from gateway.ledger import retired
from gateway.ledger.record import Change, Record, Refuse, Review, Settle
from gateway.ledger.store import BEGINNING, PAGE, PURGE_LIMIT, Place
from gateway.ledger.thread import LedgerThread
from gateway.payments.decide import CHAIN, NEVER_LANDED, Action, decide
from gateway.payments.purchase import Purchases
from gateway.payments.receipts import Receipts
from gateway.upstream.chain import Chain, Finding, extend_watch
from gateway.wire.algorand import ROUND_S

LOOKUPS_AT_ONCE: Final = 8
RECHECK_EVERY_S: Final = 10.0
# About a day past its last valid round no node remembers it, and an indexer would have shown it long ago.
HORIZON_ROUNDS: Final = 30_000
# Past this no single look at algod says anything any more.
LIFE_MARGIN_ROUNDS: Final = 1_000
PURGE_EVERY_S: Final = 3_600.0
PURGE_RETRY_S: Final = 60.0
log = structlog.get_logger("gateway.reconcile")


class Backoff:
    """Rows to look up again and again, a page at a time, so that none keeps another waiting.

    A row is looked up first after `first_s`, then after `wait_s`, then after `growth` times as long each time, up to
    `longest_s`.
    """

    def __init__(self, clock: Clock, *, first_s: float, wait_s: float, growth: int, longest_s: float) -> None:
        self._clock = clock
        self._first_s = first_s
        self._wait_s = wait_s
        self._growth = growth
        self._longest_s = longest_s
        self.due: dict[str, tuple[float, float]] = {}
        self.after: Place = BEGINNING
        self._seen: set[str] = set()

    def next_page(self, records: list[Record], end: float | None) -> set[str] | None:
        """Take in the page that began `after`, whose last row is of time `end`, and go to the next one.

        After the last page return every txid that there is now, and forget all others; None before.
        """
        self._seen |= {record.txid for record in records}
        if len(records) == PAGE:
            self.after = (end or 0.0, records[-1].txid)
            return None

        seen = self._seen
        self._seen = set()
        self.after = BEGINNING
        self.due = {txid: due for txid, due in self.due.items() if txid in seen}
        return seen

    def is_due(self, txid: str) -> bool:
        """Return whether a row is to be looked up now, and set its next time if so."""
        now = self._clock.monotonic()
        at, wait_s = self.due.setdefault(txid, (now + self._first_s, self._wait_s))
        if now < at:
            return False

        self.due[txid] = (now + wait_s, min(wait_s * self._growth, self._longest_s))
        return True


class Reconciler:
    """Look payments up that no buyer waits for; it never asks the facilitator, and leaves those in flight alone."""

    def __init__(
        self,
        *,
        clock: Clock,
        chain: Chain,
        ledger: LedgerThread,
        purchases: Purchases,
        receipts: Receipts,
        metrics: Metrics,
    ) -> None:
        self._clock = clock
        self._chain = chain
        self._ledger = ledger
        self._purchases = purchases
        self._receipts = receipts
        self._metrics = metrics

        self.open = Backoff(clock, first_s=0.0, wait_s=2.0, growth=2, longest_s=120.0)
        self.unproven = Backoff(clock, first_s=10.0, wait_s=40.0, growth=4, longest_s=1_200.0)

        self._recheck_at = 0.0
        self._unclosable: set[str] = set()
        self._slots = asyncio.Semaphore(LOOKUPS_AT_ONCE)
        self._first_seen: dict[str, float] = {}
        self._purge_at = clock.monotonic()
        self._purge_round: int | None = None

    async def step(self) -> int:
        """Look up what is due in the next page of open payments, and of those closed on the facilitator's word.

        Return how many open payments were closed.
        """
        await self._purge()
        closed = await self._look_up(await self._open_and_due())
        await self._measure()
        if self._clock.monotonic() >= self._recheck_at:
            await self._look_up(await self._unproven_and_due())
        return closed

    async def _open_and_due(self) -> list[Record]:
        records = await self._ledger.open_payments(self.open.after)
        for record in records:
            self._first_seen.setdefault(record.txid, self._clock.monotonic())
        still_open = self.open.next_page(records, records[-1].created_at if records else None)
        if still_open is not None:
            self._first_seen = {txid: at for txid, at in self._first_seen.items() if txid in still_open}
            self._purchases.leases.keep_only(still_open)
            self._unclosable &= still_open

        # Whether a lease is over must be asked of each: it is counted from the first time on.
        free = [record for record in records if self._purchases.leases.is_over(record)]
        idle = [record for record in free if not self._purchases.in_flight(record.txid)]
        return [record for record in idle if self.open.is_due(record.txid)]

    async def _unproven_and_due(self) -> list[Record]:
        since = (self._chain.last_round or 0) - HORIZON_ROUNDS
        records = await self._ledger.unproven(self.unproven.after, since)
        if self.unproven.next_page(records, records[-1].closed_at if records else None) is not None:
            # Seldom, since no one waits for it.
            self._recheck_at = self._clock.monotonic() + RECHECK_EVERY_S
        return [record for record in records if self.unproven.is_due(record.txid)]

    async def _look_up(self, records: list[Record]) -> int:
        return sum(await asyncio.gather(*(self._look_one_up(record) for record in records)))

    async def _look_one_up(self, record: Record) -> bool:
        """Look a payment up and write what that proves; return whether it is closed now and was not."""
        # A node that hangs is waited for several times at once, not once after the other.
        async with self._slots:
            finding = await self._chain.lookup(record.txid)

        decision = decide(record, finding, None)
        now = self._clock.now()
        change = self._receipts.added_to(decision.change, record, now)
        if record.state == "intent" and decision.action in {Action.SETTLE, Action.PENDING}:
            self._report_unclosable(record, finding)
        if change is None or not await self._ledger.apply(record.txid, change, now):
            return False

        self._report(record, change)
        return record.state == "intent" and isinstance(change, Settle | Refuse)

    def _report(self, record: Record, change: Change) -> None:
        if record.state == "refused" and isinstance(change, Settle):
            self._metrics.refused_landed.inc()
            log.error("a refused payment landed after all", txid=record.txid, reason=record.reason, payer=record.payer)
        elif isinstance(change, Review) and change.new == NEVER_LANDED:
            self._metrics.delivered_unpaid.inc()
            log.error("a delivered payment never landed", txid=record.txid, payer=record.payer)
        elif isinstance(change, Settle):
            log.info("unknown payment found on the chain", txid=record.txid, evidence=CHAIN)
        elif isinstance(change, Refuse):
            log.info("an unknown payment is refused for certain", txid=record.txid, evidence=change.evidence)

    def _report_unclosable(self, record: Record, finding: Finding) -> None:
        """Say once that a payment can be closed by no evidence that is within reach."""
        past = finding.round is not None and finding.round > record.last_valid + LIFE_MARGIN_ROUNDS
        broken = extend_watch(record.watched_round, finding) is None
        if past and broken and record.txid not in self._unclosable:
            self._unclosable.add(record.txid)
            log.error("payment stays unknown: algod forgot, and no indexer answers for it", txid=record.txid)

    async def _measure(self) -> None:
        count, oldest_round = await self._ledger.count_open()
        self._metrics.unknown_open.set(count)
        self._metrics.unknown_oldest.set(0 if count == 0 else self._age_s(oldest_round))
        self._metrics.unclosable.set(len(self._unclosable))

    def _age_s(self, oldest_round: int | None) -> float:
        """Return how long the oldest unknown payment has waited: as watched here, or by the chain's rounds."""
        now = self._clock.monotonic()
        watched_s = now - min(self._first_seen.values(), default=now)

        reached = self._chain.last_round
        if reached is None or oldest_round is None:
            return max(watched_s, 0.0)
        return max(watched_s, (reached - oldest_round) * ROUND_S)

    async def _purge(self) -> None:
        """Drop the bodies whose time is over by the chain's rounds, read twice, an hour apart, and move old payments.

        One answer may be a node's error, and a wall clock may be days wrong; a body that is gone never comes back.
        """
        now = self._clock.monotonic()
        if now < self._purge_at:
            return

        reached = await self._chain.current_round()
        self._purge_at = now + (PURGE_RETRY_S if reached is None else PURGE_EVERY_S)
        if reached is None:
            return

        before = self._purge_round
        self._purge_round = reached
        if before is None:
            return

        dropped = PURGE_LIMIT
        while dropped == PURGE_LIMIT:
            dropped = await self._ledger.purge(min(before, reached))

        moved = retired.PAGE
        while moved == retired.PAGE:
            moved = await self._ledger.retire(min(before, reached))
