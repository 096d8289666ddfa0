"""Remember settled payments, so that a replay needs neither the disk nor the facilitator.

Only what is settled is kept, and settled is final: nothing here can become untrue. The payments ledger stays the
truth; whatever is missing here is read there.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from typing import Final

from gateway.payments.outcome import Delivered

MAX_PAYMENTS: Final = 8_192
MAX_BODY_BYTES: Final = 16 * 1024 * 1024


class Settled:
    """The newest settled payments, at most 8,192 and at most 16 MiB of different bodies."""

    def __init__(self) -> None:
        self._payments: OrderedDict[str, Delivered] = OrderedDict()
        self._bodies: dict[str, tuple[bytes, int]] = {}
        self._size = 0

    def get(self, txid: str) -> Delivered | None:
        """Return the delivery to repeat, None when it is not remembered."""
        found = self._payments.get(txid)
        if found is not None:
            self._payments.move_to_end(txid)
        return found

    def put(self, delivered: Delivered) -> None:
        """Remember a payment that is settled.

        Args:
            delivered: what every replay gets.
        """
        if delivered.txid in self._payments:
            return
        content, holders = self._bodies.get(delivered.sha256, (delivered.content, 0))
        if not holders:
            self._size += len(content)
        self._bodies[delivered.sha256] = (content, holders + 1)
        # One copy of the bytes serves all that bought them.
        self._payments[delivered.txid] = replace(delivered, content=content, replay=True)
        while len(self._payments) > MAX_PAYMENTS or self._size > MAX_BODY_BYTES:
            self._drop_oldest()

    def _drop_oldest(self) -> None:
        _, oldest = self._payments.popitem(last=False)
        content, holders = self._bodies.pop(oldest.sha256)
        if holders > 1:
            self._bodies[oldest.sha256] = (content, holders - 1)
        else:
            self._size -= len(content)
