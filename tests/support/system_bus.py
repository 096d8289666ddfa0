"""The message bus of a system and its systemd, which knows some units: D-Bus from the side that answers."""

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

SIGNAL: Final = 4


@contextlib.contextmanager
def system_bus(
    socket_file: Path, units: Sequence[Sequence[str]], restarts: Mapping[str, int], order: str = "<"
) -> Iterator[None]:
    """Serve at a socket until the block ends.

    Args:
        socket_file: where.
        units: name, LoadState and ActiveState of each.
        restarts: NRestarts by name; a service that is not among them is refused.
        order: in which this end writes numbers, `<` or `>`.
    """
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listening.bind(str(socket_file))
    listening.listen()

    def serve() -> None:
        while True:
            try:
                asker, _ = listening.accept()
            except OSError:
                return
            with asker, asker.makefile("rb") as questions, contextlib.suppress(struct.error, ConnectionError):
                _answer_all(asker, questions, units, restarts, order)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join()


def _answer_all(
    asker: socket.socket,
    questions: Any,
    units: Sequence[Sequence[str]],
    restarts: Mapping[str, int],
    order: str,
) -> None:
    assert questions.readline().startswith(b"\0AUTH EXTERNAL ")
    asker.sendall(b"OK 0123456789abcdef\r\n")
    assert questions.readline() == b"BEGIN\r\n"
    while begin := questions.read(16):
        body_bytes, serial, head_bytes = struct.unpack("<III", begin[4:])
        head = questions.read(head_bytes + -head_bytes % 8)
        questions.read(body_bytes)

        asker.sendall(_message(order, SIGNAL, None, "s", _string(order, "a signal to everyone")))
        if b"ListUnitsByPatterns" in head:
            asker.sendall(_message(order, 2, serial, "a(ssssssouso)", _listed(order, units)))
        elif b"Get\0" in head:
            named = [name for name, *_ in units if f"{_path_of(name)}\0".encode() in head and name in restarts]
            if named:
                asker.sendall(
                    _message(order, 2, serial, "v", b"\1u\0\0" + struct.pack(f"{order}I", restarts[named[0]]))
                )
            else:
                asker.sendall(_message(order, 3, serial, "s", _string(order, "no such unit")))
        else:
            asker.sendall(_message(order, 2, serial, "s", _string(order, ":1.42")))


def _path_of(name: str) -> str:
    """Return the object path of a unit, escaped as systemd does."""
    return "/unit/" + "".join(sign if sign.isalnum() else f"_{ord(sign):02x}" for sign in name)


def _listed(order: str, units: Sequence[Sequence[str]]) -> bytes:
    rows = b""
    for name, load, active in units:
        rows += bytes(-len(rows) % 8)
        for text in (name, "what it does", load, active, "", "", _path_of(name)):
            rows += bytes(-len(rows) % 4) + _string(order, text)
        rows += bytes(-len(rows) % 4) + struct.pack(f"{order}I", 0)
        for text in ("", "/"):
            rows += bytes(-len(rows) % 4) + _string(order, text)
    return struct.pack(f"{order}II", len(rows), 0) + rows


def _string(order: str, text: str) -> bytes:
    return struct.pack(f"{order}I", len(text.encode())) + text.encode() + b"\0"


def _message(order: str, kind: int, reply_to: int | None, signature: str, body: bytes) -> bytes:
    head = b"" if reply_to is None else bytes([5, 1]) + b"u\0" + struct.pack(f"{order}I", reply_to)
    head += bytes([8, 1]) + b"g\0" + bytes([len(signature)]) + signature.encode() + b"\0"
    begin = struct.pack(f"{order}cBBBIII", b"l" if order == "<" else b"B", kind, 0, 1, len(body), 7, len(head))
    return begin + head + bytes(-len(head) % 8) + body
