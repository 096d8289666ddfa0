"""The payments ledger's own thread: the database waits there, and one sync serves every write that waits.

Writes that come while a batch is being written form the next batch, so durability costs one sync per batch and not
one per payment. A caller is answered only after the commit of its batch. Nothing here is shared with the thread but
the queue: batches are made and results handed out in the event loop.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from typing import Any, ParamSpec, TypeVar

import structlog
from sqlalchemy.exc import SQLAlchemyError

from gateway.ledger import Ledger

P = ParamSpec("P")
T = TypeVar("T")
Waiting = tuple[asyncio.Future[Any], Callable[[], Any]]
Batch = tuple[list[Waiting], list[Waiting]]
log = structlog.get_logger("gateway.ledger")


class LedgerThread:
    """Run the ledger's methods in one thread, in batches.

    Args:
        ledger: opened already, so that a bad database stops the start.
    """

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self._loop = asyncio.get_running_loop()
        self._batches: SimpleQueue[Batch | None] = SimpleQueue()
        self._reads: list[Waiting] = []
        self._writes: list[Waiting] = []
        self._busy = False
        self._deliveries: dict[str, int] = {}
        self._thread = threading.Thread(target=self._work, name="ledger", daemon=True)
        self._thread.start()

    async def run(self, method: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Read, and await the result.

        Args:
            method: a bound method of `ledger` that changes nothing.
            *args: its arguments.
            **kwargs: its keyword arguments.

        Returns:
            What it returns; it raises what it raises.
        """
        result: T = await self._wait(self._reads, partial(method, *args, **kwargs))
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
        result: T = await self._wait(self._writes, partial(method, *args, **kwargs))
        return result

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

    async def close(self) -> None:
        """Write what is counted and close the database."""
        await self.flush()
        self._batches.put(None)
        await asyncio.to_thread(self._thread.join)
        await asyncio.to_thread(self.ledger.close)

    def _wait(self, line: list[Waiting], call: Callable[[], Any]) -> asyncio.Future[Any]:
        future: asyncio.Future[Any] = self._loop.create_future()
        line.append((future, call))
        if not self._busy:
            self._busy = True
            # Not at once: what the same round of the loop still asks for belongs to the same batch.
            self._loop.call_soon(self._send)
        return future

    def _send(self) -> None:
        if not self._reads and not self._writes:
            self._busy = False
            return
        self._batches.put((self._reads, self._writes))
        self._reads, self._writes = [], []

    def _work(self) -> None:
        while (batch := self._batches.get()) is not None:
            reads, writes = batch
            if reads:
                # Readers need not wait for the sync of the writers beside them.
                self._hand_out(self._resolve, reads, [_call(call) for _, call in reads])
            self._hand_out(self._finish, writes, self._write_all(writes) if writes else [])

    def _write_all(self, writes: list[Waiting]) -> list[Any]:
        try:
            return self.ledger.write_all([call for _, call in writes])
        except Exception as error:  # noqa: BLE001 - whoever waits must hear of it
            return [error] * len(writes)

    def _hand_out(self, function: Callable[..., None], *args: Any) -> None:
        try:
            self._loop.call_soon_threadsafe(function, *args)
        except RuntimeError:
            # The loop is gone, and with it everyone who waited.
            log.warning("the event loop ended before the ledger")

    def _finish(self, waiting: list[Waiting], results: list[Any]) -> None:
        self._resolve(waiting, results)
        # A round later: whoever was answered just now may have more to write.
        self._loop.call_soon(self._send)

    def _resolve(self, waiting: list[Waiting], results: list[Any]) -> None:
        for (future, _), result in zip(waiting, results, strict=True):
            if future.done():
                continue
            if isinstance(result, BaseException):
                future.set_exception(result)
            else:
                future.set_result(result)


def _call(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as error:  # noqa: BLE001 - handed to whoever waits
        return error
