"""What the files of a tick are made from: all that a row of the table of files may ask for."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from gateway.wire.receipts import PublicKey
from generator.catalog.words import SourceMode
from generator.compose.context import Site
from generator.compose.tick import Tick
from generator.memo import Memo
from generator.record.memory.history import RegimeChange
from generator.site.files.feeds import feeds
from generator.site.resources import PracticeFiles, ShippedMonth
from generator.site.words.weeks import Week
from generator.values.hours import Hour
from generator.values.view import ArenaView


@dataclass(frozen=True)
class FilesOfTick:
    """What they are made from; before the first tick there is nothing but what has no default.

    What is read for one file alone is a call, so that a read that fails stops no other file.
    """

    ctx: Tick
    site: Site
    mode: SourceMode  # what market the own record is of
    at: datetime  # aware time of the tick
    arena: ArenaView
    shipped: ShippedMonth  # the month of practice that comes with the program
    rounds: Sequence[Any] = ()  # finished ones as the memory gives them, newest first
    own: Sequence[PracticeFiles] = ()  # months of practice of the own record, newest first
    offset_ms: int | None = None  # of a replay, by which its record is dated later than its prices
    changes: Callable[[], Sequence[RegimeChange]] = tuple  # as of `feeds`, and the next three likewise
    weeks: Sequence[Week] = ()
    practice_days: Sequence[datetime] = ()
    hours: Sequence[Hour] = ()
    pages: Mapping[str, bytes] = field(default_factory=dict)  # by path, as they are published
    origin: str = ""  # that the keys of receipts belong to
    receipt_keys: Callable[[], Sequence[PublicKey]] = tuple
    kept: Memo[str] = field(default_factory=Memo)  # what ticks before made

    @cached_property
    def news(self) -> Mapping[str, bytes]:
        """The two feeds, by path; of the time of the tick they show the day."""
        changes = self.changes()
        day = self.at.astimezone(UTC).date()
        read = (self.site, self.mode, day, self.rounds, changes, self.weeks, self.arena.daily, self.hours)

        return self.kept.get(
            "feeds",
            read,
            lambda: feeds(
                self.site,
                self.mode,
                self.rounds,
                changes,
                self.at,
                weeks=self.weeks,
                practice_days=self.practice_days,
                questions=self.arena.daily,
                hours=self.hours,
            ),
        )
