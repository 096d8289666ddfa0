"""Sums over cases that come together and are no independent cases, such as the forecasts of one hour.

They are whole numbers, so that adding blocks one by one and all at once, in any order, gives exactly the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from generator.arena.ranges import half_width
from generator.arena.rates import ENOUGH, rate
from generator.arena.values import Bin, Proportion


@dataclass(frozen=True, slots=True)
class Ratio:
    """Two totals, y and x, over blocks of cases, and how the blocks scatter; immutable.

    >>> hits = Ratio().plus(1, 2).plus(2, 2)
    >>> hits.above, hits.below, hits.blocks
    (3, 4, 2)
    """

    blocks: int = 0
    above: int = 0  # y, such as hits, or one forecaster's loss
    below: int = 0  # x, such as cases, or another's loss
    squares: int = 0  # sums over the blocks of y squared, x y, x squared
    mixed: int = 0
    weights: int = 0

    def plus(self, above: int, below: int) -> Ratio:
        """Add one block."""
        return Ratio(
            blocks=self.blocks + 1,
            above=self.above + above,
            below=self.below + below,
            squares=self.squares + above * above,
            mixed=self.mixed + above * below,
            weights=self.weights + below * below,
        )

    @property
    def design_effect(self) -> float:
        """Return how many cases are worth one independent case, where y counts hits among x cases.

        Source: L. Kish, Survey sampling, 1965: the variance of the rate over clusters, over that of as many independent
        cases.
        """
        n = self.below
        if not n:
            return 1.0
        if not 0 < self.above < n:
            return max(1.0, self.weights / n)

        share = self.above / n
        spread = self.squares - 2 * share * self.mixed + share * share * self.weights
        return max(1.0, spread / (n * share * (1 - share)))

    def rate(self, *, backtest: bool) -> Proportion:
        """Return the share of hits y among cases x, its interval widened by the blocks."""
        return rate(self.above, self.below, backtest=backtest, effect=self.design_effect)

    def half_width(self) -> float | None:
        """Return half of the 95% interval of y / x over blocks; None where there are too few."""
        return half_width(self.above, self.below, self.blocks, (self.squares, self.mixed, self.weights))


@dataclass(frozen=True, slots=True)
class Cell:
    """Cases of one cell of a table: what chances were said, and how often it came; immutable."""

    said: int = 0  # sum of the chances, in ten-thousandths
    came: Ratio = field(default_factory=Ratio)

    def plus(self, said: int, hits: int, n: int) -> Cell:
        """Add one block."""
        return Cell(self.said + said, self.came.plus(hits, n))

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


def bins_of(edges: Sequence[float], cells: Mapping[int, Cell], *, backtest: bool) -> tuple[Bin, ...]:
    """Return every bin; below 30 cases without a rate."""
    bins = []
    for at, (low, high) in enumerate(pairwise(edges)):
        cell = cells.get(at, Cell())
        n = cell.came.below
        hit = cell.came.rate(backtest=backtest) if n >= ENOUGH else None
        bins.append(Bin(low, high, n, hit, cell.said_percent))
    return tuple(bins)
