"""An object store in memory that can fail: before storing, after storing without an answer, for a while, for good."""

import threading
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import obstore
from obstore.store import MemoryStore

from generator.release.bucket.store import Bucket, Listed, Stored, StoreFault, Version

NOT_STORED, NOT_ANSWERED = "not stored", "stored, not answered"


def memory() -> Bucket:
    return Bucket(MemoryStore(), "memory")


def put(bucket: Bucket, path: str, data: bytes) -> None:
    """Write past every condition, as an operator does."""
    obstore.put(bucket._store, path, data, mode="overwrite")


def attributes(bucket: Bucket, path: str) -> dict[str, str]:
    return dict(obstore.get(bucket._store, path).attributes)


class FaultyBucket(Bucket):
    """A bucket whose `n`th write below `where` goes wrong, once or from then on."""

    def __init__(self, inner: Bucket, how: str = "", where: str = "", n: int = 0, times: int = 10**9) -> None:
        self.inner, self.how, self.where, self.n, self.times = inner, how, where, n, times
        self.writes: list[str] = []
        self.reads_fail = False
        self.unreadable = ""  # what lies below it cannot be read, where it is not empty
        self.now = datetime(2026, 11, 20, tzinfo=UTC)  # the store's clock: no one else's
        self._dates: dict[str, datetime] = {}
        self._lock = threading.Lock()

    def _fails(self, path: str) -> bool:
        with self._lock:
            self.writes.append(path)
            if not self.how or not path.startswith(self.where):
                return False
            self.n -= 1
            if self.n >= 0 or self.times <= 0:
                return False
            self.times -= 1
            return True

    def get(self, path: str, max_bytes: int = 10**7) -> Stored | None:
        self._read("get", path)
        return self.inner.get(path, max_bytes)

    def create(self, path: str, data: bytes, attributes: Mapping[str, str]) -> Version:
        return self._write(path, lambda: self.inner.create(path, data, attributes))

    def update(self, path: str, data: bytes, version: Version, attributes: Mapping[str, str]) -> Version:
        return self._write(path, lambda: self.inner.update(path, data, version, attributes))

    def _write(self, path: str, write: Any) -> Version:
        if not self._fails(path):
            version: Version = write()
            self._dates[path] = self.now
            return version
        if self.how == NOT_ANSWERED:
            write()
            self._dates[path] = self.now
        raise StoreFault(f"put {path}: timed out", refused=self.how == "refused")

    def page(self, folder: str, after: str, most: int) -> dict[str, Listed]:
        self._read("list", folder)
        return {path: self._dated(path, row) for path, row in self.inner.page(folder, after, most).items()}

    def files(self, folder: str) -> dict[str, Listed]:
        self._read("list", folder)
        return {path: self._dated(path, row) for path, row in self.inner.files(folder).items()}

    def modified(self, path: str) -> datetime:
        self._read("head", path)
        return self._dates.get(path) or self.inner.modified(path)

    def _dated(self, path: str, row: Listed) -> Listed:
        return Listed(row.size, self._dates.get(path, row.modified))

    def delete(self, paths: Sequence[str]) -> None:
        self._read("delete", f"{len(paths)}")
        self.inner.delete(paths)

    def _read(self, verb: str, path: str) -> None:
        if self.reads_fail or (self.unreadable and path.startswith(self.unreadable)):
            raise StoreFault(f"{verb} {path}: timed out")
