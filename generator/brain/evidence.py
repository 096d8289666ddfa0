"""Facts of one asset, each with the way it points, and how many point the way that is called; nothing is weighed."""

import math
from dataclasses import dataclass
from typing import Final

from generator.brain.structure import Counts
from generator.catalog.text import labels
from generator.catalog.words import Call, DerivativesState, DerivativesVote, Points, Side

FAMILIES: Final = ("hours", "day", "week", "breadth", "volume", "funding", "interest", "liquidity")
_CALLED: Final = {Call.UP: 1, Call.SMALL_MOVE: 0, Call.DOWN: -1, Call.NONE: None}
VOTE_LEAN: Final = {
    DerivativesVote.BULLISH: 1,
    DerivativesVote.NEUTRAL: 0,
    DerivativesVote.BEARISH: -1,
    DerivativesVote.NO_VOTE: None,
}
_POINTS: Final = {1: Points.UP, 0: Points.FLAT, -1: Points.DOWN}
_MOVED: Final = 0.5  # of a usual move: a smaller one points nowhere
_BUSY: Final = 1.5  # of the week's mean day: a smaller volume points nowhere


@dataclass(frozen=True, slots=True)
class Evidence:
    """One fact in words, and how it bears on the call."""

    family: str  # of `FAMILIES`
    side: Side
    points: Points | None  # None where it is not known
    text: str


@dataclass(frozen=True, slots=True)
class Moved:
    """A move and the usual size of one as long, as fractions; NaN where unknown."""

    move: float
    usual: float

    @property
    def lean(self) -> int | None:
        """1 up, -1 down by half a usual move at least, 0 by less; None where it is not known.

        >>> [Moved(move, 0.02).lean for move in (0.011, 0.009, -0.03, math.nan)]
        [1, 0, -1, None]
        """
        if not math.isfinite(self.move):
            return None
        if abs(self.move) < _MOVED * self.usual:
            return 0
        return 1 if self.move > 0.0 else -1


def breadth_lean(counts: Counts) -> int | None:
    """Return 1 where two thirds of the known assets are up over the day, -1 where they are down; None with none known.

    >>> [breadth_lean(Counts(up, 7 - up, 0)) for up in (5, 4, 2)]
    [1, 0, -1]
    """
    if not counts.known:
        return None
    if 3 * counts.up >= 2 * counts.known:
        return 1
    if 3 * counts.down >= 2 * counts.known:
        return -1
    return 0


def volume_lean(ratio: float | None, day: int | None) -> int | None:
    """Return the way of the day's move where more was traded than usual, 0 where not; None where that is not known.

    >>> volume_lean(1.6, -1), volume_lean(1.4, -1), volume_lean(None, -1)
    (-1, 0, None)

    Args:
        ratio: the day's volume over the week's mean day.
        day: lean of the day's move.
    """
    if ratio is None or day is None:
        return None
    return day if ratio >= _BUSY else 0


def interest_lean(state: DerivativesState, day: int | None) -> int | None:
    """Return the way of the day's move where contracts are being opened, 0 where not; None where that is not known."""
    if state is DerivativesState.UNAVAILABLE or day is None:
        return None
    return day if state is DerivativesState.LEVERAGING_UP else 0


def gather(
    call: Call,
    *,
    hours: Moved,
    day: Moved,
    week: Moved,
    breadth: int | None,
    volume: float | None,
    derivatives: DerivativesState,
    vote: DerivativesVote,
    book: int | None,
) -> tuple[tuple[Evidence, ...], float | None, float]:
    """Return the facts of one asset, the share of them that points the called way, and the share that is known.

    Args:
        call: without one no fact is for or against, and the first share is None.
        hours, day, week: moves over three hours, a day and a week.
        breadth: see `breadth_lean`.
        volume: see `volume_lean`.
        book: lean of the order book: 1 to bids, 0 even, -1 to asks; None where unknown.
    """
    called = _CALLED[call]
    spans = {"hours": hours, "day": day, "week": week}
    rows = [
        *((name, moved.lean, labels.moved_text(name, moved.move)) for name, moved in spans.items()),
        ("breadth", breadth, labels.BREADTH[breadth]),
        ("volume", volume_lean(volume, day.lean), labels.volume_text(volume)),
        ("funding", VOTE_LEAN[vote], labels.DERIVATIVES[derivatives].reading),
        ("interest", interest_lean(derivatives, day.lean), labels.interest_text(derivatives)),
        ("liquidity", book, labels.BOOK[book]),
    ]
    evidence = tuple(_row(name, lean, text, called) for name, lean, text in rows)

    known = [lean for _, lean, _ in rows if lean is not None]
    agreement = None if called is None or not known else sum(lean == called for lean in known) / len(known)
    return evidence, agreement, len(known) / len(rows)


def _row(name: str, lean: int | None, text: str, called: int | None) -> Evidence:
    points = None if lean is None else _POINTS[lean]
    return Evidence(family=name, side=_side(lean, called), points=points, text=text)


def _side(lean: int | None, called: int | None) -> Side:
    """Say how a lean bears on the call; what leans nowhere backs the call of a small move."""
    if lean is None:
        return Side.MISSING
    if called is None:
        return Side.NEUTRAL
    if lean == called:
        return Side.FOR
    return Side.AGAINST if lean != 0 else Side.NEUTRAL
