"""Look once more at what was closed on the facilitator's word alone, and tell the operator where it was wrong.

Two kinds of payments were closed without the chain having shown them: settled ones that our node could not confirm in
time, and refusals before any broadcast. Each is looked up, seldom, until it is found or can never land any more. What
this finds out costs nobody anything again: a refused payment that landed is settled and delivered when it is sent
again, a delivered one that never landed stays delivered. It is counted, logged and kept in the ledger.
"""

from __future__ import annotations

from typing import Final

import structlog

from gateway.app.metrics import Metrics
from gateway.clock import Clock
from gateway.ledger.statements import OPEN_LIMIT
from gateway.ledger.store import BEGINNING, Record
from gateway.ledger.thread import LedgerThread
from gateway.upstream.chain import Chain, Finding, Presence, extend_watch

EVERY_S: Final = 10.0
FIRST_WAIT_S: Final = 10.0
LONGEST_WAIT_S: Final = 1_200.0
GROWTH: Final = 4
# About a day past its last valid round no node remembers it, and an indexer would have told long ago.
HORIZON_ROUNDS: Final = 30_000
FACILITATOR: Final = "facilitator"
BEFORE_BROADCAST: Final = "before_broadcast"
NEVER_LANDED: Final = "never_landed"
log = structlog.get_logger("gateway.second_look")


class SecondLook:
    """Replace the facilitator's word by the chain's.

    Args:
        clock: the process's clock.
        chain: the evidence.
        ledger: the payments ledger's thread.
        metrics: what turned out otherwise is counted here.
    """

    def __init__(self, clock: Clock, chain: Chain, ledger: LedgerThread, metrics: Metrics) -> None:
        self._clock = clock
        self._chain = chain
        self._ledger = ledger
        self._metrics = metrics
        self._due: dict[str, tuple[float, float]] = {}
        self._after = BEGINNING
        self._seen: set[str] = set()
        self._next_at = 0.0

    async def step(self) -> None:
        """Look up what is due, a page at a time; at most every ten seconds, since nobody waits for it."""
        if self._clock.monotonic() < self._next_at:
            return
        since = (self._chain.last_round or 0) - HORIZON_ROUNDS
        records = await self._ledger.run(self._ledger.ledger.unproven, self._after, since)
        self._turn_page(records)
        for record in records:
            if self._is_due(record.txid):
                await self._look(record)

    def _turn_page(self, records: list[Record]) -> None:
        self._seen |= {record.txid for record in records}
        if len(records) == OPEN_LIMIT:
            self._after = (records[-1].closed_at or 0.0, records[-1].txid)
            return
        self._due = {txid: due for txid, due in self._due.items() if txid in self._seen}
        self._after, self._seen = BEGINNING, set()
        self._next_at = self._clock.monotonic() + EVERY_S

    def _is_due(self, txid: str) -> bool:
        now = self._clock.monotonic()
        at, wait_s = self._due.setdefault(txid, (now + FIRST_WAIT_S, FIRST_WAIT_S * GROWTH))
        if now < at:
            return False
        self._due[txid] = (now + wait_s, min(wait_s * GROWTH, LONGEST_WAIT_S))
        return True

    async def _look(self, record: Record) -> None:
        finding = await self._chain.lookup(record.txid)
        if finding.presence is Presence.FOUND:
            await self._found(record)
            return
        watched = extend_watch(record.watched_round, finding)
        await self._ledger.write(self._ledger.ledger.watch, record.txid, watched)
        if finding.proves_absence(record.last_valid, watched):
            await self._never(record, finding)

    async def _found(self, record: Record) -> None:
        ledger = self._ledger.ledger
        if record.state == "settled":
            await self._ledger.write(ledger.review, record.txid, FACILITATOR, "chain")
        elif await self._ledger.write(ledger.mark_settled, record.txid, self._clock.now(), "chain"):
            self._metrics.refused_landed.inc()
            log.error("a refused payment landed after all", txid=record.txid, reason=record.reason, payer=record.payer)

    async def _never(self, record: Record, finding: Finding) -> None:
        ledger = self._ledger.ledger
        if record.state == "refused":
            await self._ledger.write(ledger.review, record.txid, BEFORE_BROADCAST, "absent")
        elif await self._ledger.write(ledger.review, record.txid, FACILITATOR, NEVER_LANDED):
            self._metrics.delivered_unpaid.inc()
            log.error("a delivered payment never landed", txid=record.txid, payer=record.payer, round=finding.round)
