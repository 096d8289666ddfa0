"""Judge which process may be asking the facilitator about an intent, by what this process has watched.

A lease is written nowhere. It lasts as long as one settle may take, counted on the monotonic clock from the moment
this process first saw the owner and the attempt. No wall clock, ours or another machine's, can stretch or cut it.
"""

from __future__ import annotations

from collections.abc import Collection

from gateway.clock import Clock
from gateway.ledger.owner import is_gone
from gateway.ledger.record import Record


class Leases:
    """The attempts of other processes that this one has seen.

    Args:
        clock: the process's clock.
        owner: this process, as it signs its rows.
        seconds: the longest that one attempt to settle may take.
    """

    def __init__(self, clock: Clock, owner: str, seconds: float) -> None:
        self._clock = clock
        self._owner = owner
        self.seconds = seconds
        self._seen: dict[str, tuple[str, int, float]] = {}

    def is_over(self, record: Record) -> bool:
        """Return whether nobody else is working on an intent any more.

        Args:
            record: the intent as it stands.

        Returns:
            True for our own row, for one of a process that runs no more, and for one whose attempt this process has
            watched, unchanged, for as long as an attempt may take.
        """
        if record.owner == self._owner or is_gone(record.owner, self._owner):
            return True
        now = self._clock.monotonic()
        owner, settles, since = self._seen.get(record.txid, ("", 0, now))
        if (owner, settles) != (record.owner, record.settles):
            self._seen[record.txid] = (record.owner, record.settles, now)
            return False
        return now - since >= self.seconds

    def keep_only(self, txids: Collection[str]) -> None:
        """Forget every payment but these, the open ones."""
        self._seen = {txid: seen for txid, seen in self._seen.items() if txid in txids}
