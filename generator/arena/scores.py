"""Scores of forecasts: three-class Brier, log score, hit rate with its interval, baselines, calibration bins.

Sums are integers of scaled numbers, so that adding cases one by one and adding them all at once, in any order, give
exactly the same scores.

They are computed from numbers as published, so a reader gets the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log
from typing import Any, Final

from generator.arena.rates import ENOUGH, rate
from generator.arena.values import Bin, ForecastScores, PredictionMade, Round
from generator.brain.forecast import OutcomeChances
from generator.catalog.formats import probabilities
from generator.catalog.words import Prediction

LOG_CLAMP: Final = 0.01
BIN_EDGES: Final = (0.0, 35.0, 40.0, 45.0, 50.0, 60.0, 100.0)
BASELINES: Final = ("uniform", "base_rate", "persistence")
UNIFORM_BRIER: Final = 2 / 3
_E8: Final = 10**8
_E9: Final = 10**9


Triple = tuple[float, float, float]
ORDER: Final = (Prediction.BEARISH, Prediction.NEUTRAL, Prediction.BULLISH)  # of every triple: down, neutral, up


def published_triple(chances: OutcomeChances) -> Triple:
    """Return three chances as published: down, neutral, up; raise ValueError where they are none."""
    down, neutral, up = probabilities((chances.down, chances.neutral, chances.up))
    return down, neutral, up


def chance_of(chances: Triple, word: Prediction) -> float:
    """Return the chance that a triple gives to one word, 0..1.

    >>> chance_of((0.2, 0.3, 0.5), Prediction.BULLISH)
    0.5
    """
    return chances[ORDER.index(word)]


def confidence_percent(chances: Triple, word: Prediction) -> float:
    """Return the chance of the shown word in percent, one decimal.

    >>> confidence_percent((0.2, 0.3333, 0.4667), Prediction.BULLISH)
    46.7
    """
    return round(100 * chance_of(chances, word), 1)


def brier(chances: Triple, outcome: Prediction) -> float:
    """Return the three-class Brier score, 0 (certain and right) .. 2 (certain and wrong).

    It is the sum over the three outcomes of (chance - 1 if it came true, else chance - 0) squared.

    Source: G. W. Brier, Verification of forecasts expressed in terms of probability, 1950.

    >>> brier((0.0, 0.0, 1.0), Prediction.BULLISH), brier((1.0, 0.0, 0.0), Prediction.BULLISH)
    (0.0, 2.0)
    >>> round(brier((0.2, 0.3, 0.5), Prediction.BULLISH), 4)  # 0.2^2 + 0.3^2 + 0.5^2
    0.38
    """
    return _brier_e8(chances, outcome) / _E8


def _brier_e8(chances: Triple, outcome: Prediction) -> int:
    """Return the Brier score times 10^8; exact, because published chances are whole ten-thousandths."""
    score = 0
    for word, chance in zip(ORDER, chances, strict=True):
        came_true = 10_000 if word == outcome else 0
        score += (round(chance * 10_000) - came_true) ** 2
    return score


def log_score(chances: Triple, outcome: Prediction) -> float:
    """Return -ln of the chance given to what came true, 0..4.6052; smaller is better.

    Chances below 0.01 count as 0.01: otherwise one certain and wrong forecast would decide every mean.

    Source: I. J. Good, Rational decisions, 1952.

    >>> round(log_score((1 / 3, 1 / 3, 1 / 3), Prediction.NEUTRAL), 4)
    1.0986
    >>> round(log_score((1.0, 0.0, 0.0), Prediction.BULLISH), 4)
    4.6052
    """
    return -log(max(chance_of(chances, outcome), LOG_CLAMP))


@dataclass(frozen=True, slots=True)
class Sums:
    """Running sums over the cases of one kind; immutable, so that a rolled-back tick leaves them as they were."""

    predictions: int = 0
    resolved: int = 0
    void: int = 0
    hits: int = 0
    base_hits: int = 0  # of always naming the outcome that was most frequent before
    brier_e8: int = 0
    log_e9: int = 0
    base_rate_e8: int = 0
    persistence_e8: int = 0
    squares: int = 0  # sums over the hours whose forecasts move together: n squared, n x hits, hits squared
    products: int = 0
    hit_squares: int = 0
    bins: tuple[tuple[int, int, int], ...] = ((0, 0, 0),) * (len(BIN_EDGES) - 1)  # n, hits, tenths of confidence

    def added(self, case: Round | PredictionMade, sign: int = 1) -> Sums:
        """Add a case (sign 1) or take it out again (sign -1); cases without a forecast are skipped."""
        if case.probabilities is None or case.prediction is None or case.base_rate is None:
            return self
        outcome = case.outcome
        if outcome is None:
            is_void = case.void_reason is not None
            return _plus(self, predictions=sign, void=sign if is_void else 0)

        hit = int(case.prediction == outcome)
        most_frequent = ORDER[case.base_rate.index(max(case.base_rate))]

        confidence = confidence_percent(case.probabilities, case.prediction)
        index = bin_of(confidence)
        n, hits, tenths = self.bins[index]
        bins = list(self.bins)
        bins[index] = (n + sign, hits + sign * hit, tenths + sign * round(10 * confidence))

        return _plus(
            self,
            tuple(bins),
            predictions=sign,
            resolved=sign,
            hits=sign * hit,
            base_hits=sign * int(most_frequent == outcome),
            brier_e8=sign * _brier_e8(case.probabilities, outcome),
            log_e9=sign * round(log_score(case.probabilities, outcome) * _E9),
            base_rate_e8=sign * _brier_e8(case.base_rate, outcome),
            persistence_e8=sign * _persistence_e8(case.previous, outcome),
        )

    def together(self, n: int, hits: int) -> Sums:
        """Note that so many forecasts, already added, came due in the same hour and are no independent cases."""
        return _plus(self, squares=n * n, products=n * hits, hit_squares=hits * hits)

    @property
    def design_effect(self) -> float:
        """Return how many cases are worth one independent case.

        Source: L. Kish, Survey sampling, 1965: the variance of the rate over clusters, over that of as many independent
        cases.
        """
        n = self.resolved
        if not n:
            return 1.0
        if not self.squares or not 0 < self.hits < n:
            return max(1.0, self.squares / n)

        share = self.hits / n
        spread = self.hit_squares - 2 * share * self.products + share * share * self.squares
        return max(1.0, spread / (n * share * (1 - share)))


def _plus(sums: Sums, bins: tuple[tuple[int, int, int], ...] | None = None, **more: int) -> Sums:
    values: dict[str, Any] = {name: getattr(sums, name) + value for name, value in more.items()}
    return replace(sums, bins=sums.bins if bins is None else bins, **values)


def _persistence_e8(previous: Prediction | None, outcome: Prediction) -> int:
    """Brier of saying with certainty what came true last; even chances when nothing came true yet."""
    if previous is None:
        return round(UNIFORM_BRIER * _E8)
    return 0 if previous == outcome else 2 * _E8


def bin_of(confidence: float) -> int:
    """Return the bin of a published confidence in percent; an edge belongs to the bin above it, 100 to the last.

    >>> bin_of(34.9), bin_of(35.0), bin_of(100.0)
    (0, 1, 5)
    """
    return max(i for i, low in enumerate(BIN_EDGES[:-1]) if confidence >= low)


def track_record(kind: str, sums: Sums, *, warm_up: int = 0, backtest: bool = False) -> ForecastScores:
    """Work out the scores from the sums, which are of live play or of the `backtest`.

    Scores have 4 decimals; skill is computed from those, in percent with one decimal.

    Args:
        warm_up: how many more came due in the backtest, where the sums are of live play.
    """
    n = sums.resolved
    effect = sums.design_effect
    score = _mean(sums.brier_e8, _E8, n)
    baselines = {
        "uniform": round(UNIFORM_BRIER, 4) if n else None,
        "base_rate": _mean(sums.base_rate_e8, _E8, n),
        "persistence": _mean(sums.persistence_e8, _E8, n),
    }

    bins = []
    for low, high, (count, hits, tenths) in zip(BIN_EDGES[:-1], BIN_EDGES[1:], sums.bins, strict=True):
        hit = rate(hits, count, backtest=backtest, effect=effect) if count >= ENOUGH else None
        mean_confidence = round(tenths / 10 / count, 1) if count else None
        bins.append(Bin(low, high, count, hit, mean_confidence))

    return ForecastScores(
        kind=kind,
        predictions=sums.predictions,
        resolved=n,
        void=sums.void,
        warm_up=warm_up,
        hit=rate(sums.hits, n, backtest=backtest, effect=effect),
        brier=score,
        log_score=_mean(sums.log_e9, _E9, n),
        chance=rate(sums.base_hits, n, backtest=backtest),
        baselines=baselines,
        skill_percent={name: skill_percent(score, baseline) for name, baseline in baselines.items()},
        bins=tuple(bins),
    )


def skill_percent(score: float | None, baseline: float | None) -> float | None:
    """Return 100 x (1 - score / baseline), one decimal; None without cases or against a perfect baseline.

    >>> skill_percent(0.6, 0.6667), skill_percent(0.7, 0.6667), skill_percent(None, None)
    (10.0, -5.0, None)
    """
    if score is None or not baseline:
        return None
    return round(100 * (1 - score / baseline), 1) + 0.0


def _mean(total: int, scale: int, n: int) -> float | None:
    return round(total / scale / n, 4) if n else None
