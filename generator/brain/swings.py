"""How rough the next four hours look against the whole kept record: calm, normal, elevated or extreme, kept a while.

By two ranks, see `record`: of the next four hours' expected volatility and of the last day's realised one. Nothing is
calm within twelve hours of an hour that moved four usual hours, U1, or more. People read calm, normal, rough, wild.
"""

from typing import ClassVar, Final

import numpy as np

from generator.brain.moves import HOUR, Moves
from generator.brain.part import Part
from generator.brain.record import DAY_MOVE, EXPECTED, Record
from generator.brain.shown import taken
from generator.brain.smoothing import HOUR_BARS, Flags, ages
from generator.catalog.words import VolatilityWord
from generator.market.bars import FloatArray

WORDS: Final = (
    VolatilityWord.CALM,
    VolatilityWord.NORMAL,
    VolatilityWord.ELEVATED,
    VolatilityWord.EXTREME,
    VolatilityWord.UNKNOWN,
)
CALM, NORMAL, ROUGH, WILD, UNKNOWN = range(len(WORDS))
_STEPS: Final = np.array((0.0, 0.0, 1.0, 1.0, 2.0))
FEWEST_HOURS: Final = 3 * 24  # on record, before anything is ranked
_WAIT: Final = 2 * HOUR_BARS
_QUIET_BARS: Final = 12 * HOUR_BARS
_LARGE_HOUR: Final = 4.0  # usual hours

# Ranks at which a word is entered, and down to which (calm: up to which) it is kept.
_WILD: Final = (0.97, 0.90)
_ROUGH: Final = (0.80, 0.60)
_CALM: Final = (0.25, 0.45)
_SHOWN: Final = np.arange(len(WORDS))[:, None, None]
_WILD_FROM: Final = np.where(_SHOWN == WILD, _WILD[1], _WILD[0])
_ROUGH_FROM: Final = np.where((_SHOWN == ROUGH) | (_SHOWN == WILD), _ROUGH[1], _ROUGH[0])
_CALM_FROM: Final = np.where(_SHOWN == CALM, _CALM[1], _CALM[0])
# Ranks of the next hours that move a word without waiting.
_ROUGH_AT_ONCE: Final = 0.85
_NOT_CALM_AT_ONCE: Final = 0.50
_NOT_WILD_AT_ONCE: Final = 0.80
_NOT_ROUGH_AT_ONCE: Final = 0.45


class Swings(Part):
    """The word of each asset and, in the last column, of the market."""

    STATE: ClassVar[tuple[str, ...]] = ("word", "waited", "large_ago")

    def __init__(self, columns: int) -> None:
        """Start knowing none."""
        super().__init__()
        self.word = np.full(columns, float(UNKNOWN))  # index of `WORDS`
        self.waited = np.zeros(columns)  # bars for which another one has been the candidate
        self.large_ago = np.full(columns, 1e6)  # bars since an hour of four usual hours ended

    def update(self, moves: Moves, record: Record, steps: FloatArray) -> None:
        """Take a block of bars that the others have taken; `steps` are the bars from each to the one before."""
        with np.errstate(invalid="ignore"):
            is_large = np.abs(moves.moves[HOUR]) >= _LARGE_HOUR * record.usual[HOUR]
            self.large_ago = ages(self.large_ago, is_large, steps)
            candidate, at_once = _candidates(record, self.large_ago < _QUIET_BARS)
        self.word, self.waited = taken(self.word, self.waited, candidate, at_once, _WAIT)

    def steps(self) -> FloatArray:
        """Return 0 where the word is calm or normal, 1 elevated or extreme, 2 unknown, shaped as `word`."""
        return _STEPS[self.word.astype(np.int64)]

    def words(self) -> list[VolatilityWord]:
        """Return the word of each asset and, last, of the market after the last bar."""
        return [WORDS[int(word)] for word in self.word.tolist()]


def _candidates(record: Record, was_large: Flags) -> tuple[FloatArray, Flags]:
    """Return the word that each bar would have with each word shown, and whether at once, (5, n, columns)."""
    coming, day = record.rank
    larger = np.maximum(coming, day)
    is_unknown = ~np.isfinite(larger) | (record.count[EXPECTED] < FEWEST_HOURS) | (record.count[DAY_MOVE] < 1.0)

    is_calm = (larger < _CALM_FROM) & ~was_large
    word = np.where(coming >= _ROUGH_FROM, ROUGH, np.where(is_calm, CALM, NORMAL))
    word = np.where(coming >= _WILD_FROM, WILD, word)
    candidate = np.where(is_unknown, UNKNOWN, word)
    at_once = is_unknown | ((word > _SHOWN) & (coming >= _WILD[0]))
    at_once[CALM] |= was_large | (larger >= _NOT_CALM_AT_ONCE)
    at_once[NORMAL] |= coming >= _ROUGH_AT_ONCE
    at_once[WILD] |= coming < _NOT_WILD_AT_ONCE
    at_once[ROUGH] |= coming < _NOT_ROUGH_AT_ONCE
    at_once[UNKNOWN] = True
    return candidate, at_once
