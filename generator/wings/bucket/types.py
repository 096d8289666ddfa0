"""With what headers an object store and its CDN are to serve each published file."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from generator.catalog.discovery import DISCOVERY_FILES, FEEDS
from generator.catalog.downloads import SUMS

TEXT: Final = "text/plain; charset=utf-8"
DEFAULT: Final = "application/octet-stream"
ENCODINGS: Final = {".gz": "gzip", ".br": "br"}
BY_ENDING: Final = {
    ".php": "application/json",
    ".json": "application/json",
    ".html": "text/html; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".md": "text/markdown; charset=utf-8",
    ".xml": "application/xml",
    ".yaml": "application/yaml",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".csv": "text/csv; charset=utf-8",
    ".jsonl": "application/jsonl",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".webmanifest": "application/manifest+json",
    ".gz": "application/gzip",
}
BY_PATH: Final = {
    **{file.path: file.media_type for file in DISCOVERY_FILES},
    **{feed.path: feed.media_type for feed in FEEDS},
    SUMS: TEXT,
    "/log/checkpoint": TEXT,
}


def attributes(path: str, beside: Collection[str], cache_control: str) -> dict[str, str]:
    """Return the attributes of one object.

    Args:
        path: with leading slash.
        beside: the paths published with it: `a.json.gz` is a variant only where there is `a.json`.
        cache_control: as every file of its kind has it.
    """
    base, encoding = path, None
    for ending, name in ENCODINGS.items():
        if path.endswith(ending) and path.removesuffix(ending) in beside:
            base, encoding = path.removesuffix(ending), name
    found = {"Content-Type": content_type(base), "Cache-Control": cache_control}
    return found if encoding is None else found | {"Content-Encoding": encoding}


def content_type(path: str) -> str:
    """Return the media type of a path by its name."""
    name = path.rsplit("/", 1)[-1]
    return BY_PATH.get(path) or BY_ENDING.get("." + name.rsplit(".", 1)[-1] if "." in name else "", DEFAULT)
