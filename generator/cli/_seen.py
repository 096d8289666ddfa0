"""What `emi verify` saw of a log the last time: its keys and its signed head."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

from generator.cli._published import PublishedError
from generator.transparency.note import Checkpoint, NoteError, Verifier


@dataclass(frozen=True, slots=True)
class Seen:
    """The keys that were trusted and the head that they had signed."""

    keys: tuple[Verifier, ...]
    head: Checkpoint


class SeenFile:
    """One small file for each origin or folder that was verified."""

    def __init__(self, folder: Path, where: str) -> None:
        self.path = folder / f"{hashlib.sha256(where.encode()).hexdigest()[:16]}.json"
        self._where = where

    def load(self) -> Seen | None:
        """Return what was seen, None the first time.

        Raises:
            PublishedError: the file is there and cannot be used; it is never thrown away silently.
        """
        try:
            noted = json.loads(self.path.read_bytes())
            keys = tuple(Verifier.parse(key) for key in noted["keys"])
            return Seen(keys, Checkpoint.open(noted["checkpoint"].encode(), keys))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError, NoteError) as error:
            raise PublishedError(
                f"{self.path} holds what was verified before and cannot be used ({error}); "
                "remove it to begin anew, without proof that nothing was changed since"
            ) from None

    def store(self, keys: tuple[Verifier, ...], note: bytes) -> None:
        """Remember what was verified, whole or not at all.

        Raises:
            PublishedError: it cannot be written.
        """
        noted = {"where": self._where, "keys": [key.text for key in keys], "checkpoint": note.decode()}
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
