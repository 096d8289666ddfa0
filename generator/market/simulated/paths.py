"""Minute prices of one block of the simulated market.

Prices must be a function of (seed, minute) without summing from a far epoch, and must stay plausible for years.
So each block runs between two levels that are known cheaply, and its own noise is bent to meet them. The bend is
spread in proportion to variance, and the levels move by a normal draw of the block's own variance: increments
then stay uncorrelated (covariance of minutes i, j: -2 v_i v_j / V + v_i v_j / V^2 (V + V) = 0) with unchanged
variance, so the bend is no signal. Only the pull to the long-run level is left, about 0.2 % a day at one standard
deviation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from generator.catalog.assets import ASSETS
from generator.market.simulated.params import (
    BAR_MINUTES,
    BARS_A_DAY,
    BETA,
    BLOCK_BARS,
    BLOCK_MINUTES,
    CORRELATION,
    DRIFT_DAY,
    JUMP_SHARE_COMMON,
    JUMP_SHARE_OWN,
    JUMPS_A_DAY,
    LEVEL_BLOCKS,
    LEVEL_MEMORY,
    LOG_PRICE,
    MINUTES_A_DAY,
    SIGMA_DAY,
)
from generator.market.simulated.random import Draws, Stream, generator, ornstein_uhlenbeck, tail_scale
from generator.market.simulated.schedule import schedule
from generator.market.values import FloatArray

_COUNT = len(ASSETS)
_SLOW_HALF_LIFE, _FAST_HALF_LIFE = 288.0, 9.0  # bars: a day, 45 minutes
_SLOW_SD, _FAST_SD = (0.22, 0.12), (0.18, 0.12)  # log volatility: common, own


@dataclass(frozen=True, slots=True)
class Path:
    """Prices of one block.

    Args:
        minute: log mid at each minute, shape (BLOCK_MINUTES + 1, assets); the last row opens the next block.
        high: log high of each 5-minute bar, shape (BLOCK_BARS, assets).
        low: log low of each bar.
        sigma_bar: volatility of each bar before its own fat tail, as a fraction.
    """

    minute: FloatArray
    high: FloatArray
    low: FloatArray
    sigma_bar: FloatArray


def volatility(seed: int, block: int, mix: FloatArray) -> FloatArray:
    """Return daily volatility at each bar: the regime's times a two-scale log-OU factor of mean square 1."""
    slow = ornstein_uhlenbeck(seed, Stream.VOLATILITY_SLOW, block, _SLOW_HALF_LIFE)
    fast = ornstein_uhlenbeck(seed, Stream.VOLATILITY_FAST, block, _FAST_HALF_LIFE)
    wave = _SLOW_SD[0] * slow[:, :1] + _SLOW_SD[1] * slow[:, 1:] + _FAST_SD[0] * fast[:, :1] + _FAST_SD[1] * fast[:, 1:]
    mean_square = sum(sd * sd for sd in (*_SLOW_SD, *_FAST_SD))
    regime = np.exp(mix @ np.log(SIGMA_DAY))[:, None]
    sigma: FloatArray = regime * BETA * np.exp(wave - mean_square)
    return sigma


def level(seed: int, block: int) -> FloatArray:
    """Return the log price of each asset at a block's start: a fading sum of what past blocks did."""
    total = LOG_PRICE.copy()
    for age in range(1, LEVEL_BLOCKS + 1):
        if block - age >= 0:
            total += LEVEL_MEMORY ** (age - 1) * _displacement(seed, block - age)
    return total


def _displacement(seed: int, block: int) -> FloatArray:
    days = schedule(seed, block).minutes_by_regime() / MINUTES_A_DAY
    draw = Draws(seed, Stream.LEVEL, block).each(Generator.standard_normal, shared=1)
    variance = float(days @ SIGMA_DAY**2)
    shared = float(days @ (SIGMA_DAY**2 * CORRELATION)) / variance
    noise = np.sqrt(shared) * draw[0] + np.sqrt(1.0 - shared) * draw[1:]
    moved: FloatArray = BETA * (float(days @ DRIFT_DAY) + np.sqrt(variance) * noise)
    return moved


