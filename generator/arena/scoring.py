"""How forecasts are scored: each formula once, for rounds, hours, ladders, ranges, practice and the lab.

Every score is a loss: smaller is better, and whoever says what they believe has the smallest on average (such a score
is called proper). What the record sums are whole numbers of a small unit, so that adding cases one by one and all at
once, in any order, gives exactly the same: a published chance is a whole number of ten-thousandths, so a Brier score is
exact in 10^-8; a log score is rounded to 10^-9.

A range scores itself: `generator.values.ranges` has the interval score. `site/assets/practice-scores.js` computes the
same in the browser.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, sqrt
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from generator.arena.rates import rate
from generator.brain.forecast import UNITS
from generator.catalog.formats import rounded
from generator.values.ranges import above_zero
from generator.values.scores import Z_95, Estimate, Rate

Figures = npt.NDArray[np.float64]
Figure = TypeVar("Figure", float, Figures)

E8: Final = UNITS**2  # of a Brier score
E9: Final = 10**9  # of a log score and of QLIKE
UNIFORM_BRIER: Final = 2 / 3  # of three equal chances
LEAST_CHANCE: Final = 0.01  # of the log score: otherwise one certain and wrong answer would decide every mean
LEAST_SIGMA: Final = 0.01  # percent; QLIKE takes no sigma for smaller, so that one quiet hour does not decide it

NORMAL_50: Final = 0.6745  # the middle half of a normal distribution lies within so many standard deviations
NORMAL_90: Final = 1.6449  # and nine tenths of it within so many
NORMAL: Final = (-NORMAL_90, -NORMAL_50, NORMAL_50, NORMAL_90)  # quantiles .05, .25, .75 and .95
TWENTIETHS: Final = (1, 5, 15, 19)  # these four quantiles

ENOUGH_BLOCKS: Final = 10  # below this no interval is shown, and nothing is claimed


def units_of(chance: float) -> int:
    """Return a chance, 0..1, in ten-thousandths."""
    return round(chance * UNITS)


def brier(chances: Sequence[float], outcome: int) -> float:
    """Return the Brier score over all outcomes, 0 (certain and right) .. 2 (certain and wrong).

    It is the sum over the outcomes of (chance - 1 if it came true, else chance - 0) squared.

    Args:
        chances: of each outcome, 0..1; they add to 1.
        outcome: which of them came true, from 0.

    Source: G. W. Brier, Verification of forecasts expressed in terms of probability, 1950.

    >>> round(brier((0.5, 0.3, 0.2), 0), 4)  # 0.5^2 + 0.3^2 + 0.2^2
    0.38
    """
    total = 0.0
    for place, chance in enumerate(chances):
        total += squared_error(chance, 1.0 if place == outcome else 0.0)
    return total


def brier_e8(chances: Sequence[float], outcome: int) -> int:
    """Return the Brier score times 10^8; exact for chances as published.

    >>> brier_e8((0.5, 0.3, 0.2), 0)
    38000000
    """
    return brier_of_units([units_of(chance) for chance in chances], outcome)


def brier_of_units(units: Sequence[int], outcome: int) -> int:
    """Return the Brier score times 10^8 of chances in ten-thousandths."""
    return sum((unit - (UNITS if place == outcome else 0)) ** 2 for place, unit in enumerate(units))


def squared_error(chance: Figure, outcome: Figure) -> Figure:
    """Return the Brier score of one chance, 0..1: half of what `brier` gives for the two outcomes.

    Args:
        chance: that it comes, 0..1.
        outcome: 1.0 where it did, else 0.0.

    >>> squared_error(0.8, 1.0) == (1 - 0.8) ** 2
    True
    """
    away = chance - outcome
    return away * away


def squared_error_e8(chance: float, *, has_come: bool) -> int:
    """Return the Brier score of one chance times 10^8; exact for a chance as published.

    >>> squared_error_e8(0.8, has_come=True)  # 0.2^2
    4000000
    """
    return (units_of(chance) - (UNITS if has_come else 0)) ** 2


def log_score(chance: float, least: float = LEAST_CHANCE) -> float:
    """Return -ln of the chance that was given to what came true; chances below `least` count as that.

    Source: I. J. Good, Rational decisions, 1952.

    >>> round(log_score(0.5), 4), round(log_score(0.0), 4)
    (0.6931, 4.6052)
    """
    return -log(max(chance, least))


def log_e9(chance: float) -> int:
    """Return the log score times 10^9, rounded to a whole number."""
    return round(log_score(chance) * E9)


def pinball(level: Figure, quantile: Figure, move: Figure) -> Figure:
    """Return the pinball loss of one quantile: level x (move - quantile) above it, (1 - level) x the rest below it.

    Args:
        level: the share of moves that should end below the quantile, 0..1.
        quantile: in percent, as the move.
        move: what came.

    Source: R. Koenker and G. Bassett, Regression quantiles, 1978.

    >>> pinball(0.25, -1.0, 1.0), pinball(0.25, 1.0, -1.0)
    (0.5, 1.5)
    """
    return level * above_zero(move - quantile) + (1 - level) * above_zero(quantile - move)


def pinball_units(quantiles: Sequence[float], move: float) -> int:
    """Return the pinball loss summed over the four quantiles `TWENTIETHS`, in 1/20 of 0.0001 percent; a whole number.

    >>> pinball_units((-1.0, -0.5, 0.5, 1.0), 0.0)  # 2 x (0.05 x 1 + 0.25 x 0.5) percent
    70000
    """
    loss = 0
    for twentieths, quantile in zip(TWENTIETHS, quantiles, strict=True):
        over = round(move * UNITS) - round(quantile * UNITS)
        if over >= 0:
            loss += twentieths * over
        else:
            loss += (20 - twentieths) * -over
    return loss


def qlike(sigma: float, move: float) -> float:
    """Return ln(sigma^2) + move^2 / sigma^2, both in percent; lower is better.

    Source: A. J. Patton, Volatility forecast comparison using imperfect volatility proxies, 2011.

    >>> qlike(1.0, 0.5)
    0.25
    """
    variance = max(sigma, LEAST_SIGMA) ** 2
    return log(variance) + move * move / variance


def qlike_of(ratio: Figures) -> Figures:
    """Return QLIKE of realised variances over expected ones, less what no forecast can change: 0 where both agree."""
    loss: Figures = ratio - np.log(ratio) - 1.0
    return loss


def mean(total: int, scale: int, n: int) -> float | None:
    """Return a mean of scaled whole numbers, with four decimals; None without cases."""
    return round(total / scale / n, 4) if n else None


def skill_percent(score: float | None, baseline: float | None) -> float | None:
    """Return 100 x (1 - score / baseline), one decimal; None without cases or against a perfect baseline.

    >>> skill_percent(0.6, 0.6667), skill_percent(0.7, 0.6667), skill_percent(None, None)
    (10.0, -5.0, None)
    """
    if score is None or not baseline:
        return None
    return rounded(100 * (1 - score / baseline), 1)


def skill(score: float | None, baseline: float | None, ratio: Ratio) -> Estimate | None:
    """Return the skill in percent from the published scores, with its interval over blocks; none without both."""
    half = ratio.half_width()
    value = skill_percent(score, baseline)
    if value is None or half is None:
        return None
    return Estimate(value, rounded(value - 100 * half, 1), rounded(value + 100 * half, 1))


def student(z: float, blocks: int) -> float:
    """Return the quantile of Student's t over so many blocks, two at least, that matches a normal one of `z`.

    Source: E. A. Cornish and R. A. Fisher, Moments and cumulants in the specification of distributions, 1938; of the
    expansion the first term.

    >>> round(student(1.959964, 10), 2)  # 2.26 in the tables
    2.22
    """
    return z + (z**3 + z) / (4 * (blocks - 1))


@dataclass(frozen=True, slots=True)
class Ratio:
    """Two totals, y and x, over blocks of cases, and how the blocks scatter; immutable.

    A block is cases that come together and are no independent ones, such as the forecasts of one hour.

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

    def rate(self, *, backtest: bool) -> Rate:
        """Return the share of hits y among cases x, its interval widened by the blocks."""
        return rate(self.above, self.below, backtest=backtest, effect=self.design_effect)

    def half_width(self) -> float | None:
        """Return half of the 95% interval of y / x over blocks; None below ten blocks.

        The variance of y / x is that of the residuals y - (y / x) x of the blocks, over x squared. The residuals' sum
        is worked out in whole numbers, as its terms nearly cancel.

        Source: L. Kish, Survey sampling, 1965, ratio means of clusters; quantile of Student's t after Cornish and
        Fisher.
        """
        if self.blocks < ENOUGH_BLOCKS or not self.below:
            return None

        # Times below^2.
        residuals = (
            self.squares * self.below**2 - 2 * self.mixed * self.above * self.below + self.weights * self.above**2
        )
        variance = residuals * self.blocks / ((self.blocks - 1) * self.below**4)

        return student(Z_95, self.blocks) * sqrt(variance)
