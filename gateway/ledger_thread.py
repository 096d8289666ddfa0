"""The payments ledger's own threads: the database waits there, and one sync serves every write that waits.

Writes that come while a batch is being written form the next batch, so durability costs one sync per batch and not
one per payment. A caller is answered only after the commit of its batch. Reads have a thread of their own, since they
need not wait for anybody's sync. Nothing here is shared with the threads but their queues: batches are made and results
handed out in the event loop.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from typing import Any, Final, ParamSpec, TypeVar

import structlog
from sqlalchemy.exc import SQLAlchemyError

from gateway.clock import Clock, SystemClock
from gateway.health import LastGood
from gateway.ledger import Ledger

P = ParamSpec("P")
T = TypeVar("T")
Waiting = tuple[asyncio.Future[Any], Callable[[], Any]]
# Of 4 KiB: where SQLite's log is begun anew, long before SQLite does so by itself within a payment's commit.
LONG_LOG_PAGES: Final = 4_000
log = structlog.get_logger("gateway.ledger")


class LedgerThread:
    """Run the ledger's methods in threads, in batches.

    Args:
        ledger: opened already, so that a bad database stops the start.
        clock: the process's clock.
    """

    def __init__(self, ledger: Ledger, clock: Clock | None = None) -> None:
        self.ledger = ledger
        self.written = LastGood(clock or SystemClock())
        """The last write that the database took."""
        self._reads = _Batches("ledger reads", lambda calls: [_call(call) for call in calls])
        self._writes = _Batches("ledger", self._write_all)
        self._deliveries: dict[str, int] = {}
        self._untidy = False

    async def run(self, method: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Read, and await the result.

        Args:
            method: a bound method of `ledger` that changes nothing.
            *args: its arguments.
            **kwargs: its keyword arguments.

        Returns:
            What it returns; it raises what it raises.
        """
        result: T = await self._reads.wait(partial(method, *args, **kwargs))
        return result

    async def write(self, method: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Write together with whatever else waits; return when it is durable.

        Args:
            method: a bound method of `ledger` that changes one payment.
            *args: its arguments.
            **kwargs: its keyword arguments.

        Returns:
            What it returns; it raises what it raises.
        """
        self._untidy = True
        result: T = await self._writes.wait(partial(method, *args, **kwargs))
        return result

    def fault(self) -> str | None:
        """Say why the ledger cannot be trusted any more, None while it can."""
        return None

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
        except SQLAlchemyError:
            # Only a count: kept for the next flush, and no reason to fail.
            log.exception("deliveries could not be counted")
            for txid, count in counts.items():
                self._deliveries[txid] = self._deliveries.get(txid, 0) + count

    async def tidy(self) -> None:
        """Copy the database's log into the database, beside the payments and not within one of their commits.

        SQLite does it every 1,000 pages in whatever commit comes then, and everybody waits meanwhile: 13 to 57 ms on a
        disk that syncs a commit in 0.3 ms. Here a thread copies while writes go on; only the rest that came meanwhile
        is copied between two batches, so that the log can begin anew.
        """
        if not self._untidy:
            return
        self._untidy = False
        try:
            if await asyncio.to_thread(self.ledger.copy_log) >= LONG_LOG_PAGES:
                await asyncio.to_thread(self.ledger.end_log)
        except SQLAlchemyError:
            # The log only grows: SQLite copies it by itself in the end.
            log.exception("the ledger's log could not be copied")

    async def close(self) -> None:
        """Write what is counted and close the database."""
        await self.flush()
        await self._writes.close()
        await self._reads.close()
        await asyncio.to_thread(self.ledger.close)

    def _write_all(self, calls: list[Callable[[], Any]]) -> list[Any]:
        try:
            return self.ledger.write_all(calls)
        except Exception as error:  # noqa: BLE001 - whoever waits must hear of it
            return [error] * len(calls)


class _Batches:
    """One thread, and what waits for it.

    Args:
        name: of the thread.
        work: does a batch and returns the result or the exception of each call; it raises nothing.
    """

    def __init__(self, name: str, work: Callable[[list[Callable[[], Any]]], list[Any]]) -> None:
        self._do = work
        self._loop = asyncio.get_running_loop()
        self._queue: SimpleQueue[list[Waiting] | None] = SimpleQueue()
        self._waiting: list[Waiting] = []
        self._busy = False
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def wait(self, call: Callable[[], Any]) -> asyncio.Future[Any]:
        future: asyncio.Future[Any] = self._loop.create_future()
        self._waiting.append((future, call))
        if not self._busy:
            self._busy = True
            # Not at once: what the same round of the loop still asks for belongs to the same batch.
            self._loop.call_soon(self._send)
        return future

    async def close(self) -> None:
        self._queue.put(None)
        await asyncio.to_thread(self._thread.join)

    def _send(self) -> None:
        if not self._waiting:
            self._busy = False
            return
        self._queue.put(self._waiting)
        self._waiting = []

    def _work(self) -> None:
        while (batch := self._queue.get()) is not None:
            results = self._do([call for _, call in batch])
            try:
                self._loop.call_soon_threadsafe(self._finish, batch, results)
            except RuntimeError:
                # The loop is gone, and with it everyone who waited.
                log.warning("the event loop ended before the ledger")

    def _finish(self, waiting: list[Waiting], results: list[Any]) -> None:
        for (future, _), result in zip(waiting, results, strict=True):
            if future.done():
                continue
            if isinstance(result, BaseException):
                future.set_exception(result)
            else:
                future.set_result(result)
        # A round later: whoever was answered just now may have more to write.
        self._loop.call_soon(self._send)


def _call(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as error:  # noqa: BLE001 - handed to whoever waits
        return error
