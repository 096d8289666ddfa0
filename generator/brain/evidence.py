"""Families of evidence for one asset: what each leans to, and how far they agree with the shown direction."""

from dataclasses import dataclass
from typing import Final

from generator.brain.structure import Counts
from generator.catalog.text import labels
from generator.catalog.words import (
    Bias,
    DerivativesState,
    DerivativesVote,
    Points,
    Side,
    Trend,
    VolatilityWord,
)

FAMILIES: Final = ("trend", "momentum", "volatility", "breadth", "liquidity", "derivatives")
_SIGN: Final = {Bias.UP: 1, Bias.FLAT: 0, Bias.DOWN: -1}
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
    """One family of evidence in words (no weights, thresholds or raw features); `points` is None where it says nothing."""

    family: str  # trend, momentum, volatility, breadth, liquidity, derivatives
    side: Side
    points: Points | None
    text: str


def breadth_lean(counts: Counts) -> int | None:
    """Return 1 where most of the known assets are up over the day, -1 where most are down; None where none is known."""
    if not counts.known:
        return None
    return int(3 * counts.up >= 2 * counts.known) - int(3 * counts.down >= 2 * counts.known)


def gather(
    bias: Bias | None,
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
        bias: None where it is too early for a forecast.
        push: of the last hours, 1, 0 or -1; None where unknown. book: the same of the order book's tilt.
        breadth: see `breadth_lean`.
    """
    leans = (_TREND[trend], push, None, breadth, book, VOTE_LEAN[vote])
    texts = (
        labels.TREND[trend],
        labels.MOMENTUM[push],
        labels.EXPECTED[volatility],
        labels.BREADTH[breadth],
        labels.BOOK[book],
        labels.DERIVATIVES[derivatives].reading,
    )
    shown = _SIGN[bias or Bias.FLAT]
    sides = [_side(lean, shown) for lean in leans]
    points = [None if lean is None else _POINTS[lean] for lean in leans]
    if volatility is not VolatilityWord.UNKNOWN:
        sides[FAMILIES.index("volatility")] = Side.NEUTRAL  # it says how far, never which way
    evidence = tuple(Evidence(*one) for one in zip(FAMILIES, sides, points, texts, strict=True))
    with_it, against, missing = (sides.count(side) for side in (Side.FOR, Side.AGAINST, Side.MISSING))
    agreement = with_it / (with_it + against) if with_it + against else None
    return evidence, agreement, (len(sides) - missing) / len(sides)


def _side(lean: int | None, shown: int) -> Side:
    """Say how a lean bears on the shown direction; a flat call is backed by what leans nowhere."""
    if lean is None:
        return Side.MISSING
    if lean == shown:
        return Side.FOR
    return Side.AGAINST if lean != 0 else Side.NEUTRAL
