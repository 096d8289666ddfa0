"""An object store as this program needs it: create, compare-and-swap, read, list, delete. Nothing waits for long.

Credentials and endpoints come from the environment that obstore reads (AWS_…, GOOGLE_…, AZURE_…) and are never put
into an error's text: a store may repeat them in what it answers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gateway.wire.object_store import REQUEST_S, BucketUrl, open_store, plain_error, store_errors

MAX_POINTER_BYTES: Final = 8 * 1024 * 1024
NO_BUCKET: Final = re.compile("NoSuchBucket|ContainerNotFound|bucket does not exist")  # S3, Azure, GCS
REFUSALS: Final = frozenset({"PermissionDeniedError", "UnauthenticatedError"})
Version = Mapping[str, str]  # e_tag and, where the store has one, version


class StoreFault(Exception):
    """The store did not do it, or did not say; one clear line without credentials.

    Args:
        text: the line.
        refused: the store answered that these credentials or this bucket will not do; asking again does not help.
    """

    def __init__(self, text: str, *, refused: bool = False) -> None:
        super().__init__(text)
        self.refused = refused


class Conflict(StoreFault):
    """The condition did not hold: the object is there already, or is not the version that was named."""


@dataclass(frozen=True, slots=True)
class Stored:
    """What lies at a path, and which version of it."""

    data: bytes
    version: Version


def open_bucket(url: str, request_s: float = REQUEST_S) -> Bucket:
    """Make a store of a URL; nothing is asked of it yet.

    Args:
        url: `s3://bucket/prefix`, `gs://…` or `az://…`.
        request_s: seconds that one try may take.

    Raises:
        ValueError: the URL is not of the form.
        StoreFault: the environment lacks what the store needs.
    """
    where = BucketUrl.parse(url)
    try:
        store = open_store(url, request_s)
    except store_errors() as error:
        raise StoreFault(f"{where}: {plain_error(error)}") from None
    return Bucket(store, str(where))


class Bucket:
    """Objects below one prefix, over any store of obstore; every call blocks, `RETRY_FOR_S + REQUEST_S` s at most."""

    def __init__(self, store: Any, name: str) -> None:
        self._store = store
        self._name = name

    def __str__(self) -> str:
        return self._name

    def get(self, path: str, max_bytes: int = MAX_POINTER_BYTES) -> Stored | None:
        """Return what lies at `path`, None when nothing does.

        Raises:
            StoreFault: not answered, refused, or larger than `max_bytes`.
        """
        import obstore  # noqa: PLC0415

        try:
            answer = obstore.get(self._store, path)
            if answer.meta["size"] > max_bytes:
                raise StoreFault(f"{self._name}/{path} is larger than {max_bytes} bytes")
            return Stored(bytes(answer.bytes()), _version(answer.meta))
        except FileNotFoundError as error:
            if NO_BUCKET.search(str(error)):
                raise self._fault("get", path, error) from None
            return None
        except store_errors() as error:
            raise self._fault("get", path, error) from None

    def create(self, path: str, data: bytes, attributes: Mapping[str, str]) -> Version:
        """Store `data` where nothing lies yet.

        Args:
            path: below the prefix, without a leading slash.
            data: all of it.
            attributes: Content-Type, Cache-Control, Content-Encoding.

        Raises:
            Conflict: something lies there; it may be what an earlier try stored.
            StoreFault: not answered: it may be stored or not.
        """
        return self._put(path, data, "create", attributes)

    def update(self, path: str, data: bytes, version: Version, attributes: Mapping[str, str]) -> Version:
        """Store `data` in the place of exactly `version`.

        Raises:
            Conflict: another version lies there, or nothing.
            StoreFault: not answered: it may be stored or not.
        """
        return self._put(path, data, dict(version), attributes)

    def _put(self, path: str, data: bytes, mode: Any, attributes: Mapping[str, str]) -> Version:
        import obstore  # noqa: PLC0415

        try:
            result = obstore.put(self._store, path, data, mode=mode, attributes=dict(attributes), use_multipart=False)
        except (obstore.exceptions.AlreadyExistsError, obstore.exceptions.PreconditionError) as error:
            raise Conflict(f"{self._name}/{path}: {type(error).__name__}") from None
        except FileNotFoundError as error:
            if mode != "create" and not NO_BUCKET.search(str(error)):
                raise Conflict(f"{self._name}/{path}: not there any more") from None
            raise self._fault("put", path, error) from None
        except store_errors() as error:
            raise self._fault("put", path, error) from None
        return _version(result)

    def folders(self, prefix: str) -> list[str]:
        """Return the names right below `prefix` that have objects below them; raise StoreFault."""
        import obstore  # noqa: PLC0415

        try:
            found = obstore.list_with_delimiter(self._store, prefix)["common_prefixes"]
        except store_errors() as error:
            raise self._fault("list", prefix, error) from None
        return [path.rstrip("/").rsplit("/", 1)[-1] for path in found]

    def files(self, prefix: str) -> dict[str, int]:
        """Return the path and the length in bytes of every object below `prefix`; raise StoreFault."""
        import obstore  # noqa: PLC0415

        try:
            return {row["path"]: row["size"] for row in obstore.list(self._store, prefix).collect()}
        except store_errors() as error:
            raise self._fault("list", prefix, error) from None

    def delete(self, paths: Sequence[str]) -> None:
        """Delete objects; raise StoreFault where not all of it was done."""
        import obstore  # noqa: PLC0415

        try:
            obstore.delete(self._store, list(paths))
        except FileNotFoundError:
            return  # another was first
        except store_errors() as error:
            raise self._fault("delete", f"{len(paths)} objects", error) from None

    def _fault(self, verb: str, path: str, error: BaseException) -> StoreFault:
        refused = type(error).__name__ in REFUSALS or NO_BUCKET.search(str(error)) is not None
        return StoreFault(f"{verb} {self._name}/{path}: {plain_error(error)}", refused=refused)


def swap(bucket: Bucket, path: str, data: bytes, known: Stored | None, attributes: Mapping[str, str]) -> Stored:
    """Compare and swap: store `data` if `known` still lies at `path` (None: if nothing does).

    An answer that got lost, and a retry that meets its own first try, are distinguished by reading back; so `data` must
    be bytes that no one else writes.

    Returns:
        What lies there now, which is `data`.

    Raises:
        Conflict: another's bytes lie there.
        StoreFault: it is not stored, or that is unknown; read again before the next swap.
    """
    try:
        if known is None:
            return Stored(data, bucket.create(path, data, attributes))
        return Stored(data, bucket.update(path, data, known.version, attributes))
    except StoreFault:
        found = bucket.get(path)
        if found is None or found.data != data:
            raise
        return found


def _version(row: Mapping[str, Any]) -> Version:
    return {name: row[name] for name in ("e_tag", "version") if row.get(name)}
