"""The ballot box: every way in behind one interface."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import structlog

from gateway.wire.inbox import OpenRound
from generator.arena.ballots import BallotFile, Refusal

log = structlog.get_logger("emi.arena")


class WayIn(Protocol):
    """One way in for ballots: the folder, the chain. None of its methods raises: what is wrong with it is logged."""

    async def read(self, lock_ms: int | None) -> tuple[BallotFile, ...]:
        """Return what has arrived; at a lock, wait a little for what may still be on its way."""
        ...

    def clear(self) -> None:
        """Forget what was read and not put back: it was dealt with and is on disk."""
        ...

    def put_back(self) -> None:
        """Return again next time what was read and not cleared: the tick failed. Harmless after `clear`."""
        ...


class BallotBox:
    """All ways in together; `announce` is called after each tick with the round that takes votes and the earlier voters."""

    def __init__(
        self, ways: Sequence[WayIn], announce: Callable[[OpenRound | None, Sequence[str]], None] = lambda *_: None
    ) -> None:
        self._ways = ways
        self.announce = announce
        self.refused: dict[str, int] = {reason.value: 0 for reason in Refusal}  # since the start, by reason

    async def collect(self, lock_ms: int | None) -> tuple[BallotFile, ...]:
        """Return what arrived by every way; `lock_ms` is the wall time of a lock that this tick makes."""
        found = await asyncio.gather(*(way.read(lock_ms) for way in self._ways))
        return tuple(file for files in found for file in files)

    def put_away(self, refused: Mapping[str, int]) -> None:
        """Clear what was collected: it is counted, or refused for good; the newly refused are logged in one line."""
        if refused:
            log.warning("ballots refused", ballots=sum(refused.values()), reasons=dict(refused))
        for reason, number in refused.items():
            self.refused[reason] = self.refused.get(reason, 0) + number
        for way in self._ways:
            way.clear()

    def put_back(self) -> None:
        """Keep what was collected for the next tick."""
        for way in self._ways:
            way.put_back()
