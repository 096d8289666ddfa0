"""Peers to compare the brain with: thresholds on EWMAs, and hmmlearn where it is installed.

Each is fitted on the warm-up of the same market, on hourly values of the market's mean return. Its states have no
names, so the truth of the warm-up names them in the way that scores best there: help that the brain does not get.
After the warm-up each answers causally: the HMM by a forward filter with its fitted parameters (its own whole-series
answer is smoothed, that is, it looks ahead).
"""

import itertools
import logging
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from generator.lab.scores import balanced
from generator.market.bars import BarFrame, FloatArray

HOUR: Final = 12
Labels = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Hourly:
    """What the peers see; rows are hours."""

    returns: FloatArray  # mean log return of the assets, in units of its own size in the warm-up
    level: FloatArray  # log volatility of the hour from the ranges of its bars, centred on the warm-up
    volatility: FloatArray  # log volatility over 6 hours, an EWMA
    trend: FloatArray  # t-statistic of the return over 12 hours, of EWMAs
    truth: Labels  # true regime at the end of each hour
    warm: int  # hours of warm-up

    def score(self, label: Labels) -> float:
        """Return the balanced accuracy of labels on the warm-up."""
        part = slice(24, self.warm)
        return balanced(label[part], self.truth[part])


def hourly(frame: BarFrame, truth: Labels, warm_bars: int) -> Hourly:
    """Return the hours of a market without gaps."""
    close = np.log(frame.fields["close"]).mean(axis=1)
    hours = len(close) // HOUR
    warm = warm_bars // HOUR
    last = np.arange(hours) * HOUR + HOUR - 1
    returns = np.diff(close[last], prepend=np.log(frame.fields["open"][0]).mean())
    spans = np.log(frame.fields["high"] / frame.fields["low"])
    mean_span = spans[: hours * HOUR].mean(axis=1)
    level = np.log(mean_span.reshape(hours, HOUR).mean(axis=1))

    # In units of the warm-up, so that one grid of limits fits every market.
    returns = returns / returns[:warm].std()
    level = level - level[:warm].mean()

    # The t-statistic of an EWMA: its mean over the standard error of as many values as it is worth.
    keep = 0.5 ** (1 / 8.0)
    effective = (1.0 + keep) / (1.0 - keep)
    mean = _ewma(returns, 8.0)
    square = _ewma(returns**2, 8.0)
    return Hourly(
        returns=returns,
        level=level,
        volatility=_ewma(level, 4.0),
        trend=mean * np.sqrt(effective / np.maximum(square, 1e-12)),
        truth=truth[last],
        warm=warm,
    )


def _ewma(values: FloatArray, half_life: float) -> FloatArray:
    """Return the running mean, at first a plain one; `half_life` is in values."""
    alpha = 1.0 - 0.5 ** (1.0 / half_life)
    out = np.empty_like(values)
    now = 0.0
    for i, value in enumerate(values):
        now += (value - now) * max(alpha, 1.0 / (i + 1))
        out[i] = now
    return out


def _thresholds(seen: Hourly) -> Labels:
    """Name regimes by limits on the EWMAs, chosen on the warm-up with its truth."""

    def named(high: float, trend: float, fast: float) -> Labels:
        moving = np.where(seen.trend > trend, 0, np.where(seen.trend < -trend, 1, -1))
        quiet = np.where(moving >= 0, moving, np.where(seen.volatility > high, 3, 2))
        return np.where((moving == 0) & (seen.volatility > fast), 3, quiet)

    grid = itertools.product(np.linspace(-0.3, 0.6, 7), np.linspace(0.4, 2.4, 9), (0.2, 0.4, 0.6, 9.0))
    return named(*max(grid, key=lambda limits: seen.score(named(*limits))))


def _hmm(seen: Hourly) -> Labels:
    """Fit hmmlearn's Gaussian HMM, then apply Hamilton's forward filter."""
    from hmmlearn.hmm import GaussianHMM
    from scipy.stats import multivariate_normal

    logging.getLogger("hmmlearn").setLevel(logging.ERROR)
    x = np.column_stack((seen.returns, seen.level))
    known = x[: seen.warm]
    tries = [GaussianHMM(4, covariance_type="full", n_iter=100, random_state=seed).fit(known) for seed in range(3)]
    best = max(tries, key=lambda model: model.score(known))

    states = zip(best.means_, best.covars_, strict=True)
    density = np.stack([multivariate_normal(*state, allow_singular=True).logpdf(x) for state in states], axis=1)
    chance = np.empty_like(density)
    now = best.startprob_
    for i, row in enumerate(density):
        before = now if i == 0 else now @ best.transmat_
        now = before * np.exp(row - row.max())
        now = np.maximum(now / max(now.sum(), 1e-300), 1e-12)
        chance[i] = now

    state = chance.argmax(axis=1)
    names = max(itertools.permutations(range(4)), key=lambda order: seen.score(np.array(order)[state]))
    named: Labels = np.array(names)[state]
    return named


HMM: Final = "Gaussian HMM (hmmlearn)"
"""The one that needs a library."""
PEERS: Final[dict[str, Callable[[Hourly], Labels]]] = {"EWMA thresholds": _thresholds, HMM: _hmm}


def answers(peer: str, seen: Hourly, bars: int) -> Labels:
    """Return a peer's label at every one of `bars` bars: each hour's answer holds until the next."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # of fits that did not converge
        label = PEERS[peer](seen)
    hour = np.clip((np.arange(bars) + 1) // HOUR - 1, 0, len(label) - 1)
    return label[hour].astype(np.int64)
