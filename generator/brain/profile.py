"""The daily profile of volatility as it has become: how far the hours of a day came rougher than the outlook expects.

The outlook's own profile is of 2022 and 2023 and frozen; markets have moved their busy hours since. Here the expected
volatility of a horizon is compared with the realised one when it ends. What is left on average at an hour of the day,
beyond what is left at all hours, belongs to the hour. Realised volatility shows it within weeks, where moves alone
would take a year: it has about a tenth of their noise.
"""

from typing import ClassVar, Final

import numpy as np

from generator.brain.outlook import QUARTERS
from generator.brain.part import Part, Times
from generator.brain.smoothing import Flags, clipped, faded
from generator.brain.week import DAY, QUARTER_MS, QuarterEnds
from generator.catalog.durations import HOUR_MS
from generator.catalog.horizons import HORIZONS
from generator.market.bars import FloatArray

HORIZONS_WITH_PROFILE: Final = 3  # a day has every hour in it, so 24 hours have none
REALISED_QUARTERS: Final = QUARTERS[:HORIZONS_WITH_PROFILE]
_QUARTERS_OF_HOUR: Final = HOUR_MS // QUARTER_MS
_HALF_LIFE_DAYS: Final = 60.0  # hours move with seasons and years; shorter ones gave the same on 2023-02 to 2023-09
_PRIOR_DAYS: Final = 15.0  # of the frozen profile: what is left scatters by .3, an hour's shift is about .08
_PRIOR_HOURS: Final = 48.0  # of it within the hour, where every hour of a day counts
_LARGEST: Final = 1.5  # of a log ratio: one wild hour must not rule its place for weeks
_LEAST: Final = 1e-12  # variance; constant prices must not give log 0
# Places: all moments, the four quarters of an hour, then the 96 quarters of a day; each with its visits a day.
_AXES: Final = 2  # of the sums after one bar
_GROUPS: Final = (1, _QUARTERS_OF_HOUR, DAY)
_ALL, _QUARTER, _SLOT = range(3)
_FIRST: Final = (0, 1, 1 + _QUARTERS_OF_HOUR)
_PLACES: Final = sum(_GROUPS)
_KEEP: Final = tuple(0.5 ** (1.0 / (_HALF_LIFE_DAYS * DAY / places)) for places in _GROUPS)


class DayProfile(Part):
    """What the time of the day adds to the log of expected sigmas, for all assets; arrays are (3, ..., places)."""

    STATE: ClassVar[tuple[str, ...]] = ("surprise", "visits")

    def __init__(self) -> None:
        """Start with the frozen profile."""
        super().__init__()
        self.surprise = np.zeros((HORIZONS_WITH_PROFILE, _PLACES))  # fading sums by place
        self.visits = np.zeros((HORIZONS_WITH_PROFILE, _PLACES))

    def added(self, numbers: int | Times) -> FloatArray:
        """Return what is added to log sigma over each horizon from the end of a quarter hour on, (4, ..., 1).

        Args:
            numbers: of the quarter hour that begins, since 1970; while a block is read of each bar, (n,).
        """
        learned = self._mean(_QUARTER, numbers, _PRIOR_HOURS) + self._mean(_SLOT, numbers, _PRIOR_DAYS)
        return np.concatenate((learned, np.zeros((len(HORIZONS) - HORIZONS_WITH_PROFILE, *learned.shape[1:]))))

    def _mean(self, group: int, numbers: int | Times, prior: float) -> FloatArray:
        """Return the shrunk mean of the place that each number belongs to, (3, ..., 1)."""
        place = _FIRST[group] + np.asarray(numbers) % _GROUPS[group]
        at = (slice(None), np.arange(place.size), place) if self.surprise.ndim > _AXES else (slice(None), place)
        out: FloatArray = self.surprise[at] / (self.visits[at] + prior)
        return out[..., None]

    def update(self, ends: QuarterEnds, surprises: FloatArray) -> None:
        """Take the horizons that end at some of a block's quarter hours.

        Args:
            ends: of the block, m.
            surprises: log of realised over expected volatility, median over the assets, NaN where unknown, (m, 3).
        """
        numbers = ends.numbers[:, None] - REALISED_QUARTERS  # of the quarter hours with which they began
        known = np.isfinite(surprises)
        came = np.where(known, surprises, 0.0)

        # First all moments, then the quarter of the hour, which is seen 24 times a day, then what the hour adds to it.
        sums, visits = self._followed(_ALL, numbers, known, came)
        usual = sums[1:, :, 0] / np.maximum(visits[1:, :, 0], 1.0)
        beyond = came - usual
        by_quarter = self._followed(_QUARTER, numbers, known, beyond)
        place = numbers[..., None] % _QUARTERS_OF_HOUR
        before, many = (np.take_along_axis(values[:-1], place, axis=-1)[..., 0] for values in by_quarter)
        within_hour = before / (many + _PRIOR_HOURS)
        by_slot = self._followed(_SLOT, numbers, known, beyond - within_hour)

        every = zip((sums, visits), by_quarter, by_slot, strict=True)
        self.surprise, self.visits = (ends.at_bars(np.concatenate(groups, axis=-1)) for groups in every)

    def _followed(
        self, group: int, numbers: Times, known: Flags, surprises: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the sums and visits of a group's places before the first surprise and after each."""
        places = slice(_FIRST[group], _FIRST[group] + _GROUPS[group])
        is_here = known[..., None] & (numbers[..., None] % _GROUPS[group] == np.arange(_GROUPS[group]))
        keep = np.where(is_here, _KEEP[group], 1.0)
        held = clipped(surprises, -_LARGEST, _LARGEST)[..., None]
        before = np.array((self.surprise[:, places], self.visits[:, places]))
        after = faded(before, keep[:, None], np.stack((is_here * held, is_here), axis=1))
        return after[:, 0], after[:, 1]


def surprises(realised: FloatArray, log_sigma: FloatArray) -> FloatArray:
    """Return the log of realised over expected volatility of the horizons that end, (..., 3), NaN where unknown.

    A constant factor does not matter: it is the same at all hours.

    Args:
        realised: variance over each horizon, NaN where unknown, (..., 3, assets).
        log_sigma: that was expected of each horizon, NaN where unknown, likewise.

    >>> realised = np.array([[0.01, 0.01], [0.04, 0.04], [0.16, 0.16]])
    >>> log_sigma = 0.5 * np.log([[0.01, 0.01], [0.04, 0.04], [0.04, np.nan]])
    >>> surprises(realised, log_sigma).round(3).tolist()  # four hours came twice as rough as expected
    [0.0, 0.0, 0.693]
    """
    ratios = 0.5 * np.log(np.maximum(realised, _LEAST)) - log_sigma

    # The median: one asset's bad bar or jump says nothing about the hour. What is unknown is sorted to the end.
    known = np.isfinite(ratios)
    in_order = np.sort(np.where(known, ratios, np.nan), axis=-1)
    many = known.sum(axis=-1, keepdims=True)
    lower = np.take_along_axis(in_order, np.maximum(many - 1, 0) // 2, axis=-1)
    upper = np.take_along_axis(in_order, np.minimum(many // 2, ratios.shape[-1] - 1), axis=-1)
    return np.where(many > 0, 0.5 * (lower + upper), np.nan)[..., 0]
