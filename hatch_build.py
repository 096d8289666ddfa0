"""Write into wheel and sdist of which commit they were built, where the build knows.

That is SOURCE_COMMIT, else what the sdist that is built from says, else the checkout's own HEAD, read without git: the
machine that installs a checkout may have none.
"""

import os
import re
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

IN_SDIST = "COMMIT"
IN_WHEEL = "gateway/_data/commit"


class CommitHook(BuildHookInterface[Any]):
    """Add a file with the commit; an editable install asks its checkout each time instead."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the file, if there is something to write."""
        root = Path(self.root)
        commit = os.environ.get("SOURCE_COMMIT") or _of_sdist(root) or head_of(root)
        if version == "standard" and commit:
            file = Path(tempfile.mkdtemp()) / "commit"
            file.write_text(f"{commit}\n", encoding="ascii")
            name = IN_SDIST if self.target_name == "sdist" else IN_WHEEL
            build_data["force_include"][str(file)] = name


def _of_sdist(root: Path) -> str:
    file = root / IN_SDIST
    return file.read_text(encoding="ascii").strip() if file.is_file() else ""


def head_of(root: Path) -> str:
    """Return the commit that a checkout or a worktree is at, empty where that cannot be read."""
    folder = root / ".git"
    try:
        if folder.is_file():  # a worktree: the file names its folder
            folder = root / folder.read_text().removeprefix("gitdir:").strip()
        shared = folder / "commondir"
        common = folder / shared.read_text().strip() if shared.is_file() else folder

        head = (folder / "HEAD").read_text().strip()
        if not head.startswith("ref: "):
            return head
        ref = head.removeprefix("ref: ")
        for place in (folder / ref, common / ref):
            if place.is_file():
                return place.read_text().strip()
        packed = (common / "packed-refs").read_text()
    except OSError:
        return ""
    found = re.search(rf"^([0-9a-f]{{40,64}}) {re.escape(ref)}$", packed, re.MULTILINE)
    return found[1] if found else ""
