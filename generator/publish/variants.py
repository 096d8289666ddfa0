"""Compressed variants beside the files where they pay."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import brotli

# Of the published texts every one from 1,000 bytes on gets at least 40 % smaller, and what is smaller than that
# travels in the packet that its headers need anyway; `python -m tests.benchmarks.publish` prints the table.
SMALLEST: Final = 1_000
WORTH: Final = 0.9
# One level more would take three times as long for the last twelfth of the size, in every tick.
GZIP_LEVEL: Final = 4
BROTLI_QUALITY: Final = 4
TEXT: Final = (".php", ".json", ".html", ".txt", ".xml", ".yaml", ".css", ".js", ".svg", ".md", "api-catalog", "x402")


class Variants:
    """Make `.gz` and `.br` siblings; only changed content is compressed."""

    def __init__(self) -> None:
        self._made: dict[bytes, tuple[bytes, bytes]] = {}
        self._beside = ThreadPoolExecutor(1, thread_name_prefix="brotli")

    def add(self, files: Mapping[str, bytes]) -> dict[str, bytes]:
        """Return `files` and a variant for every text file that gets at least a tenth smaller."""
        out = dict(files)
        texts = {path: data for path, data in files.items() if len(data) >= SMALLEST and path.endswith(TEXT)}
        self._made = self._pairs(texts.values())
        for path, data in texts.items():
            for ending, packed in zip((".gz", ".br"), self._made[data], strict=True):
                if len(packed) < WORTH * len(data):
                    out[path + ending] = packed
        return out

    def _pairs(self, contents: Iterable[bytes]) -> dict[bytes, tuple[bytes, bytes]]:
        """Return content -> its two packed forms; what was there before is taken over."""
        pairs = {data: self._made.get(data) for data in contents}
        changed = [data for data, made in pairs.items() if made is None]
        # Both compressors let go of the interpreter's lock, so they run side by side where there are two cores.
        brotlied = self._beside.submit(lambda: [brotli.compress(data, quality=BROTLI_QUALITY) for data in changed])
        gzipped = [gzip.compress(data, compresslevel=GZIP_LEVEL, mtime=0) for data in changed]
        fresh = dict(zip(changed, zip(gzipped, brotlied.result(), strict=True), strict=True))
        return {data: made or fresh[data] for data, made in pairs.items()}
