"""The daily profile of volatility as it has become: how far the hours of a day came rougher than the outlook expects.

The outlook's own profile is of 2022 and 2023 and frozen; markets have moved their busy hours since. Here the expected
volatility of a horizon is compared with the realised one when it ends. What is left on average at an hour of the day,
beyond what is left at all hours, belongs to the hour. Realised volatility shows it within weeks, where moves alone
would take a year: it has about a tenth of their noise.
"""

from typing import ClassVar, Final

import numpy as np

from generator.brain.outlook import QUARTERS
from generator.brain.week import DAY, QUARTER_MS
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
_ALL: Final = 0
_FIRST_QUARTER: Final = 1
_FIRST_SLOT: Final = _FIRST_QUARTER + _QUARTERS_OF_HOUR
_PLACES: Final = _FIRST_SLOT + DAY
_VISITS_A_DAY: Final = np.concatenate(([float(DAY)], np.full(_QUARTERS_OF_HOUR, DAY / _QUARTERS_OF_HOUR), np.ones(DAY)))
_KEEP: Final = 0.5 ** (1.0 / (_HALF_LIFE_DAYS * _VISITS_A_DAY))


class DayProfile:
    """What the time of the day adds to the log of expected sigmas, shared by all assets."""

    STATE: ClassVar[tuple[str, ...]] = ("surprise", "visits")

    def __init__(self) -> None:
        """Start with the frozen profile."""
        # Fading sums by place: all moments, the four quarters of an hour, then the 96 quarters of a day.
        self.surprise = np.zeros((HORIZONS_WITH_PROFILE, _PLACES))
        self.visits = np.zeros((HORIZONS_WITH_PROFILE, _PLACES))

    def at(self, number: int) -> FloatArray:
        """Return what is added to log sigma over each horizon from the end of a quarter hour on, (4, 1).

        Args:
            number: of the quarter hour that begins, since 1970.
        """
        out = np.zeros((len(HORIZONS), 1))
        out[:HORIZONS_WITH_PROFILE, 0] = self._of_quarter(number) + self._of_slot(number)
        return out

    def _of_quarter(self, number: int) -> FloatArray:
        place = _FIRST_QUARTER + number % _QUARTERS_OF_HOUR
        out: FloatArray = self.surprise[:, place] / (self.visits[:, place] + _PRIOR_HOURS)
        return out

    def _of_slot(self, number: int) -> FloatArray:
        place = _FIRST_SLOT + number % DAY
        out: FloatArray = self.surprise[:, place] / (self.visits[:, place] + _PRIOR_DAYS)
        return out

    def learn(self, horizon: int, number: int, surprise: float) -> None:
        """Take a horizon that has ended.

        Args:
            number: of the quarter hour with which it began.
            surprise: log of realised over expected volatility, median over the assets.
        """
        self._add(horizon, _ALL, surprise)
        usual = self.surprise[horizon, _ALL] / self.visits[horizon, _ALL]

        # First the quarter of the hour, which is seen 24 times a day, then what the hour adds to it.
        beyond = surprise - usual
        within_hour = self._of_quarter(number)[horizon]
        self._add(horizon, _FIRST_QUARTER + number % _QUARTERS_OF_HOUR, beyond)
        self._add(horizon, _FIRST_SLOT + number % DAY, beyond - within_hour)

    def _add(self, horizon: int, place: int, surprise: float) -> None:
        keep = _KEEP[place]
        held = min(max(surprise, -_LARGEST), _LARGEST)
        self.surprise[horizon, place] = self.surprise[horizon, place] * keep + held
        self.visits[horizon, place] = self.visits[horizon, place] * keep + 1.0


def surprises(variances: FloatArray, log_sigma: FloatArray) -> FloatArray:
    """Return the log of realised over expected volatility of the horizons that end now, (3,), NaN where unknown.

    A constant factor does not matter: it is the same at all hours.

    Args:
        variances: of the last 16 quarter hours, the newest last, NaN where unknown, (16, assets).
        log_sigma: that was expected of each horizon, NaN where unknown, (3, assets).

    >>> variances = np.full((16, 2), 0.01)
    >>> log_sigma = 0.5 * np.log([[0.01, 0.01], [0.04, 0.04], [0.04, np.nan]])
    >>> surprises(variances, log_sigma).round(3).tolist()  # four hours came twice as rough as expected
    [0.0, 0.0, 0.693]
    """
    realised = np.array([np.add.reduce(variances[-quarters:]) for quarters in REALISED_QUARTERS])
    ratios = 0.5 * np.log(np.maximum(realised, _LEAST)) - log_sigma

    # The median: one asset's bad bar or jump says nothing about the hour. What is unknown is sorted to the end.
    known = np.isfinite(ratios)
    in_order = np.sort(np.where(known, ratios, np.nan), axis=1)
    many = known.sum(axis=1)
    horizons = np.arange(HORIZONS_WITH_PROFILE)
    lower = in_order[horizons, np.maximum(many - 1, 0) // 2]
    upper = in_order[horizons, np.minimum(many // 2, ratios.shape[1] - 1)]
    return np.where(many > 0, 0.5 * (lower + upper), np.nan)
