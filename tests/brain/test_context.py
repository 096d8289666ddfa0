"""Liquidity, derivatives and structure words: smoothed, with a dead zone, unknown when old."""

import numpy as np
import pytest

from generator.brain.derivatives import Derivatives
from generator.brain.engine import Engine
from generator.brain.liquidity import Liquidity, hysteresis
from generator.brain.weights import Weights
from generator.catalog.words import (
    DerivativesState,
    DerivativesVote,
    LiquidityContext,
    MarketStructure,
    Trend,
)
from tests.support.markets import market, priced, with_field

ONE = np.ones(1)


def book(found: Liquidity, depth: float, bars: int, spread: float = 2.0) -> LiquidityContext:
    rng = np.random.default_rng(1)
    for _ in range(bars):
        noise = np.exp(rng.normal(0.0, 0.05, 1))
        found.update(depth * noise, spread * ONE, 0.0 * ONE, 0.0 * ONE)
    return found.reading().context[0]


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
        found.update(np.nan * ONE, np.nan * ONE, np.nan * ONE, 0.0 * ONE)

    assert found.reading().context[0] is LiquidityContext.UNKNOWN
    assert np.isnan(found.known_imbalance()[0])


def test_a_word_is_left_later_than_it_is_entered() -> None:
    scores = [0.9, 1.0, 0.6, 0.5, 0.4, 0.9, -0.9, -1.1, -0.6, 1.2, -1.0]
    word, said = np.zeros(1), []

    for score in scores:
        word = hysteresis(word, score * ONE, 1.0, 0.5)
        said.append(int(word[0]))

    assert said == [0, 1, 1, 1, 0, 0, 0, -1, -1, 1, -1]


def pressed(found: Derivatives, funding: float, interest: float, bars: int) -> DerivativesState:
    for _ in range(bars):
        found.update(funding * ONE, interest * ONE)
    return found.readings()[0].state


@pytest.mark.parametrize(
    ("funding", "state", "vote"),
    [
        (0.0008, DerivativesState.CROWDED_LONGS, DerivativesVote.BEARISH),
        (-0.0005, DerivativesState.CROWDED_SHORTS, DerivativesVote.BULLISH),
        (0.0001, DerivativesState.BALANCED, DerivativesVote.NEUTRAL),
        (np.nan, DerivativesState.UNAVAILABLE, DerivativesVote.NO_VOTE),
    ],
)
def test_funding_decides_who_is_crowded(funding: float, state: DerivativesState, vote: DerivativesVote) -> None:
    found = Derivatives(1)

    assert pressed(found, funding, np.nan, 48) is state
    assert found.readings()[0].vote is vote
    assert (found.readings()[0].confidence is None) == (state is DerivativesState.UNAVAILABLE)


def test_open_interest_shows_building_and_leaving_when_no_side_is_crowded() -> None:
    found = Derivatives(1)

    assert pressed(found, 0.0001, 1e9, 300) is DerivativesState.BALANCED
    assert pressed(found, 0.0001, 1.2e9, 40) is DerivativesState.LEVERAGING_UP
    assert pressed(found, 0.0001, 1.2e9, 600) is DerivativesState.BALANCED
    assert pressed(found, 0.0001, 0.9e9, 40) is DerivativesState.DELEVERAGING
    assert pressed(found, 0.001, 0.9e9, 40) is DerivativesState.CROWDED_LONGS


def test_confidence_in_a_derivatives_word_is_never_full_and_grows_with_history() -> None:
    young, old = Derivatives(1), Derivatives(1)
    pressed(young, 0.0008, np.nan, 2)
    pressed(old, 0.0008, np.nan, 500)

    few, many = young.readings()[0].confidence, old.readings()[0].confidence

    assert few is not None
    assert many is not None
    assert 0.5 < few < many < 0.99


def test_funding_holds_between_payments_and_then_is_unavailable() -> None:
    found = Derivatives(1)
    pressed(found, 0.0008, np.nan, 48)

    assert pressed(found, np.nan, np.nan, 8 * 12) is DerivativesState.CROWDED_LONGS
    assert pressed(found, np.nan, np.nan, 2 * 12) is DerivativesState.UNAVAILABLE


@pytest.mark.parametrize(("drift", "trend"), [(0.0012, Trend.UP), (-0.0012, Trend.DOWN), (0.0, Trend.SIDEWAYS)])
def test_the_trend_and_breadth_follow_a_clear_drift(drift: float, trend: Trend) -> None:
    wobble = 0.002 * np.where(np.arange(700) % 2, 1.0, -1.0)[:, None]
    close = 100.0 * np.exp(np.cumsum(np.full((700, 3), drift) + wobble, axis=0))

    reading = Engine(Weights.load(), ("BTC", "ETH", "XRP")).update(priced(close))

    assert reading is not None
    assert reading.regime.trend is trend
    assert reading.assets["BTC"].trend is trend
    if drift:
        assert reading.regime.breadth == (1.0 if drift > 0 else 0.0)


@pytest.mark.parametrize(("jump", "word"), [(1.03, MarketStructure.BREAKOUT), (0.97, MarketStructure.BREAKDOWN)])
def test_leaving_the_days_range_is_a_breakout_or_a_breakdown(jump: float, word: MarketStructure) -> None:
    frame = market(700, sigma=0.0003)
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
    assert reading.regime.breadth is None
    assert reading.regime.risk_score is None


def test_the_days_change_from_outside_decides_breadth_and_breakouts() -> None:
    engine = Engine(Weights.load(), ("BTC",))
    quiet = 100.0 * np.exp(0.0005 * np.random.default_rng(1).normal(size=(400, 1)))
    engine.advance(priced(np.vstack((quiet, np.full((3, 1), 90.0))), ("BTC",)))

    seen = {change: engine.reading(np.array([change])) for change in (-0.1, 0.01, np.nan)}

    found = {change: (read.regime.breadth, read.assets["BTC"].structure) for change, read in seen.items() if read}
    assert found[-0.1] == (0.0, MarketStructure.BREAKDOWN)
    assert found[0.01][0] == 1.0
    assert found[0.01][1] is not MarketStructure.BREAKDOWN
    assert found[np.nan] == (0.0, MarketStructure.BREAKDOWN)
