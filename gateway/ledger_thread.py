"""The payments ledger's own thread: SQLite waits there, never in the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

import structlog
from sqlalchemy.exc import SQLAlchemyError

from gateway.ledger import Ledger

P = ParamSpec("P")
T = TypeVar("T")
log = structlog.get_logger("gateway.ledger")


class LedgerThread:
    """Run the ledger's methods in one thread, in order.

    Args:
        ledger: opened already, so that a bad file stops the start.
    """

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="ledger")
        self._deliveries: dict[str, int] = {}

    async def run(self, method: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call one of the ledger's methods and await its result.

        Args:
            method: a bound method of `ledger`.
            *args: its arguments.
            **kwargs: its keyword arguments.

        Returns:
            What it returns; it raises what it raises.
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, lambda: method(*args, **kwargs))

    def delivered(self, txid: str) -> None:
        """Count a delivery; written with the next flush, since a count is not worth a sync."""
        self._deliveries[txid] = self._deliveries.get(txid, 0) + 1

    async def flush(self) -> None:
        """Write the counted deliveries."""
        if not self._deliveries:
            return
        counts, self._deliveries = self._deliveries, {}
        try:
            await self.run(self.ledger.count_deliveries, counts)
        except SQLAlchemyError:
            # Only a count: kept for the next flush, and no reason to fail.
            log.exception("deliveries could not be counted")
            for txid, count in counts.items():
                self._deliveries[txid] = self._deliveries.get(txid, 0) + count

    async def close(self) -> None:
        """Write what is counted and close the file."""
        await self.flush()
        await self.run(self.ledger.close)
        self._pool.shutdown()
