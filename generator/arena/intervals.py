"""Two ranges of a move, and how they are scored."""

from dataclasses import dataclass

from generator.arena.scoring import interval_score


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

    def score(self, move: float) -> float:
        """Return the mean interval score of both ranges, in percentage points.

        >>> TwoRanges(-1.0, -0.25, 0.25, 1.0).score(0.1)
        1.25
        """
        half = interval_score(self.low_50, self.high_50, 0.5, move)
        nine_in_ten = interval_score(self.low_90, self.high_90, 0.1, move)
        return (half + nine_in_ten) / 2
