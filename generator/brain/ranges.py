"""Ranges: how large moves came out against their expected sigma, so that the next ranges hold as often as they claim.

Each quarter hour the moves that end there are compared with what was expected when they began. Four things are learned
from it, all slowly and beginning with the frozen outlook: a profile of the day, a correction of each asset's sigma, and
of all assets together the law of move over sigma, and the law of how far the price went on the way, to either side.
"""

from typing import ClassVar, Final

import numpy as np

from generator.brain.ladder import MoveLaw
from generator.brain.outlook import BINS, EDGES, MIDDLES, QUARTERS, OutlookWeights
from generator.brain.part import Part, Times
from generator.brain.profile import HORIZONS_WITH_PROFILE, DayProfile, surprises
from generator.brain.smoothing import Flags, clipped, faded
from generator.brain.week import DAY, QUARTER_MS, QuarterEnds
from generator.catalog.horizons import HORIZONS
from generator.market.bars import BAR_MS, FloatArray

LEVELS: Final = (0.5, 0.9)
_KEPT: Final = DAY + 1  # quarter hours, so that a move over a day finds its start
_CLOSE: Final = len(HORIZONS)
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
_WAYS: Final = 2  # to the farther side, to the nearer
_WORTH: Final = 1.0 / np.array(QUARTERS, dtype=np.float64)[:, None]  # of one case among overlapping horizons


