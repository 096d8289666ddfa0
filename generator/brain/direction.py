"""Direction: a Bayes mixture that does no harm, of base rate, expected volatility, a frozen and an online logit.

Whether a move leaves the band of its week follows from the outlook; which way it goes the logits say, if anything does.
Where none of them has an edge the mixture falls back to the base rate, and the shown word to NEUTRAL. Mixing over time
follows fixed share (Herbster and Warmuth 1998). The online logit learns only from outcomes that the engine has seen.
"""

from typing import ClassVar, Final

import numpy as np
import numpy.typing as npt

from generator.brain.calibration import softmax
from generator.brain.features import AT, Features
from generator.brain.part import Part, Times, slid
from generator.brain.smoothing import DAY_BARS, Flags, clipped, faded
from generator.brain.week import QuarterEnds
from generator.market.bars import FloatArray

_TRENDS: Final = slice(AT["trend_1h"], AT["trend_20h"] + 1)
_MARKET_TREND: Final = AT["trend_8h"]
_SHORT: Final = AT["volatility_30m"]
_LONG: Final = AT["volatility_18h"]
_VOLUME: Final = AT["volume"]
HORIZON_MINUTES: Final = (15, 60)
ODD: Final = 8  # inputs that change sign with the market: they lean up or down
INPUTS: Final = 11  # the rest say whether it will move
MIN_BARS: Final = DAY_BARS // 2
HORIZON_QUARTERS: Final = tuple(minutes // 15 for minutes in HORIZON_MINUTES)
_EVERY: Final = (1, 2)  # quarter hours from one forecast to the next
_KEPT: Final = HORIZON_QUARTERS[-1] + 1  # quarter hours, so that an hour finds its start
# What is written down when forecasts begin, in rows: the inputs of both horizons, then of each
_CLOSE: Final = 0  # log close
_BAND: Final = 1  # half-width of the neutral band
_CALM: Final = 2  # stillness by the outlook
_SIDES: Final = slice(3, 5)  # lean and stillness by the online logit
_BASE: Final = slice(5, 8)  # base rates
_OWN_ROWS: Final = 8
_FIRST: Final = (INPUTS, INPUTS + _OWN_ROWS)
_ROWS: Final = INPUTS + len(HORIZON_MINUTES) * _OWN_ROWS
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


class DirectionModel(Part):
    """Forecasts of each asset at 15 and 60 minutes that learn from the engine's own bars; arrays are (2, ..., k)."""

    STATE: ClassVar[tuple[str, ...]] = ("counts", "mixture", "online", "pending", "number", "resolved")

    def __init__(self, assets: int, frozen: FloatArray) -> None:
        """Start with the first guess of the base rates; `frozen` are weights trained offline, (2, 11)."""
        super().__init__()
        self.counts = np.zeros((2, 3, assets))  # fading counts of down, neutral, up, per horizon
        self.mixture = np.log(np.tile(_TRUST[:, 0], (2, 1)))  # log trust in each expert
        self.online = np.zeros((2, INPUTS))  # weights of the online logit
        self.pending = np.full((_KEPT, _ROWS, assets), np.nan)  # forecasts by the quarter hour they began with
        self.number = np.full(1, -1.0)  # of the last of them
        self.resolved = np.zeros((2, 1))  # asset outcomes learned, per horizon
        self._frozen = frozen

    def base(self, horizon: int) -> FloatArray:
        """Return the causal base rates, (3, ..., assets)."""
        return base_rates(self.counts[horizon].swapaxes(0, -2))

    def mixed(self, horizon: int, inputs: FloatArray, within: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return probabilities and base rates after some bars, both (3, bars, assets).

        Args:
            horizon: 0 for 15 minutes, 1 for 60.
            inputs: (11, bars, assets).
            within: chance by the outlook that the move stays within the band, (bars, assets).
        """
        base = np.broadcast_to(self.base(horizon).reshape(3, -1, inputs.shape[-1]), (3, *within.shape))
        calm = _calmer(within, base)
        lean, still = _sides(self.online[horizon], inputs)
        chances = self._experts(horizon, np.log(base), inputs, (calm, lean, still))

        weight = np.exp(self.mixture[horizon])
        weight /= np.add.reduce(weight, axis=-1, keepdims=True)
        by_bar = chances.transpose(2, 0, 1, 3)
        mixture = weight[..., None, :] @ by_bar.reshape(*by_bar.shape[:2], -1)
        return mixture.reshape(len(by_bar), 3, -1).swapaxes(0, 1), base

    def _experts(
        self, horizon: int, usual: FloatArray, inputs: FloatArray, sides: tuple[FloatArray, FloatArray, FloatArray]
    ) -> FloatArray:
        """Return the experts' probabilities, (experts, 3 classes, n, assets).

        Args:
            usual: log of the base rates; sides: stillness by the outlook, lean and stillness by the online logit.
        """
        calm, lean, still = sides
        frozen_lean = _weighed(self._frozen[horizon, :ODD], inputs[:ODD])
        far, frozen, online = (column[..., None] for column in (_FAR, _FROZEN, _ONLINE))

        scores = np.empty((3, len(_EXPERTS), *frozen_lean.shape))
        scores[2] = frozen * frozen_lean + online * lean
        np.negative(scores[2], out=scores[0])
        scores[1] = far * calm + online * still
        scores += usual[:, None]
        return softmax(scores).swapaxes(0, 1)

    def update(  # noqa: PLR0917
        self,
        ends: QuarterEnds,
        log_close: FloatArray,
        inputs: FloatArray,
        bands: FloatArray,
        within: FloatArray,
        ready: Flags,
    ) -> None:
        """Resolve what is due at the ends of a block's quarter hours, and make the forecasts that start there.

        Args:
            ends: of the block's quarter hours, m.
            log_close: (n, assets), NaN where there is no bar.
            inputs: (11, n, assets).
            bands: neutral bands of both horizons, (2, n, assets).
            within: the outlook's chances of staying within them, (2, n, assets).
            ready: True where the asset has enough history, (n, assets).
        """
        if not len(ends.last_bars):
            self.stand(len(log_close))
            return

        pending, places = slid(self.pending, int(self.number[0]), ends.numbers)
        pending[places, :INPUTS] = inputs[:, ends.last_bars].swapaxes(0, 1)
        close = log_close[ends.last_bars]
        start = np.where(ready[ends.last_bars], close, np.nan)

        learned = []
        for horizon in range(len(HORIZON_MINUTES)):
            begins = ends.numbers % _EVERY[horizon] == 0
            own = pending[:, _FIRST[horizon] : _FIRST[horizon] + _OWN_ROWS]
            width = bands[horizon, ends.last_bars]
            own[places, _CLOSE] = np.where(begins[:, None] & np.isfinite(width), start, np.nan)
            own[places, _BAND] = width
            learned.append(self._learn(horizon, pending, places, close, within[horizon, ends.last_bars]))

        self.counts, self.mixture, self.online, self.resolved = (
            np.stack([rows[ends.so_far] for rows in of_horizons]) for of_horizons in zip(*learned, strict=True)
        )
        self._windows = {"pending": (pending, ends.window_ends(_KEPT, places))}
        newest = np.concatenate((self.number, ends.numbers))
        self.number = newest[ends.so_far][:, None]

    def _learn(
        self, horizon: int, pending: FloatArray, places: Times, close: FloatArray, within: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Score what ends at each of the quarter hours at `places`, and write down what else begins there.

        Args:
            pending: every forecast, (rows, ...).
            close: log closes, (m, assets), NaN where there is no bar.
            within: the outlook's chance of staying within the band, (m, assets).

        Returns:
            Counts, mixture, online logit and resolved outcomes before the first and after each, (m + 1, ...).
        """
        own = pending[:, _FIRST[horizon] : _FIRST[horizon] + _OWN_ROWS]
        begun = places - HORIZON_QUARTERS[horizon]
        moves = close - own[begun, _CLOSE]
        known = np.isfinite(moves)
        many = known.sum(axis=1)
        hit = hits_of(moves, own[begun, _BAND])

        # Base rates follow from what came alone.
        keep = np.where(many > 0, _FORGET[horizon], 1.0)
        counts = faded(self.counts[horizon], keep[:, None, None], hit)
        base = base_rates(counts[1:].swapaxes(0, 1))
        own[places, _BASE] = base.swapaxes(0, 1)
        own[places, _CALM] = _calmer(within, base)

        # The online logit learns from what it said itself, so moment by moment.
        online = np.empty((len(places) + 1, INPUTS))
        online[0] = self.online[horizon]
        for moment, place in enumerate(places.tolist()):
            weights = online[moment]
            if many[moment]:
                row = own[begun[moment]]
                inputs = pending[begun[moment], :INPUTS]
                weights = _descended(weights, inputs, row, known[moment], hit[moment])
            own[place, _SIDES] = _sides(weights, pending[place, :INPUTS])
            online[moment + 1] = weights

        # The mixture, from what every expert gave then.
        moments = np.flatnonzero(many)
        rows = own[begun[moments]].swapaxes(0, 1)
        chances = self._experts(
            horizon,
            np.log(rows[_BASE]),
            pending[begun[moments], :INPUTS].swapaxes(0, 1),
            (rows[_CALM], *rows[_SIDES]),
        )
        of_outcome = np.add.reduce(chances * hit[moments].swapaxes(0, 1), axis=1)
        scores = np.log(np.where(known[moments], of_outcome, 1.0))
        gains = np.zeros((len(places), len(_EXPERTS)))
        gains[moments] = (np.add.reduce(scores, axis=2) / many[moments]).T
        mixture = np.empty((len(places) + 1, len(_EXPERTS)))
        mixture[0] = self.mixture[horizon]
        for moment, gain in enumerate(gains):
            mixture[moment + 1] = mixture[moment]
            if many[moment]:
                mixture[moment + 1] = _remixed(mixture[moment], _INDEPENDENT[horizon] * gain)

        resolved = self.resolved[horizon] + np.concatenate(([0], np.add.accumulate(many)))[:, None]
        return counts, mixture, online, resolved


def base_rates(counts: FloatArray) -> FloatArray:
    """Return base rates from counts of down, neutral and up, (3, ..., assets): an asset's own, shrunk towards all's.

    Rises and falls are moved towards each other: a drift of the last weeks rarely lasts.
    """
    assets = counts.shape[-1]
    prior = (_POOL * _PRIOR).reshape(-1, *(1,) * (counts.ndim - 1))

    # Assets move together: seven outcomes of one quarter of an hour are worth about two, not seven.
    pool = np.add.reduce(counts, axis=-1, keepdims=True) * (min(_TOGETHER, assets) / assets) + prior
    half = 0.5 * (1.0 - _ASYMMETRY) * (pool[2] - pool[0])
    pool = np.array((pool[0] + half, pool[1], pool[2] - half)) / np.add.reduce(pool)

    shift = 0.5 * (1.0 - _ASYMMETRY) * (counts[2] - counts[0])
    own = np.array((counts[0] + shift, counts[1], counts[2] - shift))
    out: FloatArray = (own + _OWN * pool) / (np.add.reduce(own) + _OWN)
    return out


def hits_of(moves: FloatArray, band: FloatArray) -> FloatArray:
    """Return 1.0 for the class that came of down, neutral and up, 0.0 for the others and where unknown, (m, 3, assets).

    >>> hits_of(np.array([[-0.02, 0.005, np.nan]]), np.full((1, 3), 0.01)).tolist()
    [[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]]
    """
    down = moves < -band
    up = moves > band
    return np.stack((down, np.isfinite(moves) & ~down & ~up, up), axis=1).astype(np.float64)


def _descended(weights: FloatArray, inputs: FloatArray, row: FloatArray, known: Flags, hit: FloatArray) -> FloatArray:
    """Return the online logit after a step along the gradient of its log score over the assets of one moment.

    Args:
        weights: before, (11,).
        inputs: when the forecasts began, (11, assets).
        row: what was written down then, (rows, assets).
        known, hit: what came, (assets,) and (3, assets).
    """
    lean, still = row[_SIDES]
    error = np.where(known, hit - tilted(row[_BASE], lean, row[_CALM] + still), 0.0)
    steps = np.concatenate((inputs[:ODD] * (error[2] - error[0]), inputs[ODD:] * error[1]))
    gradient = np.add.reduce(steps, axis=1) / np.count_nonzero(known)
    out: FloatArray = weights + (_RATE * gradient - _DECAY * weights)
    return out


def _remixed(mixture: FloatArray, gain: FloatArray) -> FloatArray:
    """Return the log trust in the experts, (experts,), moved by what each gained and shared a little with all."""
    raw = mixture + gain
    share = np.exp(raw - np.maximum.reduce(raw))
    kept = (1.0 - _SHARE) * share / np.add.reduce(share)
    out: FloatArray = np.log(kept + _SHARE * _TRUST[:, 0])
    return out


def _sides(weights: FloatArray, inputs: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the lean up and the stillness that weights, (..., 11), give inputs, (11, ..., assets)."""
    return _weighed(weights[..., :ODD], inputs[:ODD]), _weighed(weights[..., ODD:], inputs[ODD:])


def _weighed(weights: FloatArray, inputs: FloatArray) -> FloatArray:
    """Return the sum of inputs, (k, ..., assets), by weights, (..., k); of each bar a product of its own."""
    out: FloatArray = weights[..., None, :] @ inputs.swapaxes(0, -2)
    return out[..., 0, :]


def _calmer(within: FloatArray, base: FloatArray) -> FloatArray:
    """Return how much likelier neutral is by the outlook than usual, in log odds."""
    chance = clipped(within, 0.01, 0.99)
    odds = chance / (1.0 - chance)
    usual = base[1] / (1.0 - base[1])
    out: FloatArray = np.log(odds) - np.log(usual)
    return np.where(np.isfinite(out), out, 0.0)
