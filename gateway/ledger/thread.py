"""The payments ledger's own threads: the database waits there, and one sync serves every write that waits.

Writes that come while a batch is being written form the next batch, so durability costs one sync per batch and not
one per payment. A caller is answered only after the commit of its batch. Reads have a thread of their own, since they
need not wait for a sync.

Every wait has a limit. A write that came too late for its caller may still be done: an intent that is never settled, or
a settlement that was delivered already. The chain closes the first, the second is what the row should say.
"""

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final, ParamSpec, TypeVar

import structlog
from sqlalchemy.exc import SQLAlchemyError

from gateway.clock import Clock, LastSuccess
from gateway.errors import LedgerUnavailable, database_reason
from gateway.http.metrics import Metrics
from gateway.ledger.record import Change, Record
from gateway.ledger.store import Ledger, Place

P = ParamSpec("P")
T = TypeVar("T")
Waiting = tuple[asyncio.Future[Any], Callable[[], Any]]
# More than the payments that are in flight at once ask for; past it an answer would come too late.
MAX_WAITING: Final = 2_048
# Past the database's own limits, so that mostly it says itself what is wrong. Clients give up after some 5 s.
WAIT_S: Final = 5.0
PROBE_S: Final = 10.0
NO_INTENT: Final = "a payment could not be written into the payments ledger: quoting has stopped until it takes writes"
# Probes in a row, a second apart, that end it.
GOOD_PROBES: Final = 2
log = structlog.get_logger("gateway.ledger")


class Batches:
    """One thread, and what waits for it.

    Args:
        name: of the thread.
        work: does a batch and returns the result or the exception of each call.
        most: how many calls may wait.
        on_stall: called in the loop when a batch takes longer than `timeout_s`; it must not block. The batch fails for
            all who wait, and until it ends every call fails at once.
    """

    def __init__(
        self,
        name: str,
        work: Callable[[Sequence[Callable[[], Any]]], list[Any]],
        on_stall: Callable[[], None],
        most: int,
    ) -> None:
        self.timeout_s = WAIT_S
        self._most = most
        self._name = name
        self._do = work
        self._on_stall = on_stall
        self._loop = asyncio.get_running_loop()
        self._queue: SimpleQueue[list[Waiting] | None] = SimpleQueue()
        self._waiting: list[Waiting] = []
        self._busy = False
        self._stalled = False
        self._ended = asyncio.Event()
        # A daemon: a database that never answers must not keep the process from ending.
        threading.Thread(target=self._work, name=name, daemon=True).start()

    def wait(self, call: Callable[[], Any]) -> asyncio.Future[Any]:
        """Let the thread do a call; raise LedgerUnavailable when it is stuck, or too many wait already."""
        if self._stalled or len(self._waiting) >= self._most:
            raise self._unavailable()
        future: asyncio.Future[Any] = self._loop.create_future()
        self._waiting.append((future, call))
        if not self._busy:
            self._busy = True
            # Not at once: what the same round of the loop still asks for belongs to the same batch.
            self._loop.call_soon(self._send)
        return future

    async def close(self, timeout_s: float) -> bool:
        """End the thread after what is queued; return False when it does not end in time."""
        self._queue.put(None)
        try:
            await asyncio.wait_for(self._ended.wait(), timeout_s)
        except TimeoutError:
            return False
        return True

    def _send(self) -> None:
        if not self._waiting:
            self._busy = False
            return

        batch = self._waiting
        self._waiting = []
        self._timer = self._loop.call_later(self.timeout_s, self._stall, batch)
        self._queue.put(batch)

    def _stall(self, batch: list[Waiting]) -> None:
        """Fail all who wait; the thread may still do the batch, what it has not begun is dropped."""
        self._stalled = True
        log.error("the payments ledger does not answer", thread=self._name, seconds=self.timeout_s)
        failed = [*batch, *self._waiting]
        self._waiting = []
        for future, _ in failed:
            if not future.done():
                future.set_exception(self._unavailable())
        self._on_stall()

    def _work(self) -> None:
        while (batch := self._queue.get()) is not None:
            try:
                results = self._do([call for _, call in batch])
            except Exception as error:  # noqa: BLE001 - handed to whoever waits
                results = [error] * len(batch)
            self._notify(self._finish, batch, results)
        self._notify(self._ended.set)

    def _notify(self, callback: Callable[..., object], *args: Any) -> None:
        try:
            self._loop.call_soon_threadsafe(callback, *args)
        except RuntimeError:
            # The loop is gone, and with it all who waited.
            log.warning("the event loop ended before the ledger")

    def _finish(self, batch: list[Waiting], results: list[Any]) -> None:
        self._timer.cancel()
        if self._stalled:
            self._stalled = False
            log.warning("the payments ledger's thread is free again", thread=self._name)

        for (future, _), result in zip(batch, results, strict=True):
            if future.done():
                continue
            if isinstance(result, BaseException):
                future.set_exception(result)
            else:
                future.set_result(result)

        # A round later: whoever was answered just now may have more to write.
        self._loop.call_soon(self._send)

    def _unavailable(self) -> LedgerUnavailable:
        return LedgerUnavailable(f"the payments ledger does not answer ({self._name})")


