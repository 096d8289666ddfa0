"""Values of a test that are there."""

from typing import TypeVar

from generator.values.scores import Rate

T = TypeVar("T")


def known(value: T | None) -> T:
    """Return a value that a test expects to be known."""
    assert value is not None
    return value


def rate_of(
    hits: int, n: int, percent: float | None = None, low: float | None = None, high: float | None = None
) -> Rate:
    """Return a live rate of `hits` among `n` cases, with what its share and its interval are said to be."""
    return Rate(n=n, hits=hits, backtest=False, percent=percent, low_percent=low, high_percent=high)
