"""What `emi verify` saw of a log the last time: its keys and its signed head.

One small file for each place (origin or folder). A place holds one log: another one there is named. A log is known by
its name and its key, so one that is seen at a new place goes on from what was seen of it elsewhere.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from generator.cli._published import PublishedError
from generator.record.log.note import Checkpoint, NoteError, Verifier

FAULTS: Final = (OSError, ValueError, KeyError, TypeError, AttributeError, NoteError)


@dataclass(frozen=True, slots=True)
class Seen:
    """The keys that were trusted and the head that they had signed."""

    keys: tuple[Verifier, ...]
    head: Checkpoint
    where: str = ""

    def is_of(self, note: bytes) -> bool:
        """Return whether a signed head is the same log's: of its name, and signed by a key that was trusted there."""
        try:
            return Checkpoint.open(note, self.keys).origin == self.head.origin
        except NoteError:
            return False


class SeenFile:
    """One small file for each origin or folder that was verified."""

    def __init__(self, folder: Path, where: str) -> None:
        self.path = folder / f"{hashlib.sha256(where.encode()).hexdigest()[:16]}.json"
        self.where = where

    def load(self) -> Seen | None:
        """Return what was seen, None the first time.

        Raises:
            PublishedError: the file is there and cannot be used; it is never thrown away silently.
        """
        try:
            return _read(self.path)
        except FileNotFoundError:
            return None
        except FAULTS as error:
            raise PublishedError(
                f"{self.path} holds what was verified before and cannot be used ({error}); "
                "remove it to begin again, without proof that nothing was changed since"
            ) from None

    def elsewhere(self) -> tuple[Seen, ...]:
        """Return what was seen at other places; files that cannot be used are theirs to complain of."""
        found = []
        for path in sorted(self.path.parent.glob("*.json")):
            with contextlib.suppress(*FAULTS):
                found += [_read(path)] if path != self.path else []
        return tuple(found)

    def store(self, keys: tuple[Verifier, ...], note: bytes) -> None:
        """Remember what was verified, whole or not at all.

        Raises:
            PublishedError: it cannot be written.
        """
        noted = {"where": self.where, "keys": [key.text for key in keys], "checkpoint": note.decode()}
        beside = self.path.with_suffix(".new")
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with beside.open("w", encoding="utf-8") as file:
                json.dump(noted, file)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(self.path)
        except OSError as error:
            raise PublishedError(f"{self.path} cannot be written: {error.strerror or error}") from None


def _read(path: Path) -> Seen:
    noted = json.loads(path.read_bytes())
    keys = tuple(Verifier.parse(key) for key in noted["keys"])
    return Seen(keys, Checkpoint.open(noted["checkpoint"].encode(), keys), str(noted.get("where", "")))
