"""What takes seconds to make and is the same for all: made by one worker of a run, read by the others."""

import fcntl
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


class Shared:
    """Where the workers of this run leave it; None in a process that runs alone."""

    folder: Path | None = None


def once(name: str, make: Callable[[], T]) -> T:
    """Return what `make` does, of whichever worker was the first to ask; it is pickled."""
    if Shared.folder is None:
        return make()

    path = Shared.folder / f"{name}.pickle"
    with (Shared.folder / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the others wait until it is made
        if not path.exists():
            made = make()
            path.write_bytes(pickle.dumps(made))
            return made
    found: T = pickle.loads(path.read_bytes())
    return found
