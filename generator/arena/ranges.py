"""How far prices may move: the ranges stored before each hour, the moves that came, and the scores.

A forecast of an hour holds ranges over four horizons, all from the price at the start of the hour. Three simple rules
are stored with them: the volatility of the last hour, of the last day, and an exponentially weighted one, each as a
sigma that grows with the square root of time; their ranges are the quantiles of a normal distribution.

The scores are coverage, pinball loss and QLIKE, with intervals that respect that moves come together. Counts are
integers of scaled numbers, summed by block: all assets and hours that start in the same 4 hours, or for 24 hours on
the same UTC day. Intervals come from leaving out one whole block at a time (the delete-a-group jackknife), so that they
need no random numbers and every reader gets the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite, log, sqrt
from typing import Final

from generator.arena.outcome import PricePoint, fix_price
from generator.arena.scores import Z_95
from generator.arena.timetable import HOUR_MS, MINUTE_MS
from generator.arena.values import Estimate, HorizonScores, Move, PredictionMade, RangeForecast, RangeScore
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
            price, reason = fix_price(prices, made.asset, venues_needed, "end", now_ms - ends)
            moves[horizon] = Move(price, None if price is None else move_percent(made.start_price, price), reason)
    return moves


ENOUGH_BLOCKS: Final = 10  # below this no interval is shown, and nothing is claimed
LEAST_SIGMA: Final = 0.01  # percent; QLIKE takes no sigma for smaller, so that one quiet hour does not decide it
TWENTIETHS: Final = (1, 5, 15, 19)  # the four quantiles
FORECASTERS: Final = (None, *BASELINES)
_E4: Final = 10**4
_E9: Final = 10**9
_WIDTH: Final = 4  # counts a forecaster: inside 50, inside 90, pinball loss, QLIKE

Counts = tuple[int, ...]  # resolved, void, then those of each forecaster
Key = tuple[str, int]  # horizon, block
RangeCase = tuple[str, int, Counts]  # horizon, start, counts
_NOTHING: Final = (0,) * (2 + _WIDTH * len(FORECASTERS))


def pinball_units(quantiles: Sequence[float], move: float) -> int:
    """Return the pinball loss summed over the four quantiles, in 1/20 of 0.0001 percent.

    Source: R. Koenker and G. Bassett, Regression quantiles, 1978.
    """
    loss = 0
    for twentieths, quantile in zip(TWENTIETHS, quantiles, strict=True):
        over = round(move * _E4) - round(quantile * _E4)
        loss += twentieths * over if over >= 0 else (twentieths - 20) * over
    return loss


def qlike(sigma: float, move: float) -> float:
    """Return ln(sigma^2) + move^2 / sigma^2, both in percent; lower is better.

    Source: A. J. Patton, Volatility forecast comparison using imperfect volatility proxies, 2011.
    """
    variance = max(sigma, LEAST_SIGMA) ** 2
    return log(variance) + move * move / variance


def counts_of(said: RangeForecast, came: Move) -> Counts:
    """Count one forecast over one horizon."""
    if came.move is None:
        return (0, 1, *_NOTHING[2:])
    counts = [1, 0]
    for name in FORECASTERS:
        low_90, low_50, high_50, high_90 = quantiles = quantiles_of(said, name)
        counts += [low_50 <= came.move <= high_50, low_90 <= came.move <= high_90]
        counts += [pinball_units(quantiles, came.move), round(qlike(sigma_of(said, name), came.move) * _E9)]
    return tuple(counts)


def block_of(start_ms: int, horizon: str) -> int:
    """Return the number of the block that a start belongs to; at least as long as the horizon."""
    return start_ms // (24 * HOUR_MS if horizon == "24h" else 4 * HOUR_MS)


@dataclass(frozen=True, slots=True)
class RangeSums:
    """Counts by horizon and block; immutable, so that a rolled-back tick leaves them as they were."""

    blocks: Mapping[Key, Counts] = field(default_factory=dict)

    def plus(self, cases: Iterable[RangeCase]) -> RangeSums:
        """Add counts of horizons and starts."""
        blocks = dict(self.blocks)
        for horizon, start_ms, counts in cases:
            key = horizon, block_of(start_ms, horizon)
            blocks[key] = tuple(a + b for a, b in zip(blocks.get(key, _NOTHING), counts, strict=True))
        return RangeSums(blocks)

    def scores(self) -> tuple[HorizonScores, ...]:
        """Return the scores of each horizon; none before the first move."""
        if not self.blocks:
            return ()
        return tuple(
            _horizon(horizon, [counts for (name, _), counts in sorted(self.blocks.items()) if name == horizon])
            for horizon in HORIZONS
        )


def new_cases(before: PredictionMade | None, after: PredictionMade) -> list[RangeCase]:
    """Return the counts of the horizons of one forecast that ended in a change."""
    known = before.moves if before else {}
    return [
        (horizon, after.start_ms, counts_of(after.ranges[horizon], came))
        for horizon, came in after.moves.items()
        if after.ranges and horizon not in known
    ]


def _horizon(horizon: str, blocks: list[Counts]) -> HorizonScores:
    total = tuple(map(sum, zip(*blocks, strict=True))) or _NOTHING
    scored = [block for block in blocks if block[0]]
    found = estimates(total, scored, _statistics) if scored else []
    per_name = len(found) // len(FORECASTERS)
    scores = tuple(
        _score(name, total[2 + _WIDTH * place :], total[0], found[per_name * place :][:per_name])
        for place, name in enumerate(FORECASTERS)
        if found
    )
    return HorizonScores(horizon, total[0], total[1], len(scored), scores)


def _statistics(sums: Sequence[int]) -> list[float]:
    """Return, for each forecaster, its two coverages and by how much the brain's two losses are below its."""
    n, *counts = sums[0], *sums[2:]
    found = []
    for place in range(0, len(counts), _WIDTH):
        inside_50, inside_90, pinball, loss = counts[place : place + _WIDTH]
        saved = 100 * (1 - counts[2] / pinball) if pinball else 0.0
        found += [100 * inside_50 / n, 100 * inside_90 / n, saved, (loss - counts[3]) / n / _E9]
    return found


