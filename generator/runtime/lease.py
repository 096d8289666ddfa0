"""A lease: who of several generators may write, with an epoch that rises with every new holder.

The fence is checked right before anything moves that readers see, or that the record keeps: after a writer's bytes are
on disk, before its pointer moves; inside a transaction, before it is committed. The epoch that it returns is stored
with the pointer, so that a writer that was suspended between the check and the write can still be distinguished from
the leader.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

# Returns the epoch held (0: there is but one writer); raises LeadershipLost when the lease is not held any more.
Fence: TypeAlias = Callable[[], int]
DEFAULT_TTL_S: Final = 3.0
NO_HOLDER: Final = "another generator"


def no_fence() -> int:
    """Return epoch 0: a fence that never refuses, of a process without rivals, such as a test or a tool."""
    return 0


@dataclass(frozen=True, slots=True)
class Grant:
    """A lease held.

    Args:
        epoch: higher than every one granted before; it is the fence's value.
        ttl_s: seconds after the request for which no one else gets it; None while the process lives.
    """

    epoch: int
    ttl_s: float | None


class Lease(Protocol):
    """One lease of one name. Its methods block, and are called from one thread, one at a time."""

    def acquire(self, floor: int) -> Grant | None:
        """Take the lease, with an epoch above `floor`, the highest found written anywhere; None while another holds it.

        LeaseUnreachable: it is not known who holds it.
        """
        ...

    def renew(self) -> None:
        """Hold it for another `ttl_s` from the begin of this call; LeadershipLost: another took it."""
        ...

    def release(self) -> None:
        """Let the next one have it at once; where that fails, it expires."""
        ...

    def holder(self) -> str:
        """Name for people who held it when `acquire` was last refused."""
        ...

    def close(self) -> None:
        """Release connections."""
        ...
