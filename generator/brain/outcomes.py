"""What came of moves over 15 minutes, an hour and four hours: down, within the band, or up; base rates and chances.

Whether a move leaves its band follows from the expected sigma and the kept law of moves over sigma. What is left for up
and down is shared out as the record of what came has them, which is near halves: which way a move goes is not known.
"""

from typing import ClassVar, Final

import numpy as np
import numpy.typing as npt

from generator.brain.part import Part
from generator.brain.smoothing import Flags, clipped, faded
from generator.brain.week import DAY, QuarterEnds
from generator.market.bars import FloatArray

HORIZON_MINUTES: Final = (15, 60, 240)
HORIZON_QUARTERS: Final = tuple(minutes // 15 for minutes in HORIZON_MINUTES)
_CLASSES: Final = 3  # down, neutral, up
_KEPT: Final = HORIZON_QUARTERS[-1] + 1  # quarter hours, so that the longest move finds its start
_CLOSE: Final = 0  # row of the log close; then the bands of the horizons
_FORGET: Final = 0.5 ** (1.0 / (30 * DAY))
_PRIOR: Final = np.array([0.33, 0.34, 0.33])
_POOL: Final = 200.0  # cases that the first guess of the base rate counts for
_OWN: Final = 400.0  # cases before an asset's own base rate counts as much as the pool's
_TOGETHER: Final = 1.75  # how many independent cases the assets of one moment are worth: they move together
_ASYMMETRY: Final = 0.25  # how much of the difference between past rises and falls is kept: it rarely lasts
_LEAST: Final = 0.01  # chance of staying within a band, and of leaving it


class Outcomes(Part):
    """Fading counts of what came of each asset's moves, one begun with each quarter hour; arrays are (..., assets)."""

    STATE: ClassVar[tuple[str, ...]] = ("began", "number", "counts", "resolved")

    def __init__(self, assets: int) -> None:
        """Start without a case."""
        super().__init__()
        # Log close and bands, by the quarter hour that begins.
        self.began = np.full((_KEPT, 1 + len(HORIZON_MINUTES), assets), np.nan)
        self.number = np.full(1, -1.0)  # of the last of them
        self.counts = np.zeros((len(HORIZON_MINUTES) * _CLASSES, assets))  # of down, neutral and up, by horizon
        self.resolved = np.zeros((1, 1))  # moves counted so far, of all horizons and assets

    def rates(self, horizon: int) -> FloatArray:
        """Return the base rates of down, neutral and up over a horizon, (3, ..., assets)."""
        return base_rates(self.counts[_CLASSES * horizon : _CLASSES * (horizon + 1)])

    def update(self, ends: QuarterEnds, log_close: FloatArray, bands: FloatArray, ready: Flags) -> None:
        """Count the moves that end with a block's quarter hours, and write down those that begin.

        Args:
            ends: of the block's quarter hours, m.
            log_close: (n, assets), NaN where there is no bar.
            bands: half-widths of the neutral bands of the horizons, NaN where unknown, (3, n, assets).
            ready: True where the asset has enough history, (n, assets).
        """
        bars = ends.last_bars
        if not len(bars):
            self.stand(len(log_close))
            return

        began, places = self.slid("began", int(self.number[0]), ends.numbers)
        began[places, _CLOSE] = np.where(ready[bars], log_close[bars], np.nan)
        began[places, 1:] = bands[:, bars].swapaxes(0, 1)

        hits = []
        keeps = []
        resolved = np.zeros(len(bars))
        for horizon, quarters in enumerate(HORIZON_QUARTERS):
            start = began[places - quarters]
            band = start[:, 1 + horizon]
            moves = log_close[bars] - np.where(np.isfinite(band), start[:, _CLOSE], np.nan)
            known = np.isfinite(moves)
            resolved += np.count_nonzero(known, axis=1)

            # Overlapping moves count as one.
            keep = np.where(known.any(axis=1), _FORGET, 1.0)[:, None, None]
            keeps.append(np.repeat(keep, _CLASSES, axis=1))
            hits.append(hits_of(moves, band) / quarters)

        self._windows = {"began": (began, ends.window_ends(_KEPT, places))}
        self.counts = ends.at_bars(faded(self.counts, np.concatenate(keeps, axis=1), np.concatenate(hits, axis=1)))
        newest = np.concatenate((self.number, ends.numbers))
        self.number = newest[ends.so_far][:, None]
        so_far = np.add.accumulate(np.concatenate((self.resolved[0], resolved)))
        self.resolved = so_far[ends.so_far][None, :, None]


def base_rates(counts: FloatArray) -> FloatArray:
    """Return base rates from counts of down, neutral and up, (3, ..., assets): an asset's own, shrunk towards all's.

    Rises and falls are moved towards each other: a drift of the last weeks rarely lasts.
    """
    assets = counts.shape[-1]
    prior = (_POOL * _PRIOR).reshape(-1, *(1,) * (counts.ndim - 1))

    # Assets move together: seven outcomes of one quarter of an hour are worth about two, not seven.
    pool = np.add.reduce(counts, axis=-1, keepdims=True) * (min(_TOGETHER, assets) / assets) + prior
    half = 0.5 * (1.0 - _ASYMMETRY) * (pool[2] - pool[0])
    pool = np.array((pool[0] + half, pool[1], pool[2] - half)) / np.add.reduce(pool)

    shift = 0.5 * (1.0 - _ASYMMETRY) * (counts[2] - counts[0])
    own = np.array((counts[0] + shift, counts[1], counts[2] - shift))
    out: FloatArray = (own + _OWN * pool) / (np.add.reduce(own) + _OWN)
    return out


def split(within: FloatArray, base: FloatArray) -> FloatArray:
    """Return the chances of down, neutral and up, (3, ..., assets).

    Args:
        within: chance that the move stays within its band, NaN where unknown: then the base rate's, (..., assets).
        base: base rates, whose share of up in up and down is kept, (3, ..., assets).

    >>> split(np.array([0.5]), np.array([[0.36], [0.4], [0.24]])).round(2).ravel().tolist()
    [0.3, 0.5, 0.2]
    """
    neutral = clipped(np.where(np.isfinite(within), within, base[1]), _LEAST, 1.0 - _LEAST)
    share = base[2] / (base[0] + base[2])
    rest = 1.0 - neutral
    return np.array((rest * (1.0 - share), neutral, rest * share))


def outcomes_of(moves: FloatArray, band: FloatArray) -> npt.NDArray[np.int64]:
    """Return 0 down, 1 neutral, 2 up for log moves against the half-width of the neutral band.

    >>> outcomes_of(np.array([-0.02, 0.005, 0.02]), np.array([0.01, 0.01, 0.01])).tolist()
    [0, 1, 2]
    """
    return 1 + (moves > band).astype(np.int64) - (moves < -band).astype(np.int64)


def hits_of(moves: FloatArray, band: FloatArray) -> FloatArray:
    """Return 1.0 for the class that came of down, neutral and up, 0.0 for the others and where unknown, (m, 3, assets).

    >>> hits_of(np.array([[-0.02, 0.005, np.nan]]), np.full((1, 3), 0.01)).tolist()
    [[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]]
    """
    down = moves < -band
    up = moves > band
    return np.stack((down, np.isfinite(moves) & ~down & ~up, up), axis=1).astype(np.float64)
