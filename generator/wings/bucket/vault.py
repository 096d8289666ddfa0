"""The vault in an object store: the bodies under their generation, then the manifest by compare-and-swap."""

from __future__ import annotations

from typing import Any, Final

import structlog

from generator.catalog.products import PRODUCTS
from generator.errors import PublishError
from generator.lease import Fence, one_writer
from generator.release.vault import MANIFEST, Offer, body_path, has_room, manifest_of
from generator.wings.bucket.pointer import ATTRIBUTES, Pointer
from generator.wings.bucket.store import Bucket, StoreFault
from generator.wings.bucket.upload import Upload, upload

SNAPSHOTS: Final = "snapshots"
DEADLINE_S: Final = 10.0
PRUNED_AT_ONCE: Final = 40
log = structlog.get_logger("emi.publish")


class BucketVault:
    """Put up for sale below one prefix of a bucket, which must be private; a `VaultStore`.

    Args:
        bucket: the prefix.
        fence: returns the epoch held, or raises LeadershipLost.
        writer: a text that no other process has.
        deadline_s: seconds for the bodies of one snapshot.
    """

    def __init__(self, bucket: Bucket, writer: str, fence: Fence = one_writer, deadline_s: float = DEADLINE_S) -> None:
        self._bucket = bucket
        self._manifest = Pointer(bucket, MANIFEST, fence, writer, _is_manifest)
        self._deadline_s = deadline_s
        self._highest = 0

    def open(self) -> None:
        """Look whether the store lets us in and the manifest is one; a store that is away is waited for.

        Raises:
            PublishError: the bucket, the credentials or the manifest will not do.
        """
        self._manifest.check()

    def generation(self) -> int:
        """Return the highest generation ever for sale or left behind here; 0 before the first.

        Raises:
            LeadershipLost: another generator publishes here.
            PublishError: the store does not answer.
        """
        if self._manifest.claim():
            try:
                left = [int(name) for name in self._bucket.folders(SNAPSHOTS) if name.isdigit()]
            except StoreFault as fault:
                raise PublishError(f"the snapshots cannot be listed: {fault}") from fault
            self._highest = max(self._highest, *left, self._manifest.next)
        return max(self._highest, self._manifest.generation)

    def publish(self, offer: Offer) -> None:
        """Store the bodies, then move the manifest; see `VaultStore`."""
        if int(offer.generation) <= self.generation():
            raise PublishError(f"vault {offer.generation} not published: {self._highest:012d} is there already")
        self._highest = int(offer.generation)
        if not has_room(offer, self._manifest.body.get("snapshots", [])):
            log.warning("too many quotes can still be paid: nothing newer is for sale", generation=offer.generation)
            return
        bodies = [Upload(body_path(offer, product), offer.bodies[product.id], ATTRIBUTES) for product in PRODUCTS]
        upload(self._bucket, bodies, self._deadline_s, f"vault {offer.generation}")
        self._manifest.move(offer.generation, lambda before: manifest_of(offer, before.get("snapshots", [])))
        self._prune()

    def _prune(self) -> None:
        """Drop snapshots that the manifest no longer names; where that fails, the tick does not."""
        kept = {row["snapshot_id"] for row in self._manifest.body["snapshots"]}
        try:
            old = [name for name in sorted(self._bucket.folders(SNAPSHOTS)) if name.isdigit() and name not in kept]
            older = [name for name in old if int(name) < self._manifest.generation]
            for name in older[:PRUNED_AT_ONCE]:
                self._bucket.delete(list(self._bucket.files(f"{SNAPSHOTS}/{name}")))
        except StoreFault as fault:
            log.warning("old snapshots could not be dropped; the next tick tries again", reason=str(fault))


def _is_manifest(body: dict[str, Any]) -> bool:
    return all(row["snapshot_id"] and "replaced_at" in row and row["bodies"] for row in body["snapshots"])
