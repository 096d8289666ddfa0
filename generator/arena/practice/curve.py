"""How a learner's scores develop: the mean of each block of answers, with a band."""

from collections.abc import Sequence
from math import sqrt
from typing import Final, NamedTuple

BLOCK: Final = 20
T_95_OF_19: Final = 1.729132811521367  # quantile of Student's t with 19 degrees of freedom


class Block(NamedTuple):
    """The mean of one block with its pointwise 90% band."""

    mean: float
    low: float
    high: float


def blocks(differences: Sequence[float]) -> list[Block]:
    """Return the mean of each full block of 20 differences: own score minus the base rate's, so below 0 is better.

    >>> blocks([0.5] * 45)
    [Block(mean=0.5, low=0.5, high=0.5), Block(mean=0.5, low=0.5, high=0.5)]
    """
    points: list[Block] = []
    for begin in range(0, len(differences) - BLOCK + 1, BLOCK):
        block = differences[begin : begin + BLOCK]
        mean = _sum(block) / BLOCK
        squares = _sum([(value - mean) * (value - mean) for value in block])
        reach = T_95_OF_19 * sqrt(squares / (BLOCK - 1) / BLOCK)
        points.append(Block(mean, mean - reach, mean + reach))
    return points


def _sum(values: Sequence[float]) -> float:
    """Add from left to right, as the browser does; `sum` of a later Python is more exact."""
    total = 0.0
    for value in values:
        total += value
    return total
