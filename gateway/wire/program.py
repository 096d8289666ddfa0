"""Which program runs: its version, and the commit of its source where that is known."""

import subprocess
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

DISTRIBUTION: Final = "educational-market-intelligence"
BUILT_OF: Final = Path(__file__).parents[1] / "_data" / "commit"
"""Written into the wheel by hatch_build.py."""
SHOWN: Final = 12


@dataclass(frozen=True, slots=True)
class Program:
    """What runs."""

    version: str = "0.0.0"
    commit: str | None = None  # twelve hex digits; None where it is not known

    def __str__(self) -> str:
        """Name it in one short line."""
        return f"emi {self.version}" + (f" ({self.commit})" if self.commit else "")


UNNAMED: Final = Program()
"""Where it is not said what runs."""


@cache
def this_program() -> Program:
    """Return what runs: the commit as it was built, or of the checkout in which it lies."""
    try:
        number = version(DISTRIBUTION)
    except PackageNotFoundError:
        return Program(commit=_commit())
    return Program(number, _commit())


def _commit() -> str | None:
    if BUILT_OF.is_file():
        return BUILT_OF.read_text(encoding="ascii").strip()[:SHOWN] or None

    root = Path(__file__).parents[2]
    if not (root / ".git").exists():
        return None
    try:
        done = subprocess.run(  # noqa: S603  our own words
            ["git", "-C", str(root), "rev-parse", "HEAD"],  # noqa: S607  wherever the system has it
            capture_output=True,
            text=True,
            timeout=5,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip()[:SHOWN] if done.returncode == 0 else None
