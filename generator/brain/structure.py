"""The shape of the last day: breadth, breakouts."""

from typing import Final

import numpy as np

from generator.catalog.thresholds import FLAT_PERCENT
from generator.catalog.words import MarketStructure, Trend
from generator.market.bars import FloatArray
from generator.values.market import BreadthCounts

FLAT: Final = FLAT_PERCENT / 100  # as a fraction
_WORDS: Final = {
    Trend.DOWN: MarketStructure.DOWNTREND,
    Trend.SIDEWAYS: MarketStructure.RANGE,
    Trend.UP: MarketStructure.UPTREND,
    Trend.UNKNOWN: MarketStructure.UNKNOWN,
}
_TIE: Final = 3e-6  # what the kept week may be off by: an equal price is neither above nor below


def counts(moved: FloatArray) -> BreadthCounts:
    """Count the assets by their change over the day, as a fraction; NaN counts nowhere.

    >>> counts(np.array([0.012, -0.0005, np.nan, -0.03]))
    BreadthCounts(up=1, down=1, flat=1)
    """
    return BreadthCounts(
        up=int(np.count_nonzero(moved > FLAT)),
        down=int(np.count_nonzero(moved < -FLAT)),
        flat=int(np.count_nonzero(np.abs(moved) <= FLAT)),
    )


def structures(
    trends: list[Trend], log_close: FloatArray, edges: tuple[FloatArray, FloatArray], day: FloatArray
) -> list[MarketStructure]:
    """Return the structure of every asset after the last bar.

    Args:
        trends: of each asset.
        log_close: last closes, NaN where they are older than an hour, (assets,).
        edges: logs of the highest and lowest price of the 24 hours before the present hour, likewise.
        day: change over the day, NaN where unknown; nothing that rose over the day is below its low, likewise.
    """
    top, bottom = edges
    above = ~(day < 0.0) & (log_close > top + _TIE)
    below = ~(day > 0.0) & (log_close < bottom - _TIE)

    words = [_WORDS[trend] for trend in trends]
    for column in range(len(words)):
        if above[column]:
            words[column] = MarketStructure.BREAKOUT
        elif below[column]:
            words[column] = MarketStructure.BREAKDOWN
    return words
