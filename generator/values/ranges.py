"""Where a price may be at the end of a horizon: one type from the brain to the page.

Source of the score: T. Gneiting and A. Raftery, Strictly proper scoring rules, prediction, and estimation, 2007.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, TypeVar

from generator.catalog.formats import rounded
from generator.values.published import PUBLISHED

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Figure = TypeVar("Figure", float, "npt.NDArray[np.float64]")


@dataclass(frozen=True, slots=True)
class MoveRange:
    """Where the price may be at the end of a horizon, as a move from now. How far is forecast, not which way."""

    __pydantic_config__ = PUBLISHED

    # Published with two decimals, stored and scored with four.
    low_90: float
    """In 5 of 100 cases the move is below this, percent."""
    low_50: float
    """In 25 of 100 cases the move is below this, percent."""
    high_50: float
    """In 25 of 100 cases the move is above this, percent."""
    high_90: float
    """In 5 of 100 cases the move is above this, percent."""

    @property
    def ends(self) -> tuple[float, float, float, float]:
        """The four ends, ascending."""
        return (self.low_90, self.low_50, self.high_50, self.high_90)

    @property
    def is_sound(self) -> bool:
        """Whether the 50% range lies inside the 90% range, and no end is infinite or no number."""
        return all(map(isfinite, self.ends)) and self.low_90 <= self.low_50 <= self.high_50 <= self.high_90

    @property
    def width_90(self) -> float:
        """The width of the 90% range, in percentage points."""
        return self.high_90 - self.low_90

    def holds_50(self, move: float) -> bool:
        """Whether a move ends inside the 50% range, its ends included."""
        return self.low_50 <= move <= self.high_50

    def holds_90(self, move: float) -> bool:
        """Whether a move ends inside the 90% range, its ends included."""
        return self.low_90 <= move <= self.high_90

    def score(self, move: float) -> float:
        """Return the mean interval score of both ranges, in percentage points.

        >>> MoveRange(-1.0, -0.25, 0.25, 1.0).score(0.1)
        1.25
        """
        half = interval_score(self.low_50, self.high_50, 0.5, move)
        nine_in_ten = interval_score(self.low_90, self.high_90, 0.1, move)
        return (half + nine_in_ten) / 2

    def rounded(self, decimals: int) -> MoveRange:
        """Return the same with so many decimals."""
        return MoveRange(*(rounded(end, decimals) for end in self.ends))

    def prices(self, price: float) -> tuple[float, float, float, float]:
        """Return the four ends as prices.

        Args:
            price: at the start.
        """
        low_90, low_50, high_50, high_90 = (price * (1 + end / 100) for end in self.ends)
        return (low_90, low_50, high_50, high_90)


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeForecast(MoveRange):
    """The ranges of one asset over one horizon as they are stored and judged, four decimals."""

    sigma: float
    """Standard deviation of the move, percent."""
    last_hour: float
    """What the moves of the last hour take for it."""
    last_day: float
    """What those of the last day take for it."""
    ewma: float
    """What their exponentially weighted mean takes for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RangesOfWeek:
    """How the ranges of one asset and horizon held over the last week."""

    __pydantic_config__ = PUBLISHED

    moves: int
    """Ranges of the last seven days whose move is known."""
    held_50: int
    """How many of these moves ended inside the 50% range."""
    held_90: int
    """How many ended inside the 90% range."""
    mean_width_90_percent: float
    """Mean width of the 90% ranges, percentage points."""
    largest_move_percent: float
    """The largest move, either way, percent."""
    of_backtest: int
    """How many of these the backtest before the start made."""


def interval_score(low: Figure, high: Figure, missing: float, move: Figure) -> Figure:
    """Return the width of a range, plus a fine for a move outside it: 2 / missing times the distance to the range.

    Args:
        low: lower end, in percent.
        high: upper end, in percent.
        missing: the share of moves that should end outside: 0.5 for a 50% range, 0.1 for a 90% range.
        move: what came, in percent.

    >>> interval_score(-1.0, 1.0, 0.1, 0.3), interval_score(-1.0, 1.0, 0.1, 1.5)
    (2.0, 12.0)
    """
    return (high - low) + (2 / missing) * (above_zero(low - move) + above_zero(move - high))


def above_zero(distance: Figure) -> Figure:
    """Return a number where it is above 0, else 0; exact, since a sum of two equal numbers is halved."""
    return (distance + abs(distance)) / 2
