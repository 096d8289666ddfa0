"""How far prices may move: the ranges stored before each hour, and the moves that came.

A forecast of an hour holds ranges over four horizons, all from the price at the start of the hour. Three simple rules
are stored with them: the volatility of the last hour, of the last day, and an exponentially weighted one, each as a
sigma that grows with the square root of time; their ranges are the quantiles of a normal distribution.
"""

from collections.abc import Mapping
from math import isfinite, sqrt
from typing import Final

from generator.arena.outcome import PricePoint, fix_price
from generator.arena.timetable import MINUTE_MS
from generator.arena.values import Move, PredictionMade, RangeForecast
from generator.brain.reading import AssetReading

HORIZONS: Final = {"15m": 15, "1h": 60, "4h": 240, "24h": 1440}  # minutes
BASELINES: Final = ("last_hour", "last_day", "ewma")
NORMAL: Final = (-1.6449, -0.6745, 0.6745, 1.6449)  # quantiles .05, .25, .75 and .95
BAR_MINUTES: Final = 5

Quantiles = tuple[float, float, float, float]  # low_90, low_50, high_50, high_90


def ranges_of(reading: AssetReading) -> dict[str, RangeForecast] | None:
    """Return the ranges of one asset as published, None where the brain or a simple rule has none."""
    outlook, ranges, baselines = reading.outlook, reading.ranges, reading.baselines
    if outlook is None or ranges is None or baselines is None:
        return None
    sigmas = dict(zip(HORIZONS, (outlook.m15, outlook.h1, outlook.h4, outlook.h24), strict=True))
    found = {}
    for horizon, minutes in HORIZONS.items():
        said, bars = ranges[horizon], minutes / BAR_MINUTES
        numbers = (sigmas[horizon], said.low_90, said.low_50, said.high_50, said.high_90)
        simple = (baselines[name] * sqrt(bars) for name in BASELINES)
        found[horizon] = RangeForecast(*(_percent(number) for number in (*numbers, *simple)))
    return found if all(map(_is_sound, found.values())) else None


def _percent(fraction: float) -> float:
    return round(100 * fraction, 4) + 0.0


def _is_sound(said: RangeForecast) -> bool:
    quantiles = quantiles_of(said, None)
    sigmas = (said.sigma, said.last_hour, said.last_day, said.ewma)
    return all(map(isfinite, (*quantiles, *sigmas))) and min(sigmas) > 0 and list(quantiles) == sorted(quantiles)


def sigma_of(said: RangeForecast, baseline: str | None) -> float:
    """Return the sigma of the brain, or of a simple rule."""
    sigma: float = getattr(said, baseline or "sigma")
    return sigma


def quantiles_of(said: RangeForecast, baseline: str | None) -> Quantiles:
    """Return the ends of the two ranges of the brain, or of a simple rule, in percent."""
    if baseline is None:
        return (said.low_90, said.low_50, said.high_50, said.high_90)
    low_90, low_50, high_50, high_90 = (round(z * sigma_of(said, baseline), 4) for z in NORMAL)
    return (low_90, low_50, high_50, high_90)


def move_percent(start_price: float, end_price: float) -> float:
    """Return the move between two published prices in percent, 4 decimals."""
    return round(100 * (end_price / start_price - 1), 4) + 0.0


def end_ms(made: PredictionMade, horizon: str) -> int:
    """Return when a horizon of a forecast ends."""
    return made.start_ms + HORIZONS[horizon] * MINUTE_MS


def due_ms(made: PredictionMade) -> int | None:
    """Return when the next horizon ends whose move is not known, None where there is none."""
    open_ends = [end_ms(made, horizon) for horizon in made.ranges or () if horizon not in made.moves]
    return min(open_ends, default=None)


def void_moves(made: PredictionMade, reason: str) -> dict[str, Move]:
    """Return the moves with every horizon void whose move is not known."""
    return {horizon: made.moves.get(horizon) or Move(void_reason=reason) for horizon in made.ranges or ()}


def measure(
    made: PredictionMade, now_ms: int, prices: Mapping[str, PricePoint], venues_needed: int
) -> Mapping[str, Move]:
    """Return the moves with those of the horizons that have ended by now."""
    if made.start_price is None:
        return made.moves
    moves = dict(made.moves)
    for horizon in made.ranges or ():
        ends = end_ms(made, horizon)
        if horizon not in moves and now_ms >= ends:
            end = fix_price(prices, made.asset, venues_needed, "end", now_ms - ends)
            came = None if end.price is None else move_percent(made.start_price, end.price)
            moves[horizon] = Move(end.price, came, end.reason)
    return moves
