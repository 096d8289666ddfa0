"""The mark of a restore that is not over, in the state folder of each program: neither starts on half of a state."""

from pathlib import Path
from typing import Final

MARK: Final = "restore.unfinished"


def unfinished_restore(state_dir: Path) -> str | None:
    """Say that a restore into a state folder did not come to its end; None where none is under way.

    What cannot be looked at has no mark: whoever cannot enter its state folder fails by itself.
    """
    mark = state_dir / MARK
    try:
        there = mark.exists()
    except OSError:
        return None
    return f"a restore into {state_dir} did not come to its end: run emi restore again ({mark})" if there else None
