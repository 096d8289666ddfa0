"""Sums of one level, horizon and kind, in whole numbers, and the skill that they show.

The interval of a skill comes from how UTC days differ.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from generator.arena.rates import enough_for_skill
from generator.arena.scoring import Ratio, brier_of_units, log_score
from generator.brain.forecast import UNITS
from generator.catalog.formats import rounded
from generator.values.ladders import MeanInterval

_LOG_UNITS: Final = 1_000_000
_LEAST: Final = 0.001  # no chance is scored for less, so that one surprise does not decide it


@dataclass(frozen=True, slots=True)
class Cell:
    """Sums of one level, horizon and kind over all assets, of either side."""

    n: int = 0
    void: int = 0
    events: int = 0
    days: int = 0  # UTC days with an event
    day: int = -1  # the last of them
    brier: int = 0
    base_brier: int = 0
    log: int = 0
    base_log: int = 0
    said: int = 0
    block: int = -1  # the UTC day that is being summed up, and what it saved and the base rate's loss
    saved: int = 0
    lost: int = 0
    blocks: int = 0  # the days before, and their sums of squares and products
    saved_saved: int = 0
    saved_lost: int = 0
    lost_lost: int = 0

    def counted(self, day: int, losses: Losses, *, event: bool, stated: int) -> Cell:
        """Add one case that began on a UTC day."""
        cell = self if day == self.block else self.closed(day)
        is_new_day = event and day != cell.day

        # Days with an event are counted apart: a level needs some before a rate of it is shown.
        return replace(
            cell,
            n=cell.n + 1,
            events=cell.events + int(event),
            days=cell.days + int(is_new_day),
            day=day if event else cell.day,
            brier=cell.brier + losses.brier,
            base_brier=cell.base_brier + losses.base_brier,
            log=cell.log + losses.log,
            base_log=cell.base_log + losses.base_log,
            said=cell.said + stated,
            saved=cell.saved + losses.base_brier - losses.brier,
            lost=cell.lost + losses.base_brier,
        )

    def closed(self, day: int = -1) -> Cell:
        """Fold the day that was summed up into the sums over days, and begin another."""
        if self.block < 0:
            return replace(self, block=day)

        return replace(
            self,
            block=day,
            saved=0,
            lost=0,
            blocks=self.blocks + 1,
            saved_saved=self.saved_saved + self.saved**2,
            saved_lost=self.saved_lost + self.saved * self.lost,
            lost_lost=self.lost_lost + self.lost**2,
        )

    @property
    def skill(self) -> MeanInterval:
        """The Brier skill against the base rate in percent, with its interval; none of a short record."""
        # The day that is still open counts as a block of its own.
        whole = self.closed()
        saved = whole.base_brier - whole.brier
        products = (whole.saved_saved, whole.saved_lost, whole.lost_lost)
        half = Ratio(whole.blocks, saved, whole.base_brier, *products).half_width()
        if half is None or not enough_for_skill(whole.blocks, whole.events, whole.n):
            return MeanInterval()
        value = 100 * saved / whole.base_brier
        return MeanInterval(rounded(value, 1), rounded(value - 100 * half, 1), rounded(value + 100 * half, 1))


@dataclass(frozen=True, slots=True)
class Losses:
    """The losses of one case, scaled."""

    brier: int
    base_brier: int
    log: int
    base_log: int


def losses_of(chances: tuple[int, ...], base: tuple[int, ...], outcome: int) -> Losses:
    """Return the losses of chances and base rates, in units, of which the one at the place `outcome` happened.

    Of an event there are two: that it comes, and that it does not.
    """

    def brier(units: tuple[int, ...]) -> int:
        # The squared errors of an event and of its opposite are the same: half of their sum is that of one chance.
        every = brier_of_units(units, outcome)
        return every // 2 if len(units) == 2 else every

    def surprise(units: tuple[int, ...]) -> int:
        return round(_LOG_UNITS * log_score(units[outcome] / UNITS, _LEAST))

    return Losses(brier(chances), brier(base), surprise(chances), surprise(base))


_SUMMED: Final = ("n", "events", "brier", "base_brier", "blocks", "saved_saved", "saved_lost", "lost_lost")


def pool(cell: Cell, other: Cell) -> Cell:
    """Add two cells of one horizon up; their days are taken for days of their own, as their interval is a rough one."""
    first = cell.closed()
    second = other.closed()
    summed = {name: getattr(first, name) + getattr(second, name) for name in _SUMMED}
    return replace(first, **summed)
