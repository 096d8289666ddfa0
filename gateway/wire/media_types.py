"""The media type of every published file, by its path."""

from types import MappingProxyType
from typing import Final

TEXT: Final = "text/plain; charset=utf-8"
DEFAULT: Final = "application/octet-stream"
ENCODINGS: Final = MappingProxyType({".gz": "gzip", ".br": "br"})
"""Endings of precompressed variants and their content codings."""
BY_ENDING: Final = MappingProxyType(
    {
        ".php": "application/json",
        ".json": "application/json",
        ".html": "text/html; charset=utf-8",
        ".txt": TEXT,
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
)
# No ending gives these away; RFC 9727 fixes the type of the catalogue.
BY_PATH: Final = MappingProxyType(
    {
        "/.well-known/api-catalog": 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
        "/.well-known/x402": "application/json",
        "/log/checkpoint": TEXT,
        "/track-record/SHA256SUMS": TEXT,
        "/feed.json": "application/feed+json",
        "/feed.xml": "application/atom+xml",
    }
)


def content_type(path: str) -> str:
    """Return the media type of a path with a leading slash."""
    name = path.rsplit("/", 1)[-1]
    return BY_PATH.get(path) or BY_ENDING.get("." + name.rsplit(".", 1)[-1] if "." in name else "", DEFAULT)
