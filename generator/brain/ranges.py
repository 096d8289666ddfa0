"""Ranges: how large moves came out against their expected sigma, so that the next ranges hold as often as they claim.

Each quarter hour the moves that end there are compared with what was expected when they began. Three things are learned
from it, all slowly and beginning with the frozen outlook: a profile of the day, a correction of each asset's sigma, and
the law of move over sigma of all assets together.
"""

from typing import ClassVar, Final

import numpy as np
import numpy.typing as npt

from generator.brain.outlook import BINS, EDGES, MIDDLES, QUARTERS, OutlookWeights
from generator.brain.profile import HORIZONS_WITH_PROFILE, REALISED_QUARTERS, DayProfile, surprises
from generator.brain.smoothing import clipped
from generator.brain.week import DAY, QUARTER_MS, VARIANCE, Week, quarter_is_over
from generator.catalog.horizons import HORIZONS
from generator.market.bars import BAR_MS, FloatArray

LEVELS: Final = (0.5, 0.9)
_RING: Final = DAY + 1  # quarter hours, so that a move over a day finds its start
_LARGEST: Final = 3.0  # sigmas; a larger move counts as this in the correction
_FORGET: Final = 0.5 ** (1.0 / (30 * DAY))  # of the correction
_POOL: Final = 150.0  # independent cases that the frozen gain counts for, and what all assets show for one of them
_OWN: Final = 400.0
# Of the law, by horizon. A day's moves are few: they must count against fewer frozen cases, and for longer.
_FROZEN_LAW: Final = np.array((200.0, 200.0, 200.0, 50.0))[:, None]
_LAW_HALF_LIFE_DAYS: Final = np.array((30.0, 30.0, 30.0, 60.0))[:, None]
_FORGET_LAW: Final = 0.5 ** (1.0 / (_LAW_HALF_LIFE_DAYS * DAY))
_TOGETHER: Final = 1.75  # how many independent cases the assets of one moment are worth
_LIMITS: Final = (0.7, 1.5)  # of the correction
_WORTH: Final = 1.0 / np.array(QUARTERS, dtype=np.float64)[:, None]  # of one case among overlapping horizons


