"""The regime: a learned forward filter over features, and a label that does not flicker. It never sees the future."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from generator.brain.calibration import KEEP, PLAIN, USUAL, Calibration, softmax, temperature, tempered
from generator.brain.recurrent import Pair, Recurrent
from generator.brain.smoothing import rates
from generator.catalog.words import RegimeLabel
from generator.market.bars import BAR_MS, FloatArray

REGIMES: Final = (RegimeLabel.RISK_ON, RegimeLabel.RISK_OFF, RegimeLabel.RANGE, RegimeLabel.HIGH_VOLATILITY)
LABELS: Final = (*REGIMES, RegimeLabel.TRANSITION)
TRANSITION: Final = 4
STEP_BARS: Final = 6  # the hidden state advances every half hour; the open half hour is evaluated at every bar
_STEP_MS: Final = STEP_BARS * BAR_MS
_MOVED_HALF_LIFE: Final = 12  # bars
_FORGET_HALF_LIFE: Final = 72  # bars without evidence


@dataclass(frozen=True, slots=True)
class FilterSettings:
    """How a posterior becomes a label.

    Args:
        lead: how far a challenger must lead before the label moves to range or high_volatility.
        claim: the same for risk_on and risk_off, which say more.
        undecided: a leading posterior below this is `transition`.
        ramp_bars: bars over which a new stream earns the filter's full trust.
    """

    lead: float
    claim: float
    undecided: float
    ramp_bars: float


@dataclass(frozen=True, slots=True)
class FilterReading:
    """The filter after a bar.

    Args:
        label, confidence: of each asset and, last, of the market.
        market: the market's chances of the four regimes.
        since_ms: close of the first bar with the market's label; previous: its label before, None where there is none.
    """

    label: list[RegimeLabel]
    confidence: list[float]
    market: list[float]
    since_ms: int
    previous: RegimeLabel | None


class RegimeFilter:
    """Posterior and label of each asset and, in the last column, of the market; arrays are (..., assets + 1)."""

    def __init__(
        self,
        assets: int,
        models: tuple[Recurrent, Recurrent],
        settings: FilterSettings,
        calibrations: tuple[Calibration, Calibration] = (PLAIN, PLAIN),
    ) -> None:
        """Start with no opinion.

        Args:
            assets: how many.
            models: networks of one size, of an asset and of the market.
            settings: how to label.
            calibrations: of an asset's chances and of the market's.
        """
        columns = assets + 1
        self.hidden = np.zeros((models[0].units, columns))
        self.committed = np.full(1, -1.0)  # the half hour last remembered
        self.posterior = np.full((4, columns), 0.25)
        self.earlier = self.posterior.copy()
        self.trust = np.ones(columns)  # lost in a gap, regained by bars
        self.label = np.full(columns, float(TRANSITION))
        self.previous = np.full(columns, -1.0)
        self.since = np.full(columns, -1.0)  # open time of the first bar with this label
        self.held = np.full(columns, -1.0)  # the last label that was decided
        self.clarity = np.full(columns, USUAL)  # mean of the highest chance over about a week
        self._heat: tuple[FloatArray, FloatArray] | None = None  # with the clarity that it was computed from
        self._models = Pair(*models, columns)
        self._level, self._slope = (
            np.array([getattr(calibrations[column == assets], name) for column in range(columns)])
            for name in ("level", "slope")
        )
        self._columns = np.arange(columns)
        self._settings = settings
        self._alpha = float(rates((_MOVED_HALF_LIFE,), 0)[0])
        self._recover = float(rates((_FORGET_HALF_LIFE,), 0)[0])

    def update(self, t_ms: int, features: FloatArray, support: FloatArray, steps: int = 1) -> None:
        """Take one bar's features.

        Args:
            t_ms: open time of the bar.
            features: (inputs, assets + 1).
            support: bars that each column has seen, 0 where it is stale.
            steps: bars since the last update; a gap lets the filter forget.
        """
        known = support > 0.0
        whole = np.count_nonzero(known) == known.size
        if steps > 1 or not whole:
            self._forget(known, steps)
        hidden, scores = self._step(features)
        chance = softmax(scores)
        self.trust += (1.0 - self.trust) * (self._recover * known)
        chance -= 0.25
        chance *= self.trust * np.minimum(support / self._settings.ramp_bars, 1.0)
        chance += 0.25
        self.posterior = chance if whole else np.where(known, chance, self.posterior)
        half_hour = (t_ms + BAR_MS) // _STEP_MS
        if half_hour > self.committed[0]:
            # Single precision is what the state keeps of it, so a restart cannot differ.
            remembered = hidden if whole else np.where(known, hidden, self.hidden)
            self.hidden = remembered.astype(np.float32).astype(np.float64)
            self.committed[0] = half_hour
            self._relabel(t_ms, known)
            self._heat = None
        self.earlier += (self.posterior - self.earlier) * self._alpha
        if self.since[0] < 0:
            self.since[:] = float(t_ms)

    def _forget(self, known: np.ndarray, steps: int) -> None:
        """Let belief and memory fade over bars that never came, and where an asset is stale."""
        missing = np.where(known, steps - 1, steps)
        keep = (1.0 - self._recover) ** missing
        self.hidden *= keep
        self.trust *= keep
        self.posterior = 0.25 + (self.posterior - 0.25) * keep

    def _step(self, features: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the hidden state after this bar, and the scores of the regimes."""
        scaled = self._models.scaled(features)
        hidden = self._models.step(self.hidden, scaled)
        return hidden, self._models.scores(hidden, scaled)

    def _relabel(self, t_ms: int, known: npt.NDArray[np.bool_]) -> None:
        """Move the label where a challenger clearly leads; say `transition` where nothing does.

        Only at the end of a half hour, as in training: in between the posterior moves and the label does not.
        """
        top, columns = self.posterior.argmax(axis=0), self._columns
        best = np.maximum.reduce(self.posterior)
        self.clarity += (best - self.clarity) * (known * (1.0 - KEEP))
        if np.array_equal(top, self.label) and np.count_nonzero(best >= self._settings.undecided) == best.size:
            return  # every leader is the label shown, so nothing can move
        held = np.maximum(self.held, 0.0).astype(np.int64)
        lead = best - self.posterior[held, columns]
        decided = best >= self._settings.undecided
        moves = decided & ((self.held < 0) | (lead > np.where(top < 2, self._settings.claim, self._settings.lead)))
        self.held = np.where(moves, top, self.held)
        shown = np.where((self.held < 0) | ~decided, float(TRANSITION), self.held)
        changed = shown != self.label
        if np.count_nonzero(changed):
            self.previous = np.where(changed, self.label, self.previous)
            self.since = np.where(changed, float(t_ms), self.since)
            self.label = shown

    def chances(self) -> FloatArray:
        """Return the posterior as published, (4, assets + 1): calibrated; the label goes by the plain one."""
        if self._heat is None or self._heat[0] is not self.clarity:
            self._heat = (self.clarity, temperature(self._level, self._slope, self.clarity))
        return tempered(self.posterior, self._heat[1])

    def moved(self) -> FloatArray:
        """Return how much of the belief moved in about the last hour, 0..1."""
        out: FloatArray = 0.5 * np.abs(self.posterior - self.earlier).sum(axis=0)
        return out

    def confidence(self, chances: FloatArray | None = None) -> FloatArray:
        """Return the calibrated posterior of the shown label; of `transition`, the share of belief that moved.

        Args:
            chances: what `chances` returns, where the caller has it already.
        """
        lost = self.label == TRANSITION
        shown = np.minimum(self.label, 3.0).astype(np.int64)
        chance: FloatArray = (self.chances() if chances is None else chances)[shown, self._columns]
        return np.where(lost, self.moved(), chance) if np.count_nonzero(lost) else chance

    def reading(self) -> FilterReading:
        """Return labels, confidence and the market's chances."""
        chances, before = self.chances(), int(self.previous[-1])
        return FilterReading(
            label=[LABELS[int(one)] for one in self.label.tolist()],
            confidence=self.confidence(chances).tolist(),
            market=chances[:, -1].tolist(),
            since_ms=int(self.since[-1]) + BAR_MS,
            previous=LABELS[before] if before >= 0 else None,
        )

    def tilt(self) -> FloatArray:
        """Return posterior of risk_on minus posterior of risk_off."""
        out: FloatArray = self.posterior[0] - self.posterior[1]
        return out


def dwell_minutes(t_ms: int, since_ms: int) -> int:
    """Return how long the label has been shown at the close of the bar opened at `t_ms`.

    Args:
        t_ms: open time of the last bar.
        since_ms: close of the first bar with the label.
    """
    return max(0, (t_ms + BAR_MS - since_ms) // 60_000)
