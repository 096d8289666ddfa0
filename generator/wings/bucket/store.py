"""An object store as this program needs it: create, compare-and-swap, read, list, delete. Nothing waits for long.

Credentials and endpoints come from the environment that obstore reads (AWS_…, GOOGLE_…, AZURE_…) and are never put
into an error's text: a store may repeat them in what it answers.
"""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

from generator.wings.bucket.url import BucketUrl

REQUEST_S: Final = 4.0
CONNECT_S: Final = 2.0
RETRIES: Final = 2
RETRY_FOR_S: Final = 6.0  # obstore's own default would be three minutes
MAX_POINTER_BYTES: Final = 8 * 1024 * 1024
TOLD: Final = {
    "timed out": "timed out",
    "error sending request": "error sending request",
    "error decoding response body": "the answer broke off",
    "builder error": "plain HTTP is allowed to this machine only",
    "Account must be specified": "AZURE_STORAGE_ACCOUNT_NAME is not set",
    # Asked when the environment has no keys; elsewhere than in a cloud nobody answers there.
    "169\\.254\\.|metadata\\.google|[Cc]redential": "no usable credentials: set them in the environment",
}
ENDPOINTS: Final = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
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


class Bucket(Protocol):
    """Objects below one prefix; every call blocks, for `RETRY_FOR_S + REQUEST_S` seconds at most."""

    def get(self, path: str, max_bytes: int = ...) -> Stored | None:
        """Return what lies at `path`, None when nothing does.

        Raises:
            StoreFault: not answered, refused, or larger than `max_bytes`.
        """
        ...

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
        ...

    def update(self, path: str, data: bytes, version: Version, attributes: Mapping[str, str]) -> Version:
        """Store `data` in the place of exactly `version`.

        Raises:
            Conflict: another version lies there, or nothing.
            StoreFault: not answered: it may be stored or not.
        """
        ...

    def folders(self, prefix: str) -> list[str]:
        """Return the names right below `prefix` that have objects below them.

        Raises:
            StoreFault: not answered.
        """
        ...

    def files(self, prefix: str) -> dict[str, int]:
        """Return the path and the length in bytes of every object below `prefix`.

        Raises:
            StoreFault: not answered.
        """
        ...

    def delete(self, paths: Sequence[str]) -> None:
        """Delete objects.

        Raises:
            StoreFault: not all of it was done.
        """
        ...


def open_bucket(url: str, request_s: float = REQUEST_S) -> ObjectBucket:
    """Make a store of a URL; nothing is asked of it yet.

    Args:
        url: `s3://bucket/prefix`, `gs://…` or `az://…`.
        request_s: seconds that one try may take.

    Raises:
        ValueError: the URL is not of the form.
        StoreFault: the environment lacks what the store needs.
    """
    from obstore.store import from_url  # noqa: PLC0415  only who has an object store pays for the import

    where = BucketUrl.parse(url)
    client = {
        "timeout": timedelta(seconds=request_s),
        "connect_timeout": timedelta(seconds=min(CONNECT_S, request_s)),
        "allow_http": endpoint_is_loopback(os.environ),
    }
    backoff = {"init_backoff": timedelta(milliseconds=100), "max_backoff": timedelta(seconds=1), "base": 2}
    retry = {"max_retries": RETRIES, "retry_timeout": timedelta(seconds=RETRY_FOR_S), "backoff": backoff}
    try:
        store = from_url(str(where), client_options=client, retry_config=retry)  # type: ignore[call-overload]
    except _errors() as error:
        raise StoreFault(f"{where}: {_plain(error)}") from None
    return ObjectBucket(store, str(where))


def endpoint_is_loopback(environment: Mapping[str, str]) -> bool:
    """Return whether S3 is asked for on this very machine, the only place where unencrypted HTTP is allowed."""
    url = next((environment[name] for name in ENDPOINTS if environment.get(name)), "")
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class ObjectBucket:
    """A `Bucket` over any store of obstore."""

    def __init__(self, store: Any, name: str) -> None:
        self._store = store
        self._name = name

    def __str__(self) -> str:
        return self._name

    def get(self, path: str, max_bytes: int = MAX_POINTER_BYTES) -> Stored | None:
        """Return what lies at `path`; see `Bucket`."""
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
        except _errors() as error:
            raise self._fault("get", path, error) from None

    def create(self, path: str, data: bytes, attributes: Mapping[str, str]) -> Version:
        """Store `data` where nothing lies yet; see `Bucket`."""
        return self._put(path, data, "create", attributes)

    def update(self, path: str, data: bytes, version: Version, attributes: Mapping[str, str]) -> Version:
        """Store `data` in the place of exactly `version`; see `Bucket`."""
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
        except _errors() as error:
            raise self._fault("put", path, error) from None
        return _version(result)

    def folders(self, prefix: str) -> list[str]:
        """Return the names right below `prefix`; see `Bucket`."""
        import obstore  # noqa: PLC0415

        try:
            found = obstore.list_with_delimiter(self._store, prefix)["common_prefixes"]
        except _errors() as error:
            raise self._fault("list", prefix, error) from None
        return [path.rstrip("/").rsplit("/", 1)[-1] for path in found]

    def files(self, prefix: str) -> dict[str, int]:
        """Return path and length of every object below `prefix`; see `Bucket`."""
        import obstore  # noqa: PLC0415

        try:
            return {row["path"]: row["size"] for row in obstore.list(self._store, prefix).collect()}
        except _errors() as error:
            raise self._fault("list", prefix, error) from None

    def delete(self, paths: Sequence[str]) -> None:
        """Delete objects; see `Bucket`."""
        import obstore  # noqa: PLC0415

        try:
            obstore.delete(self._store, list(paths))
        except FileNotFoundError:
            return  # somebody was there first
        except _errors() as error:
            raise self._fault("delete", f"{len(paths)} objects", error) from None

    def _fault(self, verb: str, path: str, error: BaseException) -> StoreFault:
        refused = type(error).__name__ in REFUSALS or NO_BUCKET.search(str(error)) is not None
        return StoreFault(f"{verb} {self._name}/{path}: {_plain(error)}", refused=refused)


def swap(bucket: Bucket, path: str, data: bytes, known: Stored | None, attributes: Mapping[str, str]) -> Stored:
    """Compare and swap: store `data` if `known` still lies at `path` (None: if nothing does).

    An answer that got lost, and a retry that meets its own first try, are told apart by reading back; so `data` must
    be bytes that nobody else writes.

    Returns:
        What lies there now, which is `data`.

    Raises:
        Conflict: another's bytes lie there.
        StoreFault: it is not stored, or nobody can tell; ask again before the next swap.
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


def _errors() -> tuple[type[Exception], ...]:
    from obstore.exceptions import BaseError  # noqa: PLC0415

    return (BaseError, OSError, ValueError)


def _version(row: Mapping[str, Any]) -> Version:
    return {name: row[name] for name in ("e_tag", "version") if row.get(name)}


def _plain(error: BaseException) -> str:
    """Say what went wrong in a few words; the whole text could hold what a store repeats of a signed request."""
    text = str(error).split("\n\nDebug source", 1)[0]
    code = re.search(r"<Code>([A-Za-z]{1,60})</Code>", text)
    status = re.search(r"non-2xx status code: (\d{3})|status (?:code )?(\d{3})", text)
    words = [type(error).__name__]
    words += [f"status {status[1] or status[2]}"] if status else []
    words += [code[1]] if code else []
    words += [told for found, told in TOLD.items() if re.search(found, text)]
    return ", ".join(words)
