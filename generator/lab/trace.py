"""Feed a market to the engine bar by bar and keep its readings."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from generator.brain.direction import outcomes_of
from generator.brain.engine import Engine
from generator.brain.weights import Weights
from generator.lab.scores import Outcomes
from generator.market.bars import BarFrame, FloatArray

FORECAST_EVERY: Final = 3  # bars between kept forecasts: a quarter of an hour
HORIZON_BARS: Final = (3, 12)
OUTLOOK_BARS: Final = (3, 12, 48)


@dataclass(frozen=True, slots=True)
class Trace:
    """The engine's readings of one market after the warm-up.

    Args:
        at: row of every scored bar; label, confidence: of the market's regime then.
        forecast_at: rows of the kept forecasts; chance, base: (n, 2, 3, assets); band: (n, 2, assets).
        outlook: (n, 4) at every scored bar, mean over assets: the three horizons in log slow sigmas, a 2-hour EWMA.
        slow: (n, assets).
    """

    at: npt.NDArray[np.int64]
    label: npt.NDArray[np.int64]
    confidence: FloatArray
    forecast_at: npt.NDArray[np.int64]
    chance: FloatArray
    base: FloatArray
    band: FloatArray
    outlook: FloatArray
    slow: FloatArray


def trace(frame: BarFrame, warm_up: int, weights: Weights) -> Trace:
    """Feed a market bar by bar and keep the readings after `warm_up` bars."""
    engine = Engine(weights, frame.assets)
    engine.advance(frame.rows(0, warm_up))
    every, forecasts = [], []
    for row in range(warm_up, len(frame)):
        engine.advance(frame.rows(row, row + 1))
        found, volatility = engine.filter, engine.volatility
        outlook = np.append(engine.outlook.level[:3].mean(axis=-1), volatility.levels()[1].mean())
        now = (int(found.label[-1]), float(found.confidence()[-1]))
        every.append((row, *now, outlook, volatility.slow[0].copy()))
        if row % FORECAST_EVERY == FORECAST_EVERY - 1:
            inputs = engine.inputs()
            bands = [engine.round(h) for h in range(2)]
            mixed = [engine.direction.mixed(h, inputs, bands[h][1]) for h in range(2)]
            chance, base = (np.stack([pair[i] for pair in mixed]) for i in range(2))
            forecasts.append((row, chance, base, np.array([one[0] for one in bands])))
    at, label, confidence, outlook, slow = (np.array(column) for column in zip(*every, strict=True))
    forecast_at, chance, base, band = (np.array(column) for column in zip(*forecasts, strict=True))
    return Trace(at, label, confidence, forecast_at, chance, base, band, outlook, slow)


def outcomes(frame: BarFrame, seen: Trace, horizon: int) -> Outcomes:
    """Return the forecasts of a horizon index (0: 15 minutes, 1: 60) with their outcomes; gaps are left out."""
    bars = HORIZON_BARS[horizon]
    close = np.log(frame.fields["close"])
    fits = seen.forecast_at + bars < len(close)
    at = seen.forecast_at[fits]
    moves = close[at + bars] - close[at]
    known = np.isfinite(moves) & np.isfinite(seen.band[fits][:, horizon])
    moment = np.broadcast_to(np.arange(len(at))[:, None], known.shape)
    return Outcomes(
        chance=seen.chance[fits][:, horizon].transpose(0, 2, 1)[known],
        base=seen.base[fits][:, horizon].transpose(0, 2, 1)[known],
        outcome=outcomes_of(moves[known], seen.band[fits][:, horizon][known]),
        moment=moment[known],
    )


def outlook_fits(frame: BarFrame, seen: Trace) -> list[tuple[float, float]]:
    """Return the R2 of the outlook and of a 2-hour EWMA over 15 minutes, 1 hour and 4 hours."""
    span = np.nan_to_num(np.log(frame.fields["high"] / frame.fields["low"]) ** 2) / (4.0 * np.log(2.0))
    moved = np.nan_to_num(np.diff(np.log(frame.fields["close"]), axis=0, prepend=np.nan)) ** 2
    total = np.cumsum(0.5 * (moved + span), axis=0)
    missing = np.cumsum(np.isnan(frame.fields["close"]).any(axis=1))
    inside = seen.at < len(frame) - OUTLOOK_BARS[-1]
    at = seen.at[inside]
    whole = missing[at + OUTLOOK_BARS[-1]] == missing[at - 1]
    at, outlook, slow = at[whole], seen.outlook[inside][whole], seen.slow[inside][whole]
    found = []
    for column, bars in enumerate(OUTLOOK_BARS):
        came = (0.5 * (np.log(np.maximum(total[at + bars] - total[at], 1e-12) / bars) - slow)).mean(axis=1)
        fits = [1.0 - float(((came - outlook[:, c]) ** 2).mean() / came.var()) for c in (column, 3)]
        found.append((fits[0], fits[1]))
    return found
