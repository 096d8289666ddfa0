"""A lease in one object of an object store, moved by compare-and-swap alone.

No wall clock is compared: machines disagree. Who waits watches the object on its own clock, and takes it once it did
not change for the time that is written in it. Who leads writes it again in a third of that time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from generator.errors import LeadershipLost, LeaseUnreachable
from generator.runtime.lease.values import DEFAULT_TTL_S, Grant, elapsed_s, own_name
from generator.wings.bucket.store import Bucket, Conflict, Stored, StoreFault, swap

OBJECT: Final = "lease.json"
MAX_BYTES: Final = 4096
MAX_TTL_S: Final = 3600.0
ATTRIBUTES: Final = {"Content-Type": "application/json", "Cache-Control": "no-store"}


@dataclass(frozen=True, slots=True)
class _Seen:
    """The object as it was read or written, and since when it is as it is."""

    stored: Stored
    epoch: int
    holder: str
    ttl_s: float
    released: bool
    since_s: float


class BucketLease:
    """Keeps `Lease` with one object.

    Args:
        bucket: the store.
        ttl_s: seconds without a change after which another may take it, > 0.
        path: of the object.
        elapsed: seconds that never go back and go on while the process is stopped.
    """

    def __init__(
        self,
        bucket: Bucket,
        ttl_s: float = DEFAULT_TTL_S,
        path: str = OBJECT,
        elapsed: Callable[[], float] = elapsed_s,
    ) -> None:
        self._bucket = bucket
        self._ttl_s = ttl_s
        self._path = path
        self._elapsed = elapsed
        self._name = own_name()
        self._seen: _Seen | None = None
        self._writes = 0

    def acquire(self, floor: int) -> Grant | None:
        """Take the object if there is none, if it was given back, or if it did not change for its time."""
        seen = self._look()
        if seen is not None and self._is_anothers(seen):
            return None
        epoch = max(floor, seen.epoch if seen else 0) + 1
        return Grant(epoch, self._ttl_s) if self._write(epoch, seen, released=False) else None

    def renew(self) -> None:
        """Write the object again, if it is still as we left it."""
        seen = self._seen
        if seen is None or seen.holder != self._name:
            raise LeadershipLost(f"another generator took the lease {self._path}")
        if self._write(seen.epoch, seen, released=False):
            return
        found = self._look()  # a renewal whose answer was lost moved the version too
        ours = found is not None and found.holder == self._name and found.epoch == seen.epoch
        if not ours or not self._write(seen.epoch, found, released=False):
            raise LeadershipLost(f"another generator took the lease {self._path}")

    def release(self) -> None:
        """Mark the object as given back; the epoch stays in it."""
        seen = self._seen
        if seen is not None and seen.holder == self._name:
            self._write(seen.epoch, seen, released=True)

    def holder(self) -> str:
        """Name machine and process of the one that has it."""
        return self._seen.holder.rpartition(":")[0] if self._seen else "nobody"

    def close(self) -> None:
        """Do nothing: the store owns its connections."""

    def _is_anothers(self, seen: _Seen) -> bool:
        theirs = seen.holder != self._name and not seen.released
        return theirs and self._elapsed() - seen.since_s <= seen.ttl_s

    def _look(self) -> _Seen | None:
        """Read the object; one that is as it was keeps the time since when it is so."""
        with self._told():
            found = self._bucket.get(self._path, MAX_BYTES)
        if found is None:
            self._seen = None
        elif self._seen is None or self._seen.stored != found:
            self._seen = self._parse(found)
        return self._seen

    def _parse(self, stored: Stored) -> _Seen:
        try:
            body = json.loads(stored.data)
            epoch, holder, ttl_s = int(body["epoch"]), str(body["holder"]), float(body["ttl_s"])
            return _Seen(stored, epoch, holder, min(ttl_s, MAX_TTL_S), bool(body["released"]), self._elapsed())
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            raise LeaseUnreachable(f"{self._path} is not a lease; move it away to start again") from error

    def _write(self, epoch: int, seen: _Seen | None, *, released: bool) -> bool:
        """Write our state in the place of what was seen; False when something else lies there now.

        Every write differs: some stores make the version of the content.
        """
        self._writes += 1
        body = {"epoch": epoch, "holder": self._name, "ttl_s": self._ttl_s, "released": released, "write": self._writes}
        known = seen.stored if seen else None
        try:
            with self._told():
                stored = swap(self._bucket, self._path, json.dumps(body).encode(), known, ATTRIBUTES)
        except Conflict:
            return False
        self._seen = _Seen(stored, epoch, self._name, self._ttl_s, released, self._elapsed())
        return True

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except Conflict:
            raise
        except StoreFault as fault:
            raise LeaseUnreachable(f"lease not reached: {fault}") from fault
