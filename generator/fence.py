"""The fence: asked right before anything moves that readers see, or that the record keeps.

A writer calls it as late as it can: after its bytes are on disk, before the pointer moves; inside the transaction,
before it is committed. What it returns is stored beside the pointer, so that a writer who was stopped between the
question and the write can still be told from the leader.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

# Returns the epoch held (0: there is but one writer); raises LeadershipLost when the lease is not held any more.
Fence: TypeAlias = Callable[[], int]


def one_writer() -> int:
    """Be the fence of a process that has no rivals, as a test or a tool has none."""
    return 0
