"""Peers to be measured beside the brain: thresholds on EWMAs, and three libraries where they are installed.

Each is fitted on the warm-up of the same market, on hourly values of the market's mean return. What it finds has no
names, so the truth of the warm-up names it in the way that scores best there: help that the brain does not get. After
the warm-up each answers causally: the HMM and the Markov regression by a forward filter with their fitted parameters
(their own whole-series answers are smoothed, that is, they look ahead), the jump model by its online prediction.
"""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import logging
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from generator.lab.scores import balanced
from generator.market.values import BarFrame, FloatArray

HOUR: Final = 12
Labels = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Hourly:
    """What the peers see; rows are hours.

    Args:
        returns: mean log return of the assets, in units of its own size in the warm-up.
        level: log volatility of the hour from the ranges of its bars, centred on the warm-up.
        volatility, trend: log volatility over 6 hours, and t-statistic of the return over 12, both EWMAs.
        truth: true regime at the end of each hour.
        warm: hours of warm-up.
    """

    returns: FloatArray
    level: FloatArray
    volatility: FloatArray
    trend: FloatArray
    truth: Labels
    warm: int

    def columns(self) -> FloatArray:
        """Return the four measures as columns."""
        return np.column_stack((self.returns, self.level, self.volatility, self.trend))


@dataclass(frozen=True, slots=True)
class Peer:
    """One way to name regimes, and what it needs."""

    name: str
    library: str | None
    answer: Callable[[Hourly], tuple[Labels, FloatArray | None]]


def hourly(frame: BarFrame, truth: Labels, warm_bars: int) -> Hourly:
    """Return the hours of a market without gaps."""
    close = np.log(frame.fields["close"]).mean(axis=1)
    hours, warm = len(close) // HOUR, warm_bars // HOUR
    last = np.arange(hours) * HOUR + HOUR - 1
    returns = np.diff(close[last], prepend=np.log(frame.fields["open"][0]).mean())
    span = np.log(frame.fields["high"] / frame.fields["low"])[: hours * HOUR].mean(axis=1)
    level = np.log(span.reshape(hours, HOUR).mean(axis=1))
    returns, level = returns / returns[:warm].std(), level - level[:warm].mean()
    mean, square = _ewma(returns, 8.0), _ewma(returns**2, 8.0)
    effective = (1.0 + 0.5 ** (1 / 8.0)) / (1.0 - 0.5 ** (1 / 8.0))
    trend = mean * np.sqrt(effective / np.maximum(square, 1e-12))
    return Hourly(returns, level, _ewma(level, 4.0), trend, truth[last], warm)


def _ewma(values: FloatArray, half_life: float) -> FloatArray:
    """Return the running mean, at first a plain one."""
    out, now, alpha = np.empty_like(values), 0.0, 1.0 - 0.5 ** (1.0 / half_life)
    for i, value in enumerate(values):
        now += (value - now) * max(alpha, 1.0 / (i + 1))
        out[i] = now
    return out


def _thresholds(seen: Hourly) -> tuple[Labels, FloatArray | None]:
    """Name regimes by limits on the EWMAs, chosen on the warm-up with its truth."""

    def named(high: float, trend: float, fast: float) -> Labels:
        moving = np.where(seen.trend > trend, 0, np.where(seen.trend < -trend, 1, -1))
        quiet = np.where(moving >= 0, moving, np.where(seen.volatility > high, 3, 2))
        return np.where((moving == 0) & (seen.volatility > fast), 3, quiet)

    grid = itertools.product(np.linspace(-0.3, 0.6, 7), np.linspace(0.4, 2.4, 9), (0.2, 0.4, 0.6, 9.0))
    part = slice(24, seen.warm)
    best = max(grid, key=lambda limits: balanced(named(*limits)[part], seen.truth[part]))
    return named(*best), None


def _named(state: Labels, chance: FloatArray | None, seen: Hourly) -> tuple[Labels, FloatArray | None]:
    """Give the states the names that score best on the warm-up."""
    part = slice(24, seen.warm)
    names = max(
        itertools.permutations(range(4)), key=lambda order: balanced(np.array(order)[state][part], seen.truth[part])
    )
    sure = None if chance is None else chance[np.arange(len(state)), state]
    return np.array(names)[state], sure


