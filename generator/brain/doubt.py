"""Doubt in the data: which faults an asset shows now, and how far they lower the confidence in it.

The models cannot know that a source is stuck, hung or wrong: most of their inputs look as usual. A fault in one
field is a reason to trust the others less. How much less is judgement, not a measured chance, and on data without a
fault nothing changes, not by a bit: what was measured of the confidence holds for such data.
"""

from dataclasses import replace
from typing import Final, NamedTuple

from generator.brain.forecast import Forecast, OutcomeChances
from generator.brain.smoothing import DAY_BARS, HOUR_BARS
from generator.brain.volatility import IDLE_BARS, STILL_BARS
from generator.catalog.text import readings
from generator.catalog.words import Prediction
from generator.market.bars import FloatArray

# How much of what is claimed a fault takes away.
_GONE: Final = 0.5
_MISSED: Final = 0.15  # for each bar that is missing now, up to `_GONE`
_FROZEN: Final = 0.6
_IDLE: Final = 0.15
_WILD: Final = 0.15
_CAPPED: Final = 0.5  # at the jump, then less and less over a day
_EVEN: Final = 0.25  # of four regimes
_NAMED: Final = 3  # assets that are named one by one


class Doubt(NamedTuple):
    """How far one asset's data is in doubt."""

    share: float  # 0 none, 1 wholly
    reasons: tuple[str, ...]  # sentences, one for each fault
    known: bool = True  # whether a price bar of it ever came


NONE: Final = Doubt(0.0, ())
UNSEEN: Final = Doubt(0.0, (), known=False)


def doubts(
    bars: FloatArray, age: FloatArray, capped: FloatArray, idle: FloatArray, odd: FloatArray
) -> tuple[Doubt, ...]:
    """Return the doubt in every asset's data after the last bar.

    Args:
        bars: closes that counted; age: bars since the last close; all (assets,).
        capped: bars until a capped jump is forgotten.
        idle: bars in a row without a move, and without a trade, (2, assets).
        odd: 1 where funding may be a fault.
    """
    columns = zip(*(column.tolist() for column in (bars, age, capped, odd, *idle)), strict=True)
    return tuple(_doubt(*faults) if seen else UNSEEN for seen, *faults in columns)


def _doubt(age: float, capped: float, odd: float, still: float, idle: float) -> Doubt:
    """Return the doubt in one asset's data; faults add up as independent chances do."""
    found = []
    if age:
        fresh = age <= HOUR_BARS
        found.append((min(_MISSED * age, _GONE), readings.LAST_MISSING if fresh else readings.STALE))
    if capped:
        found.append((_CAPPED * capped / DAY_BARS, readings.CAPPED))
    if still >= STILL_BARS:
        found.append((_FROZEN, readings.FROZEN))
    if idle >= IDLE_BARS:
        found.append((_IDLE, readings.NO_TRADES))
    if odd:
        found.append((_WILD, readings.WILD_FUNDING))
    sound = 1.0
    for share, _ in found:
        sound *= 1.0 - share
    return Doubt(1.0 - sound, tuple(reason for _, reason in found)) if found else NONE


def overall(every: tuple[Doubt, ...]) -> float:
    """Return the doubt in the market's data: the mean over the assets that ever came."""
    shares = [one.share for one in every if one.known]
    return sum(shares) / len(shares) if shares else 0.0


def doubted_chance(chance: float, share: float) -> float:
    """Return a regime's chance, moved towards an even one of four by the doubt."""
    return _EVEN + (chance - _EVEN) * (1.0 - share) if share else chance


def doubted(forecast: Forecast, share: float) -> Forecast:
    """Return a forecast that claims no direction; what its neutral class loses goes to the two others alike."""
    if not share:
        return forecast
    chances = forecast.probabilities
    lost = chances.neutral * share
    less = OutcomeChances(chances.down + 0.5 * lost, chances.neutral - lost, chances.up + 0.5 * lost)
    return replace(forecast, probabilities=less, prediction=Prediction.NEUTRAL)


def named(every: tuple[Doubt, ...], assets: tuple[str, ...]) -> list[str]:
    """Name for the market which assets have which fault; a missing price is named elsewhere."""
    out = []
    for reason in dict.fromkeys(reason for one in every for reason in one.reasons if reason != readings.STALE):
        whose = [name for name, one in zip(assets, every, strict=True) if reason in one.reasons]
        who = ", ".join(whose) if len(whose) <= _NAMED else f"{len(whose)} of {len(assets)} assets"
        out.append(reason if len(whose) == len(assets) else f"{who}: {reason}")
    return out
