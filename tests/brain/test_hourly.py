"""Without 5-minute bars: side, trend and futures pressure, and nothing more."""

from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generator.brain.hourly import futures, state_of
from generator.catalog.assets import ASSETS
from generator.catalog.durations import HOUR_MS
from generator.catalog.words import DerivativesState, MarketSide, Trend
from generator.market.bars import BAR_FIELDS, BAR_MS, BarFrame
from generator.market.recorded.recording import load_recording
from tests.support.markets import NASTY, floats, market

DATA = Path(__file__).resolve().parents[3] / "shared" / "market-data"


def frame(closes: np.ndarray) -> BarFrame:
    columns = closes.reshape(-1, 1)
    fields = dict.fromkeys(BAR_FIELDS, columns)
    return BarFrame(("BTC",), np.arange(len(closes), dtype=np.int64) * HOUR_MS, fields, HOUR_MS)


def closed_ms(bars: BarFrame) -> int:
    return int(bars.t[-1]) + bars.interval_ms


@pytest.mark.parametrize(
    ("drift", "word", "side"),
    [
        (0.001, Trend.UP, MarketSide.RISING),  # 2.4% in a day, more than a usual day's 1.5%
        (-0.001, Trend.DOWN, MarketSide.FALLING),
        (0.0, Trend.SIDEWAYS, MarketSide.FLAT),
    ],
)
def test_side_and_trend_are_those_of_the_last_24_hours(drift: float, word: Trend, side: MarketSide) -> None:
    wobble = np.tile([0.004, -0.004], 20)
    bars = frame(100 * np.exp(np.cumsum(drift + wobble)))

    state = state_of(bars, closed_ms(bars))

    assert (state.trends["BTC"], state.side) == (word, side)  # of one coin alone the market is that coin


def test_bars_of_five_minutes_and_of_an_hour_give_one_word() -> None:
    fine = market(10 * 288, seed=6)
    hours = np.flatnonzero((fine.t + BAR_MS) % HOUR_MS == 0)
    fields = {name: values[hours] for name, values in fine.fields.items()}
    assets = len(fine.assets)
    fields["high"] = fine.fields["high"].reshape(-1, 12, assets).max(axis=1)
    fields["low"] = fine.fields["low"].reshape(-1, 12, assets).min(axis=1)
    coarse = BarFrame(fine.assets, fine.t[hours] + BAR_MS - HOUR_MS, fields, HOUR_MS)

    for end in range(60, len(hours), 7):
        now_ms = int(fine.t[hours[end - 1]]) + BAR_MS
        assert state_of(fine.closed_by(now_ms), now_ms) == state_of(coarse.closed_by(now_ms), now_ms)


def test_the_days_high_and_low_are_those_of_every_bar_and_not_of_an_hours_last() -> None:
    fine = market(10 * 288, seed=6)
    place = len(fine.t) - 40  # neither the first nor the last bar of its hour
    fine.fields["high"][place, 0] = 1.05 * fine.fields["high"][-288:, 0].max()
    fine.fields["low"][place - 24, 1] = 0.95 * fine.fields["low"][-288:, 1].min()

    state = state_of(fine, closed_ms(fine))

    assert state.market is not None
    coins = state.market.coins
    assert coins[fine.assets[0]].high == pytest.approx(fine.fields["high"][-288:, 0].max(), rel=1e-6)
    assert coins[fine.assets[1]].low == pytest.approx(fine.fields["low"][-288:, 1].min(), rel=1e-6)


def test_nothing_is_said_of_a_day_that_is_not_whole_or_is_over() -> None:
    short = frame(np.full(20, 100.0))
    assert state_of(short, closed_ms(short)).side is MarketSide.UNKNOWN
    whole = frame(np.full(40, 100.0))
    assert state_of(whole, closed_ms(whole) + HOUR_MS).side is MarketSide.FLAT
    assert state_of(whole, closed_ms(whole) + 2 * HOUR_MS).side is MarketSide.UNKNOWN


def test_a_move_after_weeks_without_one_is_read_against_what_markets_usually_do() -> None:
    closes = np.full(20 * 24, 100.0)
    still = frame(closes)
    assert state_of(still, closed_ms(still)).side is MarketSide.FLAT
    moved = frame(np.concatenate((closes, np.full(3, 103.0))))
    assert state_of(moved, closed_ms(moved)).side is MarketSide.RISING


def test_crowding_is_read_from_funding_alone() -> None:
    known = frame(np.full(40, 100.0))
    known.fields.update({name: np.full((40, 1), np.nan) for name in BAR_FIELDS})
    known.fields["funding"] = np.full((40, 1), 0.0009)

    assert futures(known)["BTC"].state is DerivativesState.CROWDED_LONGS
    known.fields["funding"] = np.full((40, 1), np.nan)
    assert futures(known)["BTC"].state is DerivativesState.UNAVAILABLE


@pytest.mark.skipif(not DATA.is_dir(), reason="real recorded market data are not next to this checkout")
@pytest.mark.parametrize(
    ("at", "asset", "rank"), [("2026-02-25T20:00", "XLM", 0.972), ("2026-03-10T12:00", "ALGO", 0.551)]
)
def test_recorded_hours_name_neither_new_positions_nor_a_crowd_that_is_not_there(
    at: str, asset: str, rank: float
) -> None:
    folders = ("candles/binance-usdm-perp-1h-wire", "funding/binance-usdm-8h-wire", "open-interest/binance-usdm-4h")
    bars = load_recording([DATA / folder for folder in folders], ASSETS).frame
    now_ms = int(datetime.fromisoformat(f"{at}+00:00").timestamp() * 1000)

    found = futures(bars.closed_by(now_ms))[asset]

    # XLM: contracts fell over 4, 8, 12 and 24 hours while their value rose; ALGO: shorts pay as in most of its month.
    assert found.shown is DerivativesState.BALANCED
    assert found.rank == pytest.approx(rank, abs=0.001)


@settings(max_examples=40)
@given(
    hours=st.lists(st.lists(st.lists(NASTY, min_size=3, max_size=3), min_size=4, max_size=4), min_size=1, max_size=40)
)
def test_arbitrary_hours_never_raise_and_never_give_nan(hours: list[list[list[float]]]) -> None:
    prices = np.array(hours)
    begun = 100.0 * np.exp(np.cumsum(np.tile([0.004, -0.004], 100)))
    fields = dict.fromkeys(BAR_FIELDS, np.full((200 + len(prices), 3), np.nan))
    for place, name in enumerate(("open", "high", "low", "close")):
        fields[name] = np.concatenate((np.tile(begun[:, None], 3), prices[:, place]))
    t_ms = np.arange(len(fields["close"]), dtype=np.int64) * HOUR_MS
    bars = BarFrame(("BTC", "ETH", "XRP"), t_ms, fields, HOUR_MS)

    state = state_of(bars, closed_ms(bars))

    assert state.market is not None
    assert all(np.isfinite(list(floats(state.market))))