def _jumps(seed: int, block: int, sigma_day: FloatArray) -> FloatArray:
    """Draw jumps per minute, a common one for all assets and each asset's own, sized by the day's volatility."""
    rng = generator(seed, Stream.JUMPS, block)
    moves = np.zeros((BLOCK_MINUTES, _COUNT))
    own = [np.array([column]) for column in range(_COUNT)]
    for columns, share in ((np.arange(_COUNT), JUMP_SHARE_COMMON), *((one, JUMP_SHARE_OWN) for one in own)):
        at = rng.integers(0, BLOCK_MINUTES, rng.poisson(JUMPS_A_DAY * BLOCK_MINUTES / MINUTES_A_DAY))[:, None]
        size = rng.standard_normal(at.shape) * np.sqrt(share / JUMPS_A_DAY)
        np.add.at(moves, (at, columns), size * sigma_day[at // BAR_MINUTES, columns])
    return moves


def _noise(seed: int, block: int, sigma_day: FloatArray, mix: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the moves of each minute without drift and jumps, and their standard deviations given the tails."""
    draws = Draws(seed, Stream.NOISE, block)
    shared = (mix @ CORRELATION)[:, None]
    diffusive = sigma_day * np.sqrt((1.0 - JUMP_SHARE_COMMON - JUMP_SHARE_OWN) / MINUTES_A_DAY)
    common = diffusive * np.sqrt(shared) * tail_scale(draws.common, (BLOCK_BARS, 1))
    own = diffusive * np.sqrt(1.0 - shared) * draws.each(tail_scale, (BLOCK_BARS,))
    spread = np.sqrt(common * common + own * own)
    unit = draws.each(Generator.standard_normal, (BLOCK_BARS, BAR_MINUTES), shared=1)
    moves = common[:, None, :] * unit[:, :, :1] + own[:, None, :] * unit[:, :, 1:]
    return moves.reshape(BLOCK_MINUTES, _COUNT), np.repeat(spread, BAR_MINUTES, axis=0)


def _extremes(seed: int, block: int, minute: FloatArray, spread: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return bar highs and lows: the exact law of a Brownian bridge's extremes within each minute."""
    draws = Draws(seed, Stream.EXTREMES, block)
    first, last = minute[:-1], minute[1:]
    move_square = (last - first) ** 2
    reach = 2.0 * spread * spread
    up = np.sqrt(move_square + reach * draws.each(Generator.standard_exponential, (BLOCK_MINUTES,)))
    down = np.sqrt(move_square + reach * draws.each(Generator.standard_exponential, (BLOCK_MINUTES,)))
    high = (0.5 * (first + last + up)).reshape(BLOCK_BARS, BAR_MINUTES, _COUNT).max(axis=1)
    low = (0.5 * (first + last - down)).reshape(BLOCK_BARS, BAR_MINUTES, _COUNT).min(axis=1)
    return high, low


def make_path(seed: int, block: int, mix: FloatArray) -> Path:
    """Make the prices of one block.

    Args:
        seed: of the market.
        block: number of the block since 1970.
        mix: weight of each regime at each bar, shape (BLOCK_BARS, 4).
    """
    sigma_day = volatility(seed, block, mix)
    noise, spread = _noise(seed, block, sigma_day, mix)
    moves = noise + _jumps(seed, block, sigma_day)
    moves += np.repeat((mix @ DRIFT_DAY)[:, None] * BETA / MINUTES_A_DAY, BAR_MINUTES, axis=0)
    start, end = level(seed, block), level(seed, block + 1)
    share = sigma_day**2 / (BAR_MINUTES * (sigma_day**2).sum(axis=0))
    moves += (end - start - moves.sum(axis=0)) * np.repeat(share, BAR_MINUTES, axis=0)
    minute = np.vstack([start, start + np.cumsum(moves, axis=0)])
    minute[-1] = end  # to the last bit what the next block opens with
    high, low = _extremes(seed, block, minute, spread)
    return Path(minute, high, low, sigma_day / np.sqrt(BARS_A_DAY))
