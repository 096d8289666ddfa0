"""Who may be asking the facilitator about an intent: the process that its row names, as long as that may take.

A row names its owner, so that a dead process's unfinished work can be taken over at once. How long a live one's attempt
may take, its lease, is written nowhere: it is counted on the monotonic clock from the moment this process first saw
the owner and the attempt, so no wall clock, ours or another machine's, can stretch or cut it.
"""

import os
import secrets
import socket
from collections.abc import Collection
from pathlib import Path

from gateway.clock import Clock
from gateway.ledger.record import Record


def make_owner() -> str:
    """Return a name for one ledger user: host, boot, namespace of process ids, process id, when it began, chance.

    Boot, namespace and beginning are empty where the system does not say.
    """
    pid = os.getpid()
    return f"{socket.gethostname()}:{_boot_and_namespace()}:{pid}:{_began(pid)}:{secrets.token_hex(4)}"


def is_gone(owner: str, me: str) -> bool:
    """Return whether the process that wrote a name certainly runs no more; `me` is our own name.

    True only for a process of our boot and namespace whose id is free, or belongs to one that began at another time.
    Never for another boot, since two machines may have one hostname, nor for a name of an older version, which does not
    say where its id counts: those are waited for as long as they may take.

    >>> me = make_owner()
    >>> is_gone(me, me), is_gone("another host:boot:1:7:ticks:1234abcd", me), is_gone("of an older version", me)
    (False, False, False)
    """
    parts = owner.rsplit(":", 5)
    ours = me.rsplit(":", 5)
    if owner == me or len(parts) != 6 or parts[:3] != ours[:3] or "" in parts[1:3] or not parts[3].isdigit():
        return False

    pid = int(parts[3])
    began = parts[4]
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False

    # Ids come round again, in containers at once: the one that runs now may be another.
    return "" not in {began, _began(pid)} and began != _began(pid)


class Leases:
    """The attempts of other processes that this one, the owner, has seen; one takes so many seconds at most."""

    def __init__(self, clock: Clock, owner: str, seconds: float) -> None:
        self._clock = clock
        self._owner = owner
        self.seconds = seconds
        self._seen: dict[str, tuple[str, int, float]] = {}

    def is_over(self, record: Record) -> bool:
        """Return whether no other process is working on an intent any more.

        True for our own row, for one of a process that runs no more, and for one whose attempt this process has
        watched, unchanged, for as long as an attempt may take.
        """
        if record.owner == self._owner or is_gone(record.owner, self._owner):
            return True

        now = self._clock.monotonic()
        owner, settles, since = self._seen.get(record.txid, ("", 0, now))
        if (owner, settles) != (record.owner, record.settles):
            # Another owner, or another attempt of the same one: its time begins now.
            self._seen[record.txid] = (record.owner, record.settles, now)
            return False
        return now - since >= self.seconds

    def keep_only(self, txids: Collection[str]) -> None:
        """Forget every payment but these, the open ones."""
        self._seen = {txid: seen for txid, seen in self._seen.items() if txid in txids}


def _boot_and_namespace() -> str:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}:{Path('/proc/self/ns/pid').stat().st_ino}"
    except OSError:
        return ":"


def _began(pid: int) -> str:
    """Return a process's start in clock ticks since boot, empty where the system does not say."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""
