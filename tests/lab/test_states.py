"""How steady and how true label and axes are: every figure by hand."""

import numpy as np
import pytest

from generator.brain.engine import Engine
from generator.brain.weights import Weights
from generator.lab.scores import Labels
from generator.lab.states import State, States, explained_share, rows_of_states, state_of
from tests.support.markets import market

HALF_DAY = 144
NONE, RISING, FALLING, UNKNOWN = range(4)


def states(word: Labels, label: int = 2, side: int = NONE) -> States:
    """Return states of one label and side, both sure and true."""
    size = len(word)
    chances = np.tile(np.where(np.arange(4) == label, 0.7, 0.1), (size, 1))
    return States(np.full(size, label), np.full(size, side), word, chances, np.zeros((size, 4), dtype=bool))


def twenty_days(label: list[int], side: list[int], word: list[int]) -> States:
    """Return states that change each half day as listed, ten times over; the facts speak against risk_on throughout."""
    labels, sides, words = (np.repeat(np.tile(values, 10), HALF_DAY) for values in (label, side, word))
    size = len(labels)
    against = np.zeros((size, 4), dtype=bool)
    against[:, 0] = True
    return States(labels, sides, words, np.tile([0.4, 0.3, 0.2, 0.1], (size, 1)), against)


def rows(given: States, log_volatility: np.ndarray | None = None) -> dict[str, tuple[str, bool | None]]:
    at = np.arange(len(given.label))
    values = np.linspace(0.0, 1.0, len(at)) if log_volatility is None else log_volatility
    return {measure: (figure, met) for measure, _, figure, met in rows_of_states(given, at, values)}


def test_changes_dwell_and_shares_by_hand() -> None:
    found = rows(twenty_days([0, 1, 1, 4], [RISING, RISING, NONE, FALLING], [0, 1, 2, 3]))

    assert found["label: changes a day"] == ("1.45", True)  # three each two days, less the one that never came
    assert found["label: dwell, hours"] == ("16.6", True)
    assert found["label: transition, share of bars"] == ("25.0%", False)
    assert found["label: against the day's facts"] == ("25.0%", None)
    assert found["label: less than 0.15 behind the likeliest"] == ("100.00%", True)
    assert found["side: changes a day"] == ("1.45", True)
    assert found["side: rising or falling, share of bars"] == ("75%", None)
    assert found["side: against the day's facts"] == ("50.0%", False)
    assert found["side: the same, of bars with a side"] == ("66.7%", False)
    assert found["volatility: changes of the two-way step a day"] == ("0.95", None)
    assert found["volatility: changes of the four words a day"] == ("1.95", None)
    assert found["headline's state: changes a day"] == ("1.45", True)


def test_a_label_that_is_015_behind_is_counted() -> None:
    given = twenty_days([0, 0, 0, 2], [NONE] * 4, [1] * 4)

    assert rows(given)["label: less than 0.15 behind the likeliest"] == ("75.00%", False)


def test_axes_explain_what_the_label_does_not() -> None:
    given = twenty_days([2, 2, 2, 2], [NONE, RISING, NONE, RISING], [0, 0, 1, 1])
    by_axes = 1.0 * (given.side == RISING) + 5.0 * given.word

    found = rows(given, by_axes)

    assert found["next 4 h's log volatility explained by side and four words (by the label)"] == ("1.000 (0.000)", True)
    assert explained_share(by_axes, given.word) == pytest.approx(25.0 / 26.0)


def test_short_sets_are_held_to_no_bar_but_that_of_the_label() -> None:
    found = rows(states(np.ones(2016, dtype=np.int64)))

    assert {measure for measure, (_, met) in found.items() if met is not None} == {
        "label: less than 0.15 behind the likeliest"
    }


def test_a_state_is_what_the_engine_publishes() -> None:
    engine = Engine(Weights.load(), ("BTC", "ETH", "SOL"))
    reading = engine.update(market(400))

    state = state_of(engine)

    assert reading is not None
    assert isinstance(state, State)
    assert state.chances.tolist() == pytest.approx(list(reading.regime.posterior.values()))
    assert ("none", "rising", "falling", "unknown")[state.side] == reading.regime.axes.side.value
    assert ("calm", "normal", "elevated", "extreme")[state.word] == reading.regime.volatility.value
