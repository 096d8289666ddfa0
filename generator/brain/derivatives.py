"""Derivatives words: the level of funding with hysteresis, then the change of open interest."""

from __future__ import annotations

from typing import Final

import numpy as np

from generator.brain.liquidity import hysteresis
from generator.brain.smoothing import HOUR_BARS, rates, step
from generator.catalog.words import DerivativesState, DerivativesVote
from generator.market.values import FloatArray

_USUAL: Final = 0.0001  # funding per 8 hours that venues drift to when nobody presses (interest-rate part)
_ENTER: Final = 0.0002  # away from the usual
_LEAVE: Final = 0.00012
_INTEREST_ENTER: Final = 0.05  # log change against about half a day
_INTEREST_LEAVE: Final = 0.025
_FUNDING_HOLDS: Final = 9 * HOUR_BARS  # venues pay every 8 hours at most
_INTEREST_HOLDS: Final = 5 * HOUR_BARS
_STEADY_CASES: Final = 34.0  # bars that a mean with a 2-hour half-life is worth

VOTES: Final = {
    DerivativesState.CROWDED_LONGS: DerivativesVote.BEARISH,
    DerivativesState.CROWDED_SHORTS: DerivativesVote.BULLISH,
    DerivativesState.UNAVAILABLE: DerivativesVote.NO_VOTE,
}


class Derivatives:
    """Funding and open interest of each asset; arrays are (k, assets) or (assets,)."""

    def __init__(self, assets: int) -> None:
        """Start with nothing known."""
        self.funding = np.zeros((1, assets))
        self.interest = np.zeros((2, assets))  # log, over an hour and over half a day
        self.age = np.full((2, assets), 1e6)
        self.count = np.zeros((2, assets))
        self.crowd = np.zeros(assets)  # -1 shorts, 0 balanced, 1 longs
        self.leverage = np.zeros(assets)  # -1 leaving, 0, 1 building
        self.steady = np.zeros((2, assets))  # share of the last hours in which the raw word was the shown one
        self._alpha_funding = rates((HOUR_BARS,), 1)
        self._alpha_interest = rates((HOUR_BARS, 12 * HOUR_BARS), 1)
        self._alpha_steady = rates((2 * HOUR_BARS,), 1)

    def update(self, funding: FloatArray, open_interest: FloatArray) -> None:
        """Take one bar; NaN leaves what is known, until it is too old."""
        seen = np.isfinite(np.stack((funding, open_interest)))
        if not seen.any():
            self.age += 1.0
            return
        weight = seen.astype(np.float64)
        self.count += weight
        self.age = np.where(seen, 0.0, self.age + 1.0)
        count = np.maximum(self.count, 1.0)
        step(self.funding, np.where(seen[0], funding, 0.0)[None], self._alpha_funding, count[0], weight[0])
        log_interest = np.log(np.where(seen[1], open_interest, 1.0))
        step(self.interest, np.stack((log_interest, log_interest)), self._alpha_interest, count[1], weight[1])
        away = self.funding[0] - _USUAL
        self.crowd = hysteresis(self.crowd, away, _ENTER, _LEAVE)
        change = (self.interest[0] - self.interest[1]) * (self.count[1] >= 2 * HOUR_BARS)
        self.leverage = hysteresis(self.leverage, change, _INTEREST_ENTER, _INTEREST_LEAVE)
        agrees = np.stack(
            (
                _raw(away, 0.5 * (_ENTER + _LEAVE)) == self.crowd,
                _raw(change, 0.5 * (_INTEREST_ENTER + _INTEREST_LEAVE)) == self.leverage,
            )
        )
        step(self.steady, agrees.astype(np.float64), self._alpha_steady, count, weight)

    def state(self, column: int) -> DerivativesState:
        """Return the word of one asset; a crowd outranks a change of open interest."""
        funding_known = self.age[0, column] <= _FUNDING_HOLDS
        interest_known = self.age[1, column] <= _INTEREST_HOLDS and self.count[1, column] >= 2 * HOUR_BARS
        if funding_known and self.crowd[column]:
            return DerivativesState.CROWDED_LONGS if self.crowd[column] > 0 else DerivativesState.CROWDED_SHORTS
        if interest_known and self.leverage[column]:
            return DerivativesState.LEVERAGING_UP if self.leverage[column] > 0 else DerivativesState.DELEVERAGING
        return DerivativesState.BALANCED if funding_known else DerivativesState.UNAVAILABLE

    def vote(self, column: int) -> DerivativesVote:
        """Return what the state leans to on its own: a crowd tends to be squeezed."""
        return VOTES.get(self.state(column), DerivativesVote.NEUTRAL)

    def confidence(self, column: int) -> float | None:
        """Return how steadily the word held over the last hours, below 1; None where there is no word.

        Shrunk to a half by one case, because a few hours never prove a state (Laplace).
        """
        state = self.state(column)
        if state is DerivativesState.UNAVAILABLE:
            return None
        row = int(state in (DerivativesState.LEVERAGING_UP, DerivativesState.DELEVERAGING))
        cases = min(float(self.count[row, column]), _STEADY_CASES)
        return float((self.steady[row, column] * cases + 0.5) / (cases + 1.0))


def _raw(values: FloatArray, threshold: float) -> FloatArray:
    """Return -1, 0 or 1 without a dead zone."""
    out: FloatArray = np.sign(values) * (np.abs(values) >= threshold)
    return out
