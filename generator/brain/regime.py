"""The regime: a learned forward filter over features, and a label that does not flicker. It never sees the future."""

from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np
import numpy.typing as npt

from generator.brain.calibration import KEEP, PLAIN, USUAL, Calibration, softmax, temperature, tempered
from generator.brain.recurrent import Recurrent
from generator.brain.smoothing import rates
from generator.brain.structure import FLAT
from generator.catalog.durations import MINUTE_MS
from generator.catalog.thresholds import BROAD_SHARE
from generator.catalog.words import RegimeLabel
from generator.market.bars import BAR_MS, FloatArray

REGIMES: Final = (RegimeLabel.RISK_ON, RegimeLabel.RISK_OFF, RegimeLabel.RANGE, RegimeLabel.HIGH_VOLATILITY)
LABELS: Final = (*REGIMES, RegimeLabel.TRANSITION)
TRANSITION: Final = 4
STEP_BARS: Final = 6  # the hidden state advances every half hour; the open half hour is evaluated at every bar
Flags = npt.NDArray[np.bool_]
_STEP_MS: Final = STEP_BARS * BAR_MS
LEAD: Final = 0.10
"""How far another regime must lead in the published chances before the label moves to it."""
_ROUNDED: Final = 2e-4  # of that, what publishing may round away
_UNDECIDED: Final = 0.30  # with no regime at this chance nothing is decided
_PUBLISHED_HALF_LIFE: Final = 3  # bars
_HEAT: Final = 1.18  # of the chances: no market is one of those on which their temperature was fitted
_FORGET_HALF_LIFE: Final = 72  # bars without evidence
_RAMP_BARS: Final = 576.0  # over which a new stream earns the network's full trust
_CLEAR_SHARE: Final = 0.60  # of the assets, from which a direction is clear
_CLEAR_DAYS: Final = 0.80  # usual days of a mean move, beyond which a direction is clear
_STILL_DAYS: Final = 0.40  # usual days, within which a range is clear
_DISCOUNT: Final = np.exp([[-1.0], [-1.0], [-0.9], [-0.9]])  # of the chance of a regime that the facts do not bear out


@dataclass(frozen=True, slots=True)
class RegimeFacts:
    """What no regime may contradict, by asset and, last, of the market; NaN where unknown, (assets + 1,)."""

    up: FloatArray  # share of the assets that rose over the day; of an asset itself 1 or 0
    down: FloatArray  # share of those that fell
    trend: FloatArray  # 1 up, 0 sideways, -1 down
    stressed: FloatArray  # 1 with elevated or extreme volatility, 0 with calm or normal
    days: FloatArray  # the day's mean move in usual days

    def allowed(self) -> Flags:
        """Return which regimes the facts allow, (4, assets + 1)."""
        one_sided = (self.up > BROAD_SHARE) | (self.up < 1.0 - BROAD_SHARE)
        broad_move = one_sided & (np.abs(self.days) > 1.0)

        no_risk_on = (self.up < 0.5) & (self.trend < 1.0)
        no_risk_off = (self.down < 0.5) & (self.trend > -1.0)
        no_range = (self.stressed == 1.0) | broad_move
        no_high_volatility = self.stressed == 0.0
        return ~np.array((no_risk_on, no_risk_off, no_range, no_high_volatility))

    def clear(self) -> Flags:
        """Return which regimes the facts bear out by a margin, or say nothing against, (4, assets + 1)."""
        risk_on = ((self.days > _CLEAR_DAYS) & (self.up >= _CLEAR_SHARE)) | (self.trend == 1.0)
        risk_off = ((self.days < -_CLEAR_DAYS) & (self.down >= _CLEAR_SHARE)) | (self.trend == -1.0)
        # Written as denials, so that an unknown fact says nothing against.
        in_range = ~(self.stressed == 1.0) & ~(np.abs(self.days) > _STILL_DAYS)
        high_volatility = ~(self.stressed == 0.0)
        return np.array((risk_on, risk_off, in_range, high_volatility))


