"""Write into the wheel of which commit it was built, where the build knows: SOURCE_COMMIT, or the checkout's own."""

import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CommitHook(BuildHookInterface[Any]):
    """Add `gateway/_data/commit` to a wheel; an editable install asks its checkout each time instead."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the file, if there is something to write."""
        commit = os.environ.get("SOURCE_COMMIT") or _head(Path(self.root))
        if version == "standard" and commit:
            file = Path(tempfile.mkdtemp()) / "commit"
            file.write_text(f"{commit}\n", encoding="ascii")
            build_data["force_include"][str(file)] = "gateway/_data/commit"


def _head(root: Path) -> str:
    if not (root / ".git").exists():
        return ""
    try:
        done = subprocess.run(  # noqa: S603  our own words
            ["git", "-C", str(root), "rev-parse", "HEAD"],  # noqa: S607
            capture_output=True,
            text=True,
            timeout=5,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()
