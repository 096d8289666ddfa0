"""Where the templates and the hand-written part of the site lie: in the wheel, or in a checkout."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from generator.errors import PublishError

_IMPORT: Final = re.compile(rb'(from "\./[a-z-]+\.js)"')


@dataclass(frozen=True, slots=True)
class Resources:
    """Two folders of data files; `locate` finds them."""

    templates: Path
    site: Path

    @property
    def changelog(self) -> str:
        """The text of CHANGELOG.md, which lies next to both folders."""
        return (self.templates.parent / "CHANGELOG.md").read_text(encoding="utf-8")

    @classmethod
    def locate(cls, package: Path | None = None) -> Resources:
        """Find the folders.

        Raises:
            PublishError: neither an installed wheel's data nor a checkout's folders are there.
        """
        package = package or Path(__file__).parent.parent
        for root in (package / "_data", package.parent):
            if (root / "templates" / "pages").is_dir() and (root / "site" / "assets").is_dir():
                return cls(root / "templates", root / "site")
        raise PublishError("the page templates are missing from this installation; install the package again")


@dataclass(frozen=True, slots=True)
class Assets:
    """Scripts, style sheets and the icon, which are part of the program, and the version in their addresses."""

    files: Mapping[str, bytes]
    version: str

    @classmethod
    def load(cls, resources: Resources | None = None) -> Assets:
        """Read them."""
        resources = resources or Resources.locate()
        return cls(static_assets(resources), assets_version(resources))


def assets_version(resources: Resources) -> str:
    """Return a short digest of all hand-written files.

    It is in the address of every script and style sheet, so that a new page never meets an old copy of a cache.
    """
    digest = hashlib.sha256()
    for path in _assets(resources):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:10]


def static_assets(resources: Resources | None = None) -> dict[str, bytes]:
    """Read the hand-written files: `/assets/*` and, at the root, `/favicon.svg`.

    A script that imports another one names the version of all of them, as the pages do.
    """
    resources = resources or Resources.locate()
    named = rb'\1?v=%s"' % assets_version(resources).encode()
    files = {f"/assets/{path.name}": path.read_bytes() for path in _assets(resources)}
    files = {name: _IMPORT.sub(named, content) if name.endswith(".js") else content for name, content in files.items()}
    icon = files.pop("/assets/favicon.svg")
    return {**files, "/favicon.svg": icon}


def _assets(resources: Resources) -> list[Path]:
    return sorted(path for path in (resources.site / "assets").iterdir() if path.is_file())
