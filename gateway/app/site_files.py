"""Published files held in memory: bytes, variants, validators and the finished headers of every answer."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import formatdate
from pathlib import Path
from types import MappingProxyType
from typing import Final

from gateway.app.problem import SECURITY_HEADERS, SITE_CORS_HEADERS
from gateway.wire.media_types import content_type

Headers = list[tuple[bytes, bytes]]
Stamp = tuple[int, int, int]  # inode, mtime in ns, bytes: a file that has kept all three is the same

VARIANTS: Final[Mapping[str, str]] = {".br": "br", ".gz": "gzip"}
PAGE_POLICY: Final = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; "
    "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
INDEX: Final = "index.html"
TWIN: Final = "index.md"


@dataclass(frozen=True, slots=True)
class Variant:
    """One encoding of a file.

    Args:
        stamp: of the file it was read from.
        content: the bytes to send.
        etag: strong, different for each encoding.
    """

    stamp: Stamp
    content: bytes
    etag: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """One encoding of a file with the finished headers of its 200 and its 304; Cache-Control is the first of both."""

    variant: Variant
    headers: Headers
    unchanged: Headers


@dataclass(frozen=True, slots=True)
class SiteFile:
    """One file.

    Args:
        modified_s: mtime, whole seconds since the epoch.
        answers: content coding to answer; `identity` is always there.
    """

    modified_s: int
    answers: Mapping[str, Answer]


@dataclass(frozen=True, slots=True)
class LoadedSite:
    """One release.

    Args:
        generation: the release folder's name.
        files: request path to file; a folder's page also under the folder's own path.
        assets: what /api/reasoning can be asked for.
    """

    generation: str
    files: Mapping[str, SiteFile]
    assets: tuple[str, ...]


NO_FILES: Final[Mapping[str, SiteFile]] = MappingProxyType({})


def load_site(folder: Path, cache_control: str, before: LoadedSite | None = None) -> LoadedSite:
    """Read a whole release.

    Args:
        folder: the release, its pointer already resolved.
        cache_control: of every file of it.
        before: another release; what is unchanged since shares its bytes.

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
    known = before.files if before else NO_FILES
    lasting = {"cache-control": cache_control, "x-generation": root.name}
    files = {name: _load(name, paths, known, lasting) for name in paths if not _is_variant(name, paths)}
    pages = [name for name in files if name.endswith(f"/{INDEX}")]
    files |= {name.removesuffix(INDEX): files[name] for name in pages}
    prefix, suffix = "/api/reasoning/", ".json"
    assets = (name[len(prefix) : -len(suffix)] for name in files if name.startswith(prefix) and name.endswith(suffix))
    return LoadedSite(root.name, files, tuple(assets))


def load_once(folder: Path, name: str, cache_control: str, generation: str) -> SiteFile | None:
    """Read one file that never changes, with its variants.

    Args:
        folder: of the put-once files.
        name: request path; one that leads outside of the folder names nothing.
        cache_control: of the answer.
        generation: which stands now.
    """
    parts = name.split("/")[1:]
    if not all(parts) or any(part.startswith(".") for part in parts):
        return None
    try:
        if _is_link(folder, parts):
            return None
        paths = {one: Path(f"{folder}{one}") for one in (name, *(name + ending for ending in VARIANTS))}
        there = {one: path for one, path in paths.items() if path.is_file()}
        hidden = name.endswith(tuple(VARIANTS)) and Path(f"{folder}{name[:-3]}").is_file()
        lasting = {"cache-control": cache_control, "x-generation": generation}
        return _load(name, there, NO_FILES, lasting) if name in there and not hidden else None
    except (OSError, ValueError):  # too long, or not a file name at all
        return None


def _is_link(folder: Path, parts: list[str]) -> bool:
    """Return whether any step of the way is a symbolic link: those may lead anywhere."""
    return any(folder.joinpath(*parts[: place + 1]).is_symlink() for place in range(len(parts)))


def _is_variant(name: str, paths: Mapping[str, Path]) -> bool:
    stem, dot, ending = name.rpartition(".")
    return dot + ending in VARIANTS and stem in paths


def _load(name: str, paths: Mapping[str, Path], known: Mapping[str, SiteFile], lasting: Mapping[str, str]) -> SiteFile:
    before = known[name].answers if name in known else {}
    variants = {"identity": _variant(paths[name], before.get("identity"))}
    for ending, coding in VARIANTS.items():
        if name + ending in paths:
            variants[coding] = _variant(paths[name + ending], before.get(coding))
    modified_s = variants["identity"].stamp[1] // 1_000_000_000
    return SiteFile(
        modified_s,
        {coding: _answer(name, coding, variant, modified_s, lasting) for coding, variant in variants.items()},
    )


def _variant(path: Path, before: Answer | None) -> Variant:
    with path.open("rb") as file:
        found = os.fstat(file.fileno())
        stamp = (found.st_ino, found.st_mtime_ns, found.st_size)
        if before is not None and before.variant.stamp == stamp:
            return before.variant
        content = file.read()
    return Variant(stamp, content, b'"%s"' % hashlib.sha256(content).hexdigest()[:32].encode())


def _answer(name: str, coding: str, variant: Variant, modified_s: int, lasting: Mapping[str, str]) -> Answer:
    media_type = content_type(name)
    policy = {"content-security-policy": PAGE_POLICY} if media_type.startswith("text/html") else {}
    link = _link(name)
    encoding = {} if coding == "identity" else {"content-encoding": coding}
    headers = {
        **lasting,
        **SITE_CORS_HEADERS,
        **SECURITY_HEADERS,
        **policy,
        **({"link": link} if link else {}),
        "etag": variant.etag.decode(),
        "last-modified": formatdate(modified_s, usegmt=True),
        "vary": "Accept-Encoding",
    }
    body = {"content-type": media_type, "content-length": str(len(variant.content)), **encoding}
    return Answer(variant, _raw({**headers, **body}), _raw(headers))


def _link(name: str) -> str | None:
    """Return what a page says of its Markdown twin, and the twin of the page (RFC 8288); None of other files."""
    folder, _, file = name.rpartition("/")
    if file == INDEX:
        return f'<{folder}/{TWIN}>; rel="alternate"; type="text/markdown"'
    return f'<{folder}/>; rel="canonical"' if file == TWIN else None


def _raw(headers: Mapping[str, str]) -> Headers:
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
