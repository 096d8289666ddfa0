"""An inbox in an object store: one object a ballot below a prefix, removed once the memory has dealt with it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Final, Protocol

import structlog

from generator.arena.ballots import MAX_FILE_BYTES, BallotFile, Refusal
from generator.arena.values import BallotVerdict

READ_AT_ONCE: Final = 2_000  # one request each: more follow with the next tick
READERS: Final = 16
READ_S: Final = 8.0  # what has not come by then is read by the next tick

log = structlog.get_logger("emi.arena")


class Shelf(Protocol):
    """The few verbs of an object store that an inbox needs; each raises OSError when the store fails."""

    def list(self, limit: int) -> Sequence[tuple[str, int, int]]:
        """Return (name, bytes, last modified in UTC ms), oldest first."""
        ...

    def get(self, name: str) -> bytes | None:
        """Return an object, None when it is gone; asked for from several threads."""
        ...

    def delete(self, names: Sequence[str]) -> None:
        """Remove objects; one that is gone is none."""
        ...


class BucketInbox:
    """The way in by an object store; the store's own time of arrival counts.

    Args:
        shelf: the store.
        read_s: seconds for all objects of one look.
    """

    def __init__(self, shelf: Shelf, read_s: float = READ_S) -> None:
        self._shelf = shelf
        self._read_s = read_s
        self._complaint = ""

    def read(self) -> tuple[BallotFile, ...]:
        """Return what lies there, oldest first; nothing when the store does not answer, which is logged once.

        One object that cannot be had does not keep the others; it is tried again by the next tick.
        """
        try:
            found = self._shelf.list(READ_AT_ONCE)
        except OSError as error:
            self._complain(str(error))
            return ()
        # Not shut down by a `with`, which would wait for the requests that hang.
        pool = ThreadPoolExecutor(READERS, thread_name_prefix="inbox")
        under_way = [(pool.submit(self._one, *one)) for one in found]
        wait(under_way, self._read_s)
        pool.shutdown(wait=False, cancel_futures=True)
        return self._came(under_way)

    def _came(self, under_way: Sequence[Future[BallotFile | None]]) -> tuple[BallotFile, ...]:
        files: list[BallotFile] = []
        complaint = ""
        for one in under_way:
            if not one.done() or one.cancelled():
                complaint = complaint or "not all ballots came in time"
                continue
            error = one.exception()
            if error is not None and not isinstance(error, OSError):
                raise error
            file = None if error is not None else one.result()
            complaint = complaint or str(error or "")
            files += [] if file is None else [file]
        self._complain(complaint)
        return tuple(files)

    def _one(self, name: str, size: int, arrived_ms: int) -> BallotFile | None:
        if size > MAX_FILE_BYTES:
            return BallotFile(name, b"", arrived_ms, Refusal.TOO_LARGE)
        data = self._shelf.get(name)
        return None if data is None else BallotFile(name, data[: MAX_FILE_BYTES + 1], arrived_ms)

    def clear(self, files: Sequence[BallotFile], verdicts: Iterable[BallotVerdict] = ()) -> None:
        """Remove what was dealt with; what stays is refused as already counted in the next tick."""
        if not files:
            return
        try:
            self._shelf.delete([file.name for file in files])
        except OSError as error:
            self._complain(str(error))

    def _complain(self, text: str) -> None:
        if text and text != self._complaint:
            log.warning("the inbox in the object store cannot be used now", reason=text)
        self._complaint = text
