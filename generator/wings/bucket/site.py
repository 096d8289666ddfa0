"""Site and vault in an object store: what is new under a prefix of its own, and one pointer each that moves last.

    g/<generation>/<path>   immutable; variants are <path>.gz and <path>.br
    once/<path>             immutable
    current.json            which generation is the newest; moved by compare-and-swap

    snapshots/<generation>/<product>.json, and manifest.json, likewise, in the vault

Every file of a release is put again, changed or not: a server-side copy costs the same request, took no less time when
it was measured, and would read from a prefix that is about to be pruned.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import structlog

from gateway.wire.media_types import ENCODINGS, content_type
from generator.catalog.discovery import ONCE_CACHE_CONTROL, PINNED_CACHE_CONTROL
from generator.catalog.links import STATUS_JSON
from generator.catalog.products import PRODUCTS
from generator.errors import PublishError
from generator.lease import Fence, one_writer
from generator.release.values import FIRST_GENERATION, NOTHING
from generator.release.vault import MANIFEST, Offer, body_path, has_room, manifest_of
from generator.wings.bucket.pointer import ATTRIBUTES, NumberedStore, Pointer
from generator.wings.bucket.store import Bucket, Upload, upload

POINTER: Final = "current.json"
RELEASES: Final = "g"
ONCE: Final = "once"
KEEP_OLD_S: Final = 600
DEADLINE_S: Final = 20.0
READ_AT_ONCE: Final = 8
PRUNED_AT_ONCE: Final = 5  # releases a tick; what an outage left is gone a few ticks later
SNAPSHOTS: Final = "snapshots"
VAULT_DEADLINE_S: Final = 10.0
SNAPSHOTS_PRUNED: Final = 40
HEAD: Final = ("tick_id", "generated_at", "valid_until")
log = structlog.get_logger("emi.publish")


class BucketSite(NumberedStore):
    """Publish releases below one prefix of a bucket."""

    def __init__(self, bucket: Bucket, writer: str, fence: Fence = one_writer, deadline_s: float = DEADLINE_S) -> None:
        super().__init__(bucket, RELEASES, Pointer(bucket, POINTER, fence, writer, "previous"), deadline_s)
        self._put: dict[str, int] | None = None  # immutable path -> its length

    def is_empty(self) -> bool:
        """Return whether nothing was ever published here, whole or in part; see `Releases`."""
        return self.generation() == 0 and self._pointer.missing

    def shown(self, paths: Iterable[str]) -> dict[str, bytes]:
        """Return those of `paths` that the release which readers see has; see `Releases`."""
        try:
            generation = self._pointer.peek()
            if generation is None:
                return {}
            with ThreadPoolExecutor(READ_AT_ONCE, thread_name_prefix="read") as pool:
                found = pool.map(lambda path: (path, self._bucket.get(f"{RELEASES}/{generation}{path}")), paths)
                return {path: stored.data for path, stored in found if stored is not None}
        except PublishError as fault:
            log.warning("the published release could not be read", reason=str(fault))
            return {}

    def publish(
        self, generation: str, files: Mapping[str, bytes], now_s: float, once: Mapping[str, bytes] = NOTHING
    ) -> int:
        """Publish `files` as `generation`, after the new ones of `once`; see `Releases`."""
        if int(generation) <= self.generation() and not (generation == FIRST_GENERATION and self.is_empty()):
            raise PublishError(f"release {generation} not published: {self._highest:012d} is there already")
        self._highest = int(generation)
        new = self._not_there_yet(once)
        prefix = f"{RELEASES}/{generation}"
        uploads = [
            *(_upload(ONCE, path, new[path], once, ONCE_CACHE_CONTROL) for path in new),
            *(_upload(prefix, path, data, files, PINNED_CACHE_CONTROL) for path, data in files.items()),
        ]
        upload(self._bucket, uploads, self._deadline_s)
        if self._put is not None:
            self._put.update((path, len(data)) for path, data in new.items())
        head = _head(files)
        self._pointer.move(generation, lambda before: {**head, "previous": _previous(before, now_s)})
        self._prune({int(row["generation"]) for row in self._pointer.body["previous"]}, PRUNED_AT_ONCE)
        return len(uploads)

    def _not_there_yet(self, once: Mapping[str, bytes]) -> dict[str, bytes]:
        """Return what is still to be put."""
        if not once:
            return {}
        if self._put is None:
            self._put = {path.removeprefix(ONCE): size for path, size in self._bucket.files(ONCE).items()}
        known = self._put
        changed = [path for path, data in once.items() if known.get(path, len(data)) != len(data)]
        if changed:
            raise PublishError(f"{len(changed)} immutable files would change, first {changed[0]}; they stay as written")
        return {path: data for path, data in once.items() if path not in known}


class BucketVault(NumberedStore):
    """Put up for sale below one prefix of a bucket, which must be private."""

    def __init__(
        self, bucket: Bucket, writer: str, fence: Fence = one_writer, deadline_s: float = VAULT_DEADLINE_S
    ) -> None:
        super().__init__(bucket, SNAPSHOTS, Pointer(bucket, MANIFEST, fence, writer, "snapshots"), deadline_s)

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
        self._prune({int(row["snapshot_id"]) for row in self._pointer.body["snapshots"]}, SNAPSHOTS_PRUNED)


def attributes(path: str, siblings: Collection[str], cache_control: str) -> dict[str, str]:
    """Return the headers of one file for a store and its CDN; `a.json.gz` is a variant only with `a.json` a sibling."""
    base, encoding = path, None
    for ending, name in ENCODINGS.items():
        if path.endswith(ending) and path.removesuffix(ending) in siblings:
            base, encoding = path.removesuffix(ending), name
    found = {"Content-Type": content_type(base), "Cache-Control": cache_control}
    return found if encoding is None else found | {"Content-Encoding": encoding}


def _upload(prefix: str, path: str, data: bytes, siblings: Mapping[str, bytes], cache_control: str) -> Upload:
    return Upload(prefix + path, data, attributes(path, siblings.keys(), cache_control))


def _head(files: Mapping[str, bytes]) -> dict[str, Any]:
    """Return the tick's times as the release itself states them."""
    status = json.loads(files[STATUS_JSON]) if STATUS_JSON in files else {}
    return {name: status.get(name) for name in HEAD}


def _previous(before: Mapping[str, Any], now_s: float) -> list[dict[str, Any]]:
    """Return the releases that may still be read, newest first: those replaced in the last ten minutes."""
    rows = [row for row in before.get("previous", []) if now_s - row["replaced_s"] <= KEEP_OLD_S]
    return [{"generation": before["generation"], "replaced_s": int(now_s)}, *rows] if before else rows
