"""The one object that says what is newest, moved by compare-and-swap and claimed by each new leader.

A leader that was stopped for a while still holds the version that it last wrote. Once the next leader has claimed the
pointer (rewritten it under the higher epoch, before publishing anything), that version is gone: the old leader's next
swap fails, whatever its clock or its lease says.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Any, Final

import structlog

from gateway.wire.foreign import read_json
from generator.errors import LeadershipLost, PublishError
from generator.release.bucket.objects import Objects
from generator.release.bucket.store import Bucket, Conflict, Stored, StoreFault, swap
from generator.runtime.lease import Fence

ATTRIBUTES: Final = {"Content-Type": "application/json", "Cache-Control": "no-store"}
CLAIMS: Final = 3
Body = dict[str, Any]
log = structlog.get_logger("emi.publish")


class Pointer:
    """A JSON object in a bucket; `epoch` and `writer` in it tell whose it is.

    `writer` is a text that no other process has; `rows` names what a body of ours lists.
    """

    def __init__(self, bucket: Bucket, path: str, fence: Fence, writer: str, rows: str) -> None:
        self._bucket = bucket
        self._path = path
        self._fence = fence
        self._writer = writer
        self._rows = rows
        self._known: Stored | None = None
        self._body: Body = {}
        self._epoch: int | None = None  # under which it was claimed
        self._lost: int | None = None  # under which it was lost; only a higher one may claim it again
        self._is_unsure = False  # a swap was not answered: what lies there must be read first

    @property
    def body(self) -> Mapping[str, Any]:
        """What it said when it was last read or written; empty before the first."""
        return self._body

    @property
    def generation(self) -> int:
        """The generation it named then; 0 before the first."""
        return int(self._body.get("generation", 0))

    @property
    def _theirs(self) -> int:
        """The epoch under which it was last written, as far as that was read."""
        return int(self._body.get("epoch", 0))

    @property
    def missing(self) -> bool:
        """Whether nothing lay there when it was last read."""
        return self._known is None

    def peek(self) -> Body:
        """Return what it says now, empty without one; nothing is remembered, and nothing written."""
        return self._look()[1]

    def moved_at(self) -> datetime:
        """Return when it was moved, by the store's clock: right after a move, what time it is there."""
        return self._bucket.modified(self._path)

    def claim(self) -> bool:
        """Make the pointer ours under the epoch held now, free when it is; return whether it was read again.

        LeadershipLost: the lease is lost, or a higher epoch wrote here. PublishError: the store did not answer.
        """
        epoch = self._fence()
        if self._lost is not None and epoch <= self._lost:
            raise LeadershipLost(f"{self._path}: another generator publishes here", self._theirs)
        if epoch == self._epoch and not self._is_unsure:
            return False

        for _ in range(CLAIMS):
            self._known, self._body = self._look()
            if self._is_ours(epoch) or self._take(epoch):
                self._epoch = epoch
                self._is_unsure = False
                return True
        raise PublishError(f"the pointer {self._path} keeps moving under another generator")

    def move(self, generation: str, build: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> None:
        """Point to something newer.

        `build` makes the new body of the one that is there (empty before the first); generation, epoch and writer are
        added. LeadershipLost: another moved it. PublishError: it was not moved, or that is unknown, and the next claim
        reads it.
        """
        for last in (False, True):
            self.claim()
            if int(generation) <= self.generation and not self.missing:
                raise PublishError(f"{self._path} names {self.generation:012d} already: {generation} is too late")

            marks = {"generation": generation, "epoch": self._epoch, "writer": self._writer}
            try:
                self._swap({**build(self._body), **marks})
            except Conflict:
                if last:
                    self._lose()
                self._is_unsure = True  # another's, or an earlier swap of ours that arrived late: the claim decides
            except StoreFault as fault:
                self._is_unsure = True
                raise PublishError(f"the pointer {self._path} was not moved: {fault}") from fault
            else:
                return

    def _is_ours(self, epoch: int) -> bool:
        """Return whether what was just read needs no taking: nothing is there, or this process wrote it."""
        if self._known is None:
            return True
        theirs = self._theirs
        if theirs > epoch:
            self._lost = epoch
            text = f"{self._path}: a generator with epoch {theirs} publishes here; ours is {epoch}"
            raise LeadershipLost(text, theirs)

        is_ours = self._body.get("writer") == self._writer and theirs == epoch
        if not is_ours and epoch == self._epoch:  # claimed before, and somebody took it meanwhile
            self._lose()
        return is_ours

    def _take(self, epoch: int) -> bool:
        """Rewrite what is there under our epoch; False when it moved meanwhile (the last leader's last publish)."""
        try:
            self._swap({**self._body, "epoch": epoch, "writer": self._writer})
        except Conflict:
            return False
        return True

    def _swap(self, body: Body) -> None:
        data = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        self._known = swap(self._bucket, self._path, data, self._known, ATTRIBUTES)
        self._body = body

    def _lose(self) -> None:
        self._lost = self._epoch
        raise LeadershipLost(f"{self._path}: another generator moved the pointer", self._theirs)

    def _look(self) -> tuple[Stored | None, Body]:
        stored = self._bucket.get(self._path)
        if stored is None:
            return None, {}

        try:
            body = read_json(stored.data)
            # What every reader of it takes for granted.
            int(body["generation"])
            int(body.get("epoch", 0))
            for row in body[self._rows]:
                dict(row)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise PublishError(f"{self._path} is not one of our pointers; move it away to start again") from error
        return stored, dict(body)


class NumberedStore(ABC):
    """Releases under rising numbers: content-addressed objects, and the pointer to the newest."""

    def __init__(self, pointer: Pointer, objects: Objects) -> None:
        self._pointer = pointer
        self._objects = objects
        self._highest = 0  # numbers once used are not used again, also of releases that failed half-way

    def open(self) -> None:
        """Look whether the store lets us in and the pointer is ours; one that is away is waited for."""
        try:
            self._pointer.peek()
        except StoreFault as fault:
            if fault.refused:
                raise
            log.warning("the object store does not answer; the next tick asks again", reason=str(fault))

    def generation(self) -> int:
        """Claim, and return the highest generation ever pointed at or begun here, 0 before the first."""
        if self._pointer.claim():
            # Its last owner may still be publishing the next number: that one is left to it.
            following = self._pointer.generation + 1 if self._pointer.body else 0
            self._highest = max(self._highest, following)
            self._claimed()
        return max(self._highest, self._pointer.generation)

    @abstractmethod
    def _claimed(self) -> None:
        """Note what is there, after another may have written."""

    def _sweep(self, named: Callable[[], Collection[str]]) -> None:
        """Drop some of what no reader can still be in; where that fails, the tick does not."""
        try:
            self._objects.sweep(named(), self._pointer.moved_at())
        except PublishError as fault:
            log.warning("what is old could not be dropped; the next tick tries again", reason=str(fault))
