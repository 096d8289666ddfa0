"""The simulated market as a pure function of (seed, minute): prices of one block, its bars, and a cache of blocks.

Prices must be a function of (seed, minute) without summing from a far epoch, and must stay plausible for years.
So each block runs between two levels that are known cheaply, and its own noise is bent to meet them. The bend is
spread in proportion to variance, and the levels move by a normal draw of the block's own variance: increments
then stay uncorrelated (covariance of minutes i, j: -2 v_i v_j / V + v_i v_j / V^2 (V + V) = 0) with unchanged
variance, so that the bend carries no signal. Crashes and rallies are part of the levels, so that none of them is bent
back. Only the pull to the long-run level is left, about 0.2% a day at one standard deviation.

Nothing here looks ahead: a bar's fields follow from its own move, the regime by then and independent noise.
"""

from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
from numpy.random import Generator

from generator.catalog.assets import ASSETS
from generator.catalog.durations import DAY_MINUTES, MINUTE_MS
from generator.catalog.words import RegimeLabel
from generator.market.bars import BAR_FIELDS, BAR_MS, BARS_A_DAY, BarFrame, FloatArray
from generator.market.simulated import params
from generator.market.simulated.random import Draws, Stream, autoregress, generator, ornstein_uhlenbeck, tail_scale
from generator.market.simulated.schedule import events, regime_mix, schedule

_COUNT = len(ASSETS)
_SLOW_HALF_LIFE = 288.0  # bars: a day
_FAST_HALF_LIFE = 9.0  # 45 minutes
_WEEK_HALF_LIFE = 5.0 * BARS_A_DAY
_WEEK_SD = (0.40, 0.14)  # log volatility: common, own
_SLOW_SD = (0.10, 0.06)
_FAST_SD = (0.10, 0.08)
_LEAD_BARS = BARS_A_DAY  # history that slow reactions need before the block
_CALM_SIGMA_BAR = 0.016 / np.sqrt(BARS_A_DAY)
_BLOCKS_KEPT = 3


def _volatility(seed: int, block: int, mix: FloatArray) -> FloatArray:
    """Return daily volatility at each bar: the regime's, by hour and day, times log-OU factors of mean square 1.

    Shape (BLOCK_BARS, assets), as a fraction; `mix` holds the weights of the regimes, shape (BLOCK_BARS, 4). After a
    crash or a rally it is raised.
    """
    wave = np.zeros((params.BLOCK_BARS, _COUNT))
    mean_square = 0.0
    for stream, half_life, (common, own) in (
        (Stream.VOLATILITY_WEEK, _WEEK_HALF_LIFE, _WEEK_SD),
        (Stream.VOLATILITY_SLOW, _SLOW_HALF_LIFE, _SLOW_SD),
        (Stream.VOLATILITY_FAST, _FAST_HALF_LIFE, _FAST_SD),
    ):
        path = ornstein_uhlenbeck(seed, stream, block, half_life)
        wave += common * path[:, :1] + own * path[:, 1:]
        mean_square += common * common + own * own

    regime = np.exp(mix @ np.log(params.SIGMA_DAY)) * _shape(block) * _aftermath(seed, block)
    sigma: FloatArray = regime[:, None] * params.BETA * np.exp(wave - mean_square)
    return sigma


