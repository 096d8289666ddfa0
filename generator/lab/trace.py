"""What a brain says of a market bar by bar, and what came of its forecasts."""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from generator.brain.direction import outcomes_of
from generator.brain.doubt import doubted_chance, overall
from generator.brain.engine import Engine
from generator.brain.weights import Weights
from generator.lab.scores import Outcomes
from generator.market.bars import BarFrame, FloatArray

HOUR: Final = 12
WEEK: Final = 7 * 288
UNKNOWN: Final = (np.nan,) * 4
Forecasts = list[tuple[float, float, float, float]]
"""Chances of down, neutral and up over 60 minutes and the band in basis points, of every asset; NaN where unknown."""


class BarAnswer(NamedTuple):
    """What was said of one bar: label 0..4, the chances of the four regimes, and forecasts at each quarter hour's end."""

    label: int
    chances: list[float]
    forecasts: Forecasts | None


def kept(row: int) -> bool:
    """Say whether a row's forecasts are scored: once a quarter of an hour."""
    return row % 3 == 2


def ours(weights: Weights, frame: BarFrame, warm_up: int) -> Iterator[BarAnswer]:
    """Feed our brain a market bar by bar and yield its answers after `warm_up` bars."""
    engine = Engine(weights, frame.assets)
    engine.advance(frame.rows(0, warm_up))
    for row in range(warm_up, len(frame)):
        engine.advance(frame.rows(row, row + 1))
        doubt = overall(engine.doubts())
        chances = [doubted_chance(one, doubt) for one in engine.filter.chances[:, -1].tolist()]
        yield BarAnswer(int(engine.filter.label[-1]), chances, _forecasts(engine) if kept(row) else None)


def _forecasts(engine: Engine) -> Forecasts:
    return [
        (one.probabilities.down, one.probabilities.neutral, one.probabilities.up, one.band_bps) if one else UNKNOWN
        for one in engine.forecasts(60)
    ]


class Trace(NamedTuple):
    """The answers of one brain to one market after its warm-up."""

    label: npt.NDArray[np.int64]  # of the market, 0..4, (n,)
    chances: FloatArray  # (n, 4)
    at: npt.NDArray[np.int64]  # rows with forecasts, (m,)
    forecasts: FloatArray  # chances of down, neutral, up and the band in basis points, (m, assets, 4)


def trace(answers: Iterable[BarAnswer], warm_up: int) -> Trace:
    """Collect the answers; the first is of the row `warm_up`."""
    label, chances, found = zip(*answers, strict=True)
    at = [row for row, one in enumerate(found, warm_up) if one is not None]
    return Trace(np.array(label), np.array(chances), np.array(at), np.array([one for one in found if one is not None]))


def outcomes(frame: BarFrame, seen: Trace) -> Outcomes:
    """Return the hour's forecasts with what came and the base rates of their bands; gaps are left out."""
    close = np.log(frame.fields["close"])
    inside = seen.at + HOUR < len(close)
    at, said = seen.at[inside], seen.forecasts[inside]
    came = close[at + HOUR] - close[at]
    band = np.log1p(said[..., 3] / 1e4)
    moment = np.broadcast_to(np.arange(len(at))[:, None], came.shape)
    base = np.stack([_base(close[max(0, row - WEEK) : row + 1], wide) for row, wide in zip(at, band, strict=True)])
    known = np.isfinite(came) & np.isfinite(said).all(axis=2) & np.isfinite(base).all(axis=2)
    return Outcomes(said[..., :3][known], base[known], outcomes_of(came, band)[known], moment[known])


def _base(past: FloatArray, band: FloatArray) -> FloatArray:
    """Return how often the week's hours ended below, in and above the band, (assets, 3); up and down are alike."""
    moves = past[HOUR:] - past[:-HOUR]
    many = np.maximum(np.isfinite(moves).sum(axis=0), 1)
    out = (np.abs(moves) > band).sum(axis=0) / many
    out = np.where(np.isfinite(band), np.clip(out, 0.02, 0.98), np.nan)
    return np.stack((0.5 * out, 1.0 - out, 0.5 * out), axis=1)
