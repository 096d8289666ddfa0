"""What was measured once and is quoted.

What the regime's confidence was worth on recorded markets, made by `python -m generator.lab recorded`; a test holds it
to the table of docs/explain/brain.md.
"""

from typing import Final, NamedTuple

from generator.catalog.horizons import HORIZONS


class HeldLabel(NamedTuple):
    """How often a label still stood four hours later, in percent."""

    market: str
    days: int
    said: float
    came: float
    low: float  # of the 95% interval of came minus said, points, by blocks of four days
    high: float
    hours: int


HELD_LABELS: Final = (
    HeldLabel("all coins, March to September 2023", 211, 67.9, 69.4, -1.1, 4.0, 5046),
    HeldLabel("all but one coin, May and June 2025, without a record before", 24, 67.7, 66.1, -10.2, 6.4, 558),
)


class HeldRange(NamedTuple):
    """How often a range held at full hours, in percent."""

    horizon: str
    stated: int
    held: float
    low: float  # of the 95% interval, by resampled days; of 24 hours by two days
    high: float
    moves: int

    @property
    def words(self) -> str:
        """The horizon in words."""
        return HORIZONS[self.horizon].words

    @property
    def interval(self) -> str:
        """How often it held, as pages and README write it: `48.1% [45.7, 50.8]`."""
        return f"{self.held:.1f}% [{self.low:.1f}, {self.high:.1f}]"


class MoveSkill(NamedTuple):
    """Brier skill, in percent, of the chance that the next hour's move ends outside its band."""

    skill: float
    low: float  # of the 95% interval, by resampled days
    high: float

    @property
    def words(self) -> str:
        """The skill as pages and README write it: `2.19% [0.27, 4.10]`."""
        return f"{self.skill:.2f}% [{self.low:.2f}, {self.high:.2f}]"


CANDLES: Final = "binance-spot-5m-2025-05"
CANDLE_ASSETS: Final = 6
CANDLE_DAYS: Final = 24
FULL_HOURS: Final = 565
HELD: Final = (
    HeldRange("15m", 50, 48.1, 45.7, 50.8, 3370),
    HeldRange("15m", 90, 89.5, 87.7, 91.3, 3370),
    HeldRange("1h", 50, 46.8, 43.5, 49.5, 3364),
    HeldRange("1h", 90, 89.1, 86.7, 91.4, 3364),
    HeldRange("4h", 50, 45.0, 41.3, 49.1, 3346),
    HeldRange("4h", 90, 88.2, 85.0, 91.3, 3346),
    HeldRange("24h", 50, 43.6, 32.7, 54.4, 3226),
    HeldRange("24h", 90, 85.5, 77.8, 92.6, 3226),
)
MOVES: Final = 3364
MOVE_SKILL: Final = MoveSkill(2.19, 0.27, 4.10)
"""Against its own base rate."""
MOVE_SKILL_BY_HOUR: Final = MoveSkill(3.21, 0.55, 6.10)
"""Against a base rate by hour of the day."""
