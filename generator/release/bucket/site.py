"""The site in an object store: what readers see through the pointer, which moves last.

    o/<SHA-256>    immutable: every content of a release, its variants, and the manifest of each release
    once/<path>    immutable: log tiles, downloads; partial tiles go a day after their full tile
    current.json   which release is the newest, and which object is its manifest; moved by compare-and-swap

A manifest says of each path its media type, since when it has held what it holds, and the digest of each coding. So a
tick puts what changed, and nothing else.
"""

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any, Final

import structlog

from gateway.wire.foreign import read_json
from gateway.wire.media_types import ENCODINGS, content_type
from generator.catalog.discovery import ONCE_CACHE_CONTROL, PARTIAL_TILES_KEPT_S, full_tile
from generator.catalog.links import STATUS_JSON
from generator.errors import PublishError
from generator.release.bucket.objects import PAGE, Objects, StoredContent, object_path
from generator.release.bucket.pointer import NumberedStore, Pointer
from generator.release.bucket.store import Bucket, Listed, StoreFault, Upload, swap, upload
from generator.release.values import FIRST_GENERATION, NOTHING
from generator.runtime.lease import Fence, no_fence

POINTER: Final = "current.json"
FORMER: Final = "g"  # releases of an earlier layout, each in a folder of its own
ONCE: Final = "once"
KEEP_OLD_S: Final = 600  # readers may still be in a release that was replaced so long ago
NAMED_S: Final = 25 * 3_600  # of the older ones one an hour is named so long: what they had in common stays for a day
MOST_NAMED: Final = 60
DEADLINE_S: Final = 20.0
READ_AT_ONCE: Final = 8
IDENTITY: Final = "identity"
PARTIAL_MARK: Final = ".p/"
HEAD: Final = ("tick_id", "generated_at", "valid_until")
Manifest = Mapping[str, Any]  # path -> its type, its date in seconds and `forms`: coding -> digest
log = structlog.get_logger("emi.publish")


