"""Feed markets to the engine bar by bar and keep what it said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from generator.brain.bars import clean_fields
from generator.brain.direction import MIN_BARS, QUARTER_MS, Direction, direction_inputs, outcomes_of
from generator.brain.engine import Engine
from generator.brain.features import REGIME_INPUTS, Features
from generator.brain.regime import RegimeFilter
from generator.brain.volatility import Volatility
from generator.brain.weights import Weights
from generator.lab.scores import Outcomes
from generator.market.values import BAR_MS, BarFrame, FloatArray

FORECAST_EVERY: Final = 3  # bars between kept forecasts: a quarter of an hour
HORIZON_BARS: Final = (3, 12)
OUTLOOK_BARS: Final = (3, 12, 48)


@dataclass(frozen=True, slots=True)
class Said:
    """What an engine said over one market after the warm-up.

    Args:
        at: row of every scored bar; label, sure: of the market's regime then.
        posterior: (n, 4).
        forecast_at: rows of the kept forecasts; chance, base: (n, 2, 3, assets); sigma: (n, 2, assets).
        outlook: (n, 4) at every scored bar, mean over assets: the three horizons in log slow sigmas, a 2-hour EWMA.
        slow: (n, assets).
    """

    at: npt.NDArray[np.int64]
    label: npt.NDArray[np.int64]
    sure: FloatArray
    posterior: FloatArray
    forecast_at: npt.NDArray[np.int64]
    chance: FloatArray
    base: FloatArray
    sigma: FloatArray
    outlook: FloatArray
    slow: FloatArray


def listen(frame: BarFrame, warm_up: int, weights: Weights) -> Said:
    """Feed a market bar by bar and keep what was said after `warm_up` bars."""
    engine = Engine(weights, frame.assets)
    engine.advance(frame.rows(0, warm_up))
    every, forecasts = [], []
    for row in range(warm_up, len(frame)):
        engine.advance(frame.rows(row, row + 1))
        t_ms = int(frame.t[row])
        found, volatility = engine.filter, engine.volatility
        outlook = np.append(volatility.outlook(t_ms).mean(axis=-1), volatility.levels()[1].mean())
        now = (int(found.label[-1]), float(found.confidence()[-1]), found.chances()[:, -1])
        every.append((row, *now, outlook, volatility.slow[0].copy()))
        if row % FORECAST_EVERY == FORECAST_EVERY - 1:
            inputs = engine.inputs()
            mixed = [engine.direction.mixed(h, inputs) for h in range(2)]
            chance, base = (np.stack([pair[i] for pair in mixed]) for i in range(2))
            forecasts.append((row, chance, base, volatility.sigma(t_ms)[:2]))
    at, label, sure, posterior, outlook, slow = (np.array(column) for column in zip(*every, strict=True))
    forecast_at, chance, base, sigma = (np.array(column) for column in zip(*forecasts, strict=True))
    return Said(at, label, sure, posterior, forecast_at, chance, base, sigma, outlook, slow)


def listen_together(frames: Sequence[BarFrame], warm_up: int, weights: Weights) -> list[Said]:
    """Do what `listen` does for whole markets side by side, many times as fast; a test holds both to the same answer.

    Args:
        frames: of one time grid and the same number of assets, without gaps or missing cells.
    """
    many, first = len(frames), frames[0]
    names = ("open", "high", "low", "close", "volume")
    cleaned = clean_fields({name: np.stack([frame.fields[name] for frame in frames], axis=1) for name in names})
    close, shape = cleaned.log_close, cleaned.log_close.shape[1:]
    returns = np.diff(close, axis=0, prepend=np.nan)
    volatility, features = Volatility(shape), Features(shape)
    market = (weights.market, weights.market), weights.filter, (weights.calibrations[1],) * 2
    found = RegimeFilter(many - 1, *market)
    directions = [Direction(shape[1], weights.direction) for _ in frames]
    every: list[tuple[FloatArray, ...]] = []
    forecasts: list[tuple[FloatArray, FloatArray]] = []
    for row, t_ms in enumerate(first.t.tolist()):
        volatility.update(returns[row], cleaned.range_variance[row], cleaned.extra["volume"][row])
        features.update(returns[row], volatility)
        found.update(t_ms, features.current[: len(REGIME_INPUTS), :, -1], features.count[:, -1])
        if row >= warm_up:
            outlook = np.concatenate((volatility.outlook(t_ms), volatility.levels()[1:2])).mean(axis=-1)
            every.append((found.label, found.confidence(), found.chances(), outlook, volatility.slow[0].copy()))
        if (t_ms + BAR_MS) % QUARTER_MS and row % FORECAST_EVERY != FORECAST_EVERY - 1:
            continue
        tilt = np.zeros((many, shape[1] + 1))
        tilt[:, -1] = found.tilt()
        inputs, sigma = direction_inputs(features, tilt, np.full(shape, np.nan)), volatility.sigma(t_ms)
        ready = features.count[:, :-1] >= MIN_BARS
        for place, direction in enumerate(directions):
            given = _Given(inputs[:, place], sigma[:, place])
            direction.update(t_ms, close[row, place], given.inputs, given.sigma, ready[place])
        if row >= warm_up and row % FORECAST_EVERY == FORECAST_EVERY - 1:
            mixed = [[d.mixed(h, inputs[:, place]) for h in range(2)] for place, d in enumerate(directions)]
            forecasts.append((np.array(mixed), sigma[:2].copy()))
    label, sure, posterior, outlook, slow = (np.array(column) for column in zip(*every, strict=True))
    spoken, expected = (np.array(column) for column in zip(*forecasts, strict=True))
    at = np.arange(warm_up, len(first))
    told = at[at % FORECAST_EVERY == FORECAST_EVERY - 1]
    return [
        Said(
            at, label[:, g].astype(np.int64), sure[:, g], posterior[:, :, g], told,
            spoken[:, g, :, 0], spoken[:, g, :, 1], expected[:, :, g], outlook[:, :, g], slow[:, g],
        )
        for g in range(many)
    ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Given:
    """One market's inputs and sigma, as direction asks for them."""

    now: FloatArray
    ahead: FloatArray

    def inputs(self) -> FloatArray:
        """Return the inputs."""
        return self.now

    def sigma(self, _t_ms: int) -> FloatArray:
        """Return the expected sigmas."""
        return self.ahead


