"""Cells of a table of chances: what was said, and how often it came, summed over blocks of cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from generator.arena.rates import ENOUGH
from generator.arena.scoring import Ratio
from generator.values.scores import CalibrationBin


@dataclass(frozen=True, slots=True)
class Cell:
    """Cases of one cell of a table: what chances were said, and how often it came; immutable."""

    said: int = 0  # sum of the chances, in ten-thousandths
    came: Ratio = field(default_factory=Ratio)

    def plus(self, stated: int, hits: int, n: int) -> Cell:
        """Add one block."""
        return Cell(self.said + stated, self.came.plus(hits, n))

    @property
    def said_percent(self) -> float | None:
        """Return the mean chance that was said, in percent with one decimal; None without cases."""
        n = self.came.below
        return round(self.said / 100 / n, 1) if n else None


def bin_of(edges: Sequence[float], percent: float) -> int:
    """Return the bin of a chance in percent; an edge belongs to the bin above it, 100 to the last.

    >>> [bin_of((0.0, 35.0, 100.0), percent) for percent in (34.9, 35.0, 100.0)]
    [0, 1, 1]
    """
    return max(at for at, low in enumerate(edges[:-1]) if percent >= low)


def bins_of(edges: Sequence[float], cells: Mapping[int, Cell], *, backtest: bool) -> tuple[CalibrationBin, ...]:
    """Return every bin; below 30 cases without a rate."""
    bins = []
    for at, (low, high) in enumerate(pairwise(edges)):
        cell = cells.get(at, Cell())
        n = cell.came.below
        hit = cell.came.rate(backtest=backtest) if n >= ENOUGH else None
        bins.append(CalibrationBin.of(low, high, n, hit, cell.said_percent))
    return tuple(bins)
