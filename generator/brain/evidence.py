"""Facts of one asset, each with the way it points, and how many point the way that is called; nothing is weighed."""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from generator.brain.derivatives import BUILDING, STATES, UNAVAILABLE, Pressures
from generator.brain.forecast import DOWN, NONE, SMALL_MOVE, UP
from generator.catalog.text import labels
from generator.catalog.words import Points, Side
from generator.market.bars import FloatArray
from generator.values.market import BreadthCounts

FAMILIES: Final = ("hours", "day", "week", "breadth", "volume", "funding", "interest", "liquidity")
_SPANS: Final = ("hours", "day", "week")
_BREADTH: Final = FAMILIES.index("breadth")
_BOOK: Final = FAMILIES.index("liquidity")
_CALLED: Final = {UP: 1, SMALL_MOVE: 0, DOWN: -1, NONE: None}
_POINTS: Final = {1: Points.UP, 0: Points.FLAT, -1: Points.DOWN, None: None}
_MOVED: Final = 0.5  # of a usual move: a smaller one points nowhere
_BUSY: Final = 1.5  # of the week's mean day: a smaller volume points nowhere


@dataclass(frozen=True, slots=True)
class Evidence:
    """One fact in words, and how it bears on the call."""

    family: str  # of `FAMILIES`
    side: Side
    points: Points | None  # None where it is not known
    text: str


class Facts:
    """The facts of every asset: the way each points, and its sentence when an asset is asked for."""

    def __init__(  # noqa: PLR0917
        self,
        moves: FloatArray,
        usual: FloatArray,
        breadth: int | None,
        volume: FloatArray,
        pressures: Pressures,
        book: FloatArray,
    ) -> None:
        """Take what they are made from.

        Args:
            moves: over three hours, a day and a week, fractions, NaN where unknown, (3, assets).
            usual: median size of moves as long, likewise.
            breadth: see `breadth_lean`.
            volume: the day's over the week's mean day, NaN where unknown, (assets,).
            pressures: the futures of each asset.
            book: lean of the order book: 1 to bids, 0 even, -1 to asks, NaN where unknown, (assets,).
        """
        moved = moved_leans(moves, usual)
        day = moved[_SPANS.index("day")]
        rows = (
            *moved,
            np.full(len(volume), np.nan if breadth is None else breadth),
            volume_leans(volume, day),
            pressures.leans,
            interest_leans(pressures.shown_states, day),
            book,
        )
        self._leans = np.array(rows)
        self._known = np.add.reduce(np.isfinite(self._leans))
        self._moves = moves
        self._volume = volume
        self._pressures = pressures

    def agreement(self, calls: FloatArray) -> FloatArray:
        """Return the share of each asset's known facts that points the way that is called, NaN without a call."""
        called = np.where(calls == SMALL_MOVE, 0.0, np.where(calls == NONE, np.nan, calls))
        agreeing = np.add.reduce(self._leans == called)
        return np.where(np.isfinite(called) & (self._known > 0), agreeing / np.maximum(self._known, 1), np.nan)

    def coverage(self) -> FloatArray:
        """Return the share of the facts that is known of each asset."""
        out: FloatArray = self._known / len(FAMILIES)
        return out

    def of(self, column: int, call: float) -> tuple[Evidence, ...]:
        """Return the facts of one asset in words; without a call no fact is for or against."""
        leans = [None if math.isnan(lean) else int(lean) for lean in self._leans[:, column].tolist()]
        moves = zip(_SPANS, self._moves[:, column].tolist(), strict=True)
        volume = float(self._volume[column])
        derivatives = STATES[self._pressures.shown_states[column]]
        texts = (
            *(labels.moved_text(name, move) for name, move in moves),
            labels.BREADTH[leans[_BREADTH]],
            labels.volume_text(None if math.isnan(volume) else volume),
            labels.funding_text(derivatives),
            labels.interest_text(derivatives),
            labels.BOOK[leans[_BOOK]],
        )

        called = _CALLED[call]
        return tuple(
            Evidence(family, _side(lean, called), _POINTS[lean], text)
            for family, lean, text in zip(FAMILIES, leans, texts, strict=True)
        )


def moved_leans(moves: FloatArray, usual: FloatArray) -> FloatArray:
    """Return 1 up, -1 down by half a usual move at least, 0 by less; NaN where it is not known.

    >>> moved_leans(np.array([0.011, 0.009, -0.03, np.nan]), np.full(4, 0.02)).tolist()
    [1.0, 0.0, -1.0, nan]
    """
    way = np.where(moves > 0.0, 1.0, -1.0)
    lean = np.where(np.abs(moves) < _MOVED * usual, 0.0, way)
    return np.where(np.isfinite(moves), lean, np.nan)


def breadth_lean(counts: BreadthCounts) -> int | None:
    """Return 1 where two thirds of the known assets are up over the day, -1 where they are down; None with none known.

    >>> [breadth_lean(BreadthCounts(up, 7 - up, 0)) for up in (5, 4, 2)]
    [1, 0, -1]
    """
    if not counts.known:
        return None
    if 3 * counts.up >= 2 * counts.known:
        return 1
    if 3 * counts.down >= 2 * counts.known:
        return -1
    return 0


def volume_leans(ratio: FloatArray, day: FloatArray) -> FloatArray:
    """Return the way of the day's move where more was traded than usual, 0 where not; NaN where that is not known.

    >>> volume_leans(np.array([1.6, 1.4, np.nan]), np.array([-1.0, -1.0, -1.0])).tolist()
    [-1.0, 0.0, nan]

    Args:
        ratio: the day's volume over the week's mean day, (assets,).
        day: leans of the day's move, likewise.
    """
    lean = np.where(ratio >= _BUSY, day, 0.0)
    return np.where(np.isfinite(ratio) & np.isfinite(day), lean, np.nan)


def interest_leans(states: npt.NDArray[np.int64], day: FloatArray) -> FloatArray:
    """Return the way of the day's move where contracts are being opened, 0 where not; NaN where that is not known.

    Args:
        states: of the futures as shown, as indices of `derivatives.STATES`, (assets,).
        day: leans of the day's move, likewise.
    """
    lean = np.where(states == BUILDING, day, 0.0)
    return np.where((states != UNAVAILABLE) & np.isfinite(day), lean, np.nan)


def _side(lean: int | None, called: int | None) -> Side:
    """Say how a lean bears on the call; what leans nowhere backs the call of a small move."""
    if lean is None:
        return Side.MISSING
    if called is None:
        return Side.NEUTRAL
    if lean == called:
        return Side.FOR
    return Side.AGAINST if lean != 0 else Side.NEUTRAL