def outcomes(frame: BarFrame, said: Said, horizon: int) -> Outcomes:
    """Return the forecasts of a horizon index (0: 15 minutes, 1: 60) with what came; gaps are left out."""
    bars = HORIZON_BARS[horizon]
    close = np.log(frame.fields["close"])
    fits = said.forecast_at + bars < len(close)
    at = said.forecast_at[fits]
    moves = close[at + bars] - close[at]
    known = np.isfinite(moves)
    moment = np.broadcast_to(np.arange(len(at))[:, None], known.shape)
    return Outcomes(
        chance=said.chance[fits][:, horizon].transpose(0, 2, 1)[known],
        base=said.base[fits][:, horizon].transpose(0, 2, 1)[known],
        came=outcomes_of(moves[known], said.sigma[fits][:, horizon][known]),
        moment=moment[known],
    )


def outlook_fits(frame: BarFrame, said: Said) -> list[tuple[float, float]]:
    """Return the R2 of the outlook and of a 2-hour EWMA over 15 minutes, 1 hour and 4 hours."""
    span = np.nan_to_num(np.log(frame.fields["high"] / frame.fields["low"]) ** 2) / (4.0 * np.log(2.0))
    moved = np.nan_to_num(np.diff(np.log(frame.fields["close"]), axis=0, prepend=np.nan)) ** 2
    total = np.cumsum(0.5 * (moved + span), axis=0)
    missing = np.cumsum(np.isnan(frame.fields["close"]).any(axis=1))
    inside = said.at < len(frame) - OUTLOOK_BARS[-1]
    at = said.at[inside]
    whole = missing[at + OUTLOOK_BARS[-1]] == missing[at - 1]
    at, outlook, slow = at[whole], said.outlook[inside][whole], said.slow[inside][whole]
    found = []
    for column, bars in enumerate(OUTLOOK_BARS):
        came = (0.5 * (np.log(np.maximum(total[at + bars] - total[at], 1e-12) / bars) - slow)).mean(axis=1)
        fits = [1.0 - float(((came - outlook[:, c]) ** 2).mean() / came.var()) for c in (column, 3)]
        found.append((fits[0], fits[1]))
    return found