class LedgerThread:
    """Run the methods of a ledger that is open in threads, in batches.

    Args:
        ledger: open.
        clock: of the process.
        metrics: of the process.
        most: how many reads may wait, and how many writes.
        round_now: returns the chain's round as far as it is known, to be noted with first deliveries.
        exports: folder of the files that keep the whole rows of payments that leave the ledger.
    """

    def __init__(
        self,
        ledger: Ledger,
        clock: Clock | None = None,
        metrics: Metrics | None = None,
        most: int = MAX_WAITING,
        round_now: Callable[[], int | None] = lambda: None,
        *,
        exports: Path = Path(),
    ) -> None:
        self.ledger = ledger
        self._exports = exports
        self._clock = clock or Clock()
        self._failures = (metrics or Metrics()).ledger_failures

        self.written = LastSuccess(self._clock)
        """The last probe that the database took. Other writes may fit where an intent does not: they prove nothing."""
        self._probe_at = self._clock.monotonic() + PROBE_S
        self._no_intent: str | None = None
        self._good_probes = 0

        self._reads = Batches("reads", ledger.read_all, ledger.abort_connections, most)
        self._writes = Batches("writes", ledger.write_all, ledger.abort_connections, most)

        self._deliveries: Counter[str] = Counter()
        self._round_now = round_now

    def set_timeout(self, seconds: float) -> None:
        """Set how long a read or a write, and the end of each thread, is waited for."""
        self._reads.timeout_s = self._writes.timeout_s = seconds

    def fault(self) -> str | None:
        """Return a sentence for the operator when nothing new may be sold, else None.

        The file cannot be used until a restart, or an intent could not be written and no two probes have been since.
        """
        return self.ledger.fault or self._no_intent

    async def run(self, method: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Await a method of the ledger that changes nothing; raise LedgerUnavailable when it took too long."""
        result: T = await self._counted("read", self._reads, partial(method, *args, **kwargs))
        return result

    async def write(self, method: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Await a method of the ledger that changes one payment, until it is durable, with whatever else waits.

        Raises:
            LedgerUnavailable: it took too long, or too many wait. It may still be written later.
        """
        result: T = await self._counted("write", self._writes, partial(method, *args, **kwargs))
        return result

    async def look_up(self, txid: str, identifier: str | None) -> tuple[Record | None, str | None]:
        """Return a payment with its body, and the txid that holds an identifier; None for what is not known."""
        return await self.run(self.ledger.look_up, txid, identifier)

    async def find(self, txid: str) -> Record | None:
        """Return a payment with its body, None when it is not known."""
        return await self.run(self.ledger.find, txid)

    async def open_payments(self, after: Place) -> list[Record]:
        """Return a page of payments whose outcome is not known, see `Ledger.open_payments`."""
        return await self.run(self.ledger.open_payments, after)

    async def unproven(self, after: Place, since_round: int) -> list[Record]:
        """Return a page of what was closed on the facilitator's word, see `Ledger.unproven`."""
        return await self.run(self.ledger.unproven, after, since_round)

    async def count_open(self) -> tuple[int, int | None]:
        """Return how many payments are open, and the earliest round at which an intent of them was written."""
        return await self.run(self.ledger.count_open)

    async def apply(self, txid: str, change: Change, at: datetime) -> bool:
        """Change durably what is known of a payment, see `Ledger.apply`; False when its row does not allow it."""
        return await self.write(self.ledger.apply, txid, change, at)

    async def begin_settle(self, txid: str, holder: str, attempt: int, owner: str) -> bool:
        """Become the one process that asks the facilitator about an intent, see `Ledger.begin_settle`."""
        return await self.write(self.ledger.begin_settle, txid, holder, attempt, owner)

    async def attach_body(self, chosen: Record) -> bool:
        """Choose durably what an adopted payment bought, see `Ledger.attach_body`; False when that was done before."""
        return await self.write(self.ledger.attach_body, chosen)

    async def purge(self, passed_round: int) -> int:
        """Drop a page of bodies that no payment needs, see `Ledger.purge`; return how many went."""
        return await self.write(self.ledger.purge, passed_round)

    async def retire(self, passed_round: int) -> int:
        """Move a page of payments of long ago out of the way, see `Ledger.retire`; return how many."""
        return await self.write(self.ledger.retire, passed_round, self._exports)

    async def write_intent(self, intent: Record) -> None:
        """Await `Ledger.write_intent`; one that fails stops every further sale until probes show that it would not.

        Raises:
            IdentityTaken: another process holds the txid or the identifier.
            SQLAlchemyError: the database failed, or LedgerUnavailable: it took too long; it may still be written later.
        """
        try:
            await self.write(self.ledger.write_intent, intent)
        except SQLAlchemyError as error:
            self._good_probes = 0
            if self._no_intent is None:
                reason = database_reason(error)
                self._no_intent = f"{NO_INTENT} ({reason})"
                log.error(NO_INTENT, reason=reason)  # noqa: TRY400 - one line
            raise

    async def _counted(self, kind: str, batches: Batches, call: Callable[[], Any]) -> Any:
        try:
            return await batches.wait(call)
        except SQLAlchemyError:
            self._failures.labels(kind).inc()
            raise

    def delivered(self, txid: str) -> None:
        """Count a delivery; written with the next flush, since a count is not worth a sync.

        A kill may lose the counts of the last second, and that a payment was delivered for the first time: then its
        next delivery counts as the first. It loses no money fact: those are written before any answer.
        """
        self._deliveries[txid] += 1

    async def flush(self) -> None:
        """Write the counted deliveries."""
        if not self._deliveries:
            return

        # What is delivered while these are written is counted for the next flush.
        counts = self._deliveries
        self._deliveries = Counter()
        try:
            await self.write(self.ledger.count_deliveries, counts, self._round_now())
        except SQLAlchemyError as error:
            # Only a count: kept for the next flush, and no reason to fail.
            log.warning("deliveries could not be counted", reason=database_reason(error))
            self._deliveries.update(counts)

    async def run_maintenance(self) -> None:
        """Look after the file and the counts; called every second, also when there are no buyers."""
        await self._check_file()
        await self.flush()
        await self._probe()

    async def _check_file(self) -> None:
        try:
            # Not in the loop: a disk that hangs would stop everything.
            await self._reads.wait(self.ledger.check_file)
        except SQLAlchemyError:
            # Logged where it was found.
            self._failures.labels("probe").inc()

    async def _probe(self) -> None:
        """Prove that the ledger takes what an intent needs: now and then, and each second after one that failed."""
        if self._no_intent is None and self._clock.monotonic() < self._probe_at:
            return

        self._probe_at = self._clock.monotonic() + PROBE_S
        try:
            await self._counted("probe", self._writes, self.ledger.probe)
        except SQLAlchemyError as error:
            self._good_probes = 0
            log.error("the payments ledger takes no write", reason=database_reason(error))  # noqa: TRY400
        else:
            self.written.ok()
            self._count_good_probe()

    def _count_good_probe(self) -> None:
        """Sell again once enough probes in a row were taken after an intent that was not."""
        if self._no_intent is None:
            return

        self._good_probes += 1
        if self._good_probes == GOOD_PROBES:
            self._no_intent = None
            log.info("the payments ledger takes payments again")

    async def close(self) -> None:
        """Write what is counted and close the database, unless it does not answer: then leave it as after a kill."""
        await self.flush()

        timeout_s = self._writes.timeout_s
        ended = await asyncio.gather(*(user.close(timeout_s) for user in (self._reads, self._writes)))
        if all(ended):
            await asyncio.to_thread(self.ledger.close)
        else:
            log.error("the payments ledger does not answer; it is left as after a kill, which loses nothing")
