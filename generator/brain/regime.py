"""The regime: a learned forward filter over features, and a label that does not flicker. It never sees the future."""

from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from generator.brain.calibration import KEEP, PLAIN, USUAL, Calibration, softmax, temperature, tempered
from generator.brain.part import Part, Times
from generator.brain.recurrent import Recurrent
from generator.brain.smoothing import Flags, before, carried, follow, rates
from generator.brain.structure import FLAT
from generator.catalog.durations import MINUTE_MS
from generator.catalog.thresholds import BROAD_SHARE
from generator.catalog.words import RegimeLabel
from generator.market.bars import BAR_MS, FloatArray

REGIMES: Final = (RegimeLabel.RISK_ON, RegimeLabel.RISK_OFF, RegimeLabel.RANGE, RegimeLabel.HIGH_VOLATILITY)
LABELS: Final = (*REGIMES, RegimeLabel.TRANSITION)
TRANSITION: Final = 4
STEP_BARS: Final = 6  # the hidden state advances every half hour; the open half hour is evaluated at every bar
_STEP_MS: Final = STEP_BARS * BAR_MS
LEAD: Final = 0.15
"""How far another regime must lead in the published chances before the label moves to it."""
_ROUNDED: Final = 2e-4  # of that, what publishing may round away
_UNDECIDED: Final = 0.30  # with no regime at this chance nothing is decided
_PUBLISHED_HALF_LIFE: Final = 3  # bars
_HEAT: Final = 1.18  # of the chances: no market is one of those on which their temperature was fitted
_FORGET_HALF_LIFE: Final = 72  # bars without evidence
_RAMP_BARS: Final = 576.0  # over which a new stream earns the network's full trust
_AGAINST: Final = np.exp(-0.5)  # by which the day's facts lower the odds of a regime that they speak against


@dataclass(frozen=True, slots=True)
class RegimeFacts:
    """What bears on the regime, by asset and, last, of the market; NaN where unknown, (..., assets + 1)."""

    up: FloatArray  # share of the assets that rose over the day; of an asset itself 1 or 0
    down: FloatArray  # share of those that fell
    trend: FloatArray  # 1 up, 0 sideways, -1 down
    stressed: FloatArray  # 1 with elevated or extreme volatility, 0 with calm or normal
    days: FloatArray  # the day's mean move in usual days

    def against(self) -> Flags:
        """Return which regimes the facts speak against, (4, ..., assets + 1); what is unknown speaks against none."""
        one_sided = (self.up > BROAD_SHARE) | (self.up < 1.0 - BROAD_SHARE)
        broad_move = one_sided & (np.abs(self.days) > 1.0)

        risk_on = (self.up < 0.5) & (self.trend < 1.0)
        risk_off = (self.down < 0.5) & (self.trend > -1.0)
        in_range = (self.stressed == 1.0) | broad_move
        high_volatility = self.stressed == 0.0
        return np.array((risk_on, risk_off, in_range, high_volatility))


def facts_of(change: FloatArray, trend: FloatArray, stressed: FloatArray, usual: FloatArray) -> RegimeFacts:
    """Return the facts from each asset's change over the day and from what is published.

    Args:
        change: over the day, as a fraction, NaN where unknown, (..., assets).
        trend, stressed: see `RegimeFacts`, (..., assets + 1).
        usual: size of a usual day's move of each and, last, of their mean, as a fraction, (..., assets + 1).
    """
    change = np.round(change, 4)  # as published
    known = np.isfinite(change)
    total = np.count_nonzero(known, axis=-1, keepdims=True)
    many = np.where(total > 0, total, np.nan)

    sides = np.array((change > FLAT, change < -FLAT), dtype=np.float64)
    shares = sides.sum(axis=-1, keepdims=True) / many
    up, down = np.concatenate((np.where(known, sides, np.nan), shares), axis=-1)

    mean = np.where(known, change, 0.0).sum(axis=-1, keepdims=True) / many
    return RegimeFacts(
        up=up,
        down=down,
        trend=trend,
        stressed=stressed,
        days=np.concatenate((change, mean), axis=-1) / usual,
    )


def labels_of(chances: FloatArray, shown: FloatArray) -> FloatArray:
    """Return the label of each bar and column: the one shown until another leads it by `LEAD`, then the likeliest.

    With no regime at 0.30 it is `transition`.

    >>> leads = [0.50, 0.30, 0.15, 0.05]
    >>> labels_of(np.array([leads]).T[:, :, None], shown=np.array([1.0])).tolist()  # 0.20 behind: it moves
    [[0.0]]
    >>> closer = [0.44, 0.34, 0.15, 0.07]
    >>> flat = [0.29, 0.28, 0.23, 0.20]
    >>> labels_of(np.array([closer, flat]).T[:, :, None], shown=np.array([1.0])).tolist()  # 0.10 behind: it stays
    [[1.0], [4.0]]

    Args:
        chances: published, (4, n, columns).
        shown: the label before the first bar, (columns,).
    """
    best = np.maximum.reduce(chances)
    may_stay = chances > best - (LEAD - _ROUNDED)
    otherwise = np.where(best >= _UNDECIDED, chances.argmax(axis=0), TRANSITION)

    labels = np.empty(best.shape)
    for column, shown_before in enumerate(shown.tolist()):
        label = int(shown_before)
        bars = zip(may_stay[..., column].T.tolist(), otherwise[:, column].tolist(), strict=True)
        for bar, (stays, instead) in enumerate(bars):
            if TRANSITION in {label, instead} or not stays[label]:
                label = instead
            labels[bar, column] = label
    return labels


