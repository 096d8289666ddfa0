"""What a brain says of a market bar by bar, and what came of its forecasts."""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from generator.brain.engine import Engine
from generator.brain.forecast import Forecast
from generator.brain.outcomes import outcomes_of
from generator.brain.weights import Weights
from generator.lab.scores import Outcomes
from generator.market.bars import BarFrame, FloatArray

HOUR: Final = 12
WEEK: Final = 7 * 288
UNKNOWN: Final = (np.nan,) * 4
Forecasts = list[tuple[float, float, float, float]]
"""Chances of down, neutral and up over 60 minutes and the band in basis points, of every asset; NaN where unknown."""


class BarAnswer(NamedTuple):
    """What was said of one bar."""

    label: int  # 0..4
    chances: list[float]  # of the four regimes
    forecasts: Forecasts | None  # at the end of each quarter hour
    side: int | None = None  # index of `axes.SIDES`; None where a model has none


def kept(row: int) -> bool:
    """Say whether a row's forecasts are scored: once a quarter of an hour."""
    return row % 3 == 2


def ours(weights: Weights, frame: BarFrame, warm_up: int) -> Iterator[BarAnswer]:
    """Feed our brain a market and yield its answers to each bar after `warm_up` bars."""
    engine = Engine(weights, frame.assets)
    for row in engine.replay(frame):
        if row < warm_up:
            continue
        yield BarAnswer(
            label=int(engine.filter.label[-1]),
            chances=list(engine.market_chances().values()),
            forecasts=[_plain(forecast) for forecast in engine.forecasts(60)] if kept(row) else None,
            side=int(engine.axes.side[0]),
        )


def _plain(forecast: Forecast | None) -> tuple[float, float, float, float]:
    if forecast is None:
        return UNKNOWN
    chances = forecast.probabilities
    return chances.down, chances.neutral, chances.up, forecast.band_bps


class Trace(NamedTuple):
    """The answers of one brain to one market after its warm-up."""

    label: npt.NDArray[np.int64]  # of the market, 0..4, (n,)
    chances: FloatArray  # (n, 4)
    at: npt.NDArray[np.int64]  # rows with forecasts, (m,)
    forecasts: FloatArray  # chances of down, neutral, up and the band in basis points, (m, assets, 4)
    side: npt.NDArray[np.int64] | None  # of the market, index of `axes.SIDES`, (n,)


def trace(answers: Iterable[BarAnswer], warm_up: int) -> Trace:
    """Collect the answers; the first is of the row `warm_up`."""
    label, chances, forecasts, sides = zip(*answers, strict=True)
    forecast_rows = [(row, each) for row, each in enumerate(forecasts, warm_up) if each is not None]
    return Trace(
        label=np.array(label),
        chances=np.array(chances),
        at=np.array([row for row, _ in forecast_rows]),
        forecasts=np.array([each for _, each in forecast_rows]),
        side=None if None in sides else np.array(sides),
    )


def outcomes(frame: BarFrame, answered: Trace) -> Outcomes:
    """Return the hour's forecasts with what came and the base rates of their bands; gaps are left out."""
    close = np.log(frame.fields["close"])
    inside = answered.at + HOUR < len(close)
    at = answered.at[inside]
    forecasts = answered.forecasts[inside]

    move = close[at + HOUR] - close[at]
    band = np.log1p(forecasts[..., 3] / 1e4)
    weeks = [close[max(0, row - WEEK) : row + 1] for row in at]
    base = np.stack([_base(week, width) for week, width in zip(weeks, band, strict=True)])
    moment = np.broadcast_to(np.arange(len(at))[:, None], move.shape)

    known = np.isfinite(move) & np.isfinite(forecasts).all(axis=2) & np.isfinite(base).all(axis=2)
    return Outcomes(
        chance=forecasts[..., :3][known],
        base=base[known],
        outcome=outcomes_of(move, band)[known],
        moment=moment[known],
    )


def _base(past: FloatArray, band: FloatArray) -> FloatArray:
    """Return how often the week's hours ended below, in and above the band, (assets, 3); up and down are alike."""
    moves = past[HOUR:] - past[:-HOUR]
    known = np.maximum(np.isfinite(moves).sum(axis=0), 1)
    share = (np.abs(moves) > band).sum(axis=0) / known
    outside = np.where(np.isfinite(band), np.clip(share, 0.02, 0.98), np.nan)
    return np.stack((0.5 * outside, 1.0 - outside, 0.5 * outside), axis=1)
