"""Run the streaming measures over many simulated markets at once and keep what the models are fitted on."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from generator.brain.bars import clean_fields
from generator.brain.direction import direction_inputs, outcomes_of
from generator.brain.features import REGIME_INPUTS, Features
from generator.brain.regime import STEP_BARS
from generator.brain.volatility import Volatility
from generator.lab.network import Numbers
from generator.lab.progress import tracked
from generator.lab.simulator import LabelledMarket, simulate

SKIP_DAYS = 8
BAND = 0.4307  # of a slow sigma: about the neutral band of a week
_BATCH = 32  # markets streamed at once
_LAST = 12  # bars at the end whose outcome is not known


@dataclass(frozen=True, slots=True)
class Dataset:
    """What half hours of many markets looked like; n half hours, g markets. The asset is one of each market's seven."""

    market: Numbers  # regime inputs of the market, (n, width, g)
    asset: Numbers  # regime inputs of the asset, (n, width, g)
    truth: npt.NDArray[np.int64]  # true regime, (n, g)
    scored: npt.NDArray[np.bool_]  # outside transition windows, (n, g)
    direction: Numbers  # direction inputs of the asset, its tilt still 0, (n, inputs, g)
    outcome: npt.NDArray[np.int64]  # 0 down, 1 neutral, 2 up over 15 and 60 minutes, (n, 2, g)


def build(jobs: Sequence[tuple[str, int]], days: int = 60) -> Dataset:
    """Simulate (family, seed) markets and stream them."""
    batches = [jobs[start : start + _BATCH] for start in range(0, len(jobs), _BATCH)]
    parts = [_stream([simulate(*job, days) for job in batch]) for batch in tracked(batches, "simulated markets")]
    names = [field.name for field in fields(Dataset)]
    return Dataset(**{name: np.concatenate([getattr(part, name) for part in parts], axis=-1) for name in names})


def _stream(markets: Sequence[LabelledMarket]) -> Dataset:
    """Feed markets side by side, (bars, markets, assets), to the measures that the models look at."""
    names = ("open", "high", "low", "close", "volume")
    bars = clean_fields({name: np.stack([market.frame.fields[name] for market in markets], axis=1) for name in names})
    close = bars.log_close
    returns = np.diff(close, axis=0, prepend=np.nan)
    shape = close.shape[1:]
    which = (np.arange(shape[0]), np.arange(shape[0]) % shape[1])  # one asset of each market
    no_tilt = np.zeros((shape[0], shape[1] + 1))
    no_imbalance = np.zeros(shape)
    no_gaps = np.ones(STEP_BARS)
    root_bars = np.sqrt(np.array([3.0, 12.0]))[:, None, None]

    volatility = Volatility(shape)
    features = Features(shape)
    rows = []
    for end in range(STEP_BARS, len(close) - _LAST + 1, STEP_BARS):
        block = slice(end - STEP_BARS, end)
        volatility.update(returns[block], bars.range_variance[block], bars.extra["volume"][block], no_gaps)
        features.update(returns[block], volatility)
        volatility.settle()
        features.settle()

        now = features.current[: len(REGIME_INPUTS)].astype(np.float32)
        inputs = direction_inputs(features, no_tilt, no_imbalance).astype(np.float32)
        band = BAND * root_bars * volatility.slow_sigma()
        of_market = now[..., -1]
        of_asset = now[:, *which]
        rows.append((of_market, of_asset, inputs[:, *which], band[:, *which]))
    market, asset, direction, band = (np.stack(column) for column in zip(*rows, strict=True))

    kept = np.arange(STEP_BARS - 1, len(close) - _LAST, STEP_BARS)
    after_15_minutes = close[kept + 3] - close[kept]
    after_an_hour = close[kept + 12] - close[kept]
    moves = np.stack((after_15_minutes[:, *which], after_an_hour[:, *which]), axis=1)
    return Dataset(
        market=market,
        asset=asset,
        truth=np.stack([labelled.regime for labelled in markets], axis=1)[kept],
        scored=~np.stack([labelled.moving for labelled in markets], axis=1)[kept],
        direction=direction,
        outcome=outcomes_of(moves, band),
    )
