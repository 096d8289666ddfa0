"""The shelf of an inbox in an object store: see `generator.arena.bucket_inbox`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from generator.arena.ballots import MAX_FILE_BYTES
from generator.wings.bucket.store import Conflict, ObjectBucket, StoreFault

PLAIN = {"Content-Type": "text/plain; charset=us-ascii", "Cache-Control": "no-store"}


class BucketShelf:
    """Objects below the inbox's prefix; every fault of the store is an OSError."""

    def __init__(self, bucket: ObjectBucket) -> None:
        self._bucket = bucket

    def list(self, after: str) -> Iterator[Sequence[tuple[str, int, int]]]:
        """Yield pages of (name, bytes, last modified in UTC ms) behind a name, in the store's own order.

        Raises:
            OSError: the store did not say.
        """
        try:
            for page in self._bucket.pages(after):
                yield [(one.path, one.size, one.modified_ms) for one in page]
        except StoreFault as fault:
            raise OSError(str(fault)) from fault

    def get(self, name: str) -> bytes | None:
        """Return an object, None when it is gone.

        Raises:
            OSError: the store did not say, or it is larger than a ballot may be.
        """
        try:
            found = self._bucket.get(name, MAX_FILE_BYTES)
        except StoreFault as fault:
            raise OSError(str(fault)) from fault
        return None if found is None else found.data

    def delete(self, names: Sequence[str]) -> None:
        """Remove objects.

        Raises:
            OSError: nobody knows whether all of them are gone.
        """
        try:
            self._bucket.delete(names)
        except StoreFault as fault:
            raise OSError(str(fault)) from fault

    def put(self, name: str, data: bytes) -> None:
        """Store one ballot; the same one again is harmless.

        Raises:
            OSError: nobody knows whether it is there.
        """
        try:
            self._bucket.create(name, data, PLAIN)
        except Conflict:
            return
        except StoreFault as fault:
            raise OSError(str(fault)) from fault
