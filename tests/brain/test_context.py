"""Liquidity, derivatives and structure words: smoothed, with a dead zone, unknown when old."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

from generator.brain.derivatives import Derivatives, Pressure
from generator.brain.engine import Engine
from generator.brain.liquidity import Liquidity
from generator.brain.smoothing import hysteresis
from generator.brain.weights import Weights
from generator.catalog.durations import HOUR_MS
from generator.catalog.text.labels import FUNDING_SHORT, UNSTEADY
from generator.catalog.words import (
    DerivativesState,
    DerivativesVote,
    LiquidityContext,
    MarketStructure,
    Trend,
)
from tests.support.markets import market, priced, with_field

ONE = np.ones(1)
BAR = np.ones((1, 1))


def book(found: Liquidity, depth: float, bars: int, spread: float = 2.0) -> LiquidityContext:
    noise = np.exp(np.random.default_rng(1).normal(0.0, 0.05, (bars, 1)))
    none = np.zeros((bars, 1))
    found.update(depth * noise, none + spread, none, none, np.ones(bars))
    found.settle()
    return found.words()[0]


def test_liquidity_is_read_against_the_assets_own_week() -> None:
    found = Liquidity(1)

    assert book(found, 1e6, 600) is LiquidityContext.NORMAL
    assert book(found, 3e5, 30) is LiquidityContext.THIN
    assert book(found, 1e6, 60) is LiquidityContext.NORMAL
    assert book(found, 4e6, 60) is LiquidityContext.DEEP


def test_a_wide_spread_is_thin_too() -> None:
    found = Liquidity(1)
    book(found, 1e6, 600)

    assert book(found, 1e6, 30, spread=9.0) is LiquidityContext.THIN


def test_liquidity_is_unknown_before_an_hour_and_after_an_hour_without_a_book() -> None:
    found = Liquidity(1)
    assert book(found, 1e6, 11) is LiquidityContext.UNKNOWN
    assert book(found, 1e6, 1) is not LiquidityContext.UNKNOWN

    for _ in range(13):
        found.update(np.nan * BAR, np.nan * BAR, np.nan * BAR, 0.0 * BAR, ONE)
        found.settle()

    assert found.words()[0] is LiquidityContext.UNKNOWN
    assert np.isnan(found.known_imbalance()[0])


def test_a_word_is_left_later_than_it_is_entered() -> None:
    scores = [0.9, 1.0, 0.6, 0.5, 0.4, 0.9, -0.9, -1.1, -0.6, 1.2, -1.0]

    words = hysteresis(np.zeros(1), np.array(scores)[:, None], 1.0, 0.5)

    assert words[:, 0].tolist() == [0, 1, 1, 1, 0, 0, 0, -1, -1, 1, -1]


def pressed(found: Derivatives, funding: npt.ArrayLike, contracts: float, bars: int) -> Pressure:
    hours = int(found.hour[0]) + 1 + np.arange(bars)
    bar = np.ones((bars, 1))
    found.update(hours * HOUR_MS, np.reshape(funding, (-1, 1)) * bar, contracts * bar, np.ones(bars))
    found.settle()
    return found.readings()[0]


def paid(eighths: Sequence[float], contracts: float = np.nan) -> Derivatives:
    """Return hourly derivatives that have seen the funding of these eight hours each."""
    found = Derivatives(1, bars_an_hour=1)
    pressed(found, np.repeat(eighths, 8), contracts, 8 * len(eighths))
    return found


def a_month(funding: float = 0.0001, contracts: float = np.nan) -> Derivatives:
    """Return hourly derivatives that have seen 30 days of one funding, with a little noise."""
    return paid([funding + 1e-6 * (eighth % 9 - 4) for eighth in range(90)], contracts)


@pytest.mark.parametrize(
    ("before", "funding", "state"),
    [
        (0.0001, 0.0004, DerivativesState.CROWDED_LONGS),
        (0.0004, 0.0004, DerivativesState.BALANCED),  # far from the usual rate, and ordinary for its month
        (0.0001, -0.0002, DerivativesState.CROWDED_SHORTS),
        (-0.0002, -0.0002, DerivativesState.BALANCED),
        (0.0002, 0.00006, DerivativesState.BALANCED),  # the lowest of its month, but longs still pay
        (-0.0003, 0.0001, DerivativesState.BALANCED),  # the highest of its month, and only the usual rate
    ],
)
def test_a_side_is_crowded_only_where_it_pays_and_that_is_extreme_in_its_month(
    before: float, funding: float, state: DerivativesState
) -> None:
    assert pressed(a_month(before), funding, np.nan, 12).state is state


def test_the_rank_is_the_share_of_the_last_thirty_days_with_lower_funding() -> None:
    found = paid([(eighth % 100) * 1e-6 for eighth in range(200)])

    rank = pressed(found, 39.5e-6, np.nan, 8).rank  # after the values 0 to 99: 10 to 99 are its month

    assert rank == pytest.approx(29 / 89, abs=0.012)


def test_the_first_week_is_judged_by_the_rate_alone_and_says_so() -> None:
    found = Derivatives(1, bars_an_hour=1)

    young = pressed(found, 0.0004, np.nan, 48)

    assert (young.state, young.rank) == (DerivativesState.CROWDED_LONGS, None)
    assert FUNDING_SHORT in young.limitations
    assert FUNDING_SHORT not in pressed(found, 0.0004, np.nan, 8 * 24).limitations


def test_contracts_show_building_and_leaving_where_no_side_is_crowded() -> None:
    found = a_month(contracts=1e9)

    assert pressed(found, 0.0001, 1.1e9, 4).state is DerivativesState.LEVERAGING_UP
    assert pressed(found, 0.0001, 1.1e9, 48).state is DerivativesState.BALANCED
    assert pressed(found, 0.0001, 0.9e9, 4).state is DerivativesState.DELEVERAGING
    assert pressed(found, 0.0008, 0.9e9, 4).state is DerivativesState.CROWDED_LONGS


def test_a_state_younger_than_half_of_the_last_hours_has_no_name_and_no_vote() -> None:
    found = a_month()

    young, old = pressed(found, 0.0008, np.nan, 2), pressed(found, 0.0008, np.nan, 10)

    assert young.state is old.state is DerivativesState.CROWDED_LONGS
    assert (young.shown, young.vote) == (DerivativesState.UNAVAILABLE, DerivativesVote.NO_VOTE)
    assert UNSTEADY in young.limitations
    assert (old.shown, old.vote) == (DerivativesState.CROWDED_LONGS, DerivativesVote.BEARISH)
    assert young.steadiness < 0.5 < old.steadiness < 1.0


def test_the_last_rate_is_on_the_side_of_the_crowd() -> None:
    found = a_month()
    pressed(found, -0.0004, np.nan, 24)

    assert pressed(found, 0.00008, np.nan, 1).state is DerivativesState.BALANCED  # though its hourly mean is below 0


def test_funding_holds_between_payments_and_then_is_unavailable() -> None:
    found = a_month()
    pressed(found, 0.0008, np.nan, 24)

    assert pressed(found, np.nan, np.nan, 8).state is DerivativesState.CROWDED_LONGS
    assert pressed(found, np.nan, np.nan, 2).state is DerivativesState.UNAVAILABLE


@pytest.mark.parametrize(("drift", "trend"), [(0.0012, Trend.UP), (-0.0012, Trend.DOWN), (0.0, Trend.SIDEWAYS)])
def test_the_trend_and_breadth_follow_a_clear_drift(drift: float, trend: Trend) -> None:
    wobble = 0.002 * np.where(np.arange(300) % 2, 1.0, -1.0)[:, None]
    close = 100.0 * np.exp(np.cumsum(np.full((300, 3), drift) + wobble, axis=0))

    reading = Engine(Weights.load(), ("BTC", "ETH", "XRP")).update(priced(close))

    assert reading is not None
    assert reading.regime.trend is trend
    assert reading.assets["BTC"].trend is trend
    if drift:
        assert reading.regime.counts.up == (3 if drift > 0 else 0)


@pytest.mark.parametrize(("jump", "word"), [(1.03, MarketStructure.BREAKOUT), (0.97, MarketStructure.BREAKDOWN)])
def test_leaving_the_days_range_is_a_breakout_or_a_breakdown(jump: float, word: MarketStructure) -> None:
    frame = market(300, sigma=0.0003)
    for name in ("open", "high", "low", "close"):
        frame.fields[name][-2:] *= jump
    high, low = np.array(frame.fields["high"]), np.array(frame.fields["low"])
    frame = with_field(with_field(frame, "high", high), "low", low)

    reading = Engine(Weights.load(), ("BTC", "ETH", "XRP")).update(frame)

    assert reading is not None
    assert reading.assets["BTC"].structure is word


def test_breadth_and_the_risk_score_are_unknown_before_a_day_is_seen() -> None:
    reading = Engine(Weights.load(), ("BTC", "ETH", "XRP")).update(market(200))

    assert reading is not None
    assert reading.regime.counts.known == 0
    assert reading.regime.risk_score is None


def test_the_days_change_from_outside_decides_breadth_and_breakouts() -> None:
    engine = Engine(Weights.load(), ("BTC",))
    quiet = 100.0 * np.exp(0.0005 * np.random.default_rng(1).normal(size=(300, 1)))
    engine.advance(priced(np.vstack((quiet, np.full((3, 1), 90.0))), ("BTC",)))

    seen = {change: engine.reading(np.array([change])) for change in (-0.1, 0.01, np.nan)}

    found = {change: (read.regime.counts.up, read.assets["BTC"].structure) for change, read in seen.items() if read}
    assert found[-0.1] == (0, MarketStructure.BREAKDOWN)
    assert found[0.01][0] == 1
    assert found[0.01][1] is not MarketStructure.BREAKDOWN
    assert found[np.nan] == (0, MarketStructure.BREAKDOWN)