class RegimeFilter(Part):
    """Posterior and label of each asset and, in the last column, of the market; arrays are (..., assets + 1)."""

    STATE: ClassVar[tuple[str, ...]] = (
        "hidden",
        "committed",
        "posterior",
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
        super().__init__()
        columns = assets + 1
        self._every_column = np.arange(columns)
        self._models = models
        self.hidden: FloatArray = np.zeros((models[0].units, columns))
        self.committed = np.full(1, -1.0)  # the half hour last remembered
        self.posterior = np.full((4, columns), 0.25)
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
        self, t_ms: Times, features: FloatArray, support: FloatArray, facts: RegimeFacts | None, steps: Times
    ) -> None:
        """Take the features of a block of bars.

        Args:
            t_ms: open times of the bars, (n,).
            features: (inputs, n, assets + 1).
            support: bars that each column has seen, 0 where it is stale, (n, assets + 1).
            facts: evidence besides the features; None: there is none.
            steps: bars from each to the one before, (n,); a gap lets the filter forget.
        """
        known = support > 0.0
        kept = (1.0 - self._recover) ** np.where(known, steps[:, None] - 1, steps[:, None])
        half_hours = (t_ms + BAR_MS) // _STEP_MS
        is_end = np.diff(half_hours, prepend=int(self.committed[0])) > 0
        self._follow_trust(known, kept)

        # The network's chances, held towards even ones as long as little was seen.
        chance = softmax(self._scores(features, known, kept, is_end))
        chance -= 0.25
        chance *= self.weight(support)
        chance += 0.25
        self._follow_posterior(chance, known, kept)
        self.committed = half_hours.astype(np.float64)[:, None]
        clearness = np.maximum.reduce(self.posterior)[None]
        weights = np.where(known & is_end[:, None], 1.0 - KEEP, 0.0)
        self.clarity = follow(self.clarity[None], clearness, weights[None])[0]

        # What is published: calibrated, with the facts as evidence, smoothed.
        chance = tempered(self.posterior, _HEAT * temperature(self._level, self._slope, self.clarity))
        if facts:
            chance *= np.where(facts.against(), _AGAINST, 1.0)
            chance /= np.add.reduce(chance)
        pace = 1.0 - (1.0 - self._alpha) ** steps.astype(np.float64)
        self.chances = follow(self.chances, chance, np.broadcast_to(pace[:, None], chance.shape))
        self._relabel(t_ms)

    def weight(self, support: FloatArray) -> FloatArray:
        """Return how much of what the networks say counts, 0..1, (..., columns); `support` as for `update`."""
        out: FloatArray = self.trust * np.minimum(support / _RAMP_BARS, 1.0)
        return out

    def _follow_trust(self, known: Flags, kept: FloatArray) -> None:
        """Let trust fade to what is `kept` of it in a gap or where nothing is known, and come back with bars."""
        trust = self.trust
        self.trust = np.empty_like(kept)
        for bar, regained in enumerate(self._recover * known):
            trust = trust * kept[bar]
            trust = trust + (1.0 - trust) * regained
            self.trust[bar] = trust

    def _scores(self, features: FloatArray, known: Flags, kept: FloatArray, is_end: Flags) -> FloatArray:
        """Return the networks' scores of the regimes, (4, n, columns), and move the memory.

        The memory changes at the end of each half hour, and fades as trust does: first it is followed from one end to
        the next, then the networks look at all bars with what they remember at each.
        """
        by_bar = features.swapaxes(0, 1)
        hidden = self.hidden
        remembered = np.empty((len(kept), *hidden.shape))
        after = np.empty_like(remembered)
        fades: list[bool] = np.any(kept < 1.0, axis=1).tolist()
        for bar, (ends, is_fading) in enumerate(zip(is_end.tolist(), fades, strict=True)):
            if is_fading:
                hidden = hidden * kept[bar]
            remembered[bar] = hidden
            if ends:
                # Single precision is what the state keeps of it, so a restart cannot differ.
                moved = self._step(hidden, by_bar[bar])[0]
                hidden = np.where(known[bar], moved, hidden).astype(np.float32).astype(np.float64)
            after[bar] = hidden

        self.hidden = after.swapaxes(0, 1)
        return self._step(remembered, by_bar)[1].swapaxes(0, 1)

    def _step(self, hidden: FloatArray, features: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the hidden state after some bars, and the scores of the regimes, each (..., k, columns)."""
        of_asset, of_market = self._models
        moved, scores = of_asset.step(hidden, features)
        market_moved, market_scores = of_market.step(hidden[..., -1:], features[..., -1:])
        return (
            np.concatenate((moved[..., :-1], market_moved), axis=-1),
            np.concatenate((scores[..., :-1], market_scores), axis=-1),
        )

    def _follow_posterior(self, chance: FloatArray, known: Flags, kept: FloatArray) -> None:
        """Believe the chances, (4, n, columns), where they are `known`, else what is left of the belief before."""
        belief = self.posterior
        self.posterior = chance
        for bar in np.flatnonzero(~known.all(axis=1)).tolist():
            last = chance[:, bar - 1] if bar else belief
            faded = 0.25 + (last - 0.25) * kept[bar]
            chance[:, bar] = np.where(known[bar], chance[:, bar], faded)

    def _relabel(self, t_ms: Times) -> None:
        """Move the labels that are no longer near the likeliest."""
        labels = labels_of(self.chances, self.label)
        shown = before(self.label, labels)
        changed = labels != shown
        first = np.where(self.since < 0.0, float(t_ms[0]), self.since)
        self.since = carried(first, np.where(changed, t_ms[:, None], 0.0), changed)
        self.previous = carried(self.previous, shown, changed)
        self.label = labels

    def confidence(self) -> FloatArray:
        """Return the published chance of the shown label, and where that is `transition` of the likeliest."""
        shown = np.minimum(self.label, 3.0).astype(np.int64)
        out: FloatArray = self.chances[shown, self._every_column]
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
