"""The ladder: how likely the price moves beyond a level, at the end of a horizon and on the way to it.

All of it follows from the expected sigma of a move and the kept law of moves over their sigma; a normal curve is not
used. Either side is taken for as likely as the other: which way a move goes is not known. The partition cuts the next
four hours into three by the same law: up, down, or within the middle third of the last week's moves. All levels,
horizons and assets are read off in one interpolation and stay an array until someone asks for a level.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import isfinite
from typing import Final, NamedTuple

import numpy as np

from generator.brain.columns import Columns
from generator.brain.doubt import less_sure
from generator.brain.forecast import in_units
from generator.brain.outlook import EDGES
from generator.catalog.horizons import HORIZONS
from generator.market.bars import FloatArray
from generator.values.chances import Probabilities, SideChances

LEAST: Final = 0.001
"""The smallest chance that is published: a smaller one is at most this, and one of more than 0.999 at least that."""
PARTS: Final = 1000  # a chance of the partition is a whole number of these: percent with one decimal
_DECIMALS: Final = 4


class MoveLaw(NamedTuple):
    """How moves over one horizon come out against their sigma: chances to stay below each of `EDGES`, (bins + 1,).

    An array of them, (3, bins + 1), says the same.
    """

    end: FloatArray  # of the size of the move
    farther: FloatArray  # of how far the price went on the way, to the side to which it went farther
    nearer: FloatArray  # to the other side


Laws = FloatArray | Sequence[MoveLaw]
"""Of the horizons, as an array (horizons, 3, bins + 1)."""


class LevelChances(NamedTuple):
    """One level of a ladder."""

    level: float  # of the move, percent
    end: SideChances  # the price at the end of the horizon lies beyond the level
    touch: SideChances  # a bar's high or low reaches it before


class Partition(NamedTuple):
    """The next four hours, cut into up, down and within the middle third."""

    band: float  # half-width of the middle third, as a fraction
    chances: Probabilities  # as published, they sum to 1
    base_rate: Probabilities  # likewise


class Ladder(Mapping[str, tuple[LevelChances, ...]]):
    """One asset's levels by horizon, the smallest first, each made when it is asked for."""

    __slots__ = ("_chances",)

    def __init__(self, chances: FloatArray) -> None:
        """Take chances before they are rounded, (2 kinds, 3 sides, 4 horizons, 4 levels)."""
        self._chances = chances

    def __getitem__(self, horizon: str) -> tuple[LevelChances, ...]:
        """Return the levels of a horizon; KeyError of an unknown one."""
        levels = HORIZONS[horizon].levels
        sides = _sides(self._chances[:, :, _PLACES[horizon]])
        return tuple(LevelChances(level, *kinds) for level, kinds in zip(levels, sides, strict=True))

    def __iter__(self) -> Iterator[str]:
        """Give the horizons, the shortest first."""
        return iter(HORIZONS)

    def __len__(self) -> int:
        """Return how many horizons there are."""
        return len(HORIZONS)


_PLACES: Final = {name: place for place, name in enumerate(HORIZONS)}
_LEVELS: Final = np.array([horizon.levels for horizon in HORIZONS.values()]) / 100.0
_SHARED: Final = tuple(np.nonzero(shorter[:, None] == longer) for shorter, longer in pairwise(_LEVELS))
"""Places of the levels that a horizon shares with the shorter one: in the shorter one's, then in its own."""


def ladders(
    sigma: FloatArray, laws: Laws, usual: FloatArray | None = None, doubt: FloatArray | None = None
) -> Columns[Ladder]:
    """Return the ladder of each asset.

    Args:
        sigma: expected of log moves over the horizons, (4, assets).
        laws: of the horizons.
        usual: sigma of the last week, to which doubt moves the chances, (4, assets); None: there is no doubt.
        doubt: share of it in each asset, (assets,).

    >>> size = EDGES / EDGES[-1]
    >>> [first] = ladders(np.full((4, 1), 0.01), [MoveLaw(size, size, size)] * 4)
    >>> first["24h"][-1].end  # ten percent is about ten sigmas of twelve
    SideChances(above=0.1029, below=0.061, either=0.1639)
    """
    chances = ladder_chances(sigma, laws)
    if usual is not None and doubt is not None and np.count_nonzero(doubt):
        chances = less_sure(chances, ladder_chances(usual, laws), doubt)
    return Columns(chances.shape[-1], lambda column: Ladder(chances[..., column]))


def ladder_chances(sigma: FloatArray, laws: Laws) -> FloatArray:
    """Return the chances of every level, before they are rounded; arguments as for `ladders`.

    A level is passed over a horizon no less likely than over the shorter one, at the end as on the way.

    Returns:
        Of the end and of the way to it: above, below and either, (2, 3, 4 horizons, 4 levels, assets).
    """
    chances = level_chances(_LEVELS[..., None], sigma[:, None], laws)
    for horizon, (shorter, here) in enumerate(_SHARED, 1):
        before = chances[:, :, horizon - 1, shorter]
        chances[:, :, horizon, here] = np.maximum(chances[:, :, horizon, here], before)
    chances[0, 2] = chances[0, 0] + chances[0, 1]
    return chances


