"""What 60-minute bars tell: the last day's trend, futures pressure, the base rate of a round. No view of direction."""

from __future__ import annotations

from typing import Final

import numpy as np

from generator.brain.derivatives import Derivatives
from generator.brain.direction import BAND
from generator.brain.sentences import DERIVATIVES
from generator.brain.values import Forecast, FuturesReading, Probabilities
from generator.catalog.words import Prediction, Trend
from generator.market.values import BAR_MS, BarFrame, FloatArray

HOUR_MS: Final = 3_600_000
HOURS: Final = 24
FUTURES_HOURS: Final = 36
FEWEST: Final = 12
CLEAR: Final = 1.2  # t-statistic of the mean hourly return from which a trend is called one
HALF_LIFE_HOURS: Final = 24
FEWEST_OUTCOMES: Final = 48
PRIOR_OUTCOMES: Final = 30  # uniform outcomes that the counted ones are added to


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
        asset: FuturesReading(found.state, found.vote, found.confidence, DERIVATIVES[found.state])
        for asset, found in zip(frame.assets, measure.readings(), strict=True)
    }


def base_rate_forecast(frame: BarFrame, asset: str, horizon_minutes: int) -> Forecast | None:
    """Return the base rate as a forecast: how often the last hours ended below, inside and above the neutral band.

    It holds no view, so the word is always NEUTRAL. Each past hour is judged by the band that was known before it.

    Args:
        frame: closed 60-minute bars, oldest first.
        asset: one of the frame's.
        horizon_minutes: 60; for any other horizon nothing is known.

    Returns:
        None with fewer than 48 known hours.
    """
    if frame.interval_ms != HOUR_MS or horizon_minutes * 60_000 != HOUR_MS:
        return None
    returns = _returns(frame.fields["close"][:, frame.assets.index(asset)])
    if returns.size <= FEWEST_OUTCOMES + FEWEST:
        return None
    sigma = _sigma(returns)
    known, bands = returns[FEWEST:], BAND * sigma[FEWEST:-1]
    counts = (
        np.array([(known < -bands).sum(), (np.abs(known) <= bands).sum(), (known > bands).sum()]) + PRIOR_OUTCOMES / 3
    )
    down, neutral, up = (counts / counts.sum()).tolist()
    rates = Probabilities(down, neutral, up)
    return Forecast(asset, horizon_minutes, rates, rates, Prediction.NEUTRAL, 10_000 * BAND * float(sigma[-1]))


def _returns(closes: FloatArray) -> FloatArray:
    known = closes[np.isfinite(closes) & (closes > 0)]
    returns: FloatArray = np.diff(np.log(known))
    return returns


def _sigma(returns: FloatArray) -> FloatArray:
    """Return the EWMA sigma known before each return, and after the last: one more than `returns`."""
    decay = 0.5 ** (1 / HALF_LIFE_HOURS)
    variance = np.empty(returns.size + 1)
    variance[0] = float(np.mean(returns[:FEWEST] ** 2))
    for place, value in enumerate(returns):
        variance[place + 1] = decay * variance[place] + (1 - decay) * value * value
    sigma: FloatArray = np.sqrt(variance)
    return sigma


def _word(closes: FloatArray) -> Trend:
    returns = _returns(closes)
    if returns.size < FEWEST:
        return Trend.UNKNOWN
    spread, mean = float(returns.std(ddof=1)), float(returns.mean())
    if spread == 0:
        return Trend.SIDEWAYS
    score = mean / spread * returns.size**0.5
    return Trend.UP if score > CLEAR else Trend.DOWN if score < -CLEAR else Trend.SIDEWAYS
