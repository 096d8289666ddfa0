"""The ladder: how likely the price moves beyond a level, at the end of a horizon and on the way to it.

All of it follows from the expected sigma of a move and the kept law of moves over their sigma; a normal curve is not
used. Either side is taken for as likely as the other: which way a move goes is not known. The partition cuts the next
four hours into three by the same law: up, down, or within the usual move.
"""

from math import isfinite
from typing import Final, NamedTuple

import numpy as np

from generator.brain.forecast import OutcomeChances, in_units
from generator.brain.outlook import EDGES
from generator.catalog.horizons import HORIZONS
from generator.market.bars import FloatArray

LEAST: Final = 0.001
"""The smallest chance that is published: a smaller one is at most this, and one of more than 0.999 at least that."""
PARTITION_HORIZON: Final = "4h"
PARTS: Final = 1000  # a chance of the partition is a whole number of these: percent with one decimal
_DECIMALS: Final = 4


class MoveLaw(NamedTuple):
    """How moves over one horizon come out against their sigma: chances to stay below each of `EDGES`, (bins + 1,)."""

    end: FloatArray  # of the size of the move
    farther: FloatArray  # of how far the price went on the way, to the side to which it went farther
    nearer: FloatArray  # to the other side


class SideChances(NamedTuple):
    """Chances of a move beyond a level, as published, 0.001 to 0.999."""

    above: float
    below: float
    either: float
    at_most: bool  # one that reads 0.001 is less
    at_least: bool  # one that reads 0.999 is more


class LevelChances(NamedTuple):
    """One level of a ladder."""

    level: float  # of the move, percent
    end: SideChances  # the price at the end of the horizon lies beyond the level
    touch: SideChances  # a bar's high or low reaches it before


class Partition(NamedTuple):
    """The next four hours, cut into up, down and within the usual move."""

    band: float  # half-width of the usual move, as a fraction
    chances: OutcomeChances  # as published, they sum to 1
    base_rate: OutcomeChances  # likewise


Ladder = dict[str, tuple[LevelChances, ...]]
"""Levels by horizon, the smallest first."""


def ladders(sigma: FloatArray, laws: list[MoveLaw]) -> list[Ladder]:
    """Return the ladder of each asset.

    Args:
        sigma: expected of log moves over the horizons, (4, assets).
        laws: of the horizons.

    >>> size = EDGES / EDGES[-1]
    >>> [first] = ladders(np.full((4, 1), 0.01), [MoveLaw(size, size, size)] * 4)
    >>> first["24h"][-1].end  # ten percent is about ten sigmas of twelve
    SideChances(above=0.1029, below=0.061, either=0.1639, at_most=False, at_least=False)
    """
    every = [_levels(horizon.levels, *each) for horizon, *each in zip(HORIZONS.values(), sigma, laws, strict=True)]
    assets = range(sigma.shape[1])
    return [dict(zip(HORIZONS, (levels[asset] for levels in every), strict=True)) for asset in assets]


def _levels(levels: tuple[float, ...], sigma: FloatArray, law: MoveLaw) -> list[tuple[LevelChances, ...]]:
    """Return the levels of one horizon for each asset; arguments as for `ladders`, of the horizon."""
    chances = level_chances(np.array(levels)[:, None] / 100.0, sigma, law)
    return [
        tuple(LevelChances(level, *sides) for level, sides in zip(levels, of_asset, strict=True))
        for of_asset in _sides(chances)
    ]


def level_chances(move: FloatArray, sigma: FloatArray, law: MoveLaw) -> FloatArray:
    """Return the chances of a move beyond some levels, before they are rounded.

    Args:
        move: the levels as fractions, to broadcast with `sigma`.
        sigma: expected of the log move.
        law: of moves over their sigma.

    Returns:
        Of the end and of the way to it: up, down and either, (2, 3, ...).
    """
    up = np.log1p(move) / sigma
    down = -np.log1p(-move) / sigma

    end_up = 0.5 * _beyond(law.end, up)
    end_down = 0.5 * _beyond(law.end, down)
    end = np.array((end_up, end_down, end_up + end_down))

    # What ends beyond a level has touched it, though the two laws are learned apart.
    far_up = _beyond(law.farther, up)
    far_down = _beyond(law.farther, down)
    touch_up = 0.5 * (far_up + _beyond(law.nearer, up))
    touch_down = 0.5 * (far_down + _beyond(law.nearer, down))
    either = np.maximum(0.5 * (far_up + far_down), np.maximum(touch_up, touch_down))
    touch = np.maximum(np.array((touch_up, touch_down, either)), end)
    return np.array((end, touch))


def partition_chances(band: FloatArray, sigma: FloatArray, law: MoveLaw) -> FloatArray:
    """Return the chances of down, within the band and up at the end of a horizon, in whole thousandths, (3, ...).

    Args:
        band: half-width as a fraction, NaN where unknown.
        sigma: expected of the log move.
        law: of moves over their sigma.

    >>> size = EDGES / EDGES[-1]
    >>> partition_chances(np.array([0.03]), np.array([0.01]), MoveLaw(size, size, size)).ravel().tolist()
    [373.0, 250.0, 377.0]
    """
    up, down, either = level_chances(band, sigma, law)[0]
    return in_units(np.array((down, 1.0 - either, up)), PARTS)


def partitions(band: FloatArray, sigma: FloatArray, law: MoveLaw, base_rate: FloatArray) -> list[Partition | None]:
    """Return the partition of each asset, None where its band is unknown.

    Args:
        band, sigma, law: as for `partition_chances`, of the assets.
        base_rate: of down, within the band and up, (3, assets).
    """
    chances = partition_chances(band, sigma, law) / PARTS
    usual = in_units(base_rate, PARTS) / PARTS
    found: list[Partition | None] = []
    for width, said, base in zip(band.tolist(), chances.T.tolist(), usual.T.tolist(), strict=True):
        is_known = all(isfinite(chance) for chance in said)
        found.append(Partition(width, OutcomeChances(*said), OutcomeChances(*base)) if is_known else None)
    return found


def _beyond(law: FloatArray, sizes: FloatArray) -> FloatArray:
    """Return the chance that what a law is of comes out larger than so many sigmas."""
    return np.asarray(1.0 - np.interp(sizes, EDGES, law))


def _sides(chances: FloatArray) -> list[list[list[SideChances]]]:
    """Return chances as they are published, (assets, levels, 2), from (2, 3, levels, assets)."""
    held = np.round(np.clip(chances, LEAST, 1.0 - LEAST), _DECIMALS)
    at_most = chances.min(axis=1) < LEAST
    at_least = chances.max(axis=1) > 1.0 - LEAST
    columns = (*held.swapaxes(0, 1), at_most, at_least)
    by_asset = zip(*(column.transpose(2, 1, 0).tolist() for column in columns), strict=True)
    return [
        [[SideChances(*side) for side in zip(*level, strict=True)] for level in zip(*asset, strict=True)]
        for asset in by_asset
    ]
