"""How far prices may move: a frozen regression on log volatility for four horizons.

HAR: Corsi (2009), with the time of the week and, for a day, the level of a month.
`python -m generator.lab train-outlook` fits it; it is not refitted here.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from generator.brain.part import Part, Times
from generator.brain.smoothing import HOUR_BARS, clipped
from generator.brain.volatility import HALF_LIVES, VOLUME_HALF_LIVES, Volatility
from generator.brain.week import DAY, QUARTER_MS, WEEK
from generator.catalog.horizons import HORIZONS
from generator.market.bars import BAR_MS, FloatArray

HORIZON_BARS: Final = tuple(horizon.length_ms // BAR_MS for horizon in HORIZONS.values())
QUARTERS: Final = tuple(bars // 3 for bars in HORIZON_BARS)
INPUTS: Final = len(HALF_LIVES) + len(VOLUME_HALF_LIVES)
_FINE: Final = np.arange(20) / 20.0  # 0 to 0.95
_COARSE: Final = np.arange(10, 30) / 10.0  # 1 to 2.9
EDGES: Final = np.concatenate((_FINE, _COARSE, [3.0, 3.5, 4.0, 5.0, 6.0, 8.0, 12.0]))
"""Bins of the size of a move over its expected sigma; what lies beyond the last edge counts in the last bin."""
BINS: Final = len(EDGES) - 1
MIDDLES: Final = 0.5 * (EDGES[1:] + EDGES[:-1])
MIN_BARS: Final = 3 * HOUR_BARS
RANGE_BARS: Final = 12 * HOUR_BARS  # in the hours before, ranges of a fresh start hold too seldom
OUTLOOK_FORMAT: Final = "emi-brain-outlook"
SEASONS: Final = {"quarter": DAY, "weekday": 7, "weekend": 24}
"""The parts of the time of the week and how many numbers each has."""
MONTH_SHARES: Final = np.array((0.0, 0.0, 0.0, 0.3))
"""The part of the expected log volatility that is the level of a month: a day returns to it, four hours do not."""
_THURSDAY: Final = 3  # 1970-01-01; Monday is 0
_FURTHEST: Final = 6.0  # of a log ratio


@dataclass(frozen=True, slots=True)
class OutlookWeights:
    """What was fitted offline, for each horizon."""

    levels: FloatArray  # of the volatility and volume levels, (4, 8)
    season: FloatArray  # of each quarter hour of the week, from Thursday 00:00 UTC, (4, 672)
    gain: FloatArray  # what makes the sigma, fitted as a mean of logs, variance-unbiased, (4,)
    law: FloatArray  # shares of the sizes of moves over their sigma in the bins of `EDGES`, (4, bins)
    touch: FloatArray  # likewise of how far prices went on the way: to the farther side, to the nearer, (4, 2, bins)

    def expected(self, volatility: Volatility, t_ms: Times) -> FloatArray:
        """Return the mean log of (volatility of a bar over the horizon / slow sigma) after each bar, (4, n, assets)."""
        inputs = np.concatenate((volatility.levels(), volatility.volume_levels()))
        season = self.season[:, (t_ms + BAR_MS) // QUARTER_MS % WEEK, None]
        # One product a bar: the numbers of a bar must not depend on how many are read together.
        products = self.levels @ inputs.swapaxes(0, 1)
        return with_month(products.swapaxes(0, 1) + season, volatility.month_level())


def with_month(level: FloatArray, month: FloatArray) -> FloatArray:
    """Return log volatility over each horizon that returns in part to the level of a month.

    Args:
        level: log of (expected volatility / slow sigma), (4, ...).
        month: log of (slow sigma of a month / slow sigma), (...).

    >>> with_month(np.full((4, 1), 1.0), np.array([0.5])).round(2).ravel().tolist()
    [1.0, 1.0, 1.0, 0.85]
    """
    shares = MONTH_SHARES.reshape(-1, *(1,) * month.ndim)
    out: FloatArray = (1.0 - shares) * level + shares * month
    return out


def outlook_of(body: dict[str, Any]) -> OutlookWeights:
    """Return the weights from the body of the file; raise KeyError, TypeError or ValueError if a part is misshapen."""
    if body["horizons"] != list(HORIZONS):
        raise ValueError("horizons differ from this program's")

    seasons = {name: (size,) for name, size in SEASONS.items()}
    shapes = {"levels": (INPUTS,), **seasons, "gain": (), "law": (BINS,), "touch": (2, BINS)}
    parts = {}
    for name, shape in shapes.items():
        parts[name] = np.array(body[name], dtype=np.float64)
        if parts[name].shape != (len(HORIZONS), *shape) or not np.isfinite(parts[name]).all():
            raise ValueError(f"expected finite numbers of shape {(len(HORIZONS), *shape)} as {name}")

    season = np.concatenate([parts[name] for name in SEASONS], axis=1) @ calendar(np.arange(WEEK)).T
    return OutlookWeights(
        levels=parts["levels"], season=season, gain=parts["gain"], law=parts["law"], touch=parts["touch"]
    )


def calendar(slots: npt.NDArray[np.int64]) -> FloatArray:
    """Return quarter hour of the day, day of the week and hour of the weekend as columns of zeros and ones.

    `slots` are quarter hours since Thursday 00:00 UTC, (n,); the result is (n, 96 + 7 + 24).

    >>> thursday_noon, saturday_noon = calendar(np.array([48, 48 + 2 * 96]))
    >>> np.flatnonzero(thursday_noon).tolist(), np.flatnonzero(saturday_noon).tolist()
    ([48, 99], [48, 101, 115])
    """
    quarter = slots % DAY
    day = (slots // DAY + _THURSDAY) % 7
    rows = np.arange(len(slots))

    out = np.zeros((len(slots), DAY + 7 + 24))
    out[rows, quarter] = 1.0
    out[rows, DAY + day] = 1.0
    out[rows, DAY + 7 + quarter // 4] = day >= 5
    return out


class Outlook(Part):
    """The outlook after the last bar; arrays are (4, ..., assets)."""

    STATE: ClassVar[tuple[str, ...]] = ("level", "sigma")

    def __init__(self, assets: int, frozen: OutlookWeights) -> None:
        """Start empty."""
        super().__init__()
        self.level = np.zeros((len(HORIZONS), assets))  # of log volatility, against the slow sigma
        self.sigma = np.full((len(HORIZONS), assets), np.nan)  # of the move over each horizon, before any correction
        self._frozen = frozen
        root_bars = 0.5 * np.log(np.array(HORIZON_BARS, dtype=np.float64))
        self._width = (root_bars + frozen.gain)[:, None, None]  # from a bar's log sigma to that of the whole move

    def update(self, t_ms: Times, volatility: Volatility) -> None:
        """Take a block of bars, opened at `t_ms`, (n,), that `volatility` has taken."""
        self.level = clipped(self._frozen.expected(volatility, t_ms), -_FURTHEST, _FURTHEST)
        self.sigma = volatility.slow_sigma() * np.exp(self.level + self._width)

    def usual(self, volatility: Volatility) -> FloatArray:
        """Return the sigma of a move over each horizon at the volatility of the last week, (4, ..., assets)."""
        out: FloatArray = volatility.slow_sigma() * np.exp(self._width.reshape(-1, *(1,) * (volatility.age.ndim)))
        return out
