"""Families of evidence for one asset: what each points to, and how far they agree with the call."""

from dataclasses import dataclass
from typing import Final

from generator.brain.structure import Counts
from generator.catalog.text import labels
from generator.catalog.words import (
    Call,
    DerivativesState,
    DerivativesVote,
    Points,
    Side,
    Trend,
    VolatilityWord,
)

FAMILIES: Final = ("trend", "momentum", "volatility", "breadth", "liquidity", "derivatives")
_SIGN: Final = {Call.UP: 1, Call.SMALL_MOVE: 0, Call.DOWN: -1, Call.NONE: None}
_TREND: Final = {Trend.UP: 1, Trend.SIDEWAYS: 0, Trend.DOWN: -1, Trend.UNKNOWN: None}
VOTE_LEAN: Final = {
    DerivativesVote.BULLISH: 1,
    DerivativesVote.NEUTRAL: 0,
    DerivativesVote.BEARISH: -1,
    DerivativesVote.NO_VOTE: None,
}
_POINTS: Final = {1: Points.UP, 0: Points.FLAT, -1: Points.DOWN}


@dataclass(frozen=True, slots=True)
class Evidence:
    """One family of evidence in words: no weights, thresholds or raw features."""

    family: str  # trend, momentum, volatility, breadth, liquidity, derivatives
    side: Side
    points: Points | None  # None where it says nothing of the direction
    text: str


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


def gather(
    call: Call,
    *,
    trend: Trend,
    volatility: VolatilityWord,
    derivatives: DerivativesState,
    vote: DerivativesVote,
    push: int | None,
    breadth: int | None,
    book: int | None,
) -> tuple[tuple[Evidence, ...], float | None, float]:
    """Return the six families of evidence for one asset, their agreement, for / (for + against), and the share present.

    Args:
        call: without one no family is for or against, and there is no agreement.
        push: of the last hours, 1, 0 or -1; None where unknown.
        breadth: see `breadth_lean`.
        book: lean of the order book, as `push`.
    """
    called = _SIGN[call]
    evidence = (
        _family("trend", _TREND[trend], labels.TREND[trend], called),
        _family("momentum", push, labels.MOMENTUM[push], called),
        _volatility_family(volatility),
        _family("breadth", breadth, labels.BREADTH[breadth], called),
        _family("liquidity", book, labels.BOOK[book], called),
        _family("derivatives", VOTE_LEAN[vote], labels.DERIVATIVES[derivatives].reading, called),
    )

    sides = [family.side for family in evidence]
    backing = sides.count(Side.FOR)
    leaning = backing + sides.count(Side.AGAINST)
    agreement = backing / leaning if leaning else None
    coverage = (len(sides) - sides.count(Side.MISSING)) / len(sides)
    return evidence, agreement, coverage


def _family(name: str, lean: int | None, text: str, called: int | None) -> Evidence:
    points = None if lean is None else _POINTS[lean]
    return Evidence(family=name, side=_side(lean, called), points=points, text=text)


def _volatility_family(word: VolatilityWord) -> Evidence:
    """Return the family that says how far, never which way."""
    side = Side.MISSING if word is VolatilityWord.UNKNOWN else Side.NEUTRAL
    return Evidence(family="volatility", side=side, points=None, text=labels.EXPECTED[word])


def _side(lean: int | None, called: int | None) -> Side:
    """Say how a lean bears on the call; what leans nowhere backs the call of a small move."""
    if lean is None:
        return Side.MISSING
    if called is None:
        return Side.NEUTRAL
    if lean == called:
        return Side.FOR
    return Side.AGAINST if lean != 0 else Side.NEUTRAL
