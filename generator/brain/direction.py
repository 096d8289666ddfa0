"""Direction: a Bayes mixture that does no harm, of base rate, expected volatility, a frozen and an online logit.

Whether a move leaves the band of its week follows from the outlook; which way it goes the logits say, if anything does.
Where none of them has an edge the mixture falls back to the base rate, and the shown word to NEUTRAL. Mixing over time
follows fixed share (Herbster and Warmuth 1998). The online logit learns only from outcomes that the engine has seen.
"""

from collections.abc import Callable
from typing import ClassVar, Final

import numpy as np
import numpy.typing as npt

from generator.brain.calibration import softmax
from generator.brain.features import AT, Features
from generator.brain.smoothing import DAY_BARS, clipped
from generator.brain.week import QUARTER_MS, quarter_is_over
from generator.catalog.durations import MINUTE_MS
from generator.market.bars import BAR_MS, FloatArray

_TRENDS: Final = slice(AT["trend_1h"], AT["trend_20h"] + 1)
_MARKET_TREND: Final = AT["trend_8h"]
_SHORT: Final = AT["volatility_30m"]
_LONG: Final = AT["volatility_18h"]
_VOLUME: Final = AT["volume"]
HORIZON_MINUTES: Final = (15, 60)
ODD: Final = 8  # inputs that change sign with the market: they lean up or down
INPUTS: Final = 11  # the rest say whether it will move
MIN_BARS: Final = DAY_BARS // 2
_SLOTS: Final = (0, 1, 1)  # horizon of each pending slot: one of 15 minutes, two of 60 that start half an hour apart
# Rows of a pending forecast: first its inputs, then
_CLOSE: Final = INPUTS  # log close at its start
_BAND: Final = INPUTS + 1  # half-width of the neutral band
_CALM: Final = INPUTS + 2  # stillness by the outlook
_SIDES: Final = slice(INPUTS + 3, INPUTS + 5)  # lean and stillness by the online logit
_BASE: Final = slice(INPUTS + 5, INPUTS + 8)  # base rates
_ROW: Final = INPUTS + 8
_PRIOR: Final = np.array([0.33, 0.34, 0.33])
# Of each expert: trust before any outcome, strength of the outlook, of the frozen lean and of the online logit.
_EXPERTS: Final = (
    (0.50, 0.0, 0.0, 0.0),  # the base rate
    (0.20, 0.5, 0.0, 0.0),
    (0.20, 1.0, 0.0, 0.0),
    (0.04, 1.0, 0.5, 0.0),
    (0.02, 1.0, 1.0, 0.0),
    (0.01, 1.0, 1.7, 0.0),
    (0.02, 1.0, 0.0, 0.5),
    (0.01, 1.0, 0.0, 1.0),
)
_TRUST, _FAR, _FROZEN, _ONLINE = (np.array(column)[:, None] for column in zip(*_EXPERTS, strict=True))
_POOL: Final = 200.0  # cases that the first guess of the base rate counts for
_ASYMMETRY: Final = 0.25  # how much of the difference between past rises and falls the base rate keeps
_OWN: Final = 400.0  # cases before an asset's own base rate counts as much as the pool's
_FORGET: Final = (0.5 ** (1.0 / (30 * 96)), 0.5 ** (1.0 / (30 * 48)))
_TOGETHER: Final = 1.75  # how many independent cases the assets of one moment are worth: they move together
_INDEPENDENT: Final = (_TOGETHER, 1.0)  # the same by horizon; hours overlap besides
_SHARE: Final = 0.0002  # of all trust that each outcome shares out evenly
_RATE: Final = 0.01  # of the online logit
_DECAY: Final = 0.0005


def direction_inputs(features: Features, tilt: FloatArray, imbalance: FloatArray) -> FloatArray:
    """Return the inputs of the logits, (11, ..., assets): first the eight that change sign with the market.

    Args:
        features: after this bar.
        tilt: posterior of risk_on minus risk_off, (..., assets + 1); the market's is used.
        imbalance: of the book, -1..1, NaN where unknown.
    """
    now = features.current[..., :-1]
    market_trend = features.current[_MARKET_TREND, ..., -1:]

    out = np.empty((INPUTS, *imbalance.shape))
    out[:4] = now[_TRENDS] / 3.0
    out[4] = market_trend / 3.0
    out[5] = features.last[..., :-1] / 3.0
    out[6] = tilt[..., -1:]
    out[7] = np.where(np.isfinite(imbalance), imbalance, 0.0)

    out[8] = clipped(now[_SHORT] - now[_LONG], -3.0, 3.0)
    out[9] = now[_VOLUME]
    out[10] = 1.0
    return out


