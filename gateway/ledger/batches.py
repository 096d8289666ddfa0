"""One thread that does what waits for it in batches, with a time limit: no caller hangs because the thread does.

What comes while a batch is being done forms the next batch. Nothing is shared with the thread but its queue: batches
are made and results handed out in the event loop.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Final

import structlog

from gateway.errors import LedgerUnavailable

Waiting = tuple[asyncio.Future[Any], Callable[[], Any]]
# More than connections that can buy at once need; past it an answer would come too late for anybody.
MAX_WAITING: Final = 1_024
log = structlog.get_logger("gateway.ledger")


class Batches:
    """One thread, and what waits for it.

    Args:
        name: of the thread.
        work: does a batch and returns the result or the exception of each call; it raises nothing.
        limit_s: a batch that takes longer fails for all who wait; until it ends every call fails at once.
        on_stall: called in the loop when that happens; it must not block.
    """

    def __init__(
        self,
        name: str,
        work: Callable[[list[Callable[[], Any]]], list[Any]],
        limit_s: float,
        on_stall: Callable[[], None] = lambda: None,
    ) -> None:
        self.limit_s = limit_s
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
        """Let the thread do a call.

        Raises:
            LedgerUnavailable: the thread is stuck, or too many wait already.
        """
        if self._stalled or len(self._waiting) >= MAX_WAITING:
            raise self._unavailable()
        future: asyncio.Future[Any] = self._loop.create_future()
        self._waiting.append((future, call))
        if not self._busy:
            self._busy = True
            # Not at once: what the same round of the loop still asks for belongs to the same batch.
            self._loop.call_soon(self._send)
        return future

    async def close(self, limit_s: float) -> bool:
        """End the thread after what is queued; return False when it does not end in time."""
        self._queue.put(None)
        try:
            await asyncio.wait_for(self._ended.wait(), limit_s)
        except TimeoutError:
            return False
        return True

    def _send(self) -> None:
        if not self._waiting:
            self._busy = False
            return
        batch, self._waiting = self._waiting, []
        self._timer = self._loop.call_later(self.limit_s, self._stall, batch)
        self._queue.put(batch)

    def _stall(self, batch: list[Waiting]) -> None:
        """Fail everybody; the thread may still do the batch, what it has not begun is dropped."""
        self._stalled = True
        log.error("the payments ledger does not answer", thread=self._name, seconds=self.limit_s)
        failed, self._waiting = [*batch, *self._waiting], []
        for future, _ in failed:
            if not future.done():
                future.set_exception(self._unavailable())
        self._on_stall()

    def _work(self) -> None:
        while (batch := self._queue.get()) is not None:
            results = self._do([call for _, call in batch])
            self._tell(self._finish, batch, results)
        self._tell(self._ended.set)

    def _tell(self, callback: Callable[..., object], *args: Any) -> None:
        try:
            self._loop.call_soon_threadsafe(callback, *args)
        except RuntimeError:
            # The loop is gone, and with it everyone who waited.
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