def level_chances(move: FloatArray, sigma: FloatArray, laws: Laws) -> FloatArray:
    """Return the chances of a move beyond some levels, before they are rounded.

    Args:
        move: the levels as fractions, (horizons, ...), to broadcast with `sigma`.
        sigma: expected of the log move, (horizons, ...).
        laws: of moves over their sigma, of the horizons.

    Returns:
        Of the end and of the way to it: up, down and either, (2, 3, horizons, ...).
    """
    sizes = np.array((np.log1p(move) / sigma, -np.log1p(-move) / sigma))
    end, far, near = _beyond(np.asarray(laws).swapaxes(0, 1), sizes)
    out = np.empty((2, 3, *end.shape[1:]))

    np.multiply(end, 0.5, out=out[0, :2])
    np.add(out[0, 0], out[0, 1], out=out[0, 2])

    # What ends beyond a level has touched it, though the two laws are learned apart.
    np.multiply(far + near, 0.5, out=out[1, :2])
    np.maximum(0.5 * (far[0] + far[1]), np.maximum(out[1, 0], out[1, 1]), out=out[1, 2])
    np.maximum(out[1], out[0], out=out[1])
    return out


def partition_chances(band: FloatArray, sigma: FloatArray, law: MoveLaw | FloatArray) -> FloatArray:
    """Return the chances of down, within the band and up at the end of a horizon, in whole thousandths, (3, ...).

    Args:
        band: half-width as a fraction, NaN where unknown.
        sigma: expected of the log move.
        law: of moves over their sigma.

    >>> size = EDGES / EDGES[-1]
    >>> partition_chances(np.array([0.03]), np.array([0.01]), MoveLaw(size, size, size)).ravel().tolist()
    [373.0, 250.0, 377.0]
    """
    return in_units(_thirds(band, sigma, law), PARTS)


def _thirds(band: FloatArray, sigma: FloatArray, law: MoveLaw | FloatArray) -> FloatArray:
    """Return what `partition_chances` does before it is rounded."""
    up, down, either = level_chances(band[None], sigma[None], np.array(law)[None])[0, :, 0]
    return np.array((down, 1.0 - either, up))


def partitions(
    band: FloatArray,
    sigma: FloatArray,
    law: MoveLaw | FloatArray,
    base_rate: FloatArray,
    doubt: FloatArray | None = None,
) -> Columns[Partition | None]:
    """Return the partition of each asset, None where its band is unknown.

    Args:
        band, sigma, law: as for `partition_chances`, of the assets.
        base_rate: of down, within the band and up, (3, assets).
        doubt: share of it in each asset, (assets,); None: there is none.
    """
    thirds = _thirds(band, sigma, law)
    chances = in_units(thirds if doubt is None else less_sure(thirds, base_rate, doubt), PARTS) / PARTS
    usual = in_units(base_rate, PARTS) / PARTS

    def partition(column: int) -> Partition | None:
        said = chances[:, column].tolist()
        if not all(isfinite(chance) for chance in said):
            return None
        return Partition(float(band[column]), Probabilities(*said), Probabilities(*usual[:, column].tolist()))

    return Columns(len(band), partition)


def _beyond(laws: FloatArray, sizes: FloatArray) -> FloatArray:
    """Return the chance that what each law is of comes out larger than so many sigmas, (3 kinds, 2, horizons, ...).

    It is one minus what `np.interp` gives, with the places in `EDGES` looked up once for all laws.

    Args:
        laws: (3 kinds, horizons, edges).
        sizes: in sigmas, up and down, (2, horizons, ...).
    """
    left = np.searchsorted(EDGES, sizes.ravel(), side="right").reshape(sizes.shape)
    left -= 1
    np.minimum(left, len(EDGES) - 2, out=left)
    share = np.minimum((sizes - EDGES[left]) / (EDGES[left + 1] - EDGES[left]), 1.0)

    places = left + len(EDGES) * np.arange(sizes.shape[1]).reshape(-1, *(1,) * (sizes.ndim - 2))
    flat = laws.reshape(len(laws), -1)
    low = np.take(flat, places, axis=1)
    out: FloatArray = np.take(flat, places + 1, axis=1)
    out -= low
    out *= share
    out += low
    return np.subtract(1.0, out, out=out)


def _sides(chances: FloatArray) -> list[list[SideChances]]:
    """Return chances as they are published, (levels, 2), from (2, 3, levels)."""
    held = np.round(np.clip(chances, LEAST, 1.0 - LEAST), _DECIMALS)
    return [[SideChances(*side) for side in level] for level in held.transpose(2, 0, 1).tolist()]
