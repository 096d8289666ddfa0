"""Scores of ranges: coverage, pinball loss and QLIKE, with intervals that respect that moves come together.

Counts are integers of scaled numbers, summed by block: all assets and hours that start in the same 4 hours, or for 24
hours on the same UTC day. Intervals come from leaving out one whole block at a time (the delete-a-group jackknife),
so that they need no random numbers and every reader gets the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log, sqrt
from typing import Final

from generator.arena.ranges import BASELINES, HORIZONS, quantiles_of, sigma_of
from generator.arena.scores import Z_95
from generator.arena.timetable import HOUR_MS
from generator.arena.values import Estimate, HorizonScores, Move, PredictionMade, RangeForecast, RangeScore

ENOUGH_BLOCKS: Final = 10  # below this no interval is shown, and nothing is claimed
LEAST_SIGMA: Final = 0.01  # percent; QLIKE takes no sigma for smaller, so that one quiet hour does not decide it
TWENTIETHS: Final = (1, 5, 15, 19)  # the four quantiles
FORECASTERS: Final = (None, *BASELINES)
_E4: Final = 10**4
_E9: Final = 10**9
_WIDTH: Final = 4  # counts a forecaster: inside 50, inside 90, pinball loss, QLIKE

Counts = tuple[int, ...]  # resolved, void, then those of each forecaster
Key = tuple[str, int]  # horizon, block
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

    def plus(self, cases: Iterable[tuple[str, int, Counts]]) -> RangeSums:
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


def new_cases(before: PredictionMade | None, after: PredictionMade) -> list[tuple[str, int, Counts]]:
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
