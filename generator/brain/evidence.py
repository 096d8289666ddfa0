"""Families of evidence for one asset: what each leans to, and how far they agree with the shown direction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from generator.brain import sentences
from generator.brain.features import AT
from generator.brain.values import Evidence, Side
from generator.catalog.words import (
    Bias,
    DerivativesState,
    DerivativesVote,
    LiquidityContext,
    Trend,
    VolatilityWord,
)

if TYPE_CHECKING:
    from generator.brain.engine import Engine

FAMILIES: Final = ("trend", "momentum", "volatility", "breadth", "liquidity", "derivatives")
_PUSHES: Final = (AT["trend_1h"], AT["trend_3h"])
_PUSH: Final = 0.8
_MOST: Final = 2.0 / 3.0
_TILTED_BOOK: Final = 0.15
_SIGN: Final = {Bias.UP: 1, Bias.FLAT: 0, Bias.DOWN: -1}
_TREND: Final = {Trend.UP: 1, Trend.SIDEWAYS: 0, Trend.DOWN: -1, Trend.UNKNOWN: None}
_VOTE: Final = {
    DerivativesVote.BULLISH: 1,
    DerivativesVote.NEUTRAL: 0,
    DerivativesVote.BEARISH: -1,
    DerivativesVote.NO_VOTE: None,
}


@dataclass(frozen=True, slots=True)
class Words:
    """The words of one asset that evidence is drawn from."""

    bias: Bias
    trend: Trend
    volatility: VolatilityWord
    liquidity: LiquidityContext
    derivatives: DerivativesState
    vote: DerivativesVote


def breadth_lean(breadth: float | None) -> int | None:
    """Return 1 where most assets rose over the day, -1 where most fell."""
    if breadth is None:
        return None
    return int(breadth >= _MOST) - int(breadth <= 1.0 - _MOST)


def gather(engine: Engine, column: int, words: Words, leans: tuple[int, float | None]) -> tuple[Evidence, ...]:
    """Return the six families for one asset.

    Args:
        leans: the asset's push of the last hours, and the market's breadth.
    """
    push = leans[0] if words.trend is not Trend.UNKNOWN else None
    market = breadth_lean(leans[1])
    tilt = engine.liquidity.tilt(column)
    book = None if words.liquidity is LiquidityContext.UNKNOWN else _sign(tilt, _TILTED_BOOK)
    book_text = sentences.LIQUIDITY[words.liquidity] + (f" {sentences.BOOK[book]}" if book else "")
    found: tuple[tuple[int | None, str], ...] = (
        (_TREND[words.trend], sentences.TREND[words.trend]),
        (
            push,
            "The push of the last hours is not known yet." if push is None else sentences.MOMENTUM[push],
        ),
        (None if words.volatility is VolatilityWord.UNKNOWN else 0, sentences.VOLATILITY[words.volatility]),
        (market, "How many coins rose is not known yet." if market is None else sentences.BREADTH[market]),
        (book, book_text),
        (_VOTE[words.vote], sentences.DERIVATIVES[words.derivatives]),
    )
    return tuple(
        Evidence(family, _side(family, lean, _SIGN[words.bias]), text)
        for family, (lean, text) in zip(FAMILIES, found, strict=True)
    )


def agreement_of(evidence: tuple[Evidence, ...]) -> float | None:
    """Return for / (for + against) over the families; None where none takes a side."""
    with_it = sum(item.side is Side.FOR for item in evidence)
    against = sum(item.side is Side.AGAINST for item in evidence)
    return with_it / (with_it + against) if with_it + against else None


def coverage_of(evidence: tuple[Evidence, ...]) -> float:
    """Return the share of families that are present."""
    return sum(item.side is not Side.MISSING for item in evidence) / len(evidence)


def momentum(engine: Engine) -> list[int]:
    """Return the push of the last one to three hours of every asset: 1, 0 or -1."""
    now = engine.features.current
    push = 0.5 * (now[_PUSHES[0], :-1] + now[_PUSHES[1], :-1])
    out: list[int] = ((push >= _PUSH).astype(np.int64) - (push <= -_PUSH)).tolist()
    return out


def _sign(value: float, threshold: float) -> int:
    """Return 1, 0 or -1; an unknown value leans nowhere."""
    return int(value >= threshold) - int(value <= -threshold)


def _side(family: str, lean: int | None, shown: int) -> Side:
    """Say how a lean bears on the shown direction; a flat call is backed by what leans nowhere."""
    if lean is None:
        return Side.MISSING
    if family == "volatility":  # it tells how far, never which way
        return Side.NEUTRAL
    if lean == shown:
        return Side.FOR
    return Side.AGAINST if lean != 0 else Side.NEUTRAL
