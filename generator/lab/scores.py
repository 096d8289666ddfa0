"""Scores of regimes and forecasts against the truth and the outcomes, with what chance alone would give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from generator.brain.axes import FALLING, RISING
from generator.market.bars import BARS_A_DAY, FloatArray

BINS: Final = 15
STRESSED: Final = (1, 3)
CLAIMS: Final = (0, 1)
CLAIMS_OF_SIDE: Final = (RISING, FALLING)
TRANSITION: Final = 4
_NEVER: Final = 1e9
_DRAWS: Final = 200
Labels = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class RegimeRun:
    """The labels that one model gave a market at every scored bar, and the truth."""

    shown: Labels  # 0..3, 4 for transition
    truth: Labels  # 0..3
    moving: Flags  # inside a transition window
    chances: FloatArray | None = None  # (n, 4); None where the model gives none
    side: Labels | None = None  # 0 none, 1 rising, 2 falling, 3 unknown; None where the model gives none

    def counted(self) -> Labels:
        """Return the labels that are scored: `transition` counts as the likeliest of its chances."""
        if self.chances is None:
            return self.shown
        return np.where(self.shown == TRANSITION, self.chances.argmax(axis=1), self.shown)

    def behind(self) -> FloatArray:
        """Return how far the label is behind the likeliest regime at every bar, 0 for `transition`."""
        if self.chances is None:
            return np.zeros(len(self.shown))
        own = self.chances[np.arange(len(self.shown)), np.minimum(self.shown, 3)]
        return np.where(self.shown == TRANSITION, 0.0, self.chances.max(axis=1) - own)

    def changes(self) -> Labels:
        """Return the bars at which the label moved."""
        return np.flatnonzero(np.diff(self.shown) != 0) + 1


@dataclass(frozen=True, slots=True)
class RegimeScore:
    """Figures of several runs of one family; hours and shares."""

    accuracy: float
    stressed: float
    dwell_hours: float
    delay_hours: float  # median over all changes of regime; one that was never seen counts as endless
    missed: float  # share of the regimes that were never named
    false_a_day: float  # changes of the label to one that is not true then
    claimed: float  # share of the time as risk_on or risk_off
    transition: float  # share of the time
    sided: float  # share of the time as rising or falling, NaN where the model gives no side


def score_regimes(runs: Sequence[RegimeRun]) -> RegimeScore:
    """Return the figures of a family, all its runs together."""
    shown = np.concatenate([run.counted()[~run.moving] for run in runs])
    truth = np.concatenate([run.truth[~run.moving] for run in runs])
    delays = np.concatenate([_delays(run) for run in runs])

    # These are of every bar, transition windows too.
    every = np.concatenate([run.shown for run in runs])
    days = len(every) / BARS_A_DAY
    changes = [run.changes() for run in runs]
    false_changes = [run.shown[at] != run.truth[at] for run, at in zip(runs, changes, strict=True)]
    wrong = sum(int(each.sum()) for each in false_changes)
    sides = [run.side for run in runs if run.side is not None]

    return RegimeScore(
        accuracy=balanced(shown, truth),
        stressed=balanced(np.isin(shown, STRESSED), np.isin(truth, STRESSED)),
        dwell_hours=24.0 * days / max(sum(map(len, changes)), 1),
        delay_hours=float(np.median(delays)) if delays.size else float("nan"),
        missed=float((delays == _NEVER).mean()) if delays.size else 0.0,
        false_a_day=wrong / days,
        claimed=float(np.isin(every, CLAIMS).mean()),
        transition=float((every == TRANSITION).mean()),
        sided=float(np.isin(np.concatenate(sides), CLAIMS_OF_SIDE).mean()) if sides else float("nan"),
    )


def resampled(
    measure: Callable[[npt.NDArray[np.int64]], float], size: int, block: int = 1, draws: int = _DRAWS
) -> tuple[float, float]:
    """Return the 95% interval of a measure over `size` cases by the block bootstrap (Kuensch 1989).

    Args:
        measure: gives the figure of some cases, drawn with replacement.
        size: how many cases there are, in the order of time.
        block: cases that are drawn together, since neighbours are alike.
        draws: how many figures the interval is read from.
    """
    if size == 1:  # every draw is this case
        figure = measure(np.zeros(1, np.int64))
        return figure, figure
    rng = np.random.default_rng(0)
    return interval_of(np.array([measure(draw(rng, size, block)[0]) for _ in range(draws)]))


def draw(rng: np.random.Generator, size: int, block: int, draws: int = 1) -> npt.NDArray[np.int64]:
    """Return the cases of some draws of the block bootstrap, a row each: all at once where there are few cases."""
    block = min(block, max(size // 2, 1))
    starts = rng.integers(0, size - block + 1, (draws, max(size // block, 1)))
    return (starts[..., None] + np.arange(block)).reshape(draws, -1)


def interval_of(figures: FloatArray) -> tuple[float, float]:
    """Return the 95% interval of the figures of many draws."""
    low, high = np.nanpercentile(np.asarray(figures), (2.5, 97.5))
    return float(low), float(high)


def _delays(run: RegimeRun) -> FloatArray:
    """Return the hours from each change of the true regime to the first bar that shows it."""
    shown = run.counted()
    starts = np.flatnonzero(np.diff(run.truth) != 0) + 1
    ends = np.append(starts, len(run.truth))[1:]

    delays = []
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        hits = np.flatnonzero(shown[start:end] == run.truth[start])
        delays.append(hits[0] / 12.0 if hits.size else _NEVER)
    return np.array(delays)


def balanced(shown: npt.NDArray[Any], truth: npt.NDArray[Any]) -> float:
    """Return the mean over true classes of the share that was shown right."""
    shares = [(shown[truth == label] == label).mean() for label in np.unique(truth)]
    return float(np.mean(shares))


def calibration_error(sure: FloatArray, right: Flags) -> float:
    """Return the expected calibration error over equal bins of confidence."""
    which = np.minimum((sure * BINS).astype(int), BINS - 1)
    return float(np.abs(np.bincount(which, weights=right - sure)).sum() / len(sure))


def regime_error(runs: Sequence[RegimeRun]) -> tuple[float, Chance]:
    """Return the calibration error of the confidence in the label, and its size by chance.

    For the size by chance all bars of a spell come true, or not, as one.
    """
    kept = ~np.concatenate([run.moving for run in runs])
    chances = np.concatenate([run.chances for run in runs if run.chances is not None])
    shown = np.concatenate([run.counted() for run in runs])
    truth = np.concatenate([run.truth for run in runs])
    starts = np.concatenate([np.diff(run.truth, prepend=-1) != 0 for run in runs])
    spell = np.cumsum(starts) - 1

    sure = chances[np.arange(len(shown)), shown][kept]
    error = calibration_error(sure, (shown == truth)[kept])
    return error, by_chance(sure, spell[kept])


class Chance(NamedTuple):
    """The calibration error that a perfectly calibrated reader of the same confidences gets by chance alone."""

    mean: float
    high: float  # 95% of simulated outcomes stay below


def by_chance(sure: FloatArray, together: Labels) -> Chance:
    """Simulate outcomes that come true exactly as often as claimed, those of one number in `together` as one."""
    rng = np.random.default_rng(0)
    which = np.minimum((sure * BINS).astype(int), BINS - 1)
    claimed = np.bincount(which, weights=sure)
    units = int(together.max()) + 1

    errors = []
    for _ in range(_DRAWS):
        right = rng.random(units)[together] < sure
        errors.append(np.abs(np.bincount(which, weights=right) - claimed).sum() / len(sure))
    return Chance(float(np.mean(errors)), float(np.quantile(errors, 0.95)))


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Forecasts of one horizon with their outcomes; rows are moments, then assets."""

    chance: FloatArray  # (n, 3)
    base: FloatArray  # (n, 3)
    outcome: Labels  # 0 down, 1 neutral, 2 up
    moment: Labels  # which moment each row belongs to

    def losses(self) -> tuple[FloatArray, FloatArray]:
        """Return the log losses of the forecasts and of the base rates."""
        rows = np.arange(len(self.outcome))
        loss = -np.log(np.maximum(self.chance[rows, self.outcome], 0.01))
        usual = -np.log(np.maximum(self.base[rows, self.outcome], 0.01))
        return loss, usual

    def skill(self) -> float:
        """Return the log-loss skill against the causal base rate in percent."""
        loss, usual = self.losses()
        return 100.0 * float(1.0 - loss.mean() / usual.mean())

    def error(self) -> float:
        """Return the calibration error of the likeliest class."""
        top = self.chance.argmax(axis=1)
        return calibration_error(self.chance[np.arange(len(top)), top], top == self.outcome)

    def error_by_chance(self, overlap: int) -> Chance:
        """Return what a calibrated forecaster would score where all of `overlap` moments comes true as one."""
        return by_chance(self.chance.max(axis=1), self.moment // overlap)

    def interval(self, block: int) -> tuple[float, float]:
        """Return the 95% interval of the skill, by blocks of so many moments."""
        size = int(self.moment.max()) + 1
        loss, usual = (np.bincount(self.moment, weights=values, minlength=size) for values in self.losses())

        def skill(take: npt.NDArray[np.int64]) -> float:
            return 100.0 * float(1.0 - loss[take].sum() / usual[take].sum())

        return resampled(skill, size, block, 1000)


def join(parts: Sequence[Outcomes]) -> Outcomes:
    """Return the outcomes of several markets as one, moments kept apart."""
    moments = [int(part.moment.max(initial=-1)) + 1 for part in parts]
    shift = np.cumsum([0, *moments[:-1]])
    return Outcomes(
        chance=np.concatenate([part.chance for part in parts]),
        base=np.concatenate([part.base for part in parts]),
        outcome=np.concatenate([part.outcome for part in parts]),
        moment=np.concatenate([part.moment + at for part, at in zip(parts, shift, strict=True)]),
    )
