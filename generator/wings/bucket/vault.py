"""The vault in an object store: the bodies under their generation, then the manifest by compare-and-swap."""

from typing import Any, Final

import structlog

from generator.catalog.products import PRODUCTS
from generator.errors import PublishError
from generator.lease import Fence, one_writer
from generator.release.vault import MANIFEST, Offer, body_path, has_room, manifest_of
from generator.wings.bucket.pointer import ATTRIBUTES, NumberedStore, Pointer
from generator.wings.bucket.store import Bucket, Upload, upload

SNAPSHOTS: Final = "snapshots"
DEADLINE_S: Final = 10.0
PRUNED_AT_ONCE: Final = 40
log = structlog.get_logger("emi.publish")


class BucketVault(NumberedStore):
    """Put up for sale below one prefix of a bucket, which must be private."""

    def __init__(self, bucket: Bucket, writer: str, fence: Fence = one_writer, deadline_s: float = DEADLINE_S) -> None:
        super().__init__(bucket, SNAPSHOTS, Pointer(bucket, MANIFEST, fence, writer, _is_manifest), deadline_s)

    def publish(self, offer: Offer) -> None:
        """Store the bodies, then move the manifest; see `Vault`."""
        if int(offer.generation) <= self.generation():
            raise PublishError(f"vault {offer.generation} not published: {self._highest:012d} is there already")
        self._highest = int(offer.generation)
        if not has_room(offer, self._pointer.body.get("snapshots", [])):
            log.warning("too many quotes can still be paid: nothing newer is for sale", generation=offer.generation)
            return
        bodies = [Upload(body_path(offer, product), offer.bodies[product.id], ATTRIBUTES) for product in PRODUCTS]
        upload(self._bucket, bodies, self._deadline_s)
        self._pointer.move(offer.generation, lambda before: manifest_of(offer, before.get("snapshots", [])))
        self._prune({int(row["snapshot_id"]) for row in self._pointer.body["snapshots"]}, PRUNED_AT_ONCE)


def _is_manifest(body: dict[str, Any]) -> bool:
    return all(row["snapshot_id"] and "replaced_at" in row and row["bodies"] for row in body["snapshots"])
