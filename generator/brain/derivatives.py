"""Derivatives words: the level of funding with hysteresis, then the change of open interest."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from generator.brain.liquidity import hysteresis
from generator.brain.smoothing import HOUR_BARS, Pace, rates
from generator.catalog.words import DerivativesState, DerivativesVote
from generator.market.bars import FloatArray

_USUAL: Final = 0.0001  # funding per 8 hours in a balanced market (its interest-rate part)
# Funding away from the usual; log change of open interest against about half a day.
_ENTER: Final = np.array([[0.0002], [0.05]])
_LEAVE: Final = np.array([[0.00012], [0.025]])
_MIDDLE: Final = 0.5 * (_ENTER + _LEAVE)
# Bars after which funding (venues pay every 8 hours at most) and open interest are too old.
_HOLDS: Final = np.array([[9.0 * HOUR_BARS], [5.0 * HOUR_BARS]])
_WILD: Final = 0.01  # of funding per 8 hours: three percent a day
_NOTHING: Final = np.array([[0.0], [1.0]])  # stands in for unknown funding or open interest; never counted
_ODD: Final = 0.5  # of the confidence in a word, taken by wild funding
_STEADY_CASES: Final = 34.0  # bars that a mean with a 2-hour half-life is worth

VOTES: Final = {
    DerivativesState.CROWDED_LONGS: DerivativesVote.BEARISH,
    DerivativesState.CROWDED_SHORTS: DerivativesVote.BULLISH,
}


@dataclass(frozen=True, slots=True)
class Pressure:
    """The derivatives word of one asset.

    Args:
        vote: what the state leans to on its own: a crowd tends to be squeezed.
        confidence: how steadily the word held over the last hours, below 1; None where there is no word.
    """

    state: DerivativesState
    vote: DerivativesVote
    confidence: float | None


class Derivatives:
    """Funding and open interest of each asset; arrays are (k, assets) or (assets,)."""

    def __init__(self, assets: int) -> None:
        self.funding = np.zeros((1, assets))
        self.interest = np.zeros((2, assets))  # log, over an hour and over half a day
        self.age = np.full((2, assets), 1e6)
        self.count = np.zeros((2, assets))
        self.word = np.zeros((2, assets))  # -1 shorts, 0 balanced, 1 longs; -1 leaving, 0, 1 building
        self.steady = np.zeros((2, assets))  # share of the last hours in which the raw word was the shown one
        self.odd = np.zeros(assets)  # 1 where the last known funding was so large that it may be a fault
        self._enter, self._leave, self._middle = (np.repeat(one, assets, axis=1) for one in (_ENTER, _LEAVE, _MIDDLE))
        self._alpha_funding = rates((HOUR_BARS,), 1)
        self._alpha_interest = rates((HOUR_BARS, 12 * HOUR_BARS), 1)
        self._alpha_steady = rates((2 * HOUR_BARS,), 1)

    def update(self, funding: FloatArray, open_interest: FloatArray) -> None:
        """Take one bar; NaN leaves what is known, until it is too old."""
        given = np.array((funding, open_interest))
        seen = np.isfinite(given)
        wild = np.abs(funding) > _WILD
        if np.count_nonzero(wild) or np.count_nonzero(self.odd):
            self.odd = np.where(seen[0], wild, self.odd)
            np.minimum(
                np.maximum(given[0], -_WILD, out=given[0]), _WILD, out=given[0]
            )  # not to dominate for hours after
        known = np.count_nonzero(seen)
        if not known:
            self.age += 1.0
            return
        if known == seen.size:
            weights: tuple[FloatArray | None, ...] = (None, None, None)
            self.count += 1.0
            self.age = np.zeros(seen.shape)
        else:
            weight = seen.astype(np.float64)
            weights = (weight, weight[0], weight[1])
            self.count += weight
            self.age = np.where(seen, 0.0, self.age + 1.0)
            given = np.where(seen, given, _NOTHING)
        paces = [Pace(*one) for one in zip((self.count, self.count[0], self.count[1]), weights, strict=True)]
        paces[1].step(self.funding, given[:1], self._alpha_funding)
        paces[2].step(self.interest, np.log(given[1]), self._alpha_interest)
        away = np.empty(seen.shape)
        np.subtract(self.funding[0], _USUAL, out=away[0])
        np.multiply(self.interest[0] - self.interest[1], self.count[1] >= 2 * HOUR_BARS, out=away[1])
        self.word = hysteresis(self.word, away, self._enter, self._leave)
        raw = np.sign(away) * (np.abs(away) >= self._middle)  # without a dead zone
        paces[0].step(self.steady, raw == self.word, self._alpha_steady)

    def readings(self) -> list[Pressure]:
        """Return the word of every asset, what it leans to on its own, and how steadily it held."""
        known = self.age <= _HOLDS
        known[1] &= self.count[1] >= 2 * HOUR_BARS
        crowd, leverage = (self.word * known).tolist()
        cases = np.minimum(self.count, _STEADY_CASES)
        # Shrunk to a half by one case, because a few hours never prove a state (Laplace).
        steady = ((self.steady * cases + 0.5) / (cases + 1.0) * (1.0 - _ODD * self.odd)).tolist()
        return list(map(_pressure, crowd, leverage, known[0].tolist(), *steady))


def _pressure(crowd: float, leverage: float, known: bool, paying: float, holding: float) -> Pressure:  # noqa: FBT001
    """Return one asset's reading; a crowd outranks a change of open interest.

    Args:
        paying, holding: how steadily the words of funding and of open interest held.
    """
    if crowd:
        state = DerivativesState.CROWDED_LONGS if crowd > 0 else DerivativesState.CROWDED_SHORTS
        return Pressure(state, VOTES[state], paying)
    if leverage:
        state = DerivativesState.LEVERAGING_UP if leverage > 0 else DerivativesState.DELEVERAGING
        return Pressure(state, DerivativesVote.NEUTRAL, holding)
    if known:
        return Pressure(DerivativesState.BALANCED, DerivativesVote.NEUTRAL, paying)
    return Pressure(DerivativesState.UNAVAILABLE, DerivativesVote.NO_VOTE, None)
