"""Tell the supervisor of this process that it is ready, alive or stopping, by systemd's protocol.

A supervisor that wants to hear sets NOTIFY_SOCKET: systemd for a unit of `Type=notify`, `emi up` for its children.
Without it nothing is sent.
"""

import contextlib
import os
import socket
from typing import Final

READY: Final = "READY=1"
ALIVE: Final = "WATCHDOG=1"
STOPPING: Final = "STOPPING=1"
FEED_EVERY_S: Final = 15.0
"""How often a process that waits says that it is alive: several times within any watchdog's patience."""


def notify_supervisor(message: str) -> bool:
    """Send one message, never waiting for the supervisor; return whether one was there to take it."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return False

    # An address with @ lies in the kernel's own namespace, not on disk: its name begins with a zero byte.
    place = address if address.startswith("/") else f"\0{address[1:]}"
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.settimeout(0)
        sender.sendto(message.encode(), place)
        return True
    return False