class BucketSite(NumberedStore):
    """Publish releases below one prefix of a bucket."""

    def __init__(self, bucket: Bucket, writer: str, fence: Fence = no_fence, deadline_s: float = DEADLINE_S) -> None:
        objects = Objects(bucket, FORMER, writer, deadline_s)
        super().__init__(Pointer(bucket, POINTER, fence, writer, "previous"), objects)
        self._bucket = bucket
        self._deadline_s = deadline_s
        self._manifests: dict[str, Manifest] = {}  # by digest: those that the pointer names
        self._once: dict[str, Listed] | None = None  # what lies below `once`, None while that is not known

    def is_empty(self) -> bool:
        """Return whether nothing was ever published here, whole or in part; see `Releases`."""
        return self.generation() == 0 and self._pointer.missing and self._objects.are_none()

    def shown(self, paths: Iterable[str]) -> dict[str, bytes]:
        """Return those of `paths` that the release which readers see has; see `Releases`."""
        try:
            places = self._places(paths, self._pointer.peek())
            with ThreadPoolExecutor(READ_AT_ONCE, thread_name_prefix="read") as pool:
                fetched = pool.map(lambda place: (place[0], self._bucket.get(place[1])), places.items())
                return {path: stored.data for path, stored in fetched if stored is not None}
        except PublishError as fault:
            log.warning("the published release could not be read", reason=str(fault))
            return {}

    def publish(
        self,
        generation: str,
        files: Mapping[str, bytes],
        now_s: float,
        once: Mapping[str, bytes] = NOTHING,
        again: Mapping[str, bytes] = NOTHING,
    ) -> int:
        """Publish `files` as `generation`, after the new ones of `once`; see `Releases`."""
        if int(generation) <= self.generation() and not (generation == FIRST_GENERATION and self.is_empty()):
            raise PublishError(f"release {generation} not published: {self._highest:012d} is there already")
        self._highest = int(generation)

        contents = {path: _content(path, data, files) for path, data in files.items()}
        described = _manifest(contents, self._manifest(self._pointer.body), int(now_s))
        manifest = StoredContent.of(
            _json({"generation": generation, "files": described}), _attributes("/manifest.json")
        )

        written = self._put_immutable(once, again) + self._objects.put([*contents.values(), manifest])
        head = {**_head(files), "manifest": manifest.digest}
        self._pointer.move(generation, lambda before: {**head, "previous": _previous(before, now_s)})

        self._manifests[manifest.digest] = described
        self._objects.expect(_objects_of(manifest.digest, described))
        self._sweep(self._named)
        self._prune_partial_tiles()
        return written

    def _claimed(self) -> None:
        self._once = None
        self._manifests = {}
        self._objects.expect(())  # should the manifest not be readable now, everything is put again
        now = self._pointer.body.get("manifest")
        self._objects.expect(_objects_of(now, self._manifest(self._pointer.body)) if now else ())

    def _manifest(self, row: Mapping[str, Any]) -> Manifest:
        """Return the manifest of a release by its row in the pointer, empty for one of the former layout."""
        digest = row.get("manifest")
        if digest is None:
            return {}
        if digest not in self._manifests:
            stored = self._bucket.get(object_path(digest))
            if stored is None or hashlib.sha256(stored.data).hexdigest() != digest:
                log.warning(
                    "the manifest of a release is not there; readers cannot follow it", object=object_path(digest)
                )
                return {}

            self._manifests[digest] = read_json(stored.data)["files"]
        return self._manifests[digest]

    def _places(self, paths: Iterable[str], pointer: Mapping[str, Any]) -> dict[str, str]:
        """Return where in the bucket those of `paths` lie that the release has which the pointer names."""
        if not pointer:
            return {}
        if "manifest" not in pointer:
            return {path: f"{FORMER}/{pointer['generation']}{path}" for path in paths}
        files = self._manifest(pointer)
        return {path: object_path(files[path]["forms"][IDENTITY]) for path in paths if path in files}

    def _named(self) -> set[str]:
        """Return the paths of every object that a reader may still be led to."""
        rows = [row for row in (self._pointer.body, *self._pointer.body["previous"]) if "manifest" in row]
        named: set[str] = set()
        for row in rows:
            named |= _objects_of(row["manifest"], self._manifest(row))

        kept = {row["manifest"] for row in rows}
        self._manifests = {digest: files for digest, files in self._manifests.items() if digest in kept}
        return named

    def _put_immutable(self, once: Mapping[str, bytes], again: Mapping[str, bytes]) -> int:
        """Put what is not below `once` yet, and what is damaged there; return how many files that was."""
        if self._once is None:
            self._once = {path.removeprefix(ONCE): row for path, row in self._bucket.files(ONCE).items()}
        there = self._once

        wanted: dict[str, bytes] = {}
        changed: list[str] = []
        for path, data in {**again, **once}.items():
            if path not in there:
                wanted[path] = data
            elif there[path].size != len(data):
                mended = self._mended(there[path], path, data, is_signed=path in again)
                if mended is None:
                    changed.append(path)
                else:
                    there[path] = mended
        if changed:
            raise PublishError(f"{len(changed)} immutable files would change, first {changed[0]}; they stay as written")

        uploads = [Upload(ONCE + path, data, _attributes(path)) for path, data in wanted.items()]
        upload(self._bucket, uploads, self._deadline_s)
        if wanted:
            now = self._bucket.modified(uploads[-1].path)
            there.update((path, Listed(len(data), now)) for path, data in wanted.items())
        return len(wanted)

    def _mended(self, there: Listed, path: str, data: bytes, *, is_signed: bool) -> Listed | None:
        """Write a damaged file again, and return what is there now; None where that is not known to be damage."""
        found = self._bucket.get(ONCE + path)
        if found is not None and not is_signed and not data.startswith(found.data):
            return None
        log.warning("an immutable file was damaged; it is written again", file=path, bytes=there.size)
        swap(self._bucket, ONCE + path, data, found, _attributes(path))
        return Listed(len(data), self._bucket.modified(ONCE + path))

    def _prune_partial_tiles(self) -> None:
        """Drop partial tiles a day after their full tile was stored, by the store's clock; see `Releases`."""
        there = self._once or {}
        partial = {path: full_tile(path) for path in there if PARTIAL_MARK in path}
        full = {path: there[tile].modified for path, tile in partial.items() if tile is not None and tile in there}
        if not full:
            return

        try:
            since = self._pointer.moved_at() - timedelta(seconds=PARTIAL_TILES_KEPT_S)
            old = [path for path, stored_at in full.items() if stored_at <= since][:PAGE]
            if old:
                self._bucket.delete([ONCE + path for path in old])
        except StoreFault as fault:
            log.warning("partial tiles could not be dropped; the next tick tries again", reason=str(fault))
            return

        for path in old:
            del there[path]


