"""What systemd knows of its units, asked over the system's message bus.

`emi watch` asks once a minute for as long as the machine runs, and to start `systemctl` for it would cost as much as
all else that a look does. Here is only what two questions need of the D-Bus protocol:
https://dbus.freedesktop.org/doc/dbus-specification.html and https://www.freedesktop.org/wiki/Software/systemd/dbus/
"""

import os
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Final

from generator.watch.seen import Unit

BUS: Final = Path("/run/dbus/system_bus_socket")
BUS_ITSELF: Final = ("org.freedesktop.DBus", "/org/freedesktop/DBus")
SYSTEMD: Final = ("org.freedesktop.systemd1", "/org/freedesktop/systemd1")
MANAGER: Final = "org.freedesktop.systemd1.Manager"
SERVICE: Final = "org.freedesktop.systemd1.Service"
PROPERTIES: Final = "org.freedesktop.DBus.Properties"
MOST_BYTES: Final = 1_000_000
CALL: Final = 1
RETURN: Final = 2
ERROR: Final = 3
HEAD_BYTES: Final = 16
A_NUMBER: Final = b"\1u\0"
"""The type of a value that follows: one unsigned number of 32 bits."""


def system_bus() -> Path:
    """Return the socket of the system's message bus: the environment's own, as for all programs, or the usual one."""
    address = os.environ.get("DBUS_SYSTEM_BUS_ADDRESS", f"unix:path={BUS}")
    return Path(address.removeprefix("unix:path="))


def units_of(pattern: str, within_s: float, bus: Path) -> tuple[Unit, ...] | None:
    """Return the units under names of a pattern that systemd has loaded; None where it does not run, or knows none.

    Args:
        pattern: of the shell, such as `emi-*`.
        within_s: for each answer.
        bus: socket of the system's message bus.

    Raises:
        OSError, ValueError: there is no answer, or it is none of D-Bus.
    """
    if not bus.exists():
        return None
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(within_s)
        connection.connect(str(bus))
        with connection.makefile("rb") as answers:
            try:
                return tuple(_loaded(_Bus(connection, answers), pattern)) or None
            except struct.error as error:
                raise ValueError(f"the system's bus answers no D-Bus: {error}") from error


def _loaded(bus: "_Bus", pattern: str) -> Iterator[Unit]:
    patterns = _text(pattern)
    listed = bus.ask(SYSTEMD, MANAGER, "ListUnitsByPatterns", "asas", _number(0) + _number(len(patterns)) + patterns)
    end = listed.number() + 8
    while listed.at < end:
        listed.align(8)
        name, _description, load, active, _sub, _followed, path = [listed.text() for _ in range(7)]
        listed.number()  # its job, with kind and path
        listed.text()
        listed.text()
        if load == "loaded":
            yield Unit(name, active == "failed", _restarts(bus, path) if name.endswith(".service") else 0)


def _restarts(bus: "_Bus", path: str) -> int:
    """Return how often systemd started a service again."""
    arguments = _text(SERVICE)
    arguments += bytes(-len(arguments) % 4) + _text("NRestarts")
    value = bus.ask((SYSTEMD[0], path), PROPERTIES, "Get", "ss", arguments)
    if not value.data.startswith(A_NUMBER):
        raise ValueError("systemd counts restarts in no whole number")
    value.at = len(A_NUMBER)
    return value.number()


@dataclass(slots=True)
class _Values:
    """The values of a message, read one after the other; `order` is how its sender writes numbers, `<` or `>`."""

    data: bytes
    order: str
    at: int = 0

    def align(self, size: int) -> None:
        self.at += -self.at % size

    def number(self) -> int:
        self.align(4)
        (value,) = struct.unpack_from(f"{self.order}I", self.data, self.at)
        self.at += 4
        return int(value)

    def text(self) -> str:
        length = self.number()
        start = self.at
        self.at += length + 1
        return self.data[start : start + length].decode()


class _Bus:
    """A connection to the bus: one question at a time, each of which is answered before the next."""

    def __init__(self, connection: socket.socket, answers: BufferedReader) -> None:
        self._connection = connection
        self._answers = answers
        self._asked = 0

        identity = str(os.getuid()).encode().hex()
        self._connection.sendall(b"\0AUTH EXTERNAL " + identity.encode() + b"\r\n")
        if not self._answers.readline(MOST_BYTES).startswith(b"OK"):
            raise ValueError("the system's bus takes no question of this user")
        self._connection.sendall(b"BEGIN\r\n")
        self.ask(BUS_ITSELF, BUS_ITSELF[0], "Hello")

    def ask(
        self, place: tuple[str, str], interface: str, member: str, signature: str = "", arguments: bytes = b""
    ) -> _Values:
        """Call a method at (name, path), and return what it returns; ValueError where it is refused."""
        self._asked += 1
        fields = [(1, b"o", _text(place[1])), (6, b"s", _text(place[0])), (2, b"s", _text(interface))]
        fields += [(3, b"s", _text(member))]
        if signature:
            fields += [(8, b"g", bytes([len(signature)]) + signature.encode() + b"\0")]

        head = b""
        for code, kind, value in fields:
            head += bytes(-len(head) % 8) + bytes([code, 1]) + kind + b"\0" + value
        begin = struct.pack("<cBBBIII", b"l", CALL, 0, 1, len(arguments), self._asked, len(head))
        self._connection.sendall(begin + head + bytes(-len(head) % 8) + arguments)
        return self._answer()

    def _answer(self) -> _Values:
        """Return the next answer; signals, which ask nothing of anyone, are passed over."""
        while True:
            begin = self._answers.read(HEAD_BYTES)
            order = "<" if begin[:1] == b"l" else ">"
            kind, body_bytes, _serial, head_bytes = struct.unpack(f"{order}xBxxIII", begin)
            if max(body_bytes, head_bytes) > MOST_BYTES:
                raise ValueError("the system's bus answers too much")

            self._answers.read(head_bytes + -head_bytes % 8)
            body = _Values(self._answers.read(body_bytes), order)
            if kind == ERROR:
                raise ValueError(f"systemd refuses: {body.text() if body.data else 'without a reason'}")
            if kind == RETURN:
                return body


def _number(value: int) -> bytes:
    return struct.pack("<I", value)


def _text(text: str) -> bytes:
    data = text.encode()
    return _number(len(data)) + data + b"\0"
