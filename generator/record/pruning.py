"""Partial tiles of the log are taken away a day after full ones took their place, so that a log does not grow by them.

A head is published with each release, and each head's edge is a partial tile: without this most of what lies in
`once/` would be beginnings of files that lie there too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Final

import structlog

from generator.record.log.tiles import WIDTH, Tile, levels_of
from generator.record.logbook import PREFIX
from generator.record.memory.store import Memory
from generator.release.partials import Partials

META_KEY: Final = "log_pruned"
GRACE_MS: Final = 24 * 3_600_000
"""How long a reader may still be on the way to a partial tile of a head that it holds."""

log = structlog.get_logger("emi.log")


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the partial tiles are gone.

    Args:
        pruned: entries whose partial tiles were taken away, a multiple of 256.
        following: entries whose full tiles a published head had at `since_ms`; theirs go next.
        since_ms: wall time in UTC ms.
    """

    pruned: int = 0
    following: int = 0
    since_ms: int = 0


class Pruning:
    """Prune one log, little by little: one tile of entries a tick.

    Args:
        memory: where it is noted how far this came; what was done and not noted is done again, which does nothing.
        partials: where the tiles lie.
        grace_ms: how long partial tiles stay when full ones are published.
    """

    def __init__(self, memory: Memory, partials: Partials, grace_ms: int = GRACE_MS) -> None:
        self._memory = memory
        self._partials = partials
        self._grace_ms = grace_ms
        self._complaint = ""

    def after(self, size: int, now_ms: int) -> None:
        """Go one step on.

        Args:
            size: entries of the head that readers have now; 0 when nobody can tell.
            now_ms: wall time of the tick.

        Raises:
            LeadershipLost: nothing more may be written here.
        """
        before = self._load()
        after = self._step(before, size // WIDTH * WIDTH, now_ms)
        if after != before:
            self._memory.set_meta(META_KEY, json.dumps(asdict(after)))

    def _load(self) -> Progress:
        noted = self._memory.meta(META_KEY)
        return Progress(**json.loads(noted)) if noted else Progress()

    def _step(self, at: Progress, full: int, now_ms: int) -> Progress:
        if full < at.following:  # another, shorter log is published, e.g. of a memory that was put back
            return Progress(min(at.pruned, full), min(at.pruned, full), now_ms)
        if at.following <= at.pruned:
            return Progress(at.pruned, full, now_ms) if full > at.pruned else at
        if now_ms < at.since_ms:  # the clock was set back: nobody knows how long it has been
            return Progress(at.pruned, at.following, now_ms)
        if now_ms - at.since_ms < self._grace_ms:
            return at
        return Progress(at.pruned + WIDTH, at.following, at.since_ms) if self._drop(at.pruned) else at

    def _drop(self, old: int) -> bool:
        """Take away what the tiles replaced that became full with the 256 entries after `old`."""
        try:
            for tile in full_tiles(old, old + WIDTH):
                path = PREFIX + tile.path
                self._partials.drop(f"{path}.p", path)
        except OSError as error:
            if str(error) != self._complaint:
                log.warning("partial tiles could not be taken away; the next tick tries again", reason=str(error))
            self._complaint = str(error)
            return False
        self._complaint = ""
        return True


def full_tiles(old: int, new: int) -> Iterator[Tile]:
    """Yield the tiles that are full in a log of `new` entries and were not in one of `old`."""
    for level in (None, *range(levels_of(new))):
        scale = WIDTH ** ((level or 0) + 1)
        for index in range(old // scale, new // scale):
            yield Tile(level, index)
