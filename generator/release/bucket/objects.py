"""Objects that are named by their content: `o/<SHA-256>`, stored once, cached for good, gone when nothing names them.

What a release or a manifest names is there. What neither does goes once it is a day old by the store's own clock: not
before, because an upload that is under way, or that of a leader who was replaced, is named only when its pointer moves.
Where a request to delete arrives after such an object was named again, the sweep misses it, and the next tick puts it.
"""

import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from generator.release.bucket.store import Bucket, Upload, upload

OBJECTS: Final = "o"
KEPT_UNNAMED: Final = timedelta(hours=24)
PAGE: Final = 1_000  # objects that are looked at in a tick: one request to list, at most one to delete


@dataclass(frozen=True, slots=True)
class StoredContent:
    """Bytes and the headers that a store and its CDN give with them."""

    data: bytes
    attributes: Mapping[str, str] = field(hash=False)  # Content-Type, Cache-Control, Content-Encoding
    digest: str = ""  # SHA-256 of the bytes, in hex

    @classmethod
    def of(cls, data: bytes, attributes: Mapping[str, str]) -> "StoredContent":
        """Return the content of these bytes."""
        return cls(data, attributes, hashlib.sha256(data).hexdigest())

    @property
    def path(self) -> str:
        """Where it lies below the bucket's prefix."""
        return object_path(self.digest)


def object_path(digest: str) -> str:
    """Return where the content with this digest lies below the bucket's prefix."""
    return f"{OBJECTS}/{digest}"


class Objects:
    """The objects below one prefix of a bucket, and what is known to be among them."""

    def __init__(self, bucket: Bucket, former: str, start: str, deadline_s: float) -> None:
        """Take over a bucket.

        Args:
            bucket: where the objects lie.
            former: folder in which a former layout kept what is published; it is emptied.
            start: where the first sweep begins; processes that each make few ticks begin at different places.
            deadline_s: seconds that storing may take.
        """
        self._bucket = bucket
        self._deadline_s = deadline_s
        self._after = {OBJECTS: object_path(start), former: ""}  # folder -> the path after which the sweep resumes
        self._there: set[str] = set()

    def are_none(self) -> bool:
        """Return whether nothing is stored, in this layout or the former one."""
        return not any(self._bucket.page(folder, "", 1) for folder in self._after)

    def expect(self, paths: Iterable[str]) -> None:
        """Take these objects, and no others, to be there: what the pointer names is."""
        self._there = set(paths)

    def put(self, contents: Iterable[StoredContent]) -> int:
        """Store what is not known to be there, and return how many objects that was; StoreFault: not all of it."""
        new = {content.path: content for content in contents if content.path not in self._there}
        uploads = [Upload(path, content.data, content.attributes) for path, content in new.items()]
        upload(self._bucket, uploads, self._deadline_s)
        self._there |= new.keys()
        return len(new)

    def sweep(self, named: Collection[str], now: datetime) -> None:
        """Look at one page of objects: delete those that nothing names for a day, and miss those that are gone.

        Args:
            named: paths of everything that may still be read.
            now: by the store's clock.
        """
        for folder, after in list(self._after.items()):
            page = self._bucket.page(folder, after, PAGE)
            unnamed = [path for path, row in page.items() if path not in named and now - row.modified >= KEPT_UNNAMED]
            if unnamed:
                self._bucket.delete(unnamed)

            is_last = len(page) < PAGE
            last = max(page, default=after)
            if folder == OBJECTS:
                looked_for = {path for path in self._there if after < path and (is_last or path <= last)}
                self._there -= looked_for - page.keys()
            if is_last and not page and not after and folder != OBJECTS:
                del self._after[folder]  # nothing is left of the former layout
            else:
                self._after[folder] = "" if is_last else last
