"""Name this process in the payments ledger, so that a dead one's unfinished work can be taken over at once."""

from __future__ import annotations

import os
import secrets
import socket
from pathlib import Path


def make_owner() -> str:
    """Return a name for one ledger user.

    Its parts: host, boot, namespace of process ids, process id, when that process began, chance. The second and third
    are empty where the system does not say.
    """
    pid = os.getpid()
    return f"{socket.gethostname()}:{_boot()}:{_namespace()}:{pid}:{_began(pid)}:{secrets.token_hex(4)}"


def is_gone(owner: str, me: str) -> bool:
    """Return whether the process that wrote a name certainly runs no more.

    Args:
        owner: a name that a process of any host wrote.
        me: our own name.

    Returns:
        True only for a process of our boot and namespace whose id is free, or belongs to one that began at another
        time. Never for another boot, since two machines may have one hostname, nor for a name of an older version,
        which does not say where its id counts: those are waited for as long as they may take.
    """
    parts, ours = owner.rsplit(":", 5), me.rsplit(":", 5)
    if owner == me or len(parts) != 6 or parts[:3] != ours[:3] or "" in parts[1:3] or not parts[3].isdigit():
        return False
    pid, began = int(parts[3]), parts[4]
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    # Ids come round again, in containers at once: the one that runs now may be another.
    return "" not in {began, _began(pid)} and began != _began(pid)


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def _namespace() -> str:
    try:
        return str(Path("/proc/self/ns/pid").stat().st_ino)
    except OSError:
        return ""


def _began(pid: int) -> str:
    """Return a process's start in clock ticks since boot, empty where the system does not say."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""
