"""Every published rate is made here: counted cases, the share of them that came true, and its 95% interval.

A rate is of live play or of the backtest before it, never of both together. Below 30 cases people see the two counts,
and of a record below ten days or ten events no skill.
"""

from dataclasses import replace
from math import sqrt
from typing import Final

from generator.values.scores import NO_ROUNDS, Z_95, Estimate, Rate

ENOUGH: Final = 30  # cases, from which on a share says anything
SKILL_DAYS: Final = 10  # from which on a skill does
SKILL_EVENTS: Final = 10  # of either kind: what came, and what did not
_TAIL: Final = 0.025  # of each side of a 95% interval


def rate(hits: int, n: int, *, backtest: bool = False, effect: float = 1.0, resampled: Estimate | None = None) -> Rate:
    """Return the share of `hits` among `n` cases, in percent with one decimal.

    Args:
        backtest: whether the cases come from the backtest before the start; otherwise all of them are live.
        effect: how many of these cases are worth one independent case.
        resampled: share and interval in percent, found by leaving out blocks; otherwise the interval is Wilson's, and
            of none or all of the cases the exact one.
    """
    if n == 0:
        return replace(NO_ROUNDS, backtest=backtest)

    if resampled is not None:
        percent = _kept(resampled.value)
        return Rate(
            n=n,
            hits=hits,
            backtest=backtest,
            percent=percent,
            low_percent=_kept(resampled.low),
            high_percent=_kept(resampled.high),
        )

    # Cases that move together are worth fewer independent ones, which widens the interval.
    low, high = _wilson(hits / n, n / effect)
    percent = round(100 * (hits / n), 1)
    return Rate(
        n=n,
        hits=hits,
        backtest=backtest,
        percent=percent,
        low_percent=round(100 * low, 1),
        high_percent=round(100 * high, 1),
    )


def part(hits: int, n: int, weighed: float | None = None) -> Rate:
    """Return the share of `hits` in a whole of which every case was counted, such as a round's votes: no interval.

    Args:
        weighed: the share, 0..1, where some cases count for more than others; otherwise each counts once.
    """
    if n == 0:
        return NO_ROUNDS
    share_of_all = hits / n if weighed is None else weighed
    return replace(NO_ROUNDS, n=n, hits=hits, percent=round(100 * share_of_all, 1))


def enough_for_skill(days: int, events: int, n: int) -> bool:
    """Return whether a record is long enough to speak of skill: ten days, and ten cases that came and ten that did not.

    >>> enough_for_skill(10, 10, 20), enough_for_skill(9, 10, 20), enough_for_skill(10, 0, 308)
    (True, False, False)
    """
    return days >= SKILL_DAYS and SKILL_EVENTS <= events <= n - SKILL_EVENTS


def enough(of: Rate) -> bool:
    """Return whether there are cases enough to write a share of them; people see the counts of fewer."""
    return of.n >= ENOUGH


def shared(of: Rate) -> Rate:
    """Return a rate as it is published: below 30 cases without its share."""
    return of if enough(of) else replace(of, percent=None, low_percent=None, high_percent=None)


def share(of: Rate) -> str:
    """Write a rate that stands by itself: `42.1%`, `1 of 2`."""
    if not of.n:
        return "none yet"
    if enough(of):
        return f"{of.percent:.1f}%"
    return f"{of.hits:,} of {of.n:,}"


def counted(of: Rate, cases: str) -> str:
    """Write a rate and what was counted: `42.1% of 57 rounds`, `1 of 2 rounds`."""
    if enough(of):
        return f"{share(of)} of {of.n:,} {cases}"
    return f"{share(of)} {cases}"


def in_words(of: Rate) -> str:
    """Write a rate where the sentence has given n: the share with its interval, or the count: `1`."""
    if enough(of):
        return f"{share(of)}{_between(of)}"
    return f"{of.hits:,}"


def in_full(of: Rate) -> str:
    """Write a rate with its n and its interval: `42.1% of 57 (95% interval 30.2 to 55.0%)`, `1 of 2`."""
    if enough(of):
        return f"{share(of)} of {of.n:,}{_between(of)}"
    return share(of)


def _between(of: Rate) -> str:
    if of.low_percent is None:
        return ""
    return f" (95% interval {of.low_percent:.1f} to {of.high_percent:.1f}%)"


def _wilson(share: float, cases: float) -> tuple[float, float]:
    """Return the ends, 0..1, of the 95% interval of a share, 0..1, of so many independent cases.

    Source: E. B. Wilson, Probable inference, 1927, without continuity correction. Where none or all of the cases came,
    the exact limit: C. J. Clopper and E. S. Pearson, 1934.

    >>> low, high = _wilson(0.5, 100)
    >>> round(low, 4), round(high, 4)
    (0.4038, 0.5962)
    >>> low, high = _wilson(1.0, 14)
    >>> round(low, 4), high
    (0.7684, 1.0)
    """
    if share in {0.0, 1.0}:
        reach = 1.0 - _TAIL ** (1.0 / cases)
        return (0.0, reach) if share == 0.0 else (1.0 - reach, 1.0)

    z2 = Z_95**2
    centre = (share + z2 / (2 * cases)) / (1 + z2 / cases)
    half = Z_95 / (1 + z2 / cases) * sqrt(share * (1 - share) / cases + z2 / (4 * cases * cases))
    return max(0.0, centre - half), min(1.0, centre + half)


def _kept(percent: float | None) -> float | None:
    """Round an end of an interval; resampling may put it outside of 0 to 100."""
    if percent is None:
        return None
    return round(min(100.0, max(0.0, percent)), 1)
