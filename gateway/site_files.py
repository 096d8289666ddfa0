"""A published release held in memory: bytes, variants and validators of every file."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import formatdate
from pathlib import Path
from typing import Final

VARIANTS: Final[Mapping[str, str]] = {".br": "br", ".gz": "gzip"}
CONTENT_TYPES: Final[Mapping[str, str]] = {
    ".php": "application/json",
    ".json": "application/json",
    ".html": "text/html; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".md": "text/markdown; charset=utf-8",
    ".xml": "application/xml",
    ".yaml": "application/yaml",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".webmanifest": "application/manifest+json",
}
# RFC 9727 fixes the type of the catalogue; it has no file name ending to tell it by.
NAMED_TYPES: Final[Mapping[str, str]] = {
    "/.well-known/api-catalog": 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
    "/.well-known/x402": "application/json",
}


@dataclass(frozen=True, slots=True)
class Variant:
    """One encoding of a file.

    Args:
        content: the bytes to send.
        etag: strong, different for each encoding.
    """

    content: bytes
    etag: str


@dataclass(frozen=True, slots=True)
class SiteFile:
    """One file.

    Args:
        content_type: by its name.
        modified_s: mtime, whole seconds since the epoch.
        variants: content coding to variant; `identity` is always there.
    """

    content_type: str
    modified_s: int
    variants: Mapping[str, Variant]

    @property
    def last_modified(self) -> str:
        """The mtime as an HTTP date."""
        return formatdate(self.modified_s, usegmt=True)


@dataclass(frozen=True, slots=True)
class LoadedSite:
    """One release.

    Args:
        generation: the release folder's name.
        files: path with leading slash to file.
        assets: what /api/reasoning can be asked for.
    """

    generation: str
    files: Mapping[str, SiteFile]
    assets: tuple[str, ...]


def load_site(folder: Path) -> LoadedSite:
    """Read a whole release.

    Args:
        folder: the release, its pointer already resolved.

    Raises:
        OSError: it cannot be read, e.g. because it was pruned meanwhile.

    Returns:
        The release; nothing outside the folder is ever read.
    """
    root = folder.resolve(strict=True)
    paths = {
        "/" + path.relative_to(root).as_posix(): path
        for path in sorted(root.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }
    files = {name: _load(name, paths) for name in paths if not _is_variant(name, paths)}
    prefix, suffix = "/api/reasoning/", ".json"
    assets = (name[len(prefix) : -len(suffix)] for name in files if name.startswith(prefix) and name.endswith(suffix))
    return LoadedSite(root.name, files, tuple(assets))


def _is_variant(name: str, paths: Mapping[str, Path]) -> bool:
    stem, dot, ending = name.rpartition(".")
    return dot + ending in VARIANTS and stem in paths


def _load(name: str, paths: Mapping[str, Path]) -> SiteFile:
    variants = {"identity": _variant(paths[name])}
    for ending, coding in VARIANTS.items():
        if name + ending in paths:
            variants[coding] = _variant(paths[name + ending])
    return SiteFile(_content_type(name), int(paths[name].stat().st_mtime), variants)


def _variant(path: Path) -> Variant:
    content = path.read_bytes()
    return Variant(content, f'"{hashlib.sha256(content).hexdigest()[:32]}"')


def _content_type(name: str) -> str:
    return NAMED_TYPES.get(name) or CONTENT_TYPES.get(Path(name).suffix, "application/octet-stream")
