"""Which label came four hours after which in recorded candles: the shares that a fresh record begins with."""

from typing import Final

import numpy as np
import numpy.typing as npt

from generator.brain.engine import Engine
from generator.brain.weights import Weights
from generator.market.bars import BarFrame

_OF: Final = 10_000  # hours


def counted(frame: BarFrame, weights: Weights) -> list[npt.NDArray[np.int64]]:
    """Return the cases by label, by age and by what came, of the coins and of the market, (4, ages, 4) each."""
    engine = Engine(weights, frame.assets)
    prior = engine.holds.counts.copy()
    engine.advance(frame)
    coins, market = engine.holds.by_age(engine.holds.counts - prior)
    return [np.rint(_OF * cases / cases.sum()).astype(np.int64) for cases in (coins, market)]
