"""Run the streaming measures over many simulated markets at once and keep what the models are fitted on."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from generator.brain.bars import clean_fields
from generator.brain.features import REGIME_INPUTS, Features
from generator.brain.regime import STEP_BARS
from generator.brain.volatility import Volatility
from generator.lab.network import Numbers
from generator.lab.progress import tracked
from generator.lab.simulator import LabelledMarket, simulate

SKIP_DAYS = 8
_BATCH = 32  # markets streamed at once
_LAST = 12  # bars at the end whose outcome is not known


@dataclass(frozen=True, slots=True)
class Dataset:
    """What half hours of many markets looked like; n half hours, g markets. The asset is one of each market's seven."""

    market: Numbers  # regime inputs of the market, (n, width, g)
    asset: Numbers  # regime inputs of the asset, (n, width, g)
    truth: npt.NDArray[np.int64]  # true regime, (n, g)
    scored: npt.NDArray[np.bool_]  # outside transition windows, (n, g)


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
    no_gaps = np.ones(STEP_BARS)

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
        rows.append((now[..., -1], now[:, *which]))
    market, asset = (np.stack(column) for column in zip(*rows, strict=True))

    kept = np.arange(STEP_BARS - 1, len(close) - _LAST, STEP_BARS)
    return Dataset(
        market=market,
        asset=asset,
        truth=np.stack([labelled.regime for labelled in markets], axis=1)[kept],
        scored=~np.stack([labelled.moving for labelled in markets], axis=1)[kept],
    )
