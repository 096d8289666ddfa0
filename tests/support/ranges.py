"""Ranges and moves computed by rule, for tests of the record and of what is shown of it."""

from functools import cache
from statistics import NormalDist

from generator.arena.ranges import RangeSums, counts_of
from generator.arena.scoring import NORMAL
from generator.catalog.horizons import HORIZONS
from generator.values.hours import Move
from generator.values.ranges import RangeForecast
from generator.values.scores import HorizonRecord

HOUR_MS = 3_600_000


@cache
def range_of(sigma: float) -> RangeForecast:
    """Return ranges of a sigma in percent, with simple rules that are wrong by a half, a fifth and not at all."""
    return RangeForecast(
        *(round(z * sigma, 4) for z in NORMAL),
        sigma=sigma,
        last_hour=round(1.5 * sigma, 4),
        last_day=round(0.8 * sigma, 4),
        ewma=sigma,
    )


@cache
def how_far(hours: int = 480, wider: float = 1.0) -> tuple[HorizonRecord, ...]:
    """Return the scores of so many hours whose moves are `wider` times what the ranges say."""
    cases = []
    for hour in range(hours):
        z = NormalDist().inv_cdf((hour * 0.618_034 + 0.5 / (hours + 1)) % 1 or 0.5)
        for horizon, (minutes, *_) in HORIZONS.items():
            said = range_of(round(0.2 * (minutes / 15) ** 0.5, 4))
            cases.append((horizon, hour * HOUR_MS, counts_of(said, Move(1.0, round(wider * z * said.sigma, 4)))))
    return RangeSums().plus(cases).scores()
