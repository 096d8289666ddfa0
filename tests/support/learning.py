"""What ranges learn from closes at the ends of quarter hours, without an engine."""

import numpy as np

from generator.brain.ranges import RangeModel
from generator.brain.week import QUARTER_MS, QuarterEnds
from generator.market.bars import BAR_MS, FloatArray


def ends_of(first: int, quarters: int) -> QuarterEnds:
    """Return the ends of consecutive quarter hours, each a bar of its own; the first begins number `first`."""
    return QuarterEnds.of(QUARTER_MS * np.arange(first, first + quarters) - BAR_MS)


def teach(
    ranges: RangeModel,
    close: FloatArray,
    expected: FloatArray,
    first: int = 1,
    *,
    realised: FloatArray | None = None,
    reached: FloatArray | None = None,
) -> None:
    """Let ranges learn from log closes, (quarters, 2), while the same sigmas, (4, 2), are expected at each.

    Args:
        first: number of the quarter hour that begins with the first close.
        realised: variance over the horizons that have a profile, (quarters, 3, 2); None: not known.
        reached: logs of the highest and lowest price within each horizon, (2, quarters, 4, 2); None: not known.
    """
    quarters = len(close)
    sigma = np.repeat(expected[:, None], quarters, axis=1)
    if realised is None:
        realised = np.full((quarters, 3, 2), np.nan)
    if reached is None:
        reached = np.full((2, quarters, 4, 2), np.nan)
    ranges.update(ends_of(first, quarters), close, sigma, np.ones(close.shape, dtype=bool), realised, reached)
    for part in (ranges, ranges.profile):
        part.settle()