def outcomes_of(moves: FloatArray, band: FloatArray) -> npt.NDArray[np.int64]:
    """Return 0 down, 1 neutral, 2 up for log moves against the half-width of the neutral band.

    >>> outcomes_of(np.array([-0.02, 0.005, 0.02]), np.array([0.01, 0.01, 0.01])).tolist()
    [0, 1, 2]
    """
    return 1 + (moves > band).astype(np.int64) - (moves < -band).astype(np.int64)


def tilted(base: FloatArray, lean: FloatArray, still: FloatArray) -> FloatArray:
    """Return base rates, (3, ...), moved by a lean up and a stillness in log odds, normalised.

    >>> usual = np.array([0.25, 0.5, 0.25])
    >>> tilted(usual, np.array(0.0), np.array(0.0)).tolist()
    [0.25, 0.5, 0.25]
    >>> tilted(usual, np.array(0.5), np.array(0.0)).round(2).tolist()
    [0.14, 0.47, 0.39]
    """
    scores: FloatArray = np.log(base) + np.array((-lean, still, lean))
    return softmax(scores)


class DirectionModel:
    """Forecasts of each asset at 15 and 60 minutes that learn from the engine's own bars."""

    STATE: ClassVar[tuple[str, ...]] = ("counts", "mixture", "online", "pending", "due", "resolved")

    def __init__(self, assets: int, frozen: FloatArray) -> None:
        """Start with the first guess of the base rates; `frozen` are weights trained offline, (2, 11)."""
        self.counts = np.zeros((2, 3, assets))  # fading counts of down, neutral, up, per horizon
        self.mixture = np.log(np.tile(_TRUST[:, 0], (2, 1)))  # log trust in each expert
        self.online = np.zeros((2, INPUTS))  # weights of the online logit
        self.pending = np.full((len(_SLOTS), _ROW, assets), np.nan)
        self.due = np.zeros(len(_SLOTS))  # close time at which each pending forecast is resolved, ms
        self.resolved = np.zeros(2)  # asset outcomes learned, per horizon
        self._frozen = frozen

    def base(self, horizon: int) -> FloatArray:
        """Return the causal base rates, (3, assets): an asset's own, shrunk towards all assets'.

        Rises and falls are moved towards each other: a drift of the last weeks rarely lasts.
        """
        counts = self.counts[horizon]
        assets = counts.shape[1]

        # Assets move together: seven outcomes of one quarter of an hour are worth about two, not seven.
        pool = np.add.reduce(counts, axis=1) * (min(_TOGETHER, assets) / assets) + _POOL * _PRIOR
        half = 0.5 * (1.0 - _ASYMMETRY) * (pool[2] - pool[0])
        pool = (pool + np.array([half, 0.0, -half])) / np.add.reduce(pool)

        shift = 0.5 * (1.0 - _ASYMMETRY) * (counts[2] - counts[0])
        own = np.array((counts[0] + shift, counts[1], counts[2] - shift))
        out: FloatArray = (own + _OWN * pool[:, None]) / (np.add.reduce(own) + _OWN)
        return out

    def mixed(self, horizon: int, inputs: FloatArray, within: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return probabilities, (3, bars, assets), and base rates, (3, assets), after bars without an outcome between.

        Args:
            horizon: 0 for 15 minutes, 1 for 60.
            inputs: (11, bars, assets).
            within: chance by the outlook that the move stays within the band, (bars, assets).
        """
        base = self.base(horizon)
        calm = _calmer(within, base)
        lean, still = _sides(self.online[horizon], inputs)
        chances = self._experts(horizon, np.log(base), inputs, (calm, lean, still))

        weight = np.exp(self.mixture[horizon])
        weight /= np.add.reduce(weight)
        by_bar = chances.transpose(2, 0, 1, 3)
        mixture = (weight @ by_bar.reshape(*by_bar.shape[:2], -1)).reshape(len(by_bar), *base.shape)
        return mixture.swapaxes(0, 1), base

    def _experts(
        self, horizon: int, usual: FloatArray, inputs: FloatArray, sides: tuple[FloatArray, FloatArray, FloatArray]
    ) -> FloatArray:
        """Return the experts' probabilities, (experts, 3 classes, ..., assets).

        Args:
            usual: log of the base rates; sides: stillness by the outlook, lean and stillness by the online logit.
        """
        calm, lean, still = sides
        frozen_lean = _weighed(self._frozen[horizon, :ODD], inputs[:ODD])
        far, frozen, online = (column.reshape(-1, *(1,) * lean.ndim) for column in (_FAR, _FROZEN, _ONLINE))

        scores = np.empty((3, len(_EXPERTS), *frozen_lean.shape))
        scores[2] = frozen * frozen_lean + online * lean
        np.negative(scores[2], out=scores[0])
        scores[1] = far * calm + online * still
        scores += usual.reshape(3, *(1,) * lean.ndim, -1)
        return softmax(scores).swapaxes(0, 1)

    def update(
        self,
        t_ms: int,
        log_close: FloatArray,
        inputs: FloatArray,
        band: Callable[[int], tuple[FloatArray, FloatArray]],
        ready: npt.NDArray[np.bool_],
    ) -> None:
        """Resolve what is due at this bar's close, then make the forecasts that start now.

        Args:
            t_ms: open time of the bar.
            log_close: (assets,), NaN where there is no bar.
            inputs: (11, assets).
            band: gives for a horizon index the neutral band and the outlook's chance of staying within it, (assets,).
            ready: True where the asset has enough history.
        """
        if not quarter_is_over(t_ms):
            return

        close_ms = t_ms + BAR_MS
        for slot, horizon in enumerate(_SLOTS):
            if self.due[slot] == close_ms:
                self._learn(horizon, self.pending[slot], log_close)

        start = np.where(ready, log_close, np.nan)
        self._start(0, close_ms, start, inputs, band(0))
        if close_ms % (2 * QUARTER_MS) == 0:
            slot = 1 + close_ms // (2 * QUARTER_MS) % 2  # the two slots of an hour take turns
            self._start(slot, close_ms, start, inputs, band(1))

    def _start(
        self, slot: int, close_ms: int, start: FloatArray, inputs: FloatArray, band: tuple[FloatArray, FloatArray]
    ) -> None:
        """Write down a forecast before its horizon starts."""
        horizon = _SLOTS[slot]
        width, within = band
        base = self.base(horizon)

        row = self.pending[slot]
        row[:INPUTS] = inputs
        row[_CLOSE] = np.where(np.isfinite(width), start, np.nan)
        row[_BAND] = width
        row[_CALM] = _calmer(within, base)
        row[_SIDES] = _sides(self.online[horizon], inputs)
        row[_BASE] = base
        self.due[slot] = close_ms + HORIZON_MINUTES[horizon] * MINUTE_MS

    def _learn(self, horizon: int, row: FloatArray, log_close: FloatArray) -> None:
        """Score the experts on the outcome, then move the base rates and the online logit."""
        moves = log_close - row[_CLOSE]
        known = np.isfinite(moves)
        if not known.all():
            row = row[:, known]
            moves = moves[known]
        if not moves.size:
            return

        band = row[_BAND]
        hit = np.empty((3, moves.size))
        hit[0] = moves < -band
        hit[2] = moves > band
        hit[1] = 1.0 - hit[0] - hit[2]

        # What each expert gave then, from what was written down then.
        inputs = row[:INPUTS]
        calm = row[_CALM]
        lean, still = row[_SIDES]
        chances = self._experts(horizon, np.log(row[_BASE]), inputs, (calm, lean, still))
        scores = np.log(np.add.reduce(chances * hit, axis=1))
        self._remix(horizon, np.add.reduce(scores, axis=1) / moves.size)
        self._descend(horizon, inputs, hit - chances[-1])

        counts = self.counts[horizon]
        counts *= _FORGET[horizon]
        counts[:, known] += hit
        self.resolved[horizon] += moves.size

    def _remix(self, horizon: int, gain: FloatArray) -> None:
        """Move the mixture towards the experts that did better, and share a little with all.

        `gain` is each expert's mean log score over the assets, (experts,).
        """
        raw = self.mixture[horizon] + _INDEPENDENT[horizon] * gain
        share = np.exp(raw - np.maximum.reduce(raw))
        kept = (1.0 - _SHARE) * share / np.add.reduce(share)
        self.mixture[horizon] = np.log(kept + _SHARE * _TRUST[:, 0])

    def _descend(self, horizon: int, inputs: FloatArray, error: FloatArray) -> None:
        """Take one step of the online logit along the gradient of the log score; `error` is (3, cases)."""
        lean = error[2] - error[0]
        still = error[1]
        steps = np.concatenate((inputs[:ODD] * lean, inputs[ODD:] * still))
        gradient = np.add.reduce(steps, axis=1) / lean.size
        self.online[horizon] += _RATE * gradient - _DECAY * self.online[horizon]


def _sides(weights: FloatArray, inputs: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the lean up and the stillness that weights, (11,), give inputs, (11, ..., assets)."""
    return _weighed(weights[:ODD], inputs[:ODD]), _weighed(weights[ODD:], inputs[ODD:])


def _weighed(weights: FloatArray, inputs: FloatArray) -> FloatArray:
    """Return the weighted sum of inputs, (k, ..., assets); of each bar a product of its own, as in a stream."""
    out: FloatArray = weights @ inputs.swapaxes(0, -2)
    return out


def _calmer(within: FloatArray, base: FloatArray) -> FloatArray:
    """Return how much likelier neutral is by the outlook than usual, in log odds."""
    chance = clipped(within, 0.01, 0.99)
    odds = chance / (1.0 - chance)
    usual = base[1] / (1.0 - base[1])
    out: FloatArray = np.log(odds) - np.log(usual)
    return np.where(np.isfinite(out), out, 0.0)
