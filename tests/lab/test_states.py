"""How steady and how true the state is, and whether its chance holds: every figure by hand."""

import numpy as np
import pytest

from generator.brain.engine import Engine
from generator.brain.holds import Holds
from generator.brain.label import HIGH_VOLATILITY, RANGE, RISK_OFF, RISK_ON, TRANSITION
from generator.brain.side import BOTH_WAYS, FALLING, FLAT, RISING
from generator.brain.weights import Weights
from generator.lab.holds import counted
from generator.lab.scores import Labels
from generator.lab.states import Held, State, States, explained_share, rows_of_states, state_of
from tests.support.markets import market

HALF_DAY = 144


def states(word: Labels, label: int = RANGE, side: int = FLAT) -> States:
    """Return states of one label and side, with half of the coins up."""
    size = len(word)
    chances = np.tile(np.where(np.arange(4) == label, 0.7, 0.1), (size, 1))
    half = np.full(size, 0.5)
    return States(np.full(size, label), np.full(size, side), word, chances, half, half)


def days(label: list[int], side: list[int], word: list[int], times: int = 10) -> States:
    """Return states that change each half day as listed, so many times over; a third of the coins is up throughout."""
    labels, sides, words = (np.repeat(np.tile(values, times), HALF_DAY) for values in (label, side, word))
    size = len(labels)
    up, down = np.full(size, 0.3), np.full(size, 0.7)
    return States(labels, sides, words, np.tile([0.4, 0.3, 0.2, 0.1], (size, 1)), up, down)


def rows(given: States, log_volatility: np.ndarray | None = None) -> dict[str, tuple[str, bool | None]]:
    at = np.arange(len(given.label))
    values = np.linspace(0.0, 1.0, len(at)) if log_volatility is None else log_volatility
    return {measure: (figure, met) for measure, _, figure, met in rows_of_states(given, at, values)}


def test_changes_dwell_and_shares_by_hand() -> None:
    label = [RISK_ON, RISK_OFF, RISK_OFF, TRANSITION]
    found = rows(days(label, [RISING, RISING, BOTH_WAYS, FALLING], [0, 1, 2, 3]))

    assert found["label: changes a day"] == ("1.45", True)  # three each two days, less the one that never came
    assert found["label: mean dwell, hours"] == ("16.6", True)
    assert found["label: transition, share of bars"] == ("25.00%", None)
    assert found["side: changes a day"] == ("1.45", None)
    assert found["side: against the day's breadth, of sides"] == ("66.7%", False)  # rising with a third up
    assert found["volatility: changes of the four words a day"] == ("1.95", None)


def test_both_words_explain_what_the_label_does_not() -> None:
    given = days([RANGE] * 4, [FLAT, RISING, FLAT, RISING], [0, 0, 1, 1], times=50)
    by_both = 1.0 * (given.side == RISING) + 5.0 * given.word

    found = rows(given, by_both)

    assert found["next 4 h's log volatility explained by side and four words (by the label)"] == ("1.000 (0.000)", True)
    assert explained_share(by_both, given.word) == pytest.approx(25.0 / 26.0)


def test_short_sets_are_held_to_no_bar_of_long_ones() -> None:
    found = rows(states(np.ones(2016, dtype=np.int64)))

    assert {measure for measure, (_, met) in found.items() if met is not None} == {
        "still stands in four hours: said, came, %",
        "the same: Brier (climate, persistence)",
    }


def test_what_was_said_is_scored_by_the_label_four_hours_later() -> None:
    label = np.repeat([RANGE, RISK_ON, HIGH_VOLATILITY], (72, 72, 72))
    given = States(label, label * 0, label * 0, np.tile([0.1, 0.0, 0.6, 0.3], (216, 1)), label * 0.0, label * 0.0)

    held = Held.of(given, first_bar=0)

    # Full hours end with bars 11, 23 ...; of six in each stretch the last four see the next one.
    assert len(held.said) == 14
    assert held.came.tolist() == [True, True, False, False, False, False] * 2 + [True, True]
    assert held.said.tolist() == [0.6] * 6 + [0.1] * 6 + [0.3] * 2
    outcome = np.eye(4)[[2, 2, 0, 0, 0, 0, 0, 0, 3, 3, 3, 3, 3, 3]]
    assert held.brier == pytest.approx(((np.array([0.1, 0.0, 0.6, 0.3]) - outcome) ** 2).sum(axis=1).mean())
    assert held.persistence == pytest.approx(2.0 * 8 / 14)


def test_a_chance_that_is_too_high_misses_its_bar() -> None:
    label = np.repeat(np.tile([RANGE, RISK_ON], 60), 48 * 2)  # still stands in four hours half of the time
    sure = np.eye(4)[label] * 0.9 + 0.025
    even = np.eye(4)[label] * 0.5 + 0.125

    found = [rows(States(label, label * 0, label * 0, chance, label * 0.0, label * 0.0)) for chance in (sure, even)]

    assert [each["still stands in four hours: said, came, %"][1] for each in found] == [False, False]
    assert found[0]["still stands in four hours: said, came, %"][0].startswith("92.5, 50.2")  # 480 of 956


def test_a_state_is_what_the_engine_publishes() -> None:
    engine = Engine(Weights.load(), ("BTC", "ETH", "XRP"))
    reading = engine.update(market(4 * 288))

    state = state_of(engine)

    assert reading is not None
    assert isinstance(state, State)
    assert state.chances.tolist() == pytest.approx(list(reading.regime.holding.values()))
    assert ("flat", "rising", "falling", "both_ways", "unknown")[state.side] == reading.regime.axes.side.value
    assert ("calm", "normal", "elevated", "extreme", "unknown")[state.word] == reading.regime.volatility.value
    assert (round(3 * state.up), round(3 * state.down)) == (reading.regime.counts.up, reading.regime.counts.down)


def test_the_shares_that_a_record_begins_with_are_counted_from_candles() -> None:
    frame = market(8 * 288, seed=9)
    coins, market_cases = counted(frame, Weights.load())

    engine = Engine(Weights.load(), frame.assets)
    labels = [int(engine.label.label[-1]) for _ in engine.replay(frame, every_ms=3_600_000)]
    pairs = [(then, now) for then, now in zip(labels, labels[4:], strict=False) if max(then, now) < 4]
    held = sum(then == now for then, now in pairs) / len(pairs)

    assert market_cases.shape == coins.shape == (4, 6, 4)
    assert market_cases[np.arange(4), :, np.arange(4)].sum() / market_cases.sum() == pytest.approx(held, abs=0.01)
    assert Holds(1).by_age(Holds(1).counts)[1].sum() == pytest.approx(480.0)
