"""The newest deliveries of a process, to repeat without a disk.

What is settled is final: nothing that is remembered here can become untrue.
"""

from collections import OrderedDict
from dataclasses import replace
from typing import Final

from gateway.ledger.record import Record
from gateway.payments.decide import Delivered, Outcome, repeat
from gateway.upstream.chain import Chain
from gateway.values import Payment

MAX_REMEMBERED: Final = 2_048
"""Payments: three minutes of a million a day. A repeat that comes later reads the ledger."""
MAX_REMEMBERED_BYTES: Final = 32 * 1024 * 1024
"""Of their bodies, which most of them share."""


class Deliveries:
    """What was delivered lately; the least used goes first."""

    def __init__(self, chain: Chain) -> None:
        self._chain = chain
        self._delivered: OrderedDict[str, Delivered] = OrderedDict()
        self._bytes = 0

    async def repeated(self, path: str, payment: Payment) -> Outcome | None:
        """Return the outcome for a payment that was delivered before, None if that is not remembered here.

        A first delivery that could not be dated is dated now.
        """
        delivered = self._delivered.get(payment.txid)
        if delivered is None:
            return None
        self._delivered.move_to_end(payment.txid)

        record = delivered.record
        reached = await self.reached(record)

        if record.delivered_round is None and reached is not None and record.txid in self._delivered:
            delivered = replace(delivered, record=replace(record, delivered_round=reached))
            self._delivered[record.txid] = delivered

        return repeat(delivered, path, payment, reached)

    async def reached(self, record: Record) -> int | None:
        """Return the chain's round where a repeat depends on it, None where it does not or no node answers."""
        if record.identifier is not None:
            return None
        return await self._chain.current_round(self._chain.quick_timeout_s)

    def remember(self, delivered: Delivered) -> None:
        """Keep a delivery, dated with the round that the chain has reached as far as we know."""
        record = delivered.record
        if record.delivered_round is None:
            record = replace(record, delivered_round=self._chain.round_now())

        if record.txid not in self._delivered:
            self._delivered[record.txid] = Delivered(record, delivered.content)
            self._bytes += len(delivered.content)

        # The least used go first.
        while self._bytes > MAX_REMEMBERED_BYTES or len(self._delivered) > MAX_REMEMBERED:
            _, oldest = self._delivered.popitem(last=False)
            self._bytes -= len(oldest.content)