def _hmm(seen: Hourly) -> tuple[Labels, FloatArray | None]:
    """Fit hmmlearn's Gaussian HMM, then filter forward."""
    from hmmlearn.hmm import GaussianHMM

    x = np.column_stack((seen.returns, seen.level))
    tries = [GaussianHMM(4, covariance_type="full", n_iter=100, random_state=s).fit(x[: seen.warm]) for s in range(3)]
    best = max(tries, key=lambda model: model.score(x[: seen.warm]))
    density = np.stack([_normal(x, best.means_[k], best.covars_[k]) for k in range(4)], axis=1)
    chance = _forward(density, best.transmat_, best.startprob_)
    return _named(chance.argmax(axis=1), chance, seen)


def _normal(x: FloatArray, mean: FloatArray, covariance: FloatArray) -> FloatArray:
    """Return the log density of a normal distribution, without its constant."""
    away = x - mean
    _, size = np.linalg.slogdet(covariance)
    out: FloatArray = -0.5 * (np.einsum("ni,ij,nj->n", away, np.linalg.inv(covariance), away) + size)
    return out


def _forward(density: FloatArray, moves: FloatArray, start: FloatArray) -> FloatArray:
    """Return Hamilton's forward filter."""
    out, now = np.empty_like(density), start
    for i, row in enumerate(density):
        now = (now if i == 0 else now @ moves) * np.exp(row - row.max())
        now = np.maximum(now / max(now.sum(), 1e-300), 1e-12)
        out[i] = now
    return out


def _markov(seen: Hourly) -> tuple[Labels, FloatArray | None]:
    """Fit statsmodels' Markov switching of mean and variance of the returns, then filter with its parameters."""
    from statsmodels.tsa.regime_switching.markov_regression import MarkovRegression

    def model(values: FloatArray) -> Any:
        return MarkovRegression(values, k_regimes=4, switching_variance=True)

    fitted = model(seen.returns[: seen.warm]).fit(em_iter=20, maxiter=40, disp=False)
    chance = np.asarray(model(seen.returns).filter(fitted.params).filtered_marginal_probabilities)
    return _named(chance.argmax(axis=1), chance, seen)


def _jump(seen: Hourly) -> tuple[Labels, FloatArray | None]:
    """Fit the statistical jump model, then predict online."""
    from jumpmodels.jump import JumpModel

    x = seen.columns()
    x = (x - x[: seen.warm].mean(axis=0)) / x[: seen.warm].std(axis=0)
    part = slice(24, seen.warm)
    tries = []
    for penalty in (3.0, 10.0, 30.0):  # the best on the warm-up, by its truth
        model = JumpModel(n_components=4, jump_penalty=penalty, random_state=0).fit(x[: seen.warm])
        tries.append(_named(np.asarray(model.predict_online(x)).astype(np.int64), None, seen))
    return max(tries, key=lambda answer: balanced(answer[0][part], seen.truth[part]))


PEERS: Final = (
    Peer("EWMA thresholds", None, _thresholds),
    Peer("Gaussian HMM (hmmlearn)", "hmmlearn", _hmm),
    Peer("Markov switching (statsmodels)", "statsmodels", _markov),
    Peer("jump model (jumpmodels)", "jumpmodels", _jump),
)


def installed() -> tuple[list[Peer], list[Peer]]:
    """Return the peers that can be run here and those that cannot."""
    here = [peer.library is None or importlib.util.find_spec(peer.library) is not None for peer in PEERS]
    return [p for p, ok in zip(PEERS, here, strict=True) if ok], [
        p for p, ok in zip(PEERS, here, strict=True) if not ok
    ]


def answers(peer: Peer, seen: Hourly, bars: int) -> tuple[Labels, FloatArray | None]:
    """Return a peer's label and confidence at every bar: each hour's answer holds until the next.

    Args:
        bars: of the market.
    """
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        if peer.library:
            importlib.import_module(peer.library)  # before the filter, because some set their own
            logging.getLogger(peer.library).setLevel(logging.ERROR)
        warnings.simplefilter("ignore")  # the libraries speak up about fits that did not converge
        shown, sure = peer.answer(seen)
    hour = np.clip((np.arange(bars) + 1) // HOUR - 1, 0, len(shown) - 1)
    return shown[hour].astype(np.int64), None if sure is None else sure[hour]
