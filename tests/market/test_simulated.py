"""The simulated market is a pure function of seed and minute, and looks like the market it claims to be."""

import asyncio
from statistics import median

import numpy as np
import pytest
from numpy.random import Generator

from generator.catalog.assets import ASSETS
from generator.catalog.durations import DAY_MS
from generator.catalog.formats import iso
from generator.catalog.words import RegimeLabel, SourceMode, SourceStatus
from generator.market.bars import BAR_FIELDS, BAR_MS, BarFrame
from generator.market.observation import Observation
from generator.market.simulated.market import SimulatedMarket
from generator.market.simulated.params import REGIMES
from generator.market.simulated.random import Draws, Stream
from generator.market.simulated.source import VENUES, SimulatedSource

NOW_MS = 1_795_172_400_000 + 7 * 60_000  # 2026-11-20 11:07 UTC
BLOCK_MS = 35 * DAY_MS
SEAM_MS = (NOW_MS // BLOCK_MS) * BLOCK_MS


def _backfill(source: SimulatedSource, now_ms: int, days: int) -> BarFrame:
    return asyncio.run(source.backfill(now_ms, days, lambda *_: None))


def _observe(source: SimulatedSource, now_ms: int, since_ms: int | None = None) -> Observation:
    return asyncio.run(source.observe(now_ms, now_ms - DAY_MS if since_ms is None else since_ms))


def test_a_restart_sees_the_same_market_whatever_was_asked_before() -> None:
    wanderer = SimulatedSource(5)
    for days_off in (0, 400, 3, 90, 200):
        _observe(wanderer, NOW_MS - days_off * DAY_MS)

    again = _observe(wanderer, NOW_MS)

    fresh = _observe(SimulatedSource(5), NOW_MS)
    assert again.assets == fresh.assets
    for name in BAR_FIELDS:
        np.testing.assert_array_equal(again.new_bars.fields[name], fresh.new_bars.fields[name])


def test_only_bars_that_closed_after_since_are_new() -> None:
    observation = _observe(SimulatedSource(5), NOW_MS, since_ms=NOW_MS // BAR_MS * BAR_MS - 3 * BAR_MS)

    last_open = NOW_MS // BAR_MS * BAR_MS - BAR_MS
    assert observation.new_bars.t.tolist() == [last_open - BAR_MS, last_open]


def test_history_meets_the_bars_of_the_tick_without_gap_or_change() -> None:
    source = SimulatedSource(5)
    history = _backfill(source, NOW_MS, 40)

    earlier = _observe(source, NOW_MS - 2 * DAY_MS, NOW_MS - 3 * DAY_MS).new_bars

    assert len(history) == 40 * 288
    assert set(np.diff(history.t).tolist()) == {BAR_MS}
    rows = np.searchsorted(history.t, earlier.t)
    np.testing.assert_array_equal(history.fields["close"][rows], earlier.fields["close"])


def test_a_bar_closes_at_the_mid_of_that_minute_and_holds_its_minutes() -> None:
    source = SimulatedSource(5)
    frame = _backfill(source, SEAM_MS + 3 * DAY_MS, 6)  # across a block boundary

    for row in range(0, len(frame), 97):
        opened = int(frame.t[row])
        minutes = [source.price("ETH", opened + step * 60_000) for step in range(6)]
        assert minutes[5] == pytest.approx(frame.fields["close"][row, 1], rel=1e-12)
        assert minutes[0] == pytest.approx(frame.fields["open"][row, 1], rel=1e-12)
        assert max(minutes) <= frame.fields["high"][row, 1] * (1 + 1e-12)
        assert min(minutes) >= frame.fields["low"][row, 1] * (1 - 1e-12)


def test_every_candle_is_possible_and_every_field_known() -> None:
    fields = _backfill(SimulatedSource(5), NOW_MS, 40).fields

    assert all(np.isfinite(values).all() for values in fields.values())
    assert (fields["high"] >= np.maximum(fields["open"], fields["close"])).all()
    assert (fields["low"] <= np.minimum(fields["open"], fields["close"])).all()
    assert all((fields[name] > 0).all() for name in ("low", "volume", "depth_usd", "spread_bps", "open_interest"))
    assert (np.abs(fields["imbalance"]) < 1).all()


def test_each_block_joins_its_neighbour_without_a_step() -> None:
    frame = _backfill(SimulatedSource(5), SEAM_MS + 2 * DAY_MS, 4)
    seam = int(np.searchsorted(frame.t, SEAM_MS))

    for name in ("open_interest", "funding", "depth_usd", "spread_bps"):
        steps = np.abs(np.diff(frame.fields[name], axis=0))
        assert (steps[seam - 1] <= steps.max(axis=0) * 1.001).all()
        assert (steps[seam - 1] < np.quantile(steps, 0.999, axis=0)).all(), name


def test_three_venues_differ_by_a_little_and_the_price_is_their_median() -> None:
    source = SimulatedSource(5)

    observation = _observe(source, NOW_MS)

    for asset, seen in observation.assets.items():
        mids = source.venue_mids(NOW_MS)[asset]
        assert tuple(sorted(mids)) == VENUES == seen.venues
        assert seen.price == median(mids.values()) == pytest.approx(source.price(asset, NOW_MS), rel=1e-12)
        assert 0 < (max(mids.values()) / min(mids.values()) - 1) * 1e4 < 4.1


def test_an_observation_says_what_it_is() -> None:
    observation = _observe(SimulatedSource(5), NOW_MS)

    assert observation.mode is SourceMode.SIMULATED
    assert (observation.market_ms, observation.offset_ms) == (NOW_MS, 0)
    assert (observation.price_basis, observation.venues_needed) == ("venue_mid", 2)
    assert {health.status for health in observation.sources} == {SourceStatus.OK}
    assert {health.as_of for health in observation.sources} == {iso(NOW_MS // 60_000 * 60_000)}
    assert not observation.ended


def test_the_price_moves_within_a_bar_and_the_change_is_against_the_day_before() -> None:
    source = SimulatedSource(5)

    first, second = _observe(source, NOW_MS).assets["XRP"], _observe(source, NOW_MS + 60_000).assets["XRP"]

    assert first.price != second.price
    assert first.price is not None
    before = source.price("XRP", NOW_MS - DAY_MS)
    assert first.change_24h_percent == pytest.approx(100 * (first.price / before - 1))


def test_all_four_regimes_rule_and_every_switch_takes_its_time() -> None:
    market = SimulatedMarket(5)
    times = range(NOW_MS - 60 * DAY_MS, NOW_MS, 15 * 60_000)

    truth = [market.regime(t)[0] for t in times]

    switches = [t for t, a, b in zip(times[1:], truth[:-1], truth[1:], strict=True) if a is not b]
    assert set(truth) == set(REGIMES)
    assert 10 < 60 * 24 / (len(switches) + 1) < 24  # mean dwell in hours, stated 16
    assert all(market.regime(t)[1] for t in switches)
    assert not any(market.regime(t + 110 * 60_000)[1] for t in switches)


def test_a_seed_out_of_range_is_named() -> None:
    with pytest.raises(ValueError, match="seed must be from 0"):
        SimulatedSource(-1)


def test_a_clock_that_fell_back_to_1970_gives_nulls_with_a_reason() -> None:
    observation = _observe(SimulatedSource(1), 60_000, since_ms=0)

    assert observation.assets["BTC"].price is None
    assert observation.assets["BTC"].limitations == ("the simulated market has no day before this minute",)


# Mean logarithm of every field over the three days before the moment, by magnitude.
LOGS = {
    "open": 3.275016768,
    "high": 3.276012887,
    "low": 3.274023224,
    "close": 3.275006563,
    "volume": 10.80094735,
    "depth_usd": 15.27075732,
    "spread_bps": 1.296390882,
    "imbalance": -1.341925568,
    "funding": -9.006311693,
    "open_interest": 17.95890612,
    "liq_long_usd": 8.562366785,
    "liq_short_usd": 8.537760037,
}


def test_the_market_of_a_seed_is_the_same_in_every_release() -> None:
    """Readings, rounds and lessons kept in the memory speak of these prices; changing them needs a new memory."""
    source, at_ms = SimulatedSource(7), 1_795_172_400_000

    prices = [source.price(asset, at_ms) for asset in ("BTC", "HBAR")]
    fields = _backfill(source, at_ms, 3).fields

    assert prices == pytest.approx([140454.454804, 0.186652011683], rel=1e-9)
    assert SimulatedMarket(7).regime(at_ms)[0] is RegimeLabel.HIGH_VOLATILITY
    assert {name: np.log(np.abs(values)).mean() for name, values in fields.items()} == pytest.approx(LOGS, rel=1e-8)


def test_one_more_asset_changes_no_number_of_the_others() -> None:
    before = Draws(7, Stream.NOISE, 3).each(Generator.standard_normal, (4,), shared=1)

    after = Draws(7, Stream.NOISE, 3, assets=len(ASSETS) + 1).each(Generator.standard_normal, (4,), shared=1)

    assert np.array_equal(after[:, :-1], before)
    assert len(set(after[:, -1]) - set(before.ravel())) == 4
