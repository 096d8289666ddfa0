"""The ballot box: every way in behind one interface."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, Protocol

import structlog

from gateway.wire.ballots import OpenRound
from generator.arena.ballots import BallotFile, Refusal

NOTHING: Final[Mapping[str, int]] = MappingProxyType({})

log = structlog.get_logger("emi.arena")


class WayIn(Protocol):
    """One way in for ballots: the folder, the chain. None of its methods raises: what is wrong with it is logged."""

    async def read(self, lock_ms: int | None) -> tuple[BallotFile, ...]:
        """Return what has arrived; at a lock, wait a little for what may still be on its way."""
        ...

    def clear(self, files: Sequence[BallotFile]) -> None:
        """Forget what was dealt with and is on disk."""
        ...

    def put_back(self) -> None:
        """Return again next time what was read and not cleared: the tick failed. Harmless after `clear`."""
        ...


class BallotBox:
    """All ways in together; `announce` is called after each tick with the round that takes votes."""

    def __init__(self, ways: Sequence[WayIn], announce: Callable[[OpenRound | None], None] = lambda _: None) -> None:
        self._ways = ways
        self.announce = announce
        self._read: list[tuple[BallotFile, ...]] = [()] * len(ways)
        self.refused: dict[str, int] = {reason.value: 0 for reason in Refusal}  # since the start, by reason

    async def collect(self, lock_ms: int | None) -> tuple[BallotFile, ...]:
        """Return what arrived by every way; `lock_ms` is the wall time of a lock that this tick makes."""
        self._read = list(await asyncio.gather(*(way.read(lock_ms) for way in self._ways)))
        return tuple(file for files in self._read for file in files)

    def put_away(self, refused: Mapping[str, int] = NOTHING) -> None:
        """Clear what was collected: it is counted, or refused for good; the newly refused are logged in one line."""
        if refused:
            log.warning("ballots refused", ballots=sum(refused.values()), reasons=dict(refused))
        for reason, number in refused.items():
            self.refused[reason] = self.refused.get(reason, 0) + number
        for way, files in zip(self._ways, self._taken(), strict=True):
            way.clear(files)

    def put_back(self) -> None:
        """Keep what was collected for the next tick."""
        self._taken()
        for way in self._ways:
            way.put_back()

    def _taken(self) -> list[tuple[BallotFile, ...]]:
        taken, self._read = self._read, [()] * len(self._ways)
        return taken
