"""Doubt in the data: which faults an asset shows now, and how far they lower the confidence in it.

The models cannot know that a source is hung or wrong: most of their inputs look as usual. A fault in one field is a
reason to trust the others less. Doubt makes no claim surer: it moves each chance towards its base rate and widens each
range, and from half doubt on nothing is forecast. How much is judgement, not a measured chance, and on data without a
fault nothing changes, not by a bit: what was measured of the confidence holds for such data.
"""

from typing import Final, NamedTuple

import numpy as np

from generator.brain.smoothing import DAY_BARS, HOUR_BARS
from generator.brain.volatility import IDLE_BARS
from generator.catalog.text import readings
from generator.market.bars import FloatArray

# How much of what is claimed a fault takes away.
_GONE: Final = 0.5
_MISSED: Final = 0.15  # for each bar that is missing now, up to `_GONE`
_FROZEN: Final = 0.6
_IDLE: Final = 0.15
_WILD: Final = 0.15
_LONE: Final = 0.15  # no other venue could outvote a bad print
_CAPPED: Final = 0.5  # at the jump, then less and less over a day
SILENT: Final = 0.5
"""The doubt from which on there is no forecast: no chances, ranges, ladder or partition."""
_NAMED: Final = 3  # assets that are named one by one


class Doubt(NamedTuple):
    """How far one asset's data is in doubt."""

    share: float  # 0 none, 1 wholly
    reasons: tuple[str, ...]  # sentences, one for each fault
    known: bool = True  # whether a price bar of it ever came


NONE: Final = Doubt(0.0, ())
UNSEEN: Final = Doubt(0.0, (), known=False)


def doubts(
    bars: FloatArray, age: FloatArray, capped: FloatArray, idle: FloatArray, odd: FloatArray, *, lone: FloatArray
) -> tuple[Doubt, ...]:
    """Return the doubt in every asset's data after the last bar.

    Args:
        bars: closes that counted, (assets,).
        age: bars since the last close, (assets,).
        capped: bars until a capped jump is forgotten, (assets,).
        idle: 1 where the source is stuck, and bars in a row without a trade, (2, assets).
        odd: 1 where funding may be a fault, (assets,).
        lone: 1 where one venue alone gives the price, (assets,).
    """
    stuck, without_trade = idle
    is_faulty = (age != 0.0) | (capped != 0.0) | (odd != 0.0) | (stuck != 0.0) | (lone != 0.0)
    is_faulty |= without_trade >= IDLE_BARS
    every = [NONE if seen else UNSEEN for seen in bars.tolist()]
    for column in np.flatnonzero(is_faulty & (bars > 0.0)).tolist():
        every[column] = _doubt(*(float(row[column]) for row in (age, capped, odd, *idle, lone)))
    return tuple(every)


def _doubt(age: float, capped: float, odd: float, stuck: float, idle: float, lone: float) -> Doubt:  # noqa: PLR0917
    """Return the doubt in one asset's data; faults add up as independent chances do: 1 - (1 - a)(1 - b)."""
    faults = []
    if stuck:
        faults.append((_FROZEN, readings.FROZEN))
    elif age:
        reason = readings.LAST_MISSING if age <= HOUR_BARS else readings.STALE
        faults.append((min(_MISSED * age, _GONE), reason))
    if capped:
        faults.append((_CAPPED * capped / DAY_BARS, readings.CAPPED))
    if idle >= IDLE_BARS:
        faults.append((_IDLE, readings.NO_TRADES))
    if odd:
        faults.append((_WILD, readings.WILD_FUNDING))
    if lone:
        faults.append((_LONE, readings.ONE_VENUE))
    if not faults:
        return NONE

    sound = 1.0
    for share, _ in faults:
        sound *= 1.0 - share
    return Doubt(share=1.0 - sound, reasons=tuple(reason for _, reason in faults))


def overall(every: tuple[Doubt, ...]) -> float:
    """Return the doubt in the market's data: the mean over the assets that ever came.

    >>> overall((Doubt(0.5, ("its price is stuck",)), NONE, UNSEEN))
    0.25
    """
    shares = [doubt.share for doubt in every if doubt.known]
    return sum(shares) / len(shares) if shares else 0.0


def less_sure(chance: FloatArray, base: FloatArray, share: FloatArray) -> FloatArray:
    """Return chances moved towards their base rates by the doubt in each asset, (..., assets).

    >>> less_sure(np.array([0.1, 0.8]), np.array([0.3, 0.4]), np.array([0.25, 0.25])).round(2).tolist()
    [0.15, 0.7]
    """
    if not np.count_nonzero(share):
        return chance
    out: FloatArray = chance + (base - chance) * share
    return out


def wider(reach: FloatArray, share: FloatArray) -> FloatArray:
    """Return how far ranges reach, wider by the doubt in each asset, (..., assets).

    >>> wider(np.array([0.01, 0.01]), np.array([0.0, 0.25])).tolist()
    [0.01, 0.0125]
    """
    out: FloatArray = reach * (1.0 + share)
    return out


def named(every: tuple[Doubt, ...], assets: tuple[str, ...]) -> list[str]:
    """Name for the market which assets have which fault; a missing price is named elsewhere.

    >>> stuck = Doubt(0.6, ("the price stands still",))
    >>> named((stuck, NONE, stuck), ("A", "B", "C"))
    ['A, C: the price stands still']
    """
    reasons = dict.fromkeys(reason for doubt in every for reason in doubt.reasons)
    reasons.pop(readings.STALE, None)

    sentences = []
    for reason in reasons:
        faulty = [name for name, doubt in zip(assets, every, strict=True) if reason in doubt.reasons]
        if len(faulty) == len(assets):
            sentences.append(reason)
        elif len(faulty) <= _NAMED:
            sentences.append(f"{', '.join(faulty)}: {reason}")
        else:
            sentences.append(f"{len(faulty)} of {len(assets)} assets: {reason}")
    return sentences