def coding_of(path: str, siblings: Collection[str]) -> tuple[str, str]:
    """Return of which file a path holds a form, and in which coding; `a.json.gz` is one only next to `a.json`."""
    for ending, coding in ENCODINGS.items():
        base = path.removesuffix(ending)
        if path.endswith(ending) and base in siblings:
            return base, coding
    return path, IDENTITY


def _content(path: str, data: bytes, siblings: Mapping[str, bytes]) -> StoredContent:
    base, coding = coding_of(path, siblings.keys())
    attributes = _attributes(base)
    if coding != IDENTITY:
        attributes["Content-Encoding"] = coding
    return StoredContent.of(data, attributes)


def _attributes(path: str) -> dict[str, str]:
    return {"Content-Type": content_type(path), "Cache-Control": ONCE_CACHE_CONTROL}


def _manifest(contents: Mapping[str, StoredContent], before: Manifest, now_s: int) -> dict[str, Any]:
    """Return what a release is: each path's type, date and forms. The date stays while the path has the same bytes."""
    made: dict[str, Any] = {}
    for path, content in sorted(contents.items(), key=lambda item: len(item[0])):  # a file before its variants
        base, coding = coding_of(path, contents.keys())
        row = made.setdefault(base, {"type": content_type(base), "modified_s": now_s, "forms": {}})
        row["forms"][coding] = content.digest

        known = before.get(base)
        if coding == IDENTITY and known and known["forms"][IDENTITY] == content.digest:
            row["modified_s"] = min(known["modified_s"], now_s)
    return made


def _objects_of(digest: str, manifest: Manifest) -> set[str]:
    """Return the paths of a release's objects, its manifest among them."""
    forms = {object_path(form) for row in manifest.values() for form in row["forms"].values()}
    return forms | {object_path(digest)}


def _head(files: Mapping[str, bytes]) -> dict[str, Any]:
    """Return the tick's times as the release itself states them."""
    status = read_json(files[STATUS_JSON]) if STATUS_JSON in files else {}
    return {name: status.get(name) for name in HEAD}


def _previous(before: Mapping[str, Any], now_s: float) -> list[dict[str, Any]]:
    """Return the releases that are still named, newest first.

    These are all of the last ten minutes, and one an hour of the last day.
    """
    if not before:
        return []

    replaced = {"generation": before["generation"], "replaced_s": int(now_s)}
    if "manifest" in before:
        replaced["manifest"] = before["manifest"]

    rows = []
    hours = set()
    for row in (replaced, *before.get("previous", [])):
        age_s = now_s - row["replaced_s"]
        hour = row["replaced_s"] // 3_600
        if age_s <= KEEP_OLD_S:
            rows.append(row)
        elif age_s <= NAMED_S and hour not in hours:
            hours.add(hour)
            rows.append(row)
    return rows[:MOST_NAMED]


def _json(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
