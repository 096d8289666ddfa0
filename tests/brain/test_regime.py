"""The forward filter and the label on top of it."""

from dataclasses import dataclass

import numpy as np
import pytest

from generator.brain.engine import Engine
from generator.brain.recurrent import Recurrent
from generator.brain.regime import LABELS, STEP_BARS, FilterSettings, RegimeFilter
from generator.brain.weights import Weights
from generator.catalog.words import RegimeLabel
from generator.lab.simulator import DAY, Market, simulate
from generator.market.bars import BAR_MS, FloatArray

SETTINGS = FilterSettings(lead=0.1, claim=0.1, undecided=0.33, ramp_bars=1.0)
HALF_HOUR = STEP_BARS * BAR_MS


def network(memory: float = 0.0) -> Recurrent:
    """Return a network that passes its four inputs through, with units that remember them."""
    rng = np.random.default_rng(4)
    return Recurrent(
        mean=np.zeros(4),
        std=np.ones(4),
        input_weights=rng.normal(size=(12, 4)),
        recurrent_weights=rng.normal(size=(12, 4)),
        bias=np.zeros(12),
        output_weights=memory * np.eye(4),
        skip_weights=np.eye(4),
        output_bias=np.zeros(4),
    )


def fed(scores: FloatArray, memory: float = 0.0) -> RegimeFilter:
    """Feed scores (n, 4), one each half hour, to a market of one asset."""
    found = RegimeFilter(1, (network(memory), network(memory)), SETTINGS)
    for number, row in enumerate(scores):
        found.update(number * HALF_HOUR - BAR_MS, np.repeat(row[:, None], 2, axis=1), np.ones(2))
    return found


def test_the_posterior_is_the_forward_recursion_and_not_a_smoothed_one() -> None:
    scores = np.random.default_rng(5).normal(0.0, 1.0, (80, 4))
    model, hidden = network(1.0), np.zeros((4, 1))
    for row in scores:
        hidden = model.step(hidden, model.scaled(row[:, None]))
        last = model.scores(hidden, model.scaled(row[:, None]))[:, 0]

    chance = np.exp(last) / np.exp(last).sum()
    assert fed(scores, 1.0).posterior[:, -1] == pytest.approx(chance, abs=1e-6)


def test_a_later_surprise_leaves_the_earlier_posterior_alone() -> None:
    scores = np.random.default_rng(6).normal(0.0, 1.0, (60, 4))
    surprise = np.concatenate([scores, np.tile([3.0, -3.0, -3.0, -3.0], (30, 1))])

    assert np.array_equal(fed(scores, 1.0).posterior, fed(surprise[:60], 1.0).posterior)
    assert fed(surprise).posterior[0, -1] > 0.9


def test_an_open_half_hour_moves_the_posterior_but_neither_state_nor_label() -> None:
    found = fed(np.tile([3.0, 0.0, 0.0, 0.0], (5, 1)))
    hidden, label, posterior = found.hidden.copy(), found.label.copy(), found.posterior.copy()

    found.update(5 * HALF_HOUR - 2 * BAR_MS, np.repeat(np.array([[-3.0], [3.0], [0.0], [0.0]]), 2, axis=1), np.ones(2))

    assert np.array_equal(found.hidden, hidden)
    assert np.array_equal(found.label, label)
    assert found.posterior[1, -1] > posterior[1, -1] + 0.5


def test_without_evidence_the_posterior_and_the_memory_forget() -> None:
    found = fed(np.tile([3.0, 0.0, 0.0, 0.0], (50, 1)))
    sure, remembered = found.posterior[0, -1], np.abs(found.hidden).max()

    for number in range(50, 150):
        found.update(number * HALF_HOUR - BAR_MS, np.zeros((4, 2)), np.zeros(2), steps=STEP_BARS)

    assert sure > 0.7
    assert found.posterior[:, -1] == pytest.approx([0.25] * 4, abs=0.01)
    assert np.abs(found.hidden).max() < 0.01 * remembered
    assert LABELS[int(found.label[-1])] is RegimeLabel.TRANSITION


def test_a_label_needs_a_clear_lead_to_move_and_remembers_the_one_before() -> None:
    found = fed(np.tile([3.0, 0.0, 0.0, 0.0], (60, 1)))
    assert LABELS[int(found.label[-1])] is RegimeLabel.RISK_ON
    started = found.since[-1]

    labels = []
    for number, push in enumerate(np.linspace(-3.0, 3.0, 60), start=60):
        row = np.array([[0.5], [push], [0.0], [0.0]])
        found.update(number * HALF_HOUR - BAR_MS, np.repeat(row, 2, axis=1), np.ones(2))
        behind = found.posterior[1, -1] - found.posterior[0, -1] <= SETTINGS.claim
        labels.append((LABELS[int(found.label[-1])], behind))

    assert all(label is not RegimeLabel.RISK_OFF for label, behind in labels if behind)
    assert labels[-1][0] is RegimeLabel.RISK_OFF
    assert found.since[-1] > started
    assert LABELS[int(found.previous[-1])] in {RegimeLabel.RISK_ON, RegimeLabel.TRANSITION}


@dataclass(frozen=True)
class Run:
    """An engine after a market of a family it was never trained on, with its label at every bar."""

    market: Market
    engine: Engine
    label: list[int]
    since: list[int]


@pytest.fixture(scope="module")
def run() -> Run:
    market = simulate("alt", 60001, days=14)
    found = Run(market, Engine(Weights.load(), market.frame.assets), [], [])
    for row in range(len(market.frame)):
        found.engine.advance(market.frame.rows(row, row + 1))
        found.label.append(int(found.engine.filter.label[-1]))
        found.since.append(int(found.engine.filter.since[-1]) + BAR_MS)
    return found


def test_the_regime_is_far_better_than_chance_on_a_family_never_trained_on(run: Run) -> None:
    scored = ~run.market.moving
    scored[: 8 * DAY] = False
    shown, truth = np.array(run.label)[scored], run.market.regime[scored]

    balanced = np.mean([(shown[truth == regime] == regime).mean() for regime in np.unique(truth)])

    assert balanced > 0.55  # four classes: chance is 0.25


def test_a_label_dates_from_the_close_of_the_bar_that_first_showed_it(run: Run) -> None:
    closes, first = (run.market.frame.t + BAR_MS).tolist(), 0
    for row, label in enumerate(run.label):
        first = row if label != run.label[first] else first
        assert run.since[row] == closes[first]
    reading = run.engine.reading()

    assert reading is not None
    assert reading.regime.since_ms == closes[first]
    assert reading.regime.dwell_minutes == (closes[-1] - closes[first]) // 60_000
    assert len(set(run.since)) > 3
