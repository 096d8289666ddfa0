"""Where the templates and the hand-written part of the site lie: in the wheel, or in a checkout."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from generator.catalog.links import LEARN_WORKER, PRACTICE_DEMO, PRACTICE_FILES
from generator.errors import PublishError

_IMPORT: Final = re.compile(rb'((?:from |import\()"\./[a-z0-9-]+\.js)"')


@dataclass(frozen=True, slots=True)
class Resources:
    """Two folders of data files; `locate` finds them."""

    templates: Path
    site: Path

    @property
    def changelog(self) -> str:
        """The text of CHANGELOG.md, which lies next to both folders."""
        return (self.templates.parent / "CHANGELOG.md").read_text(encoding="utf-8")

    @property
    def howto(self) -> Path:
        """The folder of the guides for operators, which lies next to both folders."""
        return self.templates.parent / "docs" / "howto"

    @property
    def practice(self) -> Path:
        """The folder of the shipped month of practice, with its log."""
        return self.site / "practice"

    @classmethod
    def locate(cls, package: Path | None = None) -> Resources:
        """Find the folders in a wheel or a checkout; raise PublishError where neither is."""
        package = package or Path(__file__).parent.parent
        for root in (package / "_data", package.parent):
            if (root / "templates" / "pages").is_dir() and (root / "site" / "assets").is_dir():
                return cls(root / "templates", root / "site")
        raise PublishError("the page templates are missing from this installation; install the package again")


@dataclass(frozen=True, slots=True)
class Assets:
    """The hand-written files: `/assets/*`, `/favicon.svg`, its picture `/favicon.ico` and `/learn/worker.js`.

    Args:
        version: a short digest of them all. It is in the address of every script and style sheet, so that a new page
            never meets an old copy of a cache.
    """

    files: Mapping[str, bytes]
    version: str

    @classmethod
    def load(cls, resources: Resources | None = None) -> Assets:
        """Read them; a script that imports another one names the version too, as the pages do."""
        folder = (resources or Resources.locate()).site / "assets"
        read = {f"/assets/{path.name}": path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}
        version = hashlib.sha256(b"".join(read.values())).hexdigest()[:10]

        versioned_import = rb'\1?v=%s"' % version.encode()
        files = {}
        for name, data in read.items():
            files[name] = _IMPORT.sub(versioned_import, data) if name.endswith(".js") else data
        # The second for readers that ask for this address without looking at the page.
        for icon in ("favicon.svg", "favicon.ico"):
            files[f"/{icon}"] = files.pop(f"/assets/{icon}")
        # A service worker controls only the pages below its own path.
        files[LEARN_WORKER] = files.pop("/assets/learn-worker.js")
        return cls(files, version)


class PracticeFiles(NamedTuple):
    """A month of practice, such as 2026-11, and the paths of its two files."""

    month: str
    items: str
    truths: str


@dataclass(frozen=True, slots=True)
class ShippedMonth:
    """The month of practice that comes with the program: items, truths, and its finished log.

    Args:
        log: path -> content of everything below `PRACTICE_DEMO`.
    """

    items_path: str
    items: bytes
    truths_path: str
    truths: bytes
    log: Mapping[str, bytes]

    @property
    def month(self) -> PracticeFiles:
        """Which month it is, and its files."""
        return PracticeFiles(Path(self.items_path).name[: len("2026-10")], self.items_path, self.truths_path)

    @property
    def files(self) -> dict[str, bytes]:
        """Path -> content of everything that is published of it."""
        return {**self.log, self.truths_path: self.truths, self.items_path: self.items}

    @classmethod
    def load(cls, resources: Resources | None = None) -> ShippedMonth:
        """Read it."""
        folder = (resources or Resources.locate()).practice
        truths = next(folder.glob("*-truths.json"))
        items = next(path for path in folder.glob("*.json") if path != truths)

        log = {
            f"{PRACTICE_DEMO}/{path.relative_to(folder).as_posix()}": path.read_bytes()
            for path in sorted((folder / "log").rglob("*"))
            if path.is_file()
        }

        return cls(
            items_path=f"{PRACTICE_FILES}{items.name}",
            items=items.read_bytes(),
            truths_path=f"{PRACTICE_FILES}{truths.name}",
            truths=truths.read_bytes(),
            log=log,
        )
