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
from typing import Final, NamedTuple

from gateway.clock import Clock
from gateway.ledger.record import Record

PROC: Final = Path("/proc")


class _Name(NamedTuple):
    """An owner's name; boot, namespace of process ids and beginning are empty where the system does not say."""

    host: str
    boot: str
    namespace: str
    pid: str
    began: str
    chance: str

    def counts_as(self, other: "_Name") -> bool:
        """Return whether the ids of both certainly count the same processes."""
        here = (self.host, self.boot, self.namespace)
        return here == (other.host, other.boot, other.namespace) and "" not in {self.boot, self.namespace}


def make_owner(proc: Path = PROC) -> str:
    """Return a name for one ledger user: host, boot, namespace of process ids, process id, when it began, chance.

    Boot, namespace and beginning are empty where the system does not say.
    """
    pid = os.getpid()
    boot, namespace = _boot_and_namespace(proc)
    return ":".join(_Name(socket.gethostname(), boot, namespace, str(pid), _began(pid, proc), secrets.token_hex(4)))


def is_gone(owner: str, me: str) -> bool:
    """Return whether the process that wrote a name certainly runs no more; `me` is our own name.

    True only for a process of our boot and namespace whose id is free, or belongs to one that began at another time.
    Never for another boot, since two machines may have one hostname, nor for a name of an older version, which does not
    say where its id counts: those are waited for as long as they may take.

    >>> me = make_owner()
    >>> is_gone(me, me), is_gone("another host:boot:1:7:ticks:1234abcd", me), is_gone("of an older version", me)
    (False, False, False)
    """
    theirs = _parse(owner)
    ours = _parse(me)
    if theirs is None or ours is None or not theirs.counts_as(ours) or not theirs.pid.isdigit():
        return False

    pid = int(theirs.pid)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False

    # Ids come round again, in containers at once: the one that runs now may be another.
    runs_since = _began(pid, PROC)
    return "" not in {theirs.began, runs_since} and theirs.began != runs_since


class Leases:
    """The attempts of other processes that this one, the owner, has seen; one takes so many seconds at most."""

    def __init__(self, clock: Clock, owner: str, seconds: float) -> None:
        self._clock = clock
        self._owner = owner
        self.seconds = seconds
        self._seen: dict[str, tuple[tuple[str, int], float]] = {}

    def is_over(self, record: Record) -> bool:
        """Return whether no other process is working on an intent any more.

        True for our own row, for one of a process that runs no more, and for one whose attempt this process has
        watched, unchanged, for as long as an attempt may take.
        """
        if record.owner == self._owner or is_gone(record.owner, self._owner):
            return True

        now = self._clock.monotonic()
        attempt = (record.owner, record.settles)
        watched, since = self._seen.get(record.txid, (None, now))
        if watched != attempt:
            # Another owner, or another attempt of the same one: its time begins now.
            self._seen[record.txid] = (attempt, now)
            return False
        return now - since >= self.seconds

    def keep_only(self, txids: Collection[str]) -> None:
        """Forget every payment but these, the open ones."""
        self._seen = {txid: seen for txid, seen in self._seen.items() if txid in txids}


def _parse(owner: str) -> _Name | None:
    try:
        return _Name(*owner.rsplit(":", 5))  # a host's name may hold colons
    except TypeError:
        return None


def _boot_and_namespace(proc: Path) -> tuple[str, str]:
    try:
        boot = (proc / "sys/kernel/random/boot_id").read_text().strip()
        return boot, str((proc / "self/ns/pid").stat().st_ino)
    except OSError:
        return "", ""


def _began(pid: int, proc: Path) -> str:
    """Return a process's start in clock ticks since boot, empty where the system does not say."""
    try:
        _, _, fields = (proc / str(pid) / "stat").read_text().rpartition(")")
        return fields.split()[19]
    except (OSError, IndexError):
        return ""
