"""Compressed variants beside the files where they pay."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from typing import Final

import brotli

SMALLEST: Final = 1_000
TEXT: Final = (".php", ".json", ".html", ".txt", ".xml", ".yaml", ".css", ".js", ".svg", ".md", "api-catalog", "x402")


class Variants:
    """Make `.gz` and `.br` siblings, remembering those of unchanged content."""

    def __init__(self) -> None:
        self._made: dict[bytes, tuple[bytes, bytes]] = {}

    def add(self, files: Mapping[str, bytes]) -> dict[str, bytes]:
        """Return `files` and a variant for every text file that gets at least a tenth smaller."""
        out = dict(files)
        made: dict[bytes, tuple[bytes, bytes]] = {}
        for path, data in files.items():
            if len(data) < SMALLEST or not path.endswith(TEXT):
                continue
            pair = made[data] = self._made.get(data) or (_gzip(data), brotli.compress(data, quality=5))
            for ending, packed in zip((".gz", ".br"), pair, strict=True):
                if len(packed) < 0.9 * len(data):
                    out[path + ending] = packed
        self._made = made
        return out


def _gzip(data: bytes) -> bytes:
    return gzip.compress(data, compresslevel=6, mtime=0)
