"""Ballots that no one should send: files for an inbox, and an indexer that answers with hostile rows."""

import base64
import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgpack

from gateway.wire.algorand import DEMO_ARENA
from gateway.wire.foreign import ForeignBytesError, read_json
from generator.record.inbox.box import BallotBox
from generator.record.inbox.chain import ChainBallots
from generator.record.inbox.folder import Inbox
from generator.runtime.app import App
from tests.doors.mutate import HOSTILE_JSON, HOSTILE_MSGPACK, Mutator
from tests.doors.table import ROWS
from tests.support.arena_inputs import Vote

NAMES = (b"\xff\xfe", b"two\nlines", b"a" * 255, b" ", b"-rf", b"\xed\xa0\x80", b"%s{}", b"\x7f\x1b[2J")
TIMES = (-1, 0, 253_402_300_800, -62_135_596_800)
"""Before 1970, in the year 10000 and in the year 1, in seconds."""


def key_of_bytes(subject: str) -> bytes:
    """Return the ballot that stopped every tick: a key of its transaction is bytes, next to those of text."""
    envelope = msgpack.unpackb(base64.b64decode(Vote(subject).file().data))
    envelope["txn"][b"x"] = 1
    return base64.b64encode(msgpack.packb(envelope))


def named_files(subject: str) -> dict[bytes, bytes]:
    """Return files by name: each hostile value as a field of a ballot, hostile names, and what is not base64."""
    good = base64.b64decode(Vote(subject).file().data)
    fields = msgpack.unpackb(good)["txn"]
    files = {b"key-of-bytes": key_of_bytes(subject), b"empty": b"", b"text": b"\xff" * 400, b"long": b"A" * 4_096}
    files |= {name: key_of_bytes(subject) for name in NAMES}

    for number, value in enumerate(HOSTILE_MSGPACK):
        for field in ("note", "fv", "x"):
            packed = {key: msgpack.packb(kept) for key, kept in fields.items()} | {field: value}
            pairs = [msgpack.packb(key) + packed[key] for key in sorted(packed)]
            transaction = bytes([0x80 + len(pairs)]) + b"".join(pairs)
            envelope = b"\x82\xa3sig\xc4\x40" + bytes(64) + b"\xa3txn" + transaction
            files[f"{field}-{number}".encode()] = base64.b64encode(envelope)
    return files


def poison(folder: Path, files: Mapping[bytes, bytes]) -> None:
    """Put them into an inbox, with a link, a pipe, a folder, and files that say to be of other times."""
    folder.mkdir(exist_ok=True)
    for name, data in files.items():
        (folder / os.fsdecode(name)).write_bytes(data)
    for number, seconds in enumerate(TIMES):
        path = folder / f"time-{number}"
        path.write_bytes(files[b"key-of-bytes"])
        with suppress(OverflowError):  # not every file system holds them
            os.utime(path, (seconds, seconds))

    (folder / "folder").mkdir(exist_ok=True)
    with suppress(FileExistsError):
        (folder / "link").symlink_to("/etc/passwd")
    with suppress(FileExistsError):
        os.mkfifo(folder / "pipe")


def hostile_indexer(seed: int) -> Callable[[str, Mapping[str, str]], Awaitable[Any]]:
    """Return an indexer that answers every question with a page of changed rows."""
    mutator = Mutator(seed, HOSTILE_JSON)

    async def ask(_path: str, _query: Mapping[str, str]) -> Any:
        rows: list[Any] = []
        for number in range(20):
            with suppress(ForeignBytesError):
                rows.append(read_json(mutator.changed(ROWS[number % len(ROWS)])))
        return {"current-round": 6_000, "transactions": rows}

    return ask


def use_poisoned_sources(app: App, seed: int = 1) -> Path:
    """Let the app read an inbox and a hostile indexer; return the inbox's folder."""
    inbox = Inbox(app.settings.inbox_path)
    app.record.box = BallotBox([inbox, ChainBallots(hostile_indexer(seed), DEMO_ARENA)], inbox.announce)
    return inbox.folder
