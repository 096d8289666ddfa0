"""Name this process in the payments ledger, so that a dead one's unfinished work can be taken over at once."""

from __future__ import annotations

import os
import secrets
import socket
from pathlib import Path


def make_owner() -> str:
    """Return a name for one ledger user: host, process id, when that process began, a random part."""
    pid = os.getpid()
    return f"{socket.gethostname()}:{pid}:{_began(pid)}:{secrets.token_hex(4)}"


def is_gone(owner: str, me: str) -> bool:
    """Tell whether the process that wrote a name certainly runs no more.

    Args:
        owner: a name that a process of any host wrote.
        me: our own name.

    Returns:
        True only for a process of this host whose id is free, or belongs to one that began at another time.
    """
    parts = owner.rsplit(":", 3)
    if owner == me or len(parts) != 4 or parts[0] != socket.gethostname() or not parts[1].isdigit():
        return False
    pid, began = int(parts[1]), parts[2]
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    # Ids come round again, in containers at once: the one that runs now may be another.
    return "" not in {began, _began(pid)} and began != _began(pid)


def _began(pid: int) -> str:
    """Return a process's start in clock ticks since boot, empty where the system does not say."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""
