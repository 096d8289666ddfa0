"""The short form of `python -m tests.contradictions`."""

from generator.market.simulated.market import SimulatedMarket
from tests.contradictions.__main__ import DAY_MS, START_MS
from tests.contradictions.sweep import sweep


def test_a_week_of_a_simulated_market_is_described_without_contradiction() -> None:
    frame = SimulatedMarket(2026).bars(START_MS, START_MS + 7 * DAY_MS)

    found = sweep(frame, every=6, bodies=5)

    assert found.rows == {}, found.examples
    assert found.bars > 200
    assert found.bodies == 5
