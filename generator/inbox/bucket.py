"""An inbox in an object store: one object a ballot below a prefix, removed once the memory has dealt with it."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import Final, Protocol

import structlog

from generator.arena.ballots import MAX_FILE_BYTES, BallotFile, Refusal
from generator.arena.values import BallotVerdict
from generator.inbox.turns import Lots, in_turn

LISTED: Final = 20_000  # names that one look asks for; the next look goes on behind the last of them
READ_AT_ONCE: Final = 20_000  # one request each
READERS: Final = 64
READ_S: Final = 8.0  # what has not come by then is read by the next tick
LAST_READ_S: Final = 16.0  # in the tick that locks: for a round there is no next one
MIN_FILE_BYTES: Final = 200  # a signature, two keys and a genesis hash alone have more, written as base64

log = structlog.get_logger("emi.arena")
Row = tuple[str, int, int]  # name, bytes, last modified in UTC ms


class Shelf(Protocol):
    """The few verbs of an object store that an inbox needs; each raises OSError when the store fails."""

    def list(self, after: str) -> Iterator[Sequence[Row]]:
        """Yield pages of names that come after a name, in the store's own order."""
        ...

    def get(self, name: str) -> bytes | None:
        """Return an object, None when it is gone; asked for from several threads."""
        ...

    def delete(self, names: Sequence[str]) -> None:
        """Remove objects; one that is gone is none."""
        ...


class BucketInbox:
    """The way in by an object store; the store's own time of arrival counts.

    Objects may lie in folders, one a sender (`inbox/<sender>/<file>`): then senders take turns.

    Args:
        shelf: the store.
        read_s: seconds for all objects of one look.
        last_read_s: seconds for the look of a tick that locks a round.
        listed: names that one look asks for.
        at_once: objects that one look reads.
        lots: draws who is read first among many.
    """

    def __init__(
        self,
        shelf: Shelf,
        read_s: float = READ_S,
        last_read_s: float = LAST_READ_S,
        *,
        listed: int = LISTED,
        at_once: int = READ_AT_ONCE,
        lots: Lots | None = None,
    ) -> None:
        self._shelf = shelf
        self._read_s = read_s
        self._last_read_s = last_read_s
        self._listed = listed
        self._at_once = at_once
        self._lots: Lots = lots or random.SystemRandom()
        self._after = ""  # where the last look stopped
        self._complaint = ""

    def read(self, *, last: bool = False) -> tuple[BallotFile, ...]:
        """Return what lies there, oldest first; nothing when the store does not answer, which is logged once.

        One object that cannot be had does not keep the others; it is tried again by the next tick.

        Args:
            last: this look is the last before a round locks.
        """
        budget_s = self._last_read_s if last else self._read_s
        half_s = budget_s / 2  # a list alone is of no use: half is left for what it names, however long it took
        until = time.monotonic() + budget_s
        try:
            found = self._list(until - half_s)
        except OSError as error:
            self._complain(str(error))
            return ()
        chosen = islice(in_turn(found, _sender, lambda row: (row[2], row[0]), self._lots), self._at_once)
        files = self._fetch(list(chosen), max(until, time.monotonic() + half_s))
        return tuple(sorted(files, key=lambda file: (file.arrived_ms, file.name)))

    def _list(self, until: float) -> list[Row]:
        """Return names from where the last look stopped, and from the beginning on when the end was reached."""
        start, self._after = self._after, ""
        rows = self._pages(start, "", self._listed, until)
        if start and not self._after:
            rows += self._pages("", start, self._listed - len(rows), until)
        return rows

    def _pages(self, after: str, before: str, most: int, until: float) -> list[Row]:
        """Return what lies behind one name and not behind another; note where to go on if that was not all."""
        rows: list[Row] = []
        for page in self._shelf.list(after):
            for row in page:
                if before and row[0] > before:
                    return rows
                if len(rows) >= most:
                    self._after = rows[-1][0] if rows else after
                    return rows
                rows.append(row)
            if rows and time.monotonic() > until:  # a page at least, or a slow store would never come further
                self._after = rows[-1][0]
                return rows
        return rows

    def _fetch(self, rows: Sequence[Row], until: float) -> tuple[BallotFile, ...]:
        # Not shut down by a `with`, which would wait for the requests that hang.
        pool = ThreadPoolExecutor(READERS, thread_name_prefix="inbox")
        under_way = [pool.submit(self._one, *row) for row in rows]
        wait(under_way, max(0.0, until - time.monotonic()))
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
        if size < MIN_FILE_BYTES:
            return BallotFile(name, b"", arrived_ms, Refusal.NOT_A_TRANSACTION)
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


def _sender(row: Row) -> str:
    return row[0].partition("/")[0] if "/" in row[0] else ""
