"""Two ranges of a move and their proper score: smaller is better, and the honest range has the smallest on average.

`site/assets/practice-scores.js` computes the same numbers in the browser.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TwoRanges:
    """A 50% and a 90% range of a move, in percent of the price at its start."""

    low_90: float
    low_50: float
    high_50: float
    high_90: float

    def __post_init__(self) -> None:
        """Raise ValueError where the 50% range is empty or not inside the 90% range."""
        if not self.low_90 <= self.low_50 <= self.high_50 <= self.high_90:
            raise ValueError("a 50% range must lie inside the 90% range")

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


def interval_score(low: float, high: float, missing: float, move: float) -> float:
    """Return the width of a range, plus a fine for a move outside it: 2 / missing times the distance to the range.

    Args:
        low: lower end, in percent.
        high: upper end, in percent.
        missing: the share of moves that should end outside: 0.5 for a 50% range, 0.1 for a 90% range.
        move: what came, in percent.

    Source: T. Gneiting and A. Raftery, Strictly proper scoring rules, prediction, and estimation, 2007.

    >>> interval_score(-1.0, 1.0, 0.1, 0.3), interval_score(-1.0, 1.0, 0.1, 1.5)
    (2.0, 12.0)
    """
    below = max(0.0, low - move)
    above = max(0.0, move - high)
    return (high - low) + (2 / missing) * (below + above)


def how_far_score(ranges: TwoRanges, move: float) -> float:
    """Return the mean interval score of both ranges, in percentage points.

    >>> how_far_score(TwoRanges(-1.0, -0.25, 0.25, 1.0), 0.1)
    1.25
    """
    half = interval_score(ranges.low_50, ranges.high_50, 0.5, move)
    nine_in_ten = interval_score(ranges.low_90, ranges.high_90, 0.1, move)
    return (half + nine_in_ten) / 2
