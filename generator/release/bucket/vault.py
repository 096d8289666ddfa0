"""The vault in an object store: bodies below `o/`, and `manifest.json`, the pointer of what is for sale.

The manifest names every body that can still be paid; what it does not name goes once it is a day old.
"""

from typing import Any, Final

import structlog

from generator.catalog.products import PRODUCTS, Product
from generator.errors import PublishError
from generator.release.bucket.objects import Objects, StoredContent
from generator.release.bucket.pointer import ATTRIBUTES, NumberedStore, Pointer
from generator.release.bucket.store import Bucket
from generator.release.vault import MANIFEST, Offer, has_room, manifest_of
from generator.runtime.lease import Fence, no_fence

FORMER: Final = "snapshots"  # bodies of an earlier layout; they stay while the manifest names them
DEADLINE_S: Final = 10.0
log = structlog.get_logger("emi.publish")


class BucketVault(NumberedStore):
    """Put up for sale below one prefix of a bucket, which must be private."""

    def __init__(self, bucket: Bucket, writer: str, fence: Fence = no_fence, deadline_s: float = DEADLINE_S) -> None:
        objects = Objects(bucket, FORMER, writer, deadline_s)
        super().__init__(Pointer(bucket, MANIFEST, fence, writer, "snapshots"), objects)

    def publish(self, offer: Offer) -> None:
        """Store the bodies, then move the manifest; see `VaultFolder`."""
        if int(offer.generation) <= self.generation():
            raise PublishError(f"vault {offer.generation} not published: {self._highest:012d} is there already")
        self._highest = int(offer.generation)
        if not has_room(offer, self._pointer.body.get("snapshots", [])):
            log.warning("too many quotes can still be paid: nothing newer is for sale", generation=offer.generation)
            return

        self._objects.put(_content(offer, product) for product in PRODUCTS)
        self._pointer.move(offer.generation, lambda before: manifest_of(offer, before.get("snapshots", []), _path))
        self._objects.expect(self._named())
        self._sweep(self._named)

    def _claimed(self) -> None:
        self._objects.expect(self._named())

    def _named(self) -> set[str]:
        """Return the paths of every body that can still be paid."""
        snapshots: list[dict[str, Any]] = self._pointer.body.get("snapshots", [])
        return {body["path"] for snapshot in snapshots for body in snapshot["bodies"].values()}


def _content(offer: Offer, product: Product) -> StoredContent:
    return StoredContent.of(offer.bodies[product.id], ATTRIBUTES)


def _path(offer: Offer, product: Product) -> str:
    return _content(offer, product).path
