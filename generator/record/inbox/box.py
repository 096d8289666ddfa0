"""The ballot box: every source of ballots behind one interface."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import structlog

from gateway.wire.inbox import AnnouncedRound
from generator.arena.ballots import BallotFile, Refusal

log = structlog.get_logger("emi.arena")


class BallotSource(Protocol):
    """One source of ballots: the folder, the chain. What is wrong with it is logged; one that raises gives nothing."""

    async def receive(self, lock_ms: int | None) -> tuple[BallotFile, ...]:
        """Return what has arrived; at a lock, wait a little for what may still be in flight."""
        ...

    def acknowledge(self) -> None:
        """Forget what was received and not requeued: it was dealt with and is on disk."""
        ...

    def requeue(self) -> None:
        """Return again next time what was received and not acknowledged: the tick failed.

        Harmless after `acknowledge`.
        """
        ...

    def quarantine(self, files: Sequence[BallotFile]) -> None:
        """Never return these again: two ticks failed with them, and not without them. Those of other sources stay."""
        ...


class BallotBox:
    """All sources together.

    Args:
        announce: called after each tick with the round that takes votes, the earlier voters, and the daily question
            that takes answers.
    """

    def __init__(
        self,
        sources: Sequence[BallotSource],
        announce: Callable[[AnnouncedRound | None, Sequence[str], AnnouncedRound | None], None] = lambda *_: None,
    ) -> None:
        self._sources = sources
        self.announce = announce
        self.refused: dict[str, int] = {reason.value: 0 for reason in Refusal}  # since the start, by reason
        self.quarantined = 0  # since the start: how many were quarantined
        self._suspects: frozenset[str] = frozenset()  # names of the ballots with which the last tick failed

    async def collect(self, lock_ms: int | None) -> tuple[BallotFile, ...]:
        """Return what arrived from every source; `lock_ms` is the wall time of a lock that this tick makes."""
        received = await asyncio.gather(*(source.receive(lock_ms) for source in self._sources), return_exceptions=True)

        files: list[BallotFile] = []
        for answer in received:
            if isinstance(answer, Exception):
                log.error("a source of ballots failed", exc_info=answer)
            elif isinstance(answer, BaseException):
                raise answer
            else:
                files += answer
        return tuple(files)

    def acknowledge(self, refused: Mapping[str, int]) -> None:
        """Acknowledge what was collected: it is counted, or refused for good.

        Args:
            refused: how many ballots were newly refused, by reason; they are logged in one line.
        """
        if refused:
            log.warning("ballots refused", ballots=sum(refused.values()), reasons=dict(refused))
        for reason, number in refused.items():
            self.refused[reason] = self.refused.get(reason, 0) + number

        for source in self._sources:
            source.acknowledge()

    def requeue(self) -> None:
        """Keep what was collected for the next tick."""
        for source in self._sources:
            source.requeue()

    def suspect(self, files: Sequence[BallotFile]) -> None:
        """Quarantine those of these ballots with which the last tick failed too; the others get one more tick.

        Args:
            files: with them the tick failed, and without them it did not.
        """
        repeated = [file for file in files if file.name in self._suspects]
        self._suspects = frozenset(file.name for file in files)
        if not repeated:
            return

        self.quarantined += len(repeated)
        log.error("ballots quarantined: two ticks failed with them", ballots=len(repeated))
        for source in self._sources:
            source.quarantine(repeated)
