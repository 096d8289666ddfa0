"""Run the streaming measures over many simulated markets at once and keep what the models are fitted on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from generator.brain.bars import clean_fields
from generator.brain.direction import direction_inputs, outcomes_of
from generator.brain.features import Features
from generator.brain.training.simulator import DAY, simulate
from generator.brain.volatility import Volatility
from generator.market.values import FloatArray

SKIP_DAYS = 8
EVERY = 6  # bars between kept rows


@dataclass(frozen=True, slots=True)
class Dataset:
    """Kept rows of many markets; n rows, g markets, c columns (assets, then the market).

    Args:
        expanded: regime features, (n, features, g, c).
        truth: true regime, (n, g).
        scored: outside transition windows, (n, g).
        direction: direction features, (n, inputs, g, assets).
        outcome: 0 down, 1 neutral, 2 up over 15 and 60 minutes, (n, 2, g, assets).
    """

    expanded: FloatArray
    truth: npt.NDArray[np.int64]
    scored: npt.NDArray[np.bool_]
    direction: FloatArray
    outcome: npt.NDArray[np.int64]
    count: FloatArray


Progress = Callable[[int, int], None]


def build(jobs: Sequence[tuple[str, int]], progress: Progress | None = None, days: int = 60) -> Dataset:
    """Simulate (family, seed) markets and stream them side by side."""
    markets = [simulate(family, seed, days) for family, seed in jobs]
    cleaned = clean_fields(
        {k: np.stack([m.frame.fields[k] for m in markets], axis=1) for k in ("open", "high", "low", "close", "volume")}
    )
    bars = len(cleaned.log_close)
    volatility, features = Volatility(cleaned.log_close.shape[1:]), Features(cleaned.log_close.shape[1:])
    returns = np.diff(cleaned.log_close, axis=0, prepend=np.nan)
    rows: list[tuple[FloatArray, ...]] = []
    kept = range(SKIP_DAYS * DAY, bars - 12, EVERY)
    keep = set(kept)
    for i in range(bars - 12):
        volatility.update(returns[i], cleaned.range_variance[i], cleaned.extra["volume"][i])
        features.update(returns[i], volatility)
        if i in keep:
            t_ms = int(markets[0].frame.t[i])
            tilt = np.zeros(features.count.shape)
            inputs = direction_inputs(features, tilt, np.zeros(returns[i].shape))
            rows.append((features.expanded().astype(np.float32), inputs, volatility.sigma(t_ms)[:2]))
        if progress and i % DAY == 0:
            progress(i // DAY, days)
    at = np.array(kept)
    moves = np.stack([cleaned.log_close[at + h] - cleaned.log_close[at] for h in (3, 12)], axis=1)
    return Dataset(
        expanded=np.stack([row[0] for row in rows]),
        truth=np.stack([m.regime for m in markets], axis=1)[at],
        scored=~np.stack([m.moving for m in markets], axis=1)[at],
        direction=np.stack([row[1] for row in rows]),
        outcome=outcomes_of(moves, np.stack([row[2] for row in rows])),
        count=features.count,
    )