def facts_of(change: FloatArray, trend: FloatArray, stressed: FloatArray, usual: FloatArray) -> RegimeFacts:
    """Return the facts from each asset's change over the day and from what is published.

    Args:
        change: over the day, as a fraction, NaN where unknown, (assets,).
        trend, stressed: see `RegimeFacts`, (assets + 1,).
        usual: size of a usual day's move of each and, last, of their mean, as a fraction, (assets + 1,).
    """
    change = np.round(change, 4)  # as published
    known = np.isfinite(change)
    many = np.count_nonzero(known) or np.nan

    sides = np.array((change > FLAT, change < -FLAT), dtype=np.float64)
    shares = sides.sum(axis=1) / many
    up, down = np.column_stack((np.where(known, sides, np.nan), shares))

    mean = np.where(known, change, 0.0).sum() / many
    return RegimeFacts(
        up=up,
        down=down,
        trend=trend,
        stressed=stressed,
        days=np.append(change, mean) / usual,
    )


def label_of(chances: FloatArray, allowed: Flags | None, shown: FloatArray) -> FloatArray:
    """Return the label of each column: the one shown, the likeliest, or `transition`; always an allowed one.

    It is never `LEAD` or more behind the likeliest.

    >>> chances = np.array([[0.50], [0.30], [0.15], [0.05]])
    >>> label_of(chances, allowed=None, shown=np.array([1.0])).tolist()  # .20 behind: it moves
    [0.0]
    >>> closer = np.array([[0.40], [0.35], [0.15], [0.10]])
    >>> label_of(closer, allowed=None, shown=np.array([1.0])).tolist()  # .05 behind: it stays
    [1.0]
    >>> forbidden = np.array([[False], [True], [True], [True]])
    >>> label_of(chances, forbidden, shown=np.array([0.0])).tolist()
    [4.0]

    Args:
        chances: published, (4, columns).
        allowed: by the facts, (4, columns); None: all.
        shown: the label before, (columns,).
    """
    best = np.maximum.reduce(chances)
    near = chances > best - (LEAD - _ROUNDED)
    if allowed is not None:
        near &= allowed
    near &= best >= _UNDECIDED

    held = np.minimum(shown, 3.0).astype(np.int64)
    stays = (shown != TRANSITION) & near[held, np.arange(len(shown))]
    likeliest = np.where(near, chances, -1.0).argmax(axis=0)
    otherwise = np.where(near.any(axis=0), likeliest, float(TRANSITION))
    label: FloatArray = np.where(stays, shown, otherwise)
    return label


