"""Name this process in the payments ledger, so that a dead one's unfinished work can be taken over at once."""

from __future__ import annotations

import os
import secrets
import socket


def make_owner() -> str:
    """Return this process's name: host, process id, a random part."""
    return f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"


def is_gone(owner: str, me: str) -> bool:
    """Tell whether another process certainly runs no more.

    Args:
        owner: a name that a process of any host wrote.
        me: this process's name.

    Returns:
        True only for a process of this host whose id is free or is our own by now.
    """
    if owner == me:
        return False
    host, _, rest = owner.rpartition(":")[0].rpartition(":")
    if host != socket.gethostname() or not rest.isdigit():
        return False
    if int(rest) == os.getpid():
        return True
    try:
        os.kill(int(rest), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False
