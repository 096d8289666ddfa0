"""Prices and their realised volatility at past times, read from kept bars.

Source of the measure: T. Andersen and T. Bollerslev, Answering the skeptics, 1998.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from generator.catalog.durations import HOUR_MS
from generator.market.bars import BAR_MS, BarFrame, FloatArray

_BARS_AN_HOUR: Final = HOUR_MS // BAR_MS


class Past(NamedTuple):
    """What bars say of some times, by asset; NaN where unknown."""

    closes: Mapping[str, Sequence[float]]
    realised: Mapping[str, Sequence[float]]  # of the hour before, percent


def past(bars: BarFrame | None, assets: Sequence[str], times: Sequence[int]) -> Past:
    """Return the closes of the bars that end at some times, and the realised volatility of the hour up to then.

    Args:
        times: market times in ms. A bar that ends less than its length before one is taken for it.
    """
    nothing = dict.fromkeys(assets, (np.nan,) * len(times))
    if bars is None or not len(bars):
        return Past(nothing, nothing)

    ends = bars.t + bars.interval_ms
    places = np.searchsorted(ends, times, side="right") - 1
    is_known = (places >= 0) & (np.array(times) - ends[places] < bars.interval_ms)

    closes = np.where(is_known[:, None], bars.fields["close"][places], np.nan)
    realised = np.where(is_known[:, None], _realised(bars)[places], np.nan)

    columns = {asset: bars.assets.index(asset) for asset in assets if asset in bars.assets}
    return Past(
        nothing | {asset: tuple(closes[:, column].tolist()) for asset, column in columns.items()},
        nothing | {asset: tuple(realised[:, column].tolist()) for asset, column in columns.items()},
    )


def _realised(bars: BarFrame) -> FloatArray:
    """Return for each bar the root of the sum of the hour's squared log returns, percent; NaN after a gap."""
    closes = bars.fields["close"]
    realised = np.full(closes.shape, np.nan)
    if bars.interval_ms != BAR_MS or len(bars) <= _BARS_AN_HOUR:
        return realised

    returns = np.diff(np.log(closes), axis=0)
    squares = sliding_window_view(returns**2, _BARS_AN_HOUR, axis=0).sum(axis=-1)
    has_no_gap = bars.t[_BARS_AN_HOUR:] - bars.t[:-_BARS_AN_HOUR] == HOUR_MS
    realised[_BARS_AN_HOUR:] = np.where(has_no_gap[:, None], 100 * np.sqrt(squares), np.nan)
    return realised