class RegimeFilter:
    """Posterior and label of each asset and, in the last column, of the market; arrays are (..., assets + 1)."""

    STATE: ClassVar[tuple[str, ...]] = (
        "hidden",
        "committed",
        "posterior",
        "smooth",
        "clear",
        "chances",
        "trust",
        "label",
        "previous",
        "since",
        "clarity",
    )

    def __init__(
        self,
        assets: int,
        models: tuple[Recurrent, Recurrent],
        calibrations: tuple[Calibration, Calibration] = (PLAIN, PLAIN),
    ) -> None:
        """Start with no opinion; the networks, of one size, and the calibrations are of an asset and of the market."""
        columns = assets + 1
        self._columns = np.arange(columns)
        self._models = models
        self.hidden = np.zeros((models[0].units, columns))
        self.committed = np.full(1, -1.0)  # the half hour last remembered
        self.posterior = np.full((4, columns), 0.25)
        self.smooth = self.posterior.copy()  # the calibrated posterior over about half an hour
        self.clear = np.ones((4, columns))  # 0 from where the facts forbid a regime to where they clearly bear it out
        self.chances = self.posterior.copy()  # as published
        self.trust = np.ones(columns)  # lost in a gap, regained by bars
        self.label = np.full(columns, float(TRANSITION))
        self.previous = np.full(columns, -1.0)
        self.since = np.full(columns, -1.0)  # open time of the first bar with this label
        self.clarity = np.full(columns, USUAL)  # mean of the highest chance over about a week

        of_asset, of_market = calibrations
        self._level = np.array([of_asset.level] * assets + [of_market.level])
        self._slope = np.array([of_asset.slope] * assets + [of_market.slope])
        self._alpha, self._recover = rates((_PUBLISHED_HALF_LIFE, _FORGET_HALF_LIFE), 0).tolist()

    def update(
        self, t_ms: int, features: FloatArray, support: FloatArray, facts: RegimeFacts | None = None, steps: int = 1
    ) -> None:
        """Take one bar's features.

        Args:
            t_ms: open time of the bar.
            features: (inputs, assets + 1).
            support: bars that each column has seen, 0 where it is stale.
            facts: what the label must agree with; None: nothing.
            steps: bars since the last update; a gap lets the filter forget.
        """
        known = support > 0.0
        if steps > 1 or not known.all():
            self._forget(known, steps)

        # The network's chances, held towards even ones as long as little was seen.
        hidden, scores = self._step(features)
        chance = softmax(scores)
        self.trust += (1.0 - self.trust) * (self._recover * known)
        chance -= 0.25
        chance *= self.trust * np.minimum(support / _RAMP_BARS, 1.0)
        chance += 0.25
        self.posterior = np.where(known, chance, self.posterior)

        half_hour = (t_ms + BAR_MS) // _STEP_MS
        if half_hour > self.committed[0]:
            # Single precision is what the state keeps of it, so a restart cannot differ.
            self.hidden = np.where(known, hidden, self.hidden).astype(np.float32).astype(np.float64)
            self.committed[0] = half_hour
            self.clarity += (np.maximum.reduce(self.posterior) - self.clarity) * (known * (1.0 - KEEP))

        # What is published: calibrated, smoothed, and discounted where the facts do not bear a regime out.
        self.smooth += (self._calibrated() - self.smooth) * (1.0 - (1.0 - self._alpha) ** steps)
        allowed = None
        if facts:
            allowed = facts.allowed()
            self.clear = np.where(facts.clear(), 1.0, self.clear) * allowed
        self.chances = self.smooth * np.where(self.clear > 0.0, 1.0, _DISCOUNT)
        self.chances /= np.add.reduce(self.chances)
        self._relabel(t_ms, allowed)

    def _forget(self, known: np.ndarray, steps: int) -> None:
        """Let belief and memory fade over bars that never came, and where an asset is stale."""
        missing = np.where(known, steps - 1, steps)
        keep = (1.0 - self._recover) ** missing
        self.hidden *= keep
        self.trust *= keep
        self.posterior = 0.25 + (self.posterior - 0.25) * keep

    def _step(self, features: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the hidden state after this bar, and the scores of the regimes."""
        of_asset, of_market = self._models
        hidden, scores = of_asset.step(self.hidden, features)
        market_hidden, market_scores = of_market.step(self.hidden[:, -1:], features[:, -1:])
        return (
            np.concatenate((hidden[:, :-1], market_hidden), axis=1),
            np.concatenate((scores[:, :-1], market_scores), axis=1),
        )

    def _relabel(self, t_ms: int, allowed: Flags | None) -> None:
        """Move the labels where they are no longer near the likeliest, or no longer true."""
        if self.since[0] < 0:
            self.since[:] = float(t_ms)
        shown = label_of(self.chances, allowed, self.label)
        changed = shown != self.label
        if not np.count_nonzero(changed):
            return
        self.previous = np.where(changed, self.label, self.previous)
        self.since = np.where(changed, float(t_ms), self.since)
        self.label = shown

    def _calibrated(self) -> FloatArray:
        """Return the posterior at its temperature."""
        return tempered(self.posterior, _HEAT * temperature(self._level, self._slope, self.clarity))

    def confidence(self) -> FloatArray:
        """Return the published chance of the shown label, and where that is `transition` of the likeliest."""
        shown = np.minimum(self.label, 3.0).astype(np.int64)
        out: FloatArray = self.chances[shown, self._columns]
        return np.where(self.label == TRANSITION, np.maximum.reduce(self.chances), out)

    def tilt(self) -> FloatArray:
        """Return posterior of risk_on minus posterior of risk_off."""
        return np.asarray(self.posterior[0] - self.posterior[1])


def dwell_minutes(t_ms: int, since_ms: int) -> int:
    """Return how long the label of the bars closed from `since_ms` on has been shown after the bar opened at `t_ms`.

    >>> dwell_minutes(t_ms=3_600_000, since_ms=3_000_000)
    15
    """
    return max(0, (t_ms + BAR_MS - since_ms) // MINUTE_MS)
