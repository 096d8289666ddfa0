"""What a brain says of a market bar by bar: ours in this process, or any program that speaks as `emi read` does."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from generator.brain.doubt import doubted_chance, overall
from generator.brain.engine import Engine
from generator.brain.weights import Weights
from generator.lab.scores import Outcomes
from generator.market.bars import BarFrame, FloatArray

FORECAST_EVERY: Final = 3  # bars between kept forecasts: a quarter of an hour
HOUR: Final = 12
WEEK: Final = 7 * 288
Forecasts = list[tuple[float, float, float, float]]
"""Chances of down, neutral and up over 60 minutes and the band in basis points, of every asset; NaN where unknown."""
UNKNOWN: Final = (np.nan,) * 4


@dataclass(frozen=True, slots=True)
class Answer:
    """What was said of one bar.

    Args:
        label: 0..4; chances: of the four regimes.
        forecasts: asked for once a quarter of an hour.
    """

    label: int
    chances: list[float]
    forecasts: Callable[[], Forecasts]


class Brain(Protocol):
    """One reader of one market."""

    def warm(self, bars: BarFrame) -> None:
        """Take bars whose answers are not scored."""

    def answer(self, bar: BarFrame) -> Answer:
        """Take one bar."""


class Ours:
    """This brain."""

    def __init__(self, weights: Weights, assets: tuple[str, ...]) -> None:
        self._engine = Engine(weights, assets)

    def warm(self, bars: BarFrame) -> None:
        """Take bars whose answers are not scored."""
        self._engine.advance(bars)

    def answer(self, bar: BarFrame) -> Answer:
        """Take one bar."""
        engine = self._engine
        engine.advance(bar)
        doubt = overall(engine.doubts())
        chances = [doubted_chance(one, doubt) for one in engine.filter.chances[:, -1].tolist()]
        return Answer(int(engine.filter.label[-1]), chances, self._forecasts)

    def _forecasts(self) -> Forecasts:
        found = []
        for one in self._engine.forecasts(60):
            chance = one.probabilities if one else None
            found.append((chance.down, chance.neutral, chance.up, one.band_bps) if one and chance else UNKNOWN)
        return found


@dataclass(frozen=True, slots=True)
class Trace:
    """The answers to one market after the warm-up.

    Args:
        label: 0..4; chances: (n, 4), at every scored bar.
        at: rows of the kept forecasts; forecasts: (n, assets, 4), as `Forecasts`.
    """

    label: npt.NDArray[np.int64]
    chances: FloatArray
    at: npt.NDArray[np.int64]
    forecasts: FloatArray


def trace(frame: BarFrame, warm_up: int, brain: Brain) -> Trace:
    """Feed a market bar by bar and keep the answers after `warm_up` bars."""
    brain.warm(frame.rows(0, warm_up))
    label, chances, at, forecasts = [], [], [], []
    for row in range(warm_up, len(frame)):
        said = brain.answer(frame.rows(row, row + 1))
        label.append(said.label)
        chances.append(said.chances)
        if row % FORECAST_EVERY == FORECAST_EVERY - 1:
            at.append(row)
            forecasts.append(said.forecasts())
    return Trace(np.array(label), np.array(chances), np.array(at), np.array(forecasts))


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
    outcome = 1 + (came > band).astype(np.int64) - (came < -band)
    return Outcomes(chance=said[..., :3][known], base=base[known], outcome=outcome[known], moment=moment[known])


def _base(past: FloatArray, band: FloatArray) -> FloatArray:
    """Return how often the week's hours ended below, in and above the band, (assets, 3); up and down are alike."""
    moves = past[HOUR:] - past[:-HOUR]
    many = np.maximum(np.isfinite(moves).sum(axis=0), 1)
    out = (np.abs(moves) > band).sum(axis=0) / many
    out = np.where(np.isfinite(band), np.clip(out, 0.02, 0.98), np.nan)
    return np.stack((0.5 * out, 1.0 - out, 0.5 * out), axis=1)
