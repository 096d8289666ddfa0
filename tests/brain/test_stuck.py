"""Stuck sources: a row of still bars is judged by the asset's own share of them, counted a second time here."""

import numpy as np
import pytest

from generator.brain.engine import Engine
from generator.brain.smoothing import HOUR_BARS, Flags
from generator.brain.stuck import Stuck
from generator.brain.weights import Weights
from generator.catalog.text import readings
from generator.market.bars import BarFrame, FloatArray
from tests.support.markets import market

WEIGHTS = Weights.load()
NAMES = ("BTC", "ETH", "XRP")
WARM = 5 * 288
PRICES = ("open", "high", "low", "close")


def frozen(bars: int) -> BarFrame:
    """Return a market whose first asset repeats its last price for some bars."""
    frame = market(WARM + 60, assets=NAMES)
    for name in PRICES:
        frame.fields[name][WARM : WARM + bars, 0] = frame.fields["close"][WARM - 1, 0]
    return frame


def thin(share: float, bars: int) -> FloatArray:
    """Return log closes of a coin of which so large a share of bars are still, (bars, 1)."""
    rng = np.random.default_rng(3)
    moves = np.where(rng.random(bars) < share, 0.0, 0.001 * rng.normal(size=bars))
    return np.cumsum(moves)[:, None]


def followed(close: FloatArray) -> Flags:
    part = Stuck(1)
    return part.update(close, close, close)[:, 0]


def test_a_stuck_source_is_named_within_three_bars_and_has_no_range_until_it_moves() -> None:
    frame, engine = frozen(30), Engine(WEIGHTS, NAMES)
    engine.advance(frame.rows(0, WARM))
    sigma = []

    for bar in range(WARM, WARM + 34):
        reading = engine.update(frame.rows(bar, bar + 1))
        assert reading is not None
        asset = reading.assets["BTC"]
        is_stuck = 1 <= bar - WARM < 30
        assert (readings.FROZEN in asset.limitations) == is_stuck
        assert readings.FROZEN not in reading.assets["ETH"].limitations
        assert (asset.ranges is None and asset.forecast is None and asset.ladder is None) == is_stuck
        sigma.append(engine.volatility.variance[1, 0])

    assert len(set(sigma[:30])) == 1


def test_the_move_after_a_freeze_is_that_of_a_gap() -> None:
    frame, engine = frozen(30), Engine(WEIGHTS, NAMES)
    engine.advance(frame.rows(0, WARM))
    before = engine.volatility.variance[1, 0]
    frame.fields["close"][WARM + 30 :, 0] *= 1.02
    for name in ("open", "high", "low"):
        frame.fields[name][WARM + 30 :, 0] *= 1.02

    engine.advance(frame.rows(WARM, WARM + 30 + HOUR_BARS))

    assert engine.volatility.variance[1, 0] < 1.5 * before


@pytest.mark.parametrize(("share", "longest"), [(0.0005, 2), (0.01, 3), (0.3, 12), (0.9, 135)])
def test_how_many_still_bars_are_too_many_follows_from_the_coins_own_share(share: float, longest: int) -> None:
    moving = thin(share, 9000)
    moving[-1] += 0.001
    close = np.concatenate((moving, np.repeat(moving[-1:], 200, axis=0)))

    stuck = followed(close)[9000:]

    first = int(stuck.argmax())
    assert stuck[first:].all()
    assert longest - max(1, longest // 8) <= first + 1 <= longest + max(2, longest // 8)


def test_a_thin_coin_is_not_taken_for_stuck() -> None:
    assert followed(thin(0.9, 20_000))[2000:].mean() < 1e-3


def test_a_coin_that_becomes_thin_is_believed_in_the_end() -> None:
    close = np.concatenate((thin(0.0, 3000), thin(0.8, 20_000)))

    stuck = followed(close)

    assert stuck[3000:4000].any()
    assert stuck[-5000:].mean() < 0.002


def test_a_range_without_a_move_of_the_close_is_not_stillness() -> None:
    close = np.zeros((50, 1))
    part = Stuck(1)

    assert not part.update(close, close + 0.001, close).any()
    assert part.counts[0].max() == 0.0


def test_counts_are_those_of_ended_rows_one_by_one() -> None:
    close = thin(0.5, 400)
    keep = 0.5 ** (1.0 / (30 * 288))
    still = every = 0.0
    run = 0
    for bar in range(400):
        is_still = bar > 0 and close[bar, 0] == close[bar - 1, 0]
        still, every = still * keep, every * keep
        if is_still:
            run += 1
            continue
        longest = np.ceil(np.log(1e-6) / np.log((still / keep + 1.0) / (every / keep + 2.0)))
        still, every, run = still + min(run, longest), every + min(run, longest) + 1.0, 0
    part = Stuck(1)

    part.update(close, close, close)
    part.settle()

    assert part.counts[:, 0].tolist() == pytest.approx([still, every])
