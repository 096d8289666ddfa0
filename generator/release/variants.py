"""Compressed variants next to the files where they pay."""

import gzip
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final

import brotli

from generator.memo import Memo

# Of the published texts every one from 1,000 bytes on gets at least 40% smaller, and what is smaller than that
# travels in the packet that its headers need anyway (docs/explain/publishing.md).
SMALLEST: Final = 1_000
WORTH: Final = 0.9
LARGE: Final = 64 * 1024
# Levels of gzip and brotli. What every tick changes is packed in every tick: one level more would take half as long
# again for a twelfth of the size, and the few large pages take most of the time. What lasts for a day may take longer.
SMALL_LEVELS: Final = (4, 4)
LARGE_LEVELS: Final = (1, 2)
LASTING_LEVELS: Final = (9, 6)
TEXT: Final = (".php", ".json", ".html", ".txt", ".xml", ".yaml", ".css", ".js", ".svg", ".md", "api-catalog", "x402")


Levels = tuple[int, int]
Pair = tuple[bytes, bytes]


class Variants:
    """Make `.gz` and `.br` siblings; only changed content is compressed."""

    def __init__(self) -> None:
        self._made: Memo[bytes] = Memo()  # by content
        self._brotli = ThreadPoolExecutor(1, thread_name_prefix="brotli")

    def add(self, files: Mapping[str, bytes], lasting: Collection[str] = ()) -> dict[str, bytes]:
        """Return `files` and a variant for every text file that gets at least a tenth smaller and comes without."""
        texts = {
            path: content
            for path, content in files.items()
            if len(content) >= SMALLEST and path.endswith(TEXT) and f"{path}.gz" not in files
        }
        pairs = self._pairs({content: _levels(content, lasts=path in lasting) for path, content in texts.items()})

        out = dict(files)
        for path, content in texts.items():
            for ending, packed in zip((".gz", ".br"), pairs[content], strict=True):
                if len(packed) < WORTH * len(content):
                    out[path + ending] = packed
        return out

    def _pairs(self, contents: Mapping[bytes, Levels]) -> dict[bytes, Pair]:
        """Return content -> its two packed forms; what was there before is taken over."""
        changed = [(content, levels) for content, levels in contents.items() if content not in self._made]

        # Both compressors let go of the interpreter's lock, so they run side by side where there are two cores.
        brotlied = self._brotli.submit(
            lambda: [brotli.compress(content, quality=quality) for content, (_, quality) in changed]
        )
        gzipped = [gzip.compress(content, compresslevel=level, mtime=0) for content, (level, _) in changed]

        fresh = {}
        for (content, _), zipped, packed in zip(changed, gzipped, brotlied.result(), strict=True):
            fresh[content] = (_not_as_long(zipped, packed), packed)

        self._made.keep(contents)
        return {content: self._made.get(content, None, partial(fresh.__getitem__, content)) for content in contents}


def pack(content: bytes) -> Pair:
    """Return one content in gzip and in brotli, packed as what lasts; for what is made outside of the tick."""
    level, quality = LASTING_LEVELS
    packed = brotli.compress(content, quality=quality)
    return _not_as_long(gzip.compress(content, compresslevel=level, mtime=0), packed), packed


def _not_as_long(zipped: bytes, packed: bytes) -> bytes:
    """Make a gzip file a byte longer if it is as long as its brotli twin, by an empty file name in its head (RFC 1952).

    nginx makes an ETag of mtime and size: the two would have the same one.
    """
    if len(zipped) != len(packed):
        return zipped
    return zipped[:3] + bytes([zipped[3] | 0x08]) + zipped[4:10] + b"\0" + zipped[10:]


def _levels(content: bytes, *, lasts: bool) -> Levels:
    if lasts:
        return LASTING_LEVELS
    return LARGE_LEVELS if len(content) >= LARGE else SMALL_LEVELS