def _score(name: str | None, counts: Sequence[int], n: int, found: Sequence[Estimate]) -> RangeScore:
    inside_50, inside_90, pinball_saved, qlike_saved = found
    mean_pinball = counts[2] / (20 * len(TWENTIETHS) * _E4) / n
    return RangeScore(
        name or "brain",
        _rounded(inside_50, 1, most=100.0),
        _rounded(inside_90, 1, most=100.0),
        round(mean_pinball, 4),
        round(counts[3] / _E9 / n, 4) + 0.0,
        _rounded(pinball_saved, 1) if name else Estimate(),
        _rounded(qlike_saved, 4) if name else Estimate(),
    )


def _rounded(found: Estimate, decimals: int, most: float | None = None) -> Estimate:
    ends = (found.value, found.low, found.high)
    kept = (end if end is None or most is None else min(most, max(0.0, end)) for end in ends)
    return Estimate(*(None if end is None else round(end, decimals) + 0.0 for end in kept))


def estimates(
    total: Counts, blocks: Sequence[Counts], statistics: Callable[[Sequence[int]], Sequence[float]]
) -> list[Estimate]:
    """Return statistics of the sums with their 95% intervals, by leaving out one block at a time.

    Source: M. H. Quenouille, Notes on bias in estimation, 1956; quantile of Student's t after Cornish and Fisher.
    """
    values, n = statistics(total), len(blocks)
    if n < ENOUGH_BLOCKS:
        return [Estimate(value) for value in values]
    without = [statistics([whole - part for whole, part in zip(total, block, strict=True)]) for block in blocks]
    t = Z_95 + (Z_95**3 + Z_95) / (4 * (n - 1))
    found = []
    for value, others in zip(values, zip(*without, strict=True), strict=True):
        mean = sum(others) / n
        half = t * sqrt((n - 1) / n * sum((other - mean) ** 2 for other in others))
        found.append(Estimate(value, value - half, value + half))
    return found
