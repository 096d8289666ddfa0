"""Where the templates and the hand-written part of the site lie: in the wheel, or in a checkout."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from generator.errors import PublishError


@dataclass(frozen=True, slots=True)
class Resources:
    """Two folders of data files; `locate` finds them."""

    templates: Path
    site: Path

    @classmethod
    def locate(cls, package: Path | None = None) -> Resources:
        """Find the folders.

        Args:
            package: folder of the `generator` package; by default the one this file is in.

        Raises:
            PublishError: neither an installed wheel's data nor a checkout's folders are there.
        """
        package = package or Path(__file__).parent.parent
        for root in (package / "_data", package.parent):
            if (root / "templates" / "pages").is_dir() and (root / "site" / "assets").is_dir():
                return cls(root / "templates", root / "site")
        raise PublishError("the page templates are missing from this installation; install the package again")


def static_assets(resources: Resources | None = None) -> dict[str, bytes]:
    """Read the hand-written files: `/assets/*` and, at the root, `/favicon.svg`."""
    folder = (resources or Resources.locate()).site / "assets"
    files = {f"/assets/{path.name}": path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}
    icon = files.pop("/assets/favicon.svg")
    return {**files, "/favicon.svg": icon}
