"""Take the log's partial tiles out of an object store; see `generator.publish.partials`."""

from __future__ import annotations

from typing import Final

from generator.wings.bucket.site import ONCE
from generator.wings.bucket.store import Bucket, StoreFault

MAX_TILE_BYTES: Final = 32 * 1024 * 1024  # a bundle of 256 entries of 65,535 bytes is half of it


class BucketPartials:
    """Below one prefix of an object store."""

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket

    def drop(self, folder: str, full: str) -> None:
        """Remove the objects below a prefix; see `Partials`."""
        try:
            there = sorted(self._bucket.files(f"{ONCE}{folder}"))
            if there and self._bucket.get(f"{ONCE}{full}", MAX_TILE_BYTES) is not None:
                self._bucket.delete(there)
        except StoreFault as fault:
            raise OSError(str(fault)) from fault
