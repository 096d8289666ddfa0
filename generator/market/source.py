"""The protocol that every market source keeps."""

from collections.abc import Callable
from typing import Protocol

from generator.catalog.words import SourceMode
from generator.market.bars import BarFrame
from generator.market.observation import Observation

Progress = Callable[[int, int, str], None]
"""Called with (done, total, what) during long work."""


class Source(Protocol):
    """A market that can be observed.

    `now_ms` is the wall clock of the tick in UTC ms; a source on its own clock maps it to market time.
    """

    mode: SourceMode

    async def backfill(self, now_ms: int, days: int, progress: Progress) -> BarFrame:
        """Return up to `days` days of bars that closed at or before market time of `now_ms`.

        Raises:
            SourceError: the source cannot be used at all (nothing to read, every venue refused).
        """

    async def observe(self, now_ms: int, since_ms: int) -> Observation:
        """Observe the market at wall time `now_ms`, with bars that opened after market time `since_ms`.

        Never raises for one bad venue or file: that becomes health `failed` and nulls with a reason.
        """

    async def aclose(self) -> None:
        """Release connections."""
