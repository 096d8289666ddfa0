"""The published ballots of one generator: which part comes next, and what to put again where a site was lost."""

from __future__ import annotations

from collections.abc import Mapping

from generator.record.audit.recount import PART, Sheet, content, path_of
from generator.record.memory.store import Memory


class Polls:
    """One part a tick goes out, the oldest round's first; a crash before `done` puts the same bytes again.

    Args:
        memory: where the counted ballots wait.
        again: nothing is published here: begin with all that is still kept.
        part: ballots a file holds at most.
    """

    def __init__(self, memory: Memory, *, again: bool = False, part: int = PART) -> None:
        self._memory = memory
        self._part = part
        self._again = again
        self._sheet: Sheet | None = None

    def put_again(self) -> None:
        """Begin with all that is still kept: nothing is published any more."""
        self._again = True

    def files(self) -> Mapping[str, bytes]:
        """Return the put-once file of the next release, none when all are published."""
        if self._again:
            self._memory.ballots_again()
            self._again = False
        self._sheet = self._memory.ballots_due(self._part)
        return {} if self._sheet is None else {path_of(self._sheet.round_id, self._sheet.part): content(self._sheet)}

    def done(self) -> None:
        """Note that the release with it is published."""
        if self._sheet is not None:
            self._memory.ballots_put(self._sheet)
            self._sheet = None
