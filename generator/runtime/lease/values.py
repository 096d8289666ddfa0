"""What every lease keeps to, wherever it lies."""

from __future__ import annotations

import os
import socket
import time
import uuid
from dataclasses import dataclass
from typing import Protocol

DEFAULT_TTL_S = 3.0


@dataclass(frozen=True, slots=True)
class Grant:
    """A lease held.

    Args:
        epoch: higher than every one granted before; it is the fence's value.
        ttl_s: seconds after the request for which nobody else gets it; None while the process lives.
    """

    epoch: int
    ttl_s: float | None


class Lease(Protocol):
    """One lease of one name. Its methods block, and are called from one thread, in turn."""

    def acquire(self, floor: int) -> Grant | None:
        """Take the lease if nobody has it.

        Args:
            floor: the highest epoch that the caller found written anywhere; the new one is higher.

        Raises:
            LeaseUnreachable: it is not known who has it.

        Returns:
            None while another has it.
        """
        ...

    def renew(self) -> None:
        """Hold it for another `ttl_s` from the begin of this call.

        Raises:
            LeadershipLost: another took it.
            LeaseUnreachable: it is not known who has it.
        """
        ...

    def release(self) -> None:
        """Let the next one have it at once; failing to is nobody's harm, for then it runs out."""
        ...

    def holder(self) -> str:
        """Say for people who had it when `acquire` was last refused."""
        ...

    def close(self) -> None:
        """Release connections."""
        ...


def own_name() -> str:
    """Name this process: machine and process id for people, and a number that a restart does not repeat."""
    return f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:12]}"


def elapsed_s() -> float:
    """Return seconds that go on while the process is stopped and while the machine sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()