class RangeModel(Part):
    """What came compared with what was expected; horizons are 15 minutes, 1, 4 and 24 hours, arrays (4, ..., k)."""

    STATE: ClassVar[tuple[str, ...]] = ("began", "added", "number", "square", "cases", "counts", "touched")

    def __init__(self, assets: int, frozen: OutlookWeights) -> None:
        """Start with the frozen law and no correction."""
        super().__init__()
        # At the end of each quarter hour, oldest first: expected sigmas and log close, NaN where there is no forecast,
        # and what the profile added to the log of each sigma.
        self.began = np.full((_KEPT, len(HORIZONS) + 1, assets), np.nan)
        self.added = np.full((_KEPT, len(HORIZONS)), np.nan)
        self.number = np.full(1, -1.0)  # of the quarter hour that began with the last of them
        self.square = np.zeros((len(HORIZONS), assets))  # fading sums of squares over what they should be
        self.cases = np.zeros((len(HORIZONS), assets))  # fading counts of independent cases
        self.counts = np.zeros((len(HORIZONS), BINS))  # likewise, of all assets by the size of the move
        self.touched = np.zeros((len(HORIZONS), _WAYS, BINS))  # by how far it went to the farther side and the nearer

        self.profile = DayProfile()
        self._law = frozen.law
        self._frozen = _FROZEN_LAW[:, None] * np.concatenate((frozen.law[:, None], frozen.touch), axis=1)
        self._usual = (frozen.law @ np.minimum(MIDDLES, _LARGEST) ** 2)[:, None]
        self._share = min(_TOGETHER, assets) / assets

    def sigma(self, t_ms: int | Times, expected: FloatArray) -> FloatArray:
        """Return the sigmas that are published after the bar opened at `t_ms`, or after those of a block.

        Args:
            t_ms: open time, of a block (n,).
            expected: by the outlook, (4, ..., assets), as is the result.
        """
        added = np.exp(self.profile.added((t_ms + BAR_MS) // QUARTER_MS))
        out: FloatArray = expected * added * self.correction()
        return out

    def correction(self) -> FloatArray:
        """Return what each expected sigma is multiplied by, beyond the profile, (4, ..., assets)."""
        return self._corrected(self.square, self.cases)

    def _corrected(self, squares: FloatArray, cases: FloatArray) -> FloatArray:
        """Return the correction that sums and counts of cases give, (..., assets)."""
        square = np.add.reduce(squares, axis=-1, keepdims=True)
        many = np.add.reduce(cases, axis=-1, keepdims=True)
        pool = (_POOL + self._share * square) / (_POOL + self._share * many)
        own = (_OWN * pool + squares) / (_OWN + cases)
        return clipped(np.sqrt(own), *_LIMITS)

    def law(self, horizon: int) -> FloatArray:
        """Return the chances that a move over a horizon stays below each edge, in sigmas, (..., bins + 1)."""
        return _summed(_FROZEN_LAW[horizon] * self._law[horizon] + self.counts[horizon])

    def laws(self) -> FloatArray:
        """Return how moves come out after one bar: chances to stay below each of `EDGES`, (4, 3, bins + 1).

        By horizon, then of the size of the move, of the way to the farther side and to the nearer: see `MoveLaw`.
        """
        counts = np.concatenate((self.counts[:, None], self.touched), axis=1)
        return _summed(self._frozen + counts)

    def move_law(self, horizon: int) -> MoveLaw:
        """Return how moves over a horizon come out, at its end and on the way, after one bar."""
        return MoveLaw(*self.laws()[horizon])

    def widths(self) -> FloatArray:
        """Return how many sigmas half and nine tenths of the moves stay within (`LEVELS`), (4, 2)."""
        return widths_of(self.laws())

    def within(self, horizon: int, sigmas: FloatArray) -> FloatArray:
        """Return the chance that a move over a horizon stays within so many sigmas, (..., assets)."""
        return interpolated(sigmas, EDGES, self.law(horizon))

    def update(  # noqa: PLR0917
        self,
        ends: QuarterEnds,
        log_close: FloatArray,
        expected: FloatArray,
        ready: Flags,
        realised: FloatArray,
        reached: FloatArray,
    ) -> None:
        """Learn from the moves that end with a block's quarter hours, and write down what is expected of the next.

        Args:
            ends: of the block's quarter hours, m.
            log_close: (n, assets), NaN where there is no bar.
            expected: sigmas by the outlook, (4, n, assets).
            ready: True where the asset has enough history, (n, assets).
            realised: variance over the horizons that have a profile, (m, 3, assets).
            reached: logs of the highest and lowest price within each horizon, NaN where unknown, (2, m, 4, assets).
        """
        bars = ends.last_bars
        if not len(bars):
            self.profile.stand(len(log_close))
            self.stand(len(log_close))
            return

        close = log_close[bars]
        began, places = self.slid("began", int(self.number[0]), ends.numbers)
        began[places, :_CLOSE] = expected[:, bars].swapaxes(0, 1)
        began[places, _CLOSE] = np.where(ready[bars], close, np.nan)

        # For each end the moments at which the moves over the horizons began.
        horizons = np.arange(len(HORIZONS))
        starts = places[:, None] - np.array(QUARTERS)
        start = began[starts, _CLOSE]
        said = began[starts, horizons]

        # The profile, from the assets that had enough history then.
        log_sigma = np.log(np.where(np.isfinite(start), said, np.nan))
        self.profile.update(ends, surprises(realised, log_sigma[:, :HORIZONS_WITH_PROFILE]))
        added, _ = self.slid("added", int(self.number[0]), ends.numbers)
        added[places] = self.profile.added(ends.begun)[:, bars, 0].T

        sigma = said * np.exp(added[starts, horizons])[..., None]
        highest, lowest = reached
        up = np.maximum(highest - start, 0.0)
        down = np.maximum(start - lowest, 0.0)
        way = np.array((np.maximum(up, down), np.minimum(up, down)))
        self._learn(ends, np.abs(close[:, None] - start) / sigma, way / sigma)
        window_ends = ends.window_ends(_KEPT, places)
        self._windows = {"began": (began, window_ends), "added": (added, window_ends)}
        newest = np.concatenate((self.number, ends.numbers))
        self.number = newest[ends.so_far][:, None]

    def _learn(self, ends: QuarterEnds, sizes: FloatArray, way: FloatArray) -> None:
        """Count moves over their expected sigma; a moment without any is none.

        Args:
            sizes: of the moves, (m, 4, assets), NaN where unknown.
            way: how far prices went on the way, to the farther side and to the nearer, likewise, (2, m, 4, assets).
        """
        known = np.isfinite(sizes)
        sizes = np.where(known, sizes, 0.0)
        is_moment = known.any(axis=(1, 2), keepdims=True)

        keep = np.where(is_moment, _FORGET, 1.0)
        squares = np.minimum(sizes, _LARGEST) ** 2 / self._usual
        before = np.array((self.square, self.cases))
        after = faded(before, keep[:, None], np.stack((squares * _WORTH, known * _WORTH), axis=1))
        square, cases = after.swapaxes(0, 1)

        # The laws are of moves over the sigma as it was corrected before them.
        correction = self._corrected(square[:-1], cases[:-1])
        keep = np.where(is_moment, _FORGET_LAW, 1.0)
        moves = [self._binned(sizes / correction, known)]
        moves += [self._binned(side / correction, np.isfinite(side)) for side in way]
        before = np.concatenate((self.counts[:, None], self.touched), axis=1)
        laws = faded(before, keep[:, :, None], np.stack(moves, axis=2))

        self.square = ends.at_bars(square)
        self.cases = ends.at_bars(cases)
        self.counts = ends.at_bars(laws[:, :, 0])
        self.touched = ends.at_bars(laws[:, :, 1:])

    def _binned(self, sizes: FloatArray, known: Flags) -> FloatArray:
        """Count the known of some sizes by the bins of `EDGES`, (m, 4, bins), each for what it is worth."""
        bins = np.minimum(np.searchsorted(EDGES, np.where(known, sizes, 0.0), side="right") - 1, BINS - 1)
        counted = np.zeros((*sizes.shape[:-1], BINS))
        moments = np.arange(len(sizes))[:, None, None]
        horizons = np.arange(len(HORIZONS))[:, None]
        np.add.at(counted, (moments, horizons, bins), known * (_WORTH * self._share))
        return counted


def widths_of(laws: FloatArray) -> FloatArray:
    """Return how many sigmas half and nine tenths of the moves stay within, (4, 2); `laws` as `RangeModel.laws`."""
    return np.array([np.interp(LEVELS, law, EDGES) for law in laws[:, 0]])


def _summed(shares: FloatArray) -> FloatArray:
    """Return the part of shares by bin that lies below each edge, (..., bins + 1)."""
    below = np.add.accumulate(shares, axis=-1)
    nothing = np.zeros((*below.shape[:-1], 1))
    out: FloatArray = np.concatenate((nothing, below), axis=-1) / below[..., -1:]
    return out


def interpolated(values: FloatArray, edges: FloatArray, heights: FloatArray) -> FloatArray:
    """Return what `np.interp` does, each row of values, (..., k), by its own heights at the edges, (..., edges).

    >>> heights = np.array([[0.0, 1.0, 2.0], [0.0, 10.0, 30.0]])
    >>> interpolated(np.array([[0.5], [1.5]]), np.array([0.0, 1.0, 2.0]), heights).ravel().tolist()
    [0.5, 20.0]
    """
    left = np.minimum(np.searchsorted(edges, values, side="right") - 1, len(edges) - 2)
    rows = heights.reshape(-1, len(edges))
    places = left + len(edges) * np.arange(len(rows)).reshape(*heights.shape[:-1], 1)
    low = np.take(rows, places)
    high = np.take(rows, places + 1)
    slope = (high - low) / (edges[left + 1] - edges[left])
    inside = slope * (values - edges[left]) + low
    return np.where(values >= edges[-1], heights[..., -1:], inside)
