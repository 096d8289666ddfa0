"""The payments ledger's own threads: the database waits there, and one sync serves every write that waits.

Writes that come while a batch is being written form the next batch, so durability costs one sync per batch and not
one per payment. A caller is answered only after the commit of its batch. Reads have a thread of their own, since they
need not wait for anybody's sync; so has what tends the files.

Every wait has a limit. A write that came too late for its caller may still be done: an intent that nobody settles, or a
settlement that was delivered already. The chain closes the first, the second is what the row should say.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from functools import partial
from typing import Any, Final, ParamSpec, TypeVar

import structlog
from sqlalchemy.exc import SQLAlchemyError

from gateway.app.metrics import Metrics
from gateway.clock import Clock, LastGood, SystemClock
from gateway.errors import LedgerUnavailable, database_reason
from gateway.ledger.batches import Batches
from gateway.ledger.store import Ledger

P = ParamSpec("P")
T = TypeVar("T")
# Past the database's own limits, so that mostly it says itself what is wrong. Clients give up after some 5 s.
WAIT_S: Final = 5.0
PROBE_S: Final = 10.0
# Reading a large file to its end takes minutes.
EXAMINE_S: Final = 86_400.0
# Of 4 KiB: where SQLite's log is begun again, long before SQLite does so by itself within a payment's commit.
LONG_LOG_PAGES: Final = 4_000
log = structlog.get_logger("gateway.ledger")


class LedgerThread:
    """Run the ledger's methods in threads, in batches.

    Args:
        ledger: opened already, so that a bad database stops the start.
        clock: the process's clock.
        metrics: failures are counted here.
    """

    def __init__(self, ledger: Ledger, clock: Clock | None = None, metrics: Metrics | None = None) -> None:
        self.ledger = ledger
        self._clock = clock or SystemClock()
        self._failures = (metrics or Metrics()).ledger_failures
        self.written = LastGood(self._clock)
        """The last probe that the database took. Other writes may fit where an intent does not: they prove nothing."""
        self._probe_at = self._clock.monotonic() + PROBE_S
        self._reads = Batches("reads", partial(_do_all, ledger.read_all), WAIT_S, ledger.cut)
        self._writes = Batches("writes", partial(_do_all, ledger.write_all), WAIT_S, ledger.cut)
        self._tends = Batches("files", _call_each, WAIT_S)
        self._examines = Batches("examination", _call_each, EXAMINE_S)
        self._deliveries: dict[str, int] = {}
        self._untidy = False
        self._examines.wait(ledger.examine)

    def limit(self, seconds: float) -> None:
        """Set how long a read or a write, and the end of each thread, is waited for."""
        self._reads.limit_s = self._writes.limit_s = self._tends.limit_s = seconds

    def fault(self) -> str | None:
        """Return a sentence for the operator when the file cannot be used until a restart, else None."""
        return self.ledger.fault

    async def run(self, method: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Read, and await the result.

        Args:
            method: a bound method of `ledger` that changes nothing.
            *args: its arguments.
            **kwargs: its keyword arguments.

        Raises:
            LedgerUnavailable: it took too long, or too many wait.

        Returns:
            What it returns; it raises what it raises.
        """
        result: T = await self._counted("read", self._reads, partial(method, *args, **kwargs))
        return result

    async def write(self, method: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Write together with whatever else waits; return when it is durable.

        Args:
            method: a bound method of `ledger` that changes one payment.
            *args: its arguments.
            **kwargs: its keyword arguments.

        Raises:
            LedgerUnavailable: it took too long, or too many wait. It may still be written later.

        Returns:
            What it returns; it raises what it raises.
        """
        self._untidy = True
        result: T = await self._counted("write", self._writes, partial(method, *args, **kwargs))
        return result

    async def _counted(self, kind: str, batches: Batches, call: Callable[[], Any]) -> Any:
        try:
            return await batches.wait(call)
        except SQLAlchemyError:
            self._failures.labels(kind).inc()
            raise

    def delivered(self, txid: str) -> None:
        """Count a delivery; written with the next flush, since a count is not worth a sync.

        A kill may lose the counts of the last second. It loses no money fact: those are written before any answer.
        """
        self._deliveries[txid] = self._deliveries.get(txid, 0) + 1

    async def flush(self) -> None:
        """Write the counted deliveries."""
        if not self._deliveries:
            return
        counts, self._deliveries = self._deliveries, {}
        try:
            await self.write(self.ledger.count_deliveries, counts)
        except SQLAlchemyError as error:
            # Only a count: kept for the next flush, and no reason to fail.
            log.warning("deliveries could not be counted", reason=database_reason(error))
            for txid, count in counts.items():
                self._deliveries[txid] = self._deliveries.get(txid, 0) + count

    async def tend(self) -> None:
        """Look after the files, the counts and the log; called every second, also when nobody buys."""
        await self._check_file()
        await self.flush()
        await self._probe()
        await self.tidy()

    async def _check_file(self) -> None:
        try:
            # Not in the loop: a disk that hangs would stop everything.
            await self._tends.wait(self.ledger.check_file)
        except SQLAlchemyError:
            # Logged where it was found.
            self._failures.labels("probe").inc()

    async def _probe(self) -> None:
        """Prove now and then that the ledger takes what an intent needs."""
        if self._clock.monotonic() < self._probe_at:
            return
        self._probe_at = self._clock.monotonic() + PROBE_S
        self._untidy = True
        try:
            await self._counted("probe", self._writes, self.ledger.probe)
        except SQLAlchemyError as error:
            log.error("the payments ledger takes no write", reason=database_reason(error))  # noqa: TRY400
        else:
            self.written.ok()

    async def tidy(self) -> None:
        """Copy the database's log into the database, beside the payments and not within one of their commits.

        SQLite does it every 1,000 pages in whatever commit comes then, and everybody waits meanwhile: 13 to 57 ms on a
        disk that syncs a commit in 0.3 ms. Here a thread copies while writes go on; only the rest that came meanwhile
        is copied between two batches, so that the log can begin again.
        """
        if not self._untidy:
            return
        self._untidy = False
        try:
            if await self._tends.wait(self.ledger.copy_log) >= LONG_LOG_PAGES:
                await self._tends.wait(self.ledger.end_log)
        except SQLAlchemyError as error:
            # The log only grows: SQLite copies it by itself in the end.
            log.warning("the ledger's log could not be copied", reason=database_reason(error))

    async def close(self) -> None:
        """Write what is counted and close the database, unless it does not answer: then leave it as after a kill."""
        await self.flush()
        self.ledger.stop_examining()
        limit_s = self._writes.limit_s
        ended = await asyncio.gather(*(user.close(limit_s) for user in (self._reads, self._writes, self._examines)))
        if all(ended):
            with contextlib.suppress(LedgerUnavailable):
                await self._tends.wait(self.ledger.close)
        if not (await self._tends.close(limit_s) and all(ended)):
            log.error("the payments ledger does not answer; it is left as after a kill, which loses nothing")


def _do_all(work: Callable[[list[Callable[[], Any]]], list[Any]], calls: list[Callable[[], Any]]) -> list[Any]:
    try:
        return work(calls)
    except Exception as error:  # noqa: BLE001 - whoever waits must hear of it
        return [error] * len(calls)


def _call_each(calls: list[Callable[[], Any]]) -> list[Any]:
    return [_call(call) for call in calls]


def _call(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as error:  # noqa: BLE001 - handed to whoever waits
        return error
