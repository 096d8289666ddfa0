"""An object store as this program needs it: create, compare-and-swap, read, list, delete. Nothing waits for long.

Credentials and endpoints come from the environment that obstore reads (AWS_…, GOOGLE_…, AZURE_…) and are never put
into an error's text: a store may repeat them in what it answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from gateway.wire.object_store import REQUEST_S, BucketUrl, open_store, plain_error, store_errors
from generator.errors import PublishError

MAX_POINTER_BYTES: Final = 8 * 1024 * 1024
UPLOADS_AT_ONCE: Final = 16
NO_BUCKET: Final = re.compile("NoSuchBucket|ContainerNotFound|bucket does not exist")  # S3, Azure, GCS
REFUSALS: Final = frozenset({"PermissionDeniedError", "UnauthenticatedError"})
Version = Mapping[str, str]  # e_tag and, where the store has one, version


class StoreFault(PublishError):
    """The store did not do it, or did not say; one clear line without credentials.

    Args:
        refused: the store answered that these credentials or this bucket will not do; asking again does not help.
    """

    def __init__(self, text: str, *, refused: bool = False) -> None:
        super().__init__(text)
        self.refused = refused


class Conflict(StoreFault):
    """The condition did not hold: the object is there already, or is not the version that was named."""


@dataclass(frozen=True, slots=True)
class Listed:
    """An object as a list shows it."""

    size: int  # bytes
    modified: datetime  # by the store's clock


@dataclass(frozen=True, slots=True)
class Stored:
    """What lies at a path, and which version of it."""

    data: bytes
    version: Version


def open_bucket(url: str, request_s: float = REQUEST_S) -> Bucket:
    """Make a store of `s3://bucket/prefix`, `gs://…` or `az://…`; nothing is asked of it yet.

    ValueError where the URL is not of the form, StoreFault where the environment lacks what the store needs.
    """
    where = BucketUrl.parse(url)
    try:
        return Bucket(open_store(url, request_s), str(where))
    except store_errors() as error:
        raise StoreFault(f"{where}: {plain_error(error)}") from None


class Bucket:
    """Objects below one prefix, over any store of obstore; every call blocks, `RETRY_FOR_S + REQUEST_S` s at most."""

    def __init__(self, store: Any, name: str) -> None:
        import obstore  # noqa: PLC0415  only who has an object store pays for it

        self._api: Any = obstore
        self._store = store
        self._name = name

    def get(self, path: str, max_bytes: int = MAX_POINTER_BYTES) -> Stored | None:
        """Return what lies at `path`, None when nothing does; StoreFault: no answer, or over `max_bytes`."""
        with self._faults("get", path):
            try:
                answer = self._api.get(self._store, path)
                if answer.meta["size"] > max_bytes:
                    raise StoreFault(f"{self._name}/{path} is larger than {max_bytes} bytes")
                return Stored(bytes(answer.bytes()), _version(answer.meta))
            except FileNotFoundError as error:
                if NO_BUCKET.search(str(error)):
                    raise
                return None

    def create(self, path: str, data: bytes, attributes: Mapping[str, str]) -> Version:
        """Store `data` where nothing lies yet; Conflict: something does, perhaps ours. StoreFault: not known."""
        return self._put(path, data, "create", attributes)

    def update(self, path: str, data: bytes, version: Version, attributes: Mapping[str, str]) -> Version:
        """Store `data` in the place of exactly `version`."""
        return self._put(path, data, dict(version), attributes)

    def _put(self, path: str, data: bytes, mode: Any, attributes: Mapping[str, str]) -> Version:
        with self._faults("put", path):
            try:
                return _version(
                    self._api.put(self._store, path, data, mode=mode, attributes=dict(attributes), use_multipart=False)
                )
            except (self._api.exceptions.AlreadyExistsError, self._api.exceptions.PreconditionError) as error:
                raise Conflict(f"{self._name}/{path}: {type(error).__name__}") from None
            except FileNotFoundError as error:
                if mode == "create" or NO_BUCKET.search(str(error)):
                    raise
                raise Conflict(f"{self._name}/{path}: not there any more") from None

    def page(self, folder: str, after: str, most: int) -> dict[str, Listed]:
        """Return at most so many objects below `folder`, in the order of their paths, from behind `after` on."""
        with self._faults("list", folder):
            chunks = self._api.list(self._store, folder, offset=after or None, chunk_size=most)
            return {row["path"]: Listed(row["size"], row["last_modified"]) for row in next(iter(chunks), [])}

    def files(self, folder: str) -> dict[str, Listed]:
        """Return every object below `folder` by its path; raise StoreFault."""
        with self._faults("list", folder):
            rows = self._api.list(self._store, folder).collect()
        return {row["path"]: Listed(row["size"], row["last_modified"]) for row in rows}

    def modified(self, path: str) -> datetime:
        """Return when an object was stored, by the store's clock; right after storing it, what time it is there."""
        with self._faults("head", path):
            modified: datetime = self._api.head(self._store, path)["last_modified"]
        return modified

    def delete(self, paths: Sequence[str]) -> None:
        """Delete objects; raise StoreFault where not all of it was done."""
        with self._faults("delete", f"{len(paths)} objects"):
            try:
                self._api.delete(self._store, list(paths))
            except FileNotFoundError:
                return  # another was first

    @contextmanager
    def _faults(self, verb: str, path: str) -> Iterator[None]:
        try:
            yield
        except store_errors() as error:
            refused = type(error).__name__ in REFUSALS or NO_BUCKET.search(str(error)) is not None
            raise StoreFault(f"{verb} {self._name}/{path}: {plain_error(error)}", refused=refused) from None


