"""The ladder and the partition of each full hour: what was sealed of all assets at once, and what came.

The move at the end of a horizon is that between two published prices; whether a level was touched on the way is read
from the highs and lows of 5-minute bars against the price at the start, and unknown for good where a bar is missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from generator.brain.ladder import Ladder, Partition
from generator.brain.reading import AssetReading
from generator.catalog.durations import DAY_MS, HOUR_MS, MINUTE_MS
from generator.catalog.formats import rounded
from generator.catalog.horizons import HORIZONS

KINDS: Final = ("end", "touch")
PARTITION: Final = "4h"
SealedChances = Mapping[str, Any]  # by asset, as they are sealed


@dataclass(frozen=True, slots=True)
class LadderHour:
    """The chances that were sealed of one hour, and what came; times are wall times."""

    start_ms: int
    made_ms: int
    warm_up: bool
    said: SealedChances
    base: Mapping[str, Any]  # base rates when it was made: horizon -> [end, touch] of each level
    prices: Mapping[str, float] = field(default_factory=dict)  # at the start; without those that are void
    came: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # horizon -> asset -> move, high, low
    void_reason: str | None = None

    @property
    def has_begun(self) -> bool:
        """Whether its start was fixed."""
        return bool(self.prices or self.came)

    @property
    def is_closed(self) -> bool:
        """Whether it is sealed and not begun: it may be made again."""
        return not self.has_begun and self.void_reason is None

    @property
    def due_ms(self) -> int | None:
        """When there is next something to do, None where all is known."""
        if self.void_reason is not None:
            return None
        if not self.has_begun:
            return self.start_ms
        ends = [end_ms(self, name) for name in HORIZONS if not is_done(self, name)]
        return min(ends, default=None)


def end_ms(hour: LadderHour, horizon: str) -> int:
    """Return when a horizon ends."""
    return hour.start_ms + HORIZONS[horizon].length_ms


def is_done(hour: LadderHour, horizon: str) -> bool:
    """Return whether all is known of a horizon: nothing waits for a bar."""
    outcomes = hour.came.get(horizon)
    return outcomes is not None and not any("waits" in outcome for outcome in outcomes.values())


def newly_done(before: LadderHour, after: LadderHour) -> list[str]:
    """Return the horizons of which all became known in a change."""
    return [name for name in HORIZONS if is_done(after, name) and not is_done(before, name)]


def day_is_over(day: int, now_ms: int) -> bool:
    """Return whether the last horizon of the hours that began on a UTC day has ended, and its bars had time to come."""
    return now_ms >= (day + 2) * DAY_MS - HOUR_MS + WAIT_MS


WAIT_MS: Final = 15 * MINUTE_MS  # for the last bar of a horizon


def sealed_chances(assets: Mapping[str, AssetReading]) -> SealedChances | None:
    """Return what is sealed of a reading, by asset; None without a ladder of any."""
    chances = {
        name: {"ladder": _plain(read.ladder), "partition": _plain_partition(read.partition)}
        for name, read in assets.items()
        if read.ladder is not None
    }
    return chances or None


def _plain(ladder: Ladder) -> dict[str, Any]:
    """Return a ladder by horizon: of each level its percent, then above, below and either at the end, then touched."""
    return {
        horizon: [[level.level, *level.end.three, *level.touch.three] for level in levels]
        for horizon, levels in ladder.items()
    }


def _plain_partition(part: Partition | None) -> dict[str, Any] | None:
    if part is None:
        return None
    chances = (part.chances.down, part.chances.neutral, part.chances.up)
    usual = (part.base_rate.down, part.base_rate.neutral, part.base_rate.up)
    return {"band_percent": rounded(100 * part.band, 4), "chances": list(chances), "base_rates": list(usual)}


def sealed_of(hour: LadderHour, start: str) -> dict[str, Any]:
    """Return the content that is sealed of an hour, with its start as published."""
    return {"start": start, "assets": hour.said, "base_rates": hour.base}


def part_of(part: Mapping[str, Any] | None, move: float | None) -> int | None:
    """Return which part came: 0 a fall beyond the middle third, 1 within it, 2 a rise; None where unknown."""
    if part is None or move is None:
        return None
    if abs(move) <= part["band_percent"]:
        return 1
    return 2 if move > 0 else 0
