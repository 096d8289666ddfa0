"""Measured on the simulated market: nothing in it reveals the future. Its numbers are fixed in test_simulated."""

import numpy as np
import pytest

from generator.catalog.durations import MINUTE_MS
from generator.catalog.words import RegimeLabel
from generator.market.bars import BAR_MS, FloatArray
from generator.market.simulated.market import SimulatedMarket
from generator.market.simulated.params import BETA, BLOCK_BARS, BLOCK_MINUTES
from generator.market.simulated.schedule import events, quiet_seed, regime_mix, schedule
from tests.default_market import BOUNDS, facts_of, hourly_of, outside, pooled

FIRST_BLOCK, BLOCKS = 560, 3
SEEDS = (101, 102, 103, 104)


@pytest.fixture(scope="module")
def hourly() -> FloatArray:
    """Hourly moves of four markets, by block, hour and asset; about two seconds."""
    first, stop = FIRST_BLOCK * BLOCK_BARS * BAR_MS, (FIRST_BLOCK + BLOCKS) * BLOCK_BARS * BAR_MS
    moves = []
    for market in map(SimulatedMarket, SEEDS):
        frame = market.bars(first, stop)
        moves.append(np.log(frame.fields["close"] / frame.fields["open"]))
    found: FloatArray = np.concatenate(moves).reshape(len(SEEDS) * BLOCKS, -1, 12, len(BETA)).sum(axis=2)
    return found


def test_hourly_returns_do_not_predict_the_next(hourly: FloatArray) -> None:
    column_by_column = hourly.reshape(-1, hourly.shape[2]).T

    lagged = [np.corrcoef(column[:-1], column[1:])[0, 1] for column in column_by_column]

    assert abs(float(np.mean(lagged))) < 0.03


def test_what_the_block_has_done_so_far_does_not_tell_the_next_hour(hourly: FloatArray) -> None:
    """The path is bent to meet a known level: the bend must not show."""
    so_far = np.cumsum(hourly, axis=1)[:, :-1]

    correlation = np.corrcoef(so_far.ravel(), hourly[:, 1:].ravel())[0, 1]

    assert abs(float(correlation)) < 0.01  # a bend to a fixed level would show as -0.017 on these seeds


def test_a_few_seeds_behave_as_real_markets_do() -> None:
    rows = [facts_of(hourly_of(seed)) for seed in range(2026, 2034)]

    assert list(outside(pooled(rows))) == []


def test_a_fact_that_does_not_hold_is_named() -> None:
    row = {name: (low + high) / 2 for name, (low, high) in BOUNDS.items()} | {"correlation": 0.9}

    assert list(outside(row)) == ["correlation 0.900 outside 0.4 to 0.8"]


@pytest.mark.parametrize("seed", [7, 2026])
def test_a_crash_and_a_rally_come_in_each_block_and_are_never_bent_back(seed: int) -> None:
    for block in range(FIRST_BLOCK, FIRST_BLOCK + 3):
        drawn = events(seed, block)

        assert {np.sign(event.moves[0]) for event in drawn} == {-1.0, 1.0}
        for event in drawn:
            start_ms = (block * BLOCK_MINUTES + event.start) * MINUTE_MS
            market = SimulatedMarket(seed)
            moved = market.log_mids(start_ms + event.minutes * MINUTE_MS) - market.log_mids(start_ms)
            assert np.sign(moved) == pytest.approx(np.sign(event.moves))
            assert np.abs(moved - event.moves).max() < 0.5 * np.abs(event.moves).max()


def test_the_bar_before_does_not_know_the_regime_after_it() -> None:
    """Cutting the future off changes no weight: the mix of a bar uses switches up to it alone."""
    drawn = schedule(3, FIRST_BLOCK)

    mix = regime_mix(3, FIRST_BLOCK)

    for before, start in zip(drawn.labels[:-1], drawn.starts[1:], strict=True):
        last_bar = (start - 1) // 5
        assert mix[last_bar - 1, before] == pytest.approx(1.0)
    np.testing.assert_allclose(mix.sum(axis=1), 1.0)


@pytest.mark.parametrize("minute", np.random.default_rng(5).integers(29_000_000, 31_000_000, 12).tolist())
def test_whenever_a_market_is_begun_it_has_been_quiet_and_stays_so_for_a_while(minute: int) -> None:
    market = SimulatedMarket(quiet_seed(minute))

    ruling = {market.regime((minute + hours * 60) * 60_000)[0] for hours in range(-18, 4)}

    assert ruling == {RegimeLabel.RANGE}