def swap(bucket: Bucket, path: str, data: bytes, known: Stored | None, attributes: Mapping[str, str]) -> Stored:
    """Compare and swap: store `data` if `known` still lies at `path` (None: if nothing does).

    An answer that got lost, and a retry that meets its own first try, are distinguished by reading back; so `data` must
    be bytes that no one else writes. Conflict where another's lie there; StoreFault where it is not stored or unknown.
    """
    try:
        if known is None:
            return Stored(data, bucket.create(path, data, attributes))
        return Stored(data, bucket.update(path, data, known.version, attributes))
    except StoreFault:
        stored = bucket.get(path)
        if stored is None or stored.data != data:
            raise
        return stored


@dataclass(frozen=True, slots=True)
class Upload:
    """One object that no one may ever change."""

    path: str  # below the bucket's prefix, without a leading slash
    data: bytes  # all of it
    attributes: Mapping[str, str]  # Content-Type, Cache-Control, Content-Encoding


def upload(bucket: Bucket, objects: Sequence[Upload], deadline_s: float) -> None:
    """Store every object, a bounded number at once; the first that cannot be stored stops the rest with StoreFault.

    What is under way when it stops may still arrive: nothing points to it yet, and it is never overwritten.
    """
    pool = ThreadPoolExecutor(UPLOADS_AT_ONCE, thread_name_prefix="upload")
    try:
        waiting = [pool.submit(_store, bucket, item) for item in objects]
        done, late = wait(waiting, timeout=deadline_s, return_when=FIRST_EXCEPTION)
        for future in done:
            future.result()
        if late:
            raise StoreFault(f"{len(late)} of {len(objects)} objects were not stored within {deadline_s:g} s")
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _store(bucket: Bucket, item: Upload) -> None:
    """Store one object; what a try stored without an answer counts."""
    try:
        bucket.create(item.path, item.data, item.attributes)
    except Conflict:
        if not _is_there(bucket, item):
            raise StoreFault(f"{item.path} is there already with other bytes: it is never overwritten") from None
    except StoreFault as fault:
        if fault.refused or not _is_there(bucket, item):
            raise


def _is_there(bucket: Bucket, item: Upload) -> bool:
    """Return whether exactly these bytes lie there."""
    stored = bucket.get(item.path, len(item.data))
    return stored is not None and stored.data == item.data


def _version(row: Mapping[str, Any]) -> Version:
    return {name: row[name] for name in ("e_tag", "version") if row.get(name)}