class RangeModel:
    """What came compared with what was expected; horizons are 15 minutes, 1, 4 and 24 hours."""

    STATE: ClassVar[tuple[str, ...]] = ("began", "added", "number", "square", "cases", "counts")

    def __init__(self, assets: int, frozen: OutlookWeights) -> None:
        """Start with the frozen law and no correction."""
        self.began = np.full((_RING, len(HORIZONS) + 1, assets), np.nan)  # sigmas and log close, by quarter hour
        self.added = np.zeros((_RING, len(HORIZONS)))  # by the profile to the log of each sigma of `began`
        self.number = np.full(_RING, -1.0)  # of the quarter hour in each row
        self.square = np.zeros((len(HORIZONS), assets))  # fading sums of squares over what they should be
        self.cases = np.zeros((len(HORIZONS), assets))  # fading counts of independent cases
        self.counts = np.zeros((len(HORIZONS), BINS))  # likewise, of all assets by the size of the move

        self.profile = DayProfile()
        self._law = frozen.law
        self._usual = (frozen.law @ np.minimum(MIDDLES, _LARGEST) ** 2)[:, None]
        self._share = min(_TOGETHER, assets) / assets

    def sigma(self, t_ms: int, expected: FloatArray) -> FloatArray:
        """Return the sigmas that are published after bars of the quarter hour of the one opened at `t_ms`.

        Args:
            t_ms: open time of a bar.
            expected: by the outlook, (4, bars, assets), as is the result.
        """
        added = np.exp(self.profile.at((t_ms + BAR_MS) // QUARTER_MS))
        out: FloatArray = expected * added[:, None] * self.correction()[:, None]
        return out

    def correction(self) -> FloatArray:
        """Return what each expected sigma is multiplied by, beyond the profile, (4, assets)."""
        square = np.add.reduce(self.square, axis=1, keepdims=True)
        cases = np.add.reduce(self.cases, axis=1, keepdims=True)
        pool = (_POOL + self._share * square) / (_POOL + self._share * cases)
        own = (_OWN * pool + self.square) / (_OWN + self.cases)
        return clipped(np.sqrt(own), *_LIMITS)

    def law(self) -> FloatArray:
        """Return the chances that a move stays below each edge, in sigmas, (4, bins + 1)."""
        below = np.add.accumulate(_FROZEN_LAW * self._law + self.counts, axis=1)
        nothing = np.zeros((len(HORIZONS), 1))
        out: FloatArray = np.concatenate((nothing, below), axis=1) / below[:, -1:]
        return out

    def widths(self) -> FloatArray:
        """Return how many sigmas half and nine tenths of the moves stay within (`LEVELS`), (4, 2)."""
        return np.array([np.interp(LEVELS, below, EDGES) for below in self.law()])

    def within(self, horizon: int, sigmas: FloatArray) -> FloatArray:
        """Return the chance that a move over a horizon stays within so many sigmas."""
        out: FloatArray = np.interp(sigmas, EDGES, self.law()[horizon])
        return out

    def update(
        self, t_ms: int, log_close: FloatArray, expected: FloatArray, ready: npt.NDArray[np.bool_], week: Week
    ) -> None:
        """Learn from the moves that end at this bar's close, then write down what is expected of the next.

        Args:
            t_ms: open time of the bar.
            log_close: (assets,), NaN where there is no bar.
            expected: sigmas by the outlook, (4, assets).
            ready: True where the asset has enough history.
            week: that has taken the bar.
        """
        if not quarter_is_over(t_ms):
            return
        number = (t_ms + BAR_MS) // QUARTER_MS

        # For each horizon the row in which the move began that ends now; row h holds its sigma at place h.
        start = number - np.array(QUARTERS)
        rows = start % _RING
        before = self.began[rows]
        due = self.number[rows] == start
        horizons = np.arange(len(rows))
        said = before[horizons, horizons]
        sizes = np.abs(log_close - before[:, -1]) / (said * np.exp(self.added[rows, horizons])[:, None])
        known = np.isfinite(sizes) & due[:, None]
        if np.count_nonzero(known):
            self._learn(np.where(known, sizes, 0.0), known)

        # The profile, from the assets that had enough history then.
        variances = week.last(number - 1, REALISED_QUARTERS[-1], VARIANCE)
        was_ready = np.isfinite(before[:, -1])
        log_sigma = np.log(np.where(was_ready, said, np.nan)[:HORIZONS_WITH_PROFILE])
        came = surprises(variances, log_sigma)
        for horizon, surprise in enumerate(came.tolist()):
            if due[horizon] and np.isfinite(surprise):
                self.profile.learn(horizon, int(start[horizon]), surprise)

        at = number % _RING
        self.number[at] = float(number)
        self.began[at, :-1] = expected
        self.began[at, -1] = np.where(ready, log_close, np.nan)
        self.added[at] = self.profile.at(number)[:, 0]

    def _learn(self, sizes: FloatArray, known: npt.NDArray[np.bool_]) -> None:
        """Count moves over their expected sigma, (4, assets), 0 where not `known`."""
        corrected = sizes / self.correction()
        bins = np.minimum(np.searchsorted(EDGES, corrected, side="right") - 1, BINS - 1)
        cases = np.zeros_like(self.counts)
        horizons = np.arange(len(sizes))[:, None]
        np.add.at(cases, (horizons, bins), known * (_WORTH * self._share))

        self.counts = self.counts * _FORGET_LAW + cases
        squares = np.minimum(sizes, _LARGEST) ** 2 / self._usual
        self.square = self.square * _FORGET + squares * _WORTH
        self.cases = self.cases * _FORGET + known * _WORTH