def _shape(block: int) -> FloatArray:
    """Return the factor of volatility by hour and day at each bar of a block; its mean square over a week is 1."""
    hour = (block * params.BLOCK_BARS + np.arange(params.BLOCK_BARS)) * params.BAR_MINUTES // 60
    weekday = (hour // 24 + 3) % 7  # 1970 began on a Thursday
    factor = params.HOUR_SHAPE[hour % 24] * np.where(weekday >= 5, params.WEEKEND_SHAPE, 1.0)
    week = np.mean(params.HOUR_SHAPE**2) * (5.0 + 2.0 * params.WEEKEND_SHAPE**2) / 7.0
    shaped: FloatArray = factor / np.sqrt(week)
    return shaped


def _aftermath(seed: int, block: int) -> FloatArray:
    """Return by what crashes and rallies raise volatility at each bar of a block."""
    minutes = np.arange(params.BLOCK_BARS) * params.BAR_MINUTES
    raised = np.ones(params.BLOCK_BARS)
    for event in events(seed, block):
        since = minutes - event.start
        raised += np.where(since >= 0, params.EVENT_ROUGH * 0.5 ** (since / params.EVENT_ROUGH_HALF_LIFE), 0.0)
    return raised


def _level(seed: int, block: int) -> FloatArray:
    """Return the log price of each asset at a block's start: a fading sum of what past blocks did."""
    total = params.LOG_PRICE.copy()
    for age in range(1, min(params.LEVEL_BLOCKS, block) + 1):
        total += params.LEVEL_MEMORY ** (age - 1) * _displacement(seed, block - age)
    return total


def _displacement(seed: int, block: int) -> FloatArray:
    """Return what a block adds to the log price of each asset, by the variance of its regimes and by its events."""
    days = schedule(seed, block).minutes_by_regime() / DAY_MINUTES
    usual = float(days @ params.SIGMA_DAY**2)
    shared = float(days @ (params.SIGMA_DAY**2 * params.CORRELATION)) / usual
    variance = params.LEVEL_VARIANCE * usual

    draw = Draws(seed, Stream.LEVEL, block).each(Generator.standard_normal, shared=1)
    noise = np.sqrt(shared) * draw[0] + np.sqrt(1.0 - shared) * draw[1:]
    moved: FloatArray = params.BETA * np.sqrt(variance) * noise
    for event in events(seed, block):
        moved += event.moves
    return moved


def _jumps(seed: int, block: int, sigma_day: FloatArray) -> FloatArray:
    """Draw jumps per minute, a common one for all assets and each asset's own, sized by the day's volatility."""
    rng = generator(seed, Stream.JUMPS, block)
    moves = np.zeros((params.BLOCK_MINUTES, _COUNT))
    rate = params.JUMPS_A_DAY * params.BLOCK_MINUTES / DAY_MINUTES

    own = [(np.array([column]), params.JUMP_SHARE_OWN) for column in range(_COUNT)]
    for columns, share in ((np.arange(_COUNT), params.JUMP_SHARE_COMMON), *own):
        at = rng.integers(0, params.BLOCK_MINUTES, rng.poisson(rate))[:, None]
        size = rng.standard_normal(at.shape) * np.sqrt(share / params.JUMPS_A_DAY)
        np.add.at(moves, (at, columns), size * sigma_day[at // params.BAR_MINUTES, columns])

    return moves


def _noise(seed: int, block: int, sigma_day: FloatArray, mix: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the moves of each minute without jumps, and their standard deviations given the tails."""
    draws = Draws(seed, Stream.NOISE, block)
    shared = (mix @ params.CORRELATION)[:, None]

    # Jumps have their share of the variance; what is left is split into a common and each asset's own part.
    diffusive = sigma_day * np.sqrt((1.0 - params.JUMP_SHARE_COMMON - params.JUMP_SHARE_OWN) / DAY_MINUTES)
    common = diffusive * np.sqrt(shared) * tail_scale(draws.common, (params.BLOCK_BARS, 1))
    own = diffusive * np.sqrt(1.0 - shared) * draws.each(tail_scale, (params.BLOCK_BARS,))
    spread = np.sqrt(common * common + own * own)

    unit = draws.each(Generator.standard_normal, (params.BLOCK_BARS, params.BAR_MINUTES), shared=1)
    moves = common[:, None, :] * unit[:, :, :1] + own[:, None, :] * unit[:, :, 1:]
    return moves.reshape(params.BLOCK_MINUTES, _COUNT), np.repeat(spread, params.BAR_MINUTES, axis=0)


def _minutes(seed: int, block: int, mix: FloatArray, sigma_day: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the log mid at each minute, the last row that of the next block's first; and the noise's deviations."""
    noise, spread = _noise(seed, block, sigma_day, mix)
    moves = noise + _jumps(seed, block, sigma_day)
    sudden = np.zeros_like(moves)
    for event in events(seed, block):
        sudden[event.start : event.start + event.minutes] += event.moves / event.minutes

    # Bend the block to its two levels, in proportion to variance; what is sudden stays as it is.
    start = _level(seed, block)
    end = _level(seed, block + 1)
    share = sigma_day**2 / (params.BAR_MINUTES * (sigma_day**2).sum(axis=0))
    gap = end - start - moves.sum(axis=0) - sudden.sum(axis=0)
    moves += gap * np.repeat(share, params.BAR_MINUTES, axis=0) + sudden

    minute = np.vstack([start, start + np.cumsum(moves, axis=0)])
    minute[-1] = end  # to the last bit what the next block opens with
    return minute, spread


@dataclass(frozen=True, slots=True)
class Block:
    """One generated block: log mid per minute and every bar field."""

    minute: FloatArray
    fields: dict[str, FloatArray]


@lru_cache(_BLOCKS_KEPT)
def make_block(seed: int, block: int) -> Block:
    """Generate a block from the seed and its number alone."""
    mix_with_lead = regime_mix(seed, block, _LEAD_BARS)
    mix = mix_with_lead[_LEAD_BARS:]
    sigma_day = _volatility(seed, block, mix)
    minute, spread = _minutes(seed, block, mix, sigma_day)
    fields = _prices(seed, block, minute, spread)

    move = np.diff(minute[:: params.BAR_MINUTES], axis=0)
    sigma_bar = sigma_day / np.sqrt(BARS_A_DAY)
    strength = sigma_bar / (_CALM_SIGMA_BAR * params.BETA)  # 1 on an ordinary calm day

    fields["volume"] = _volume(seed, block, np.abs(move) / sigma_bar, strength) / fields["close"]
    fields |= _book(seed, block, mix, strength, move / sigma_bar)
    fields |= _futures(seed, block, mix_with_lead)
    fields |= _liquidations(seed, block, move, fields["open_interest"] * fields["close"])

    return Block(minute, {name: np.ascontiguousarray(fields[name]) for name in BAR_FIELDS})


def _prices(seed: int, block: int, minute: FloatArray, spread: FloatArray) -> dict[str, FloatArray]:
    """Return bars; highs and lows by the exact law of a Brownian bridge's extremes within each minute.

    Between a and b with variance s^2 the maximum is (a + b + sqrt((b - a)^2 + 2 s^2 E)) / 2, E exponential of mean 1.
    """
    draws = Draws(seed, Stream.EXTREMES, block)
    first = minute[:-1]
    last = minute[1:]
    move_square = (last - first) ** 2
    reach = 2.0 * spread * spread
    up = np.sqrt(move_square + reach * draws.each(Generator.standard_exponential, (params.BLOCK_MINUTES,)))
    down = np.sqrt(move_square + reach * draws.each(Generator.standard_exponential, (params.BLOCK_MINUTES,)))

    by_bar = (params.BLOCK_BARS, params.BAR_MINUTES, _COUNT)
    high = (0.5 * (first + last + up)).reshape(by_bar).max(axis=1)
    low = (0.5 * (first + last - down)).reshape(by_bar).min(axis=1)

    corners = np.exp(minute[:: params.BAR_MINUTES])
    opened = corners[:-1]
    closed = corners[1:]
    return {
        "open": opened,
        # exp may round the other way by one bit
        "high": np.maximum(np.exp(high), np.maximum(opened, closed)),
        "low": np.minimum(np.exp(low), np.minimum(opened, closed)),
        "close": closed,
    }


def _wave(seed: int, stream: Stream, block: int, half_life_bars: float, shared: float) -> FloatArray:
    """Return unit-variance noise per asset, `shared` of its variance common to all."""
    drawn = ornstein_uhlenbeck(seed, stream, block, half_life_bars)
    mixed: FloatArray = np.sqrt(shared) * drawn[:, :1] + np.sqrt(1.0 - shared) * drawn[:, 1:]
    return mixed


def _volume(seed: int, block: int, size: FloatArray, strength: FloatArray) -> FloatArray:
    """Return USD traded: more when volatile, more when the bar moved."""
    noise = np.exp(0.40 * _wave(seed, Stream.VOLUME, block, 12.0, 0.4) - 0.08)
    by_move = 0.65 + 0.45 * np.minimum(size, 8.0)
    traded: FloatArray = params.VOLUME_USD_DAY / BARS_A_DAY * strength**0.9 * by_move * noise
    return traded


def _book(seed: int, block: int, mix: FloatArray, strength: FloatArray, move: FloatArray) -> dict[str, FloatArray]:
    """Return depth, spread and imbalance: deep and tight in calm, thin and wide in stress."""
    depth_noise = np.exp(0.18 * _wave(seed, Stream.DEPTH, block, 48.0, 0.5))
    spread_noise = np.exp(0.15 * _wave(seed, Stream.SPREAD, block, 12.0, 0.4))
    pressure = 0.5 * _wave(seed, Stream.IMBALANCE, block, 6.0, 0.3) + 0.2 * np.clip(move, -3.0, 3.0)

    depth_factor = np.exp(mix @ np.log(params.DEPTH_FACTOR))[:, None]
    spread_factor = np.exp(mix @ np.log(params.SPREAD_FACTOR))[:, None]
    return {
        "depth_usd": params.DEPTH_USD * depth_factor * strength**-0.4 * depth_noise,
        "spread_bps": params.SPREAD_BPS * spread_factor * strength**0.3 * spread_noise,
        "imbalance": np.tanh(pressure),
    }


def _futures(seed: int, block: int, mix_with_lead: FloatArray) -> dict[str, FloatArray]:
    """Return funding (rate per 8 h) and open interest (contracts); both follow the regime within hours."""
    crowding = _followed(mix_with_lead @ params.PREMIUM_8H, half_life_bars=36.0)
    position = _followed(mix_with_lead @ params.OPEN_INTEREST_LOG, half_life_bars=60.0)
    premium = crowding + params.PREMIUM_SD * _wave(seed, Stream.FUNDING, block, 144.0, 0.5)
    band = params.FUNDING_BAND_8H
    funding = premium + np.clip(params.USUAL_FUNDING_8H - premium, -band, band)
    interest_noise = 0.07 * _wave(seed, Stream.OPEN_INTEREST, block, 432.0, 0.3)
    coins = params.OPEN_INTEREST_USD / np.exp(params.LOG_PRICE)
    return {"funding": funding, "open_interest": coins * np.exp(position + interest_noise)}


def _followed(target: FloatArray, half_life_bars: float) -> FloatArray:
    """Return an exponential average of the target with a day's lead, shape (params.BLOCK_BARS, 1)."""
    memory = 0.5 ** (1.0 / half_life_bars)
    centred = (target - target[0])[:, None]
    followed: FloatArray = target[0] + autoregress((1.0 - memory) * centred, memory)[_LEAD_BARS:]
    return followed


def _liquidations(seed: int, block: int, move: FloatArray, interest: FloatArray) -> dict[str, FloatArray]:
    """Return USD liquidated: a trickle always, a burst on the losing side when a bar moves far."""
    drawn = Draws(seed, Stream.LIQUIDATIONS, block).each(Generator.standard_normal, (2, params.BLOCK_BARS))
    noise = np.exp(0.5 * drawn)

    threshold = 1.5 * _CALM_SIGMA_BAR * params.BETA
    fell = np.maximum(-move - threshold, 0.0)
    rose = np.maximum(move - threshold, 0.0)
    return {
        "liq_long_usd": interest * (2e-6 + 0.15 * fell) * noise[0],
        "liq_short_usd": interest * (2e-6 + 0.15 * rose) * noise[1],
    }


class SimulatedMarket:
    """A market whose every minute is known in advance: the same seed gives the same one wherever numpy is the same.

    Raises:
        ValueError: the seed does not lie in 0 .. 2**63 - 1.
    """

    def __init__(self, seed: int) -> None:
        if not 0 <= seed < 2**63:
            raise ValueError(f"seed must be from 0 to 2**63 - 1, not {seed}")
        self._seed = seed
        self._block = partial(make_block, seed)

    def log_mids(self, t_ms: int) -> FloatArray:
        """Return the log mid of all assets at the start of the minute that holds `t_ms`."""
        block, minute = _minute(t_ms)
        row: FloatArray = self._block(block).minute[minute]
        return row

    def regime(self, t_ms: int) -> tuple[RegimeLabel, bool]:
        """Return the ruling regime and whether it is still passing in from the one before."""
        block, minute = _minute(t_ms)
        label, passing = schedule(self._seed, block).at(minute)
        return params.REGIMES[label], passing

    def bars(self, first_ms: int, stop_ms: int) -> BarFrame:
        """Return all assets' 5-minute bars that open in [first_ms, stop_ms), both multiples of five minutes."""
        first = max(first_ms // BAR_MS, 0)
        stop = stop_ms // BAR_MS
        if stop <= first:
            return BarFrame.empty(ASSETS)

        pieces = []
        for number in range(first // params.BLOCK_BARS, (stop - 1) // params.BLOCK_BARS + 1):
            origin = number * params.BLOCK_BARS
            pieces.append((self._block(number).fields, slice(max(first - origin, 0), stop - origin)))

        fields = {name: np.concatenate([block[name][rows] for block, rows in pieces]) for name in BAR_FIELDS}
        return BarFrame(ASSETS, np.arange(first, stop, dtype=np.int64) * BAR_MS, fields)


def _minute(t_ms: int) -> tuple[int, int]:
    """Return the block that holds a time, and the minute in it."""
    if t_ms < 0:
        raise ValueError(f"the simulated market starts in 1970, not at {t_ms} ms")
    return divmod(t_ms // MINUTE_MS, params.BLOCK_MINUTES)
