"""The regime: a softmax over features, a sticky forward filter on top of it, and a label that does not flicker.

The forward filter is Hamilton's (1989) with the softmax in the place of the likelihood; it never sees the future.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from generator.brain.smoothing import rates
from generator.catalog.words import RegimeLabel
from generator.market.values import BAR_MS, FloatArray

REGIMES: Final = (RegimeLabel.RISK_ON, RegimeLabel.RISK_OFF, RegimeLabel.RANGE, RegimeLabel.HIGH_VOLATILITY)
LABELS: Final = (*REGIMES, RegimeLabel.TRANSITION)
TRANSITION: Final = 4
_MOVED_HALF_LIFE: Final = 12  # bars


@dataclass(frozen=True, slots=True)
class FilterSettings:
    """How evidence becomes a posterior and a posterior a label.

    Args:
        evidence: power of one bar's softmax; neighbouring bars share most of their data.
        dwell_bars: mean time in a regime that the filter assumes.
        lead: how far a challenger must lead before the label moves.
        undecided: a leading posterior below this is `transition`.
        ramp_bars: bars over which the evidence of a new stream grows to its full power.
    """

    evidence: float
    dwell_bars: float
    lead: float
    undecided: float
    ramp_bars: float


class RegimeFilter:
    """Posterior and label of each asset and, in the last column, of the market; arrays are (..., assets + 1)."""

    def __init__(
        self, shape: tuple[int, ...], asset_model: FloatArray, market_model: FloatArray, settings: FilterSettings
    ) -> None:
        """Start with no opinion.

        Args:
            shape: (..., assets).
            asset_model, market_model: softmax weights, (4, features).
            settings: how to filter.
        """
        wide = (*shape[:-1], shape[-1] + 1)
        self.posterior = np.full((4, *wide), 0.25)
        self.earlier = self.posterior.copy()
        self.label = np.full(wide, float(TRANSITION))
        self.previous = np.full(wide, -1.0)
        self.since = np.full(wide, -1.0)  # open time of the first bar with this label
        self.held = np.full(wide, -1.0)  # the last label that was decided
        self._models = (asset_model, market_model)
        self._settings = settings
        self._alpha = float(rates((_MOVED_HALF_LIFE,), 0)[0])

    def update(self, t_ms: int, expanded: FloatArray, support: FloatArray, steps: int = 1) -> None:
        """Take one bar's features.

        Args:
            t_ms: open time of the bar.
            expanded: (features, ..., assets + 1).
            support: bars that each column has seen, 0 where it is stale.
            steps: bars since the last update; a gap lets the posterior forget.
        """
        prior = self._forget(steps)
        power = self._settings.evidence * np.minimum(support / self._settings.ramp_bars, 1.0)
        weighed = np.log(prior) + power * log_softmax(self._scores(expanded))
        weighed -= weighed.max(axis=0)
        chance = np.exp(weighed)
        self.posterior = chance / chance.sum(axis=0)
        self.earlier += (self.posterior - self.earlier) * self._alpha
        self._relabel(t_ms)

    def _forget(self, steps: int) -> FloatArray:
        """Return the prior of this bar: stay, or move to any other regime alike."""
        decay = (1.0 - 4.0 / (3.0 * self._settings.dwell_bars)) ** steps
        return 0.25 + (self.posterior - 0.25) * decay

    def _scores(self, expanded: FloatArray) -> FloatArray:
        """Return the softmax's scores, (4, ..., assets + 1)."""
        flat = expanded.reshape(len(expanded), -1)
        out, market = (model @ flat for model in self._models)
        shape = (4, *expanded.shape[1:])
        scores: FloatArray = out.reshape(shape)
        scores[..., -1] = market.reshape(shape)[..., -1]
        return scores

    def _relabel(self, t_ms: int) -> None:
        """Move the label where a challenger clearly leads; say `transition` where nothing does."""
        top = self.posterior.argmax(axis=0)
        best = np.take_along_axis(self.posterior, top[None], 0)[0]
        held = np.maximum(self.held, 0.0).astype(np.int64)
        lead = best - np.take_along_axis(self.posterior, held[None], 0)[0]
        decided = best >= self._settings.undecided
        moves = decided & ((self.held < 0) | (lead > self._settings.lead))
        self.held = np.where(moves, top, self.held)
        shown = np.where((self.held < 0) | ~decided, float(TRANSITION), self.held)
        changed = (shown != self.label) | (self.since < 0)
        self.previous = np.where(changed & (self.since >= 0), self.label, self.previous)
        self.since = np.where(changed, float(t_ms), self.since)
        self.label = shown

    def moved(self) -> FloatArray:
        """Return how much of the belief moved in about the last hour, 0..1."""
        out: FloatArray = 0.5 * np.abs(self.posterior - self.earlier).sum(axis=0)
        return out

    def confidence(self) -> FloatArray:
        """Return the posterior of the shown label; of `transition`, the share of belief that moved."""
        shown = np.minimum(self.label, 3.0).astype(np.int64)
        chance = np.take_along_axis(self.posterior, shown[None], 0)[0]
        return np.where(self.label == TRANSITION, self.moved(), chance)

    def tilt(self) -> FloatArray:
        """Return posterior of risk_on minus posterior of risk_off."""
        out: FloatArray = self.posterior[0] - self.posterior[1]
        return out


def log_softmax(scores: FloatArray) -> FloatArray:
    """Return log probabilities over axis 0."""
    shifted = scores - scores.max(axis=0)
    out: FloatArray = shifted - np.log(np.exp(shifted).sum(axis=0))
    return out


def dwell_minutes(t_ms: int, since_ms: float) -> int:
    """Return how long the label has stood at the close of the bar opened at `t_ms`."""
    return max(0, int((t_ms + BAR_MS - since_ms) // 60_000))
