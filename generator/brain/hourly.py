"""Readings from 60-minute bars: the last day's trend and futures pressure. No view of direction."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from generator.brain.derivatives import Derivatives
from generator.catalog.text.labels import DERIVATIVES
from generator.catalog.words import DerivativesState, DerivativesVote, Trend
from generator.market.bars import BAR_MS, BarFrame, FloatArray

HOUR_MS: Final = 3_600_000
HOURS: Final = 24
FUTURES_HOURS: Final = 36
FEWEST: Final = 12
CLEAR: Final = 1.2  # t-statistic of the mean hourly return from which a trend is called one


@dataclass(frozen=True, slots=True)
class FuturesReading:
    """The derivatives words of one asset where nothing else can be read (60-minute bars)."""

    state: DerivativesState
    vote: DerivativesVote
    confidence: float | None  # 0..1
    text: str


def trends(frame: BarFrame) -> dict[str, Trend]:
    """Return each asset's trend over the last 24 bars by the t-statistic of its mean log return.

    Args:
        frame: closed bars, oldest first.
    """
    recent = frame.rows(max(len(frame) - HOURS - 1, 0)).fields["close"]
    return {asset: _word(recent[:, column]) for column, asset in enumerate(frame.assets)}


def futures(frame: BarFrame) -> dict[str, FuturesReading]:
    """Return the derivatives words from funding and open interest as known at each hour of the last 36.

    Both are levels, so that each hour's value holds for its twelve 5-minute steps: no bar is split for it.

    Args:
        frame: closed 60-minute bars, oldest first.
    """
    recent = frame.rows(max(len(frame) - FUTURES_HOURS, 0))
    measure = Derivatives(len(frame.assets))
    for row in range(len(recent)):
        for _ in range(HOUR_MS // BAR_MS):
            measure.update(recent.fields["funding"][row], recent.fields["open_interest"][row])
    return {
        asset: FuturesReading(found.state, found.vote, found.confidence, DERIVATIVES[found.state].reading)
        for asset, found in zip(frame.assets, measure.readings(), strict=True)
    }


def _word(closes: FloatArray) -> Trend:
    returns = np.diff(np.log(closes[np.isfinite(closes) & (closes > 0)]))
    if returns.size < FEWEST:
        return Trend.UNKNOWN
    spread, mean = float(returns.std(ddof=1)), float(returns.mean())
    if spread == 0:
        return Trend.SIDEWAYS
    score = mean / spread * returns.size**0.5
    return Trend.UP if score > CLEAR else Trend.DOWN if score < -CLEAR else Trend.SIDEWAYS
