"""Proper scores of a learner's answers; smaller is better, and an honest answer has the smallest on average.

`site/assets/practice-scores.js` computes the same numbers in the browser.
"""

from collections.abc import Sequence
from math import log
from typing import Final

LEAST_CHANCE: Final = 0.01  # of the log score: otherwise one certain and wrong answer would decide every mean


def brier(chances: Sequence[float], came: int) -> float:
    """Return the Brier score over all outcomes, 0 (certain and right) .. 2 (certain and wrong).

    Args:
        chances: of each outcome, 0..1; they add to 1.
        came: which of them came true.

    Source: G. W. Brier, Verification of forecasts expressed in terms of probability, 1950.

    >>> round(brier((0.5, 0.3, 0.2), 0), 4)
    0.38
    """
    total = 0.0
    for place, chance in enumerate(chances):
        truth = 1.0 if place == came else 0.0
        total += (chance - truth) * (chance - truth)
    return total


def moved_brier(chance: float, *, moved: bool) -> float:
    """Return the Brier score of one chance, 0..1: half of what `brier` gives for the two outcomes.

    >>> moved_brier(0.8, moved=True) == (1 - 0.8) ** 2
    True
    """
    truth = 1.0 if moved else 0.0
    return (chance - truth) * (chance - truth)


def log_score(chance: float) -> float:
    """Return -ln of the chance that was given to what came true, 0..4.6052.

    Source: I. J. Good, Rational decisions, 1952.

    >>> round(log_score(0.5), 4), round(log_score(0.0), 4)
    (0.6931, 4.6052)
    """
    return -log(max(chance, LEAST_CHANCE))
