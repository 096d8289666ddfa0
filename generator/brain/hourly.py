"""Readings from 60-minute bars: the last day's trend and futures pressure. No view of direction."""

from typing import Final

import numpy as np

from generator.brain.derivatives import Derivatives, Pressure
from generator.catalog.words import Trend
from generator.market.bars import BarFrame, FloatArray

HOURS: Final = 24
FUTURES_HOURS: Final = 30 * 24
FEWEST: Final = 12
CLEAR: Final = 1.2  # t-statistic of the mean hourly return from which a trend is called one


def trends(frame: BarFrame) -> dict[str, Trend]:
    """Return each asset's trend over the last 24 closed bars by the t-statistic of its mean log return."""
    recent = frame.rows(max(len(frame) - HOURS - 1, 0)).fields["close"]
    return {asset: _word(recent[:, column]) for column, asset in enumerate(frame.assets)}


def futures(frame: BarFrame) -> dict[str, Pressure]:
    """Return the derivatives words from funding and open contracts as known at each closed hour of the last 30 days."""
    recent = frame.rows(max(len(frame) - FUTURES_HOURS, 0))
    measure = Derivatives(len(frame.assets), bars_an_hour=1)
    if len(recent):
        measure.update(recent.t, recent.fields["funding"], recent.fields["open_interest"], np.ones(len(recent)))
        measure.settle()
    return dict(zip(frame.assets, measure.readings(), strict=True))


def _word(closes: FloatArray) -> Trend:
    """Return the trend of the closes of some hours, oldest first, (n,); gaps are left out."""
    returns = np.diff(np.log(closes[np.isfinite(closes) & (closes > 0)]))
    if returns.size < FEWEST:
        return Trend.UNKNOWN
    spread = float(returns.std(ddof=1))
    if spread == 0:
        return Trend.SIDEWAYS

    score = float(returns.mean()) / spread * returns.size**0.5
    if score > CLEAR:
        return Trend.UP
    if score < -CLEAR:
        return Trend.DOWN
    return Trend.SIDEWAYS
