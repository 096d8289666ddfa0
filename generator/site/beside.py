"""What is published beside answers and pages: feeds, share pictures, and the record for download.

Feeds are made in the tick that has news. Pictures and downloads take longer: they are made in a thread that begins when
a tick has been published, and stand in the next release. Until then a process that starts, or takes over, shows those
that readers have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, Final

from generator.catalog.discovery import FEEDS, SharePicture
from generator.catalog.downloads import SUMS
from generator.catalog.words import RoundPhase
from generator.compose.context import TickContext
from generator.record.memory.history import RegimeChange
from generator.record.memory.store import Memory
from generator.release.last_good import Kind, LastGood
from generator.release.values import NOTHING, Shown, nothing_shown
from generator.site.downloads import RUNNING, Downloads, Listed, downloads, month_of, published_downloads
from generator.site.feeds import CHANGES_READ, Feeds
from generator.site.pictures import EVERY_S, PICTURES, Pictures, drawings, pictures, published_pictures
from generator.site.renewed import Renewed

Bodies = Mapping[str, Mapping[str, Any]]
_PICTURES: Final = tuple(one.path for one in PICTURES.values())
_RECORD: Final = (SUMS, *RUNNING)


@dataclass(frozen=True, slots=True)
class Sidelong:
    """What one release holds of it.

    Args:
        files: path -> bytes; a packed variant of a file stands beside it.
        once: files that are put once.
        notes: for `Beside.done`.
        shares: page path -> its share picture.
        months: files of the months that are over.
    """

    files: Mapping[str, bytes]
    once: Mapping[str, bytes] = field(default_factory=lambda: NOTHING)
    notes: Mapping[str, str] = field(default_factory=dict)
    shares: Mapping[str, SharePicture] = field(default_factory=dict)
    months: tuple[Listed, ...] = ()


class Beside:
    """Make it, and remember what is under way. One thread calls its methods.

    Args:
        memory: the record.
        shown: reads what is published.
        last_good: keeps what cannot be made.
        at_once: the first release has all of it again, and waits for it; else it has what is published.
    """

    def __init__(
        self,
        memory: Memory,
        shown: Shown = nothing_shown,
        last_good: LastGood | None = None,
        *,
        at_once: bool = True,
    ) -> None:
        self._memory = memory
        self._shown = shown
        self._last_good = last_good or LastGood()
        self._at_once = at_once
        self._sure = False  # that what we hold is what is published
        self._feeds = Feeds()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="beside")
        self._pictures: Renewed[Pictures] = Renewed(Kind.PICTURE, "share pictures", self._pool, self._last_good)
        self._downloads: Renewed[Downloads] = Renewed(Kind.DOWNLOAD, "downloads", self._pool, self._last_good)
        self._noted: frozenset[str] = frozenset()
        self._changes: tuple[object, tuple[RegimeChange, ...]] | None = None

    def now(self, context: TickContext, bodies: Bodies, rounds: Sequence[Mapping[str, Any]], at: datetime) -> Sidelong:
        """Return what stands in the release of this tick.

        Args:
            context: the tick.
            bodies: path -> free body.
            rounds: rows of `/arena/rounds.json`, newest first.
            at: aware wall time of the tick.
        """
        if not self._sure:
            self._begin()
        mode = context.observation.mode
        made = self._last_good.make
        files = made(
            Kind.FEED,
            [feed.path for feed in FEEDS],
            lambda: self._feeds.files(context.site, mode, rounds, self._regimes(context, at), at),
        )
        drawn = self._pictures.take(_quarter(at), lambda: pictures(drawings(context, bodies)))
        record = self._downloads.take(self._state(context, at), partial(self._record, context, at))
        shares = drawn.shares if drawn else {}
        files |= made(Kind.PICTURE, _PICTURES, lambda: drawn.files) if drawn else self._last_good.last(_PICTURES)
        if record is None:
            return Sidelong({**files, **self._last_good.last(_RECORD)}, shares=shares)
        files |= made(Kind.DOWNLOAD, _RECORD, lambda: record.files)
        due = not self._noted.issuperset(record.notes.values())
        return Sidelong(files, record.once if due else NOTHING, record.notes if due else {}, shares, record.months)

    def doubt(self) -> None:
        """Look again at what is published before the next use: another process may have published since."""
        self._sure = False

    def _begin(self) -> None:
        """Go on from what is published."""
        self._sure, self._noted, self._changes = True, frozenset(), None
        found = self._shown((*_RECORD, *_PICTURES))
        drawn = self._last_good.attempt(Kind.PICTURE, lambda: published_pictures(found), "published pictures")
        record = self._last_good.attempt(
            Kind.DOWNLOAD,
            lambda: published_downloads(found, self._memory.exports().notes()) if found else None,
            "published downloads",
        )
        self._pictures.begin(drawn, needed=self._at_once)  # a release without is whole too
        self._downloads.begin(record, needed=self._at_once or record is None)

    def done(self, shown: Sidelong, context: TickContext, bodies: Bodies, at: datetime) -> None:
        """Note what was published, and begin to make what the next release will hold.

        Raises:
            MemoryUnreadable: the months that were put could not be noted; they are put and noted again.
            LeadershipLost: likewise.
        """
        if shown.notes:
            self._memory.note_months(shown.notes)
            self._noted |= set(shown.notes.values())
        self._pictures.renew(_quarter(at), partial(_drawn, context, bodies, self._last_pictures(shown)))
        self._downloads.renew(self._state(context, at), partial(self._record, context, at))

    def close(self) -> None:
        """Drop what has not begun and wait for the rest."""
        self._pool.shutdown(cancel_futures=True)

    def _regimes(self, context: TickContext, at: datetime) -> tuple[RegimeChange, ...]:
        """Return the changes of the regime, read again when it is another one, and each hour.

        Looking for them costs a millisecond; a change that came and went in ticks that failed is told within the hour.
        """
        regime = context.reading.regime.label if context.reading else None
        seen = (regime, self._state(context, at))
        if self._changes is None or self._changes[0] != seen:
            self._changes = (seen, self._memory.regime_changes(CHANGES_READ))
        return self._changes[1]

    def _record(self, context: TickContext, at: datetime) -> Downloads:
        return downloads(self._memory.exports(), context.site, context.observation.mode, at)

    def _state(self, context: TickContext, at: datetime) -> object:
        """Return what is equal while the record is the same."""
        arena = context.arena
        hourly = arena.hourly_record
        ended = tuple(arena.rounds.get(phase, 0) for phase in (RoundPhase.RESOLVED, RoundPhase.VOID))
        return (month_of(at), hourly.resolved, hourly.void, ended, len(self._noted))

    def _last_pictures(self, shown: Sidelong) -> Pictures | None:
        return Pictures(shown.files, shown.shares) if shown.shares else None


def _drawn(context: TickContext, bodies: Bodies, before: Pictures | None) -> Pictures:
    return pictures(drawings(context, bodies), before)


def _quarter(at: datetime) -> int:
    return int(at.timestamp() // EVERY_S)
