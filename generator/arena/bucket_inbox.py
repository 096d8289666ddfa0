"""An inbox in an object store: one object a ballot below a prefix, removed once the memory has dealt with it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Protocol

import structlog

from generator.arena.ballots import MAX_FILE_BYTES, BallotFile, Refusal
from generator.arena.values import BallotVerdict

READ_AT_ONCE: Final = 2_000  # one request each: more follow with the next tick

log = structlog.get_logger("emi.arena")


class Shelf(Protocol):
    """The few verbs of an object store that an inbox needs; each raises OSError when the store fails."""

    def list(self, limit: int) -> Sequence[tuple[str, int, int]]:
        """Return (name, bytes, last modified in UTC ms), oldest first."""
        ...

    def get(self, name: str) -> bytes:
        """Return an object."""
        ...

    def delete(self, names: Sequence[str]) -> None:
        """Remove objects; one that is gone is none."""
        ...


class BucketInbox:
    """The way in by an object store; the store's own time of arrival counts."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._complaint = ""

    def read(self) -> tuple[BallotFile, ...]:
        """Return what lies there, oldest first; nothing when the store does not answer, which is logged once."""
        try:
            files = tuple(self._one(*found) for found in self._shelf.list(READ_AT_ONCE))
        except OSError as error:
            self._complain(str(error))
            return ()
        self._complain("")
        return files

    def _one(self, name: str, size: int, arrived_ms: int) -> BallotFile:
        if size > MAX_FILE_BYTES:
            return BallotFile(name, b"", arrived_ms, Refusal.TOO_LARGE)
        return BallotFile(name, self._shelf.get(name)[: MAX_FILE_BYTES + 1], arrived_ms)

    def clear(self, files: Sequence[BallotFile], verdicts: Iterable[BallotVerdict] = ()) -> None:
        """Remove what was dealt with; what stays is refused as already counted in the next tick."""
        try:
            self._shelf.delete([file.name for file in files])
        except OSError as error:
            self._complain(str(error))

    def _complain(self, text: str) -> None:
        if text and text != self._complaint:
            log.warning("the inbox in the object store cannot be used now", reason=text)
        self._complaint = text
