"""The chances of the four labels in four hours, by label and by how long it has stood: counted in the kept record.

At each full hour it is counted which label came four hours after which. A share of few cases is held towards that of
the label at any age, by 60 cases; a fresh record begins with the shares of a shipped history. The coins are counted
together.
"""

from typing import ClassVar, Final

import numpy as np

from generator.brain.label import REGIMES
from generator.brain.part import Part, Times
from generator.catalog.durations import HOUR_MS
from generator.market.bars import BAR_MS, FloatArray

HOURS: Final = 4
AGES: Final = (60.0, 120.0, 240.0, 480.0, 960.0)  # minutes: edges of the ages that are counted apart
_AGES: Final = len(AGES) + 1
_LABELS: Final = len(REGIMES)
_CELLS: Final = _LABELS * _AGES * _LABELS
_ANY: Final = _LABELS * _AGES  # row of the chances after any hour
_SHRUNK: Final = 60.0  # cases
PRIOR_CASES: Final = 480.0  # twenty days of hours
# Of 10,000 hours of 2022-08 to 2023-09, all coins, by label, age and what came: `python -m generator.lab holds`.
_PRIOR_MARKET: Final = np.array(
    (
        [[118, 2, 43, 20], [122, 4, 49, 15], [204, 3, 84, 29], [294, 6, 97, 55], [351, 6, 80, 58], [264, 8, 106, 24]],
        [[1, 121, 32, 20], [0, 114, 38, 22], [0, 203, 65, 31], [1, 320, 85, 27], [4, 322, 115, 55], [4, 158, 91, 14]],
        [
            [32, 36, 233, 37],
            [39, 39, 225, 36],
            [83, 73, 382, 44],
            [139, 98, 522, 61],
            [101, 90, 575, 57],
            [111, 79, 587, 17],
        ],
        [
            [12, 20, 17, 115],
            [11, 21, 22, 118],
            [20, 29, 45, 212],
            [50, 46, 72, 276],
            [45, 34, 87, 265],
            [34, 14, 44, 816],
        ],
    ),
    dtype=np.float64,
)
_PRIOR_COIN: Final = np.array(
    (
        [[105, 1, 31, 15], [108, 2, 35, 12], [179, 3, 64, 22], [256, 6, 91, 37], [284, 2, 82, 46], [169, 7, 84, 17]],
        [[2, 121, 33, 16], [2, 116, 35, 17], [3, 203, 62, 25], [4, 302, 93, 33], [5, 340, 107, 36], [6, 218, 103, 18]],
        [
            [31, 35, 212, 27],
            [32, 35, 212, 29],
            [60, 58, 365, 43],
            [88, 86, 548, 57],
            [101, 102, 631, 54],
            [95, 108, 895, 27],
        ],
        [
            [10, 13, 14, 98],
            [13, 17, 18, 100],
            [23, 30, 43, 167],
            [28, 39, 59, 244],
            [35, 36, 61, 255],
            [20, 21, 51, 1116],
        ],
    ),
    dtype=np.float64,
)


class Holds(Part):
    """Which label came four hours after which: first the coins' counts, then the market's."""

    STATE: ClassVar[tuple[str, ...]] = ("counts", "states", "hour")

    def __init__(self, columns: int) -> None:
        """Start with the prior."""
        super().__init__()
        priors = [prior / prior.sum() * PRIOR_CASES for prior in (_PRIOR_COIN, _PRIOR_MARKET)]
        self.counts: FloatArray = np.concatenate([prior.ravel() for prior in priors])
        self.states = np.full((HOURS + 1, columns), np.nan)  # label and age of the last hours, as one number
        self.hour = np.full(1, -1.0)  # number of the last, since 1970

    def update(self, t_ms: Times, labels: FloatArray, ages: FloatArray) -> None:
        """Take a block of bars.

        Args:
            t_ms: open times, (n,).
            labels: indices of `label.LABELS`, (n, columns).
            ages: minutes for which each has stood, likewise.
        """
        closes_ms = t_ms + BAR_MS
        numbers = closes_ms // HOUR_MS
        rows, places = self.slid("states", int(self.hour[0]), numbers)
        full = np.flatnonzero(closes_ms % HOUR_MS == 0)
        rows[places[full]] = _state_of(labels[full], ages[full])

        steps = np.zeros((len(full) + 1, 2 * _CELLS))
        steps[0] = self.counts
        for step, place in enumerate(places[full].tolist(), 1):
            steps[step] = steps[step - 1]
            then = rows[place - HOURS]
            now = rows[place]
            known = np.flatnonzero(np.isfinite(then) & np.isfinite(now))
            cell = then[known].astype(np.int64) * _LABELS + now[known].astype(np.int64) // _AGES
            cell += np.where(known == len(then) - 1, _CELLS, 0)
            np.add.at(steps[step], cell, 1.0)

        so_far = np.add.accumulate(closes_ms % HOUR_MS == 0, dtype=np.int64)
        self.counts = steps[so_far]
        self._windows = {"states": (rows, places + 1)}
        self.hour = numbers.astype(np.float64)[:, None]

    def chances(self, labels: FloatArray, ages: FloatArray) -> FloatArray:
        """Return the chances of the four labels in four hours after the last bar, (4, columns).

        Where none of the four labels is shown they are those of any hour.

        Args:
            labels: indices of `label.LABELS`, (columns,).
            ages: minutes for which each has stood, likewise.
        """
        coins, market = (chances_by_state(table) for table in self.by_age(self.counts))
        states = _state_of(labels, ages)
        rows = np.where(np.isfinite(states), states, _ANY).astype(np.int64)
        return np.column_stack((coins[rows[:-1]].T, market[rows[-1]]))

    @staticmethod
    def by_age(counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return counts of the coins and of the market by label, by age and by what came, (4, ages, 4) each."""
        coins, market = counts.reshape(2, _LABELS, _AGES, _LABELS)
        return coins, market

    def climate(self) -> FloatArray:
        """Return how often each of the four labels stood at any hour, of a coin and of the market, (2, 4)."""
        counts = self.counts.reshape(2, _LABELS * _AGES, _LABELS).sum(axis=1)
        out: FloatArray = counts / counts.sum(axis=1, keepdims=True)
        return out


def chances_by_state(table: FloatArray) -> FloatArray:
    """Return the chances of the four labels four hours after each label and age, as one number; last after any hour.

    Args:
        table: cases by label, by age and by what came, (4, ages, 4).

    Returns:
        (4 x ages + 1, 4).
    """
    of_label = table.sum(axis=1)
    mean = of_label / of_label.sum(axis=1, keepdims=True)
    cases = table.sum(axis=2, keepdims=True)
    by_state = (table + _SHRUNK * mean[:, None]) / (cases + _SHRUNK)
    of_any = table.sum(axis=(0, 1))
    return np.vstack((by_state.reshape(-1, _LABELS), of_any / of_any.sum()))


def _state_of(labels: FloatArray, ages: FloatArray) -> FloatArray:
    """Return label and age as one number, NaN where the label is none of the four."""
    age = np.searchsorted(AGES, ages, side="right")
    return np.where(labels < _LABELS, labels * _AGES + age, np.nan)
