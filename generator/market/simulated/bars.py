"""The 5-minute bars of one block: prices, volume, book and futures, all reacting to regime and move.

Nothing here looks ahead: a bar's fields follow from its own move, the regime by then and independent noise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from generator.market.simulated.params import (
    BAR_MINUTES,
    BARS_A_DAY,
    BETA,
    BLOCK_BARS,
    DEPTH_FACTOR,
    DEPTH_USD,
    FUNDING_8H,
    LOG_PRICE,
    OPEN_INTEREST_LOG,
    OPEN_INTEREST_USD,
    SPREAD_BPS,
    SPREAD_FACTOR,
    VOLUME_USD_DAY,
)
from generator.market.simulated.paths import Path, make_path
from generator.market.simulated.random import Draws, Stream, autoregress, ornstein_uhlenbeck
from generator.market.simulated.schedule import regime_mix
from generator.market.values import BAR_FIELDS, FloatArray

_LEAD_BARS = BARS_A_DAY  # history that slow reactions need before the block
_CALM_SIGMA_BAR = 0.016 / np.sqrt(BARS_A_DAY)


@dataclass(frozen=True, slots=True)
class Block:
    """One generated block: log mid per minute and every bar field."""

    minute: FloatArray
    fields: dict[str, FloatArray]


def make_block(seed: int, block: int) -> Block:
    """Generate a block from the seed and its number alone."""
    mix_with_lead = regime_mix(seed, block, _LEAD_BARS)
    mix = mix_with_lead[_LEAD_BARS:]
    path = make_path(seed, block, mix)
    fields = _prices(path)
    move = np.diff(path.minute[::BAR_MINUTES], axis=0)
    strength = path.sigma_bar / (_CALM_SIGMA_BAR * BETA)  # 1 on an ordinary calm day
    fields["volume"] = _volume(seed, block, np.abs(move) / path.sigma_bar, strength) / fields["close"]
    fields |= _book(seed, block, mix, strength, move / path.sigma_bar)
    fields |= _futures(seed, block, mix_with_lead, fields["close"])
    fields |= _liquidations(seed, block, move, fields["open_interest"])
    return Block(path.minute, {name: np.ascontiguousarray(fields[name]) for name in BAR_FIELDS})


def _prices(path: Path) -> dict[str, FloatArray]:
    corners = np.exp(path.minute[::BAR_MINUTES])
    opened, closed = corners[:-1], corners[1:]
    return {
        "open": opened,
        # exp may round the other way by one bit
        "high": np.maximum(np.exp(path.high), np.maximum(opened, closed)),
        "low": np.minimum(np.exp(path.low), np.minimum(opened, closed)),
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
    traded: FloatArray = VOLUME_USD_DAY / BARS_A_DAY * strength**0.9 * (0.65 + 0.45 * np.minimum(size, 8.0)) * noise
    return traded


def _book(seed: int, block: int, mix: FloatArray, strength: FloatArray, move: FloatArray) -> dict[str, FloatArray]:
    """Return depth, spread and imbalance: deep and tight in calm, thin and wide in stress."""
    depth_noise = np.exp(0.18 * _wave(seed, Stream.DEPTH, block, 48.0, 0.5))
    spread_noise = np.exp(0.15 * _wave(seed, Stream.SPREAD, block, 12.0, 0.4))
    lean = 0.5 * _wave(seed, Stream.IMBALANCE, block, 6.0, 0.3) + 0.2 * np.clip(move, -3.0, 3.0)
    return {
        "depth_usd": DEPTH_USD * np.exp(mix @ np.log(DEPTH_FACTOR))[:, None] * strength**-0.4 * depth_noise,
        "spread_bps": SPREAD_BPS * np.exp(mix @ np.log(SPREAD_FACTOR))[:, None] * strength**0.3 * spread_noise,
        "imbalance": np.tanh(lean),
    }


def _futures(seed: int, block: int, mix_with_lead: FloatArray, close: FloatArray) -> dict[str, FloatArray]:
    """Return funding (rate per 8 h) and open interest (USD); both follow the regime within hours."""
    crowding = _followed(mix_with_lead @ FUNDING_8H, half_life_bars=36.0)
    position = _followed(mix_with_lead @ OPEN_INTEREST_LOG, half_life_bars=60.0)
    funding_noise = 6e-5 * _wave(seed, Stream.FUNDING, block, 144.0, 0.5)
    interest_noise = 0.07 * _wave(seed, Stream.OPEN_INTEREST, block, 432.0, 0.3)
    coins = OPEN_INTEREST_USD / np.exp(LOG_PRICE)
    return {"funding": crowding + funding_noise, "open_interest": coins * close * np.exp(position + interest_noise)}


def _followed(target: FloatArray, half_life_bars: float) -> FloatArray:
    """Return an exponential average of the target with a day's lead, shape (BLOCK_BARS, 1)."""
    memory = 0.5 ** (1.0 / half_life_bars)
    centred = (target - target[0])[:, None]
    followed: FloatArray = target[0] + autoregress((1.0 - memory) * centred, memory)[_LEAD_BARS:]
    return followed


def _liquidations(seed: int, block: int, move: FloatArray, interest: FloatArray) -> dict[str, FloatArray]:
    """Return USD liquidated: a trickle always, a burst on the losing side when a bar moves far."""
    noise = np.exp(0.5 * Draws(seed, Stream.LIQUIDATIONS, block).each(Generator.standard_normal, (2, BLOCK_BARS)))
    threshold = 1.5 * _CALM_SIGMA_BAR * BETA
    fell, rose = np.maximum(-move - threshold, 0.0), np.maximum(move - threshold, 0.0)
    return {
        "liq_long_usd": interest * (2e-6 + 0.15 * fell) * noise[0],
        "liq_short_usd": interest * (2e-6 + 0.15 * rose) * noise[1],
    }
