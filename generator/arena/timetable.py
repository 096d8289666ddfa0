"""The round clock: which slot a time falls in, and when a new round length takes effect.

Rounds start at multiples of their length since 00:00 UTC. The length divides a day, so a change at 00:00 never cuts
a round in two.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import NamedTuple

from generator.catalog.durations import DAY_MS, MINUTE_MS


class Slot(NamedTuple):
    """One place in the timetable: [start_ms, end_ms)."""

    start_ms: int
    end_ms: int


@dataclass(frozen=True, slots=True)
class Timetable:
    """The round length in force, and the one that follows."""

    minutes: int  # length of rounds that start before `changes_at_ms`
    next_minutes: int | None = None  # length from `changes_at_ms` on; None when no change is due
    changes_at_ms: int | None = None  # a 00:00 UTC

    def minutes_at(self, t_ms: int) -> int:
        """Return the round length in force at a time."""
        if self.next_minutes is not None and self.changes_at_ms is not None and t_ms >= self.changes_at_ms:
            return self.next_minutes
        return self.minutes

    def slot_at(self, t_ms: int) -> Slot:
        """Return the slot that a time falls in."""
        length = self.minutes_at(t_ms) * MINUTE_MS
        midnight = t_ms - t_ms % DAY_MS
        start = midnight + (t_ms - midnight) // length * length
        return Slot(start, start + length)

    def next_slot(self, t_ms: int) -> Slot:
        """Return the slot after the one that a time falls in: the one that takes votes."""
        return self.slot_at(self.slot_at(t_ms).end_ms)


def revise(timetable: Timetable | None, wanted: int, now_ms: int, last_start_ms: int | None) -> Timetable:
    """Bring a timetable in line with the wanted round length.

    A change takes effect at the next 00:00 UTC that no stored round has reached yet: once the round of 00:00 takes
    votes, its length is fixed, and the change waits a day.
    """
    if timetable is None:
        return Timetable(wanted)

    if timetable.changes_at_ms is not None and now_ms >= timetable.changes_at_ms:
        timetable = Timetable(timetable.minutes_at(now_ms))
    if wanted == timetable.minutes_at(max(now_ms, timetable.changes_at_ms or 0)):
        return timetable

    latest = now_ms if last_start_ms is None else max(now_ms, last_start_ms)
    if timetable.changes_at_ms is not None and latest >= timetable.changes_at_ms:
        return timetable  # a round of the coming length takes votes already; the newest wish waits for that midnight
    if wanted == timetable.minutes:
        return Timetable(wanted)

    next_midnight = latest - latest % DAY_MS + DAY_MS
    return replace(timetable, next_minutes=wanted, changes_at_ms=next_midnight)


def asset_of(slot: Slot, assets: tuple[str, ...]) -> str:
    """Return whose turn a slot is: the assets rotate with the slot's number since 1970."""
    return assets[slot.start_ms // (slot.end_ms - slot.start_ms) % len(assets)]


def round_id_of(asset: str, start_ms: int) -> str:
    """Name a round `<ASSET>-<YYYYMMDD>-<HHMMSS>` by its start.

    >>> round_id_of("BTC", 1_795_176_000_000)
    'BTC-20261120-120000'
    """
    return f"{asset}-{datetime.fromtimestamp(start_ms / 1000, UTC):%Y%m%d-%H%M%S}"
