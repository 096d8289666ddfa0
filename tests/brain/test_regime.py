"""The forward filter and the label on top of it."""

from dataclasses import dataclass

import numpy as np
import pytest

from generator.brain.engine import Engine
from generator.brain.recurrent import Recurrent
from generator.brain.regime import LABELS, LEAD, STEP_BARS, TRANSITION, RegimeFilter, facts_of, label_of
from generator.brain.weights import Weights
from generator.catalog.words import RegimeLabel
from generator.lab.simulator import DAY, LabelledMarket, simulate
from generator.market.bars import BAR_MS, FloatArray

HALF_HOUR = STEP_BARS * BAR_MS
GROWN = np.full(2, 1000.0)  # bars seen: the network has its full trust


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
    found = RegimeFilter(1, (network(memory), network(memory)))
    for number, row in enumerate(scores):
        found.update(number * HALF_HOUR - BAR_MS, np.repeat(row[:, None], 2, axis=1), GROWN)
    return found


def test_the_posterior_is_the_forward_recursion_and_not_a_smoothed_one() -> None:
    scores = np.random.default_rng(5).normal(0.0, 1.0, (80, 4))
    model, hidden = network(1.0), np.zeros((4, 1))
    for row in scores:
        hidden, last = model.step(hidden, row[:, None])

    chance = np.exp(last[:, 0]) / np.exp(last).sum()
    assert fed(scores, 1.0).posterior[:, -1] == pytest.approx(chance, abs=1e-6)


def test_a_later_surprise_leaves_the_earlier_posterior_alone() -> None:
    scores = np.random.default_rng(6).normal(0.0, 1.0, (60, 4))
    surprise = np.concatenate([scores, np.tile([3.0, -3.0, -3.0, -3.0], (30, 1))])

    assert np.array_equal(fed(scores, 1.0).posterior, fed(surprise[:60], 1.0).posterior)
    assert fed(surprise).posterior[0, -1] > 0.9


def test_an_open_half_hour_moves_the_posterior_but_not_the_memory() -> None:
    found = fed(np.tile([3.0, 0.0, 0.0, 0.0], (5, 1)))
    hidden, posterior = found.hidden.copy(), found.posterior.copy()

    found.update(5 * HALF_HOUR - 2 * BAR_MS, np.repeat(np.array([[-3.0], [3.0], [0.0], [0.0]]), 2, axis=1), GROWN)

    assert np.array_equal(found.hidden, hidden)
    assert found.posterior[1, -1] > posterior[1, -1] + 0.5


def test_without_evidence_the_posterior_and_the_memory_forget() -> None:
    found = fed(np.tile([3.0, 0.0, 0.0, 0.0], (50, 1)))
    sure, remembered = found.chances[0, -1], np.abs(found.hidden).max()

    for number in range(50, 150):
        found.update(number * HALF_HOUR - BAR_MS, np.zeros((4, 2)), np.zeros(2), steps=STEP_BARS)

    assert sure > 0.7
    assert found.chances[:, -1] == pytest.approx([0.25] * 4, abs=0.01)
    assert np.abs(found.hidden).max() < 0.01 * remembered
    assert LABELS[int(found.label[-1])] is RegimeLabel.TRANSITION


def test_the_label_moves_at_the_bar_where_another_leads_by_a_tenth() -> None:
    found = fed(np.tile([3.0, 0.0, 0.0, 0.0], (60, 1)))
    row, seen = np.array([[0.0], [1.0], [0.0], [0.0]]), []

    for number in range(60):
        found.update(60 * HALF_HOUR + number * BAR_MS, np.repeat(row, 2, axis=1), GROWN)
        seen.append((int(found.label[-1]), found.chances[1, -1] - found.chances[0, -1]))

    moved = next(bar for bar, (label, _) in enumerate(seen) if label == 1)
    assert [label for label, _ in seen] == [0] * moved + [1] * (60 - moved)
    assert seen[moved - 1][1] < LEAD <= seen[moved][1]
    assert found.since[-1] == 60 * HALF_HOUR + moved * BAR_MS
    assert LABELS[int(found.previous[-1])] is RegimeLabel.RISK_ON


ALL = [True] * 4


@pytest.mark.parametrize(
    ("chances", "allowed", "before", "label"),
    [
        ([0.50, 0.30, 0.10, 0.10], ALL, 4, 0),
        ([0.40, 0.45, 0.10, 0.05], ALL, 0, 0),  # near enough to stay
        ([0.35, 0.46, 0.10, 0.09], ALL, 0, 1),
        ([0.29, 0.28, 0.23, 0.20], ALL, 0, 4),  # nothing is decided
        ([0.50, 0.44, 0.03, 0.03], [False, True, True, True], 0, 1),
        ([0.60, 0.35, 0.03, 0.02], [False, True, True, True], 0, 4),
        ([0.60, 0.35, 0.03, 0.02], [True, False, True, True], 1, 0),
    ],
)
def test_the_label_is_near_the_likeliest_and_allowed(
    chances: list[float], allowed: list[bool], before: int, label: int
) -> None:
    found = label_of(np.array(chances)[:, None], np.array(allowed)[:, None], np.array([float(before)]))

    assert found.tolist() == [label]


CALM, WILD, UNKNOWN = 0.0, 1.0, np.nan


@pytest.mark.parametrize(
    ("change", "trend", "stressed", "allowed"),
    [
        ([0.01, 0.01, 0.01], 0, UNKNOWN, [True, False, True, True]),
        ([-0.01, -0.01, 0.01], 0, UNKNOWN, [False, True, True, True]),
        ([-0.01, -0.01, -0.01], 1, UNKNOWN, [True, True, True, True]),  # the trend is up still
        ([0.0005, 0.0005, 0.01], 0, UNKNOWN, [False, False, True, True]),  # most are flat
        ([0.01, 0.01, -0.01], 0, CALM, [True, False, True, False]),
        ([0.01, 0.01, -0.01], 0, WILD, [True, False, False, True]),
        ([-0.05, -0.05, -0.05], -1, UNKNOWN, [False, True, False, True]),  # beyond a usual day of 4%
        ([np.nan, np.nan, np.nan], 0, UNKNOWN, ALL),
    ],
)
def test_facts_forbid_the_regimes_that_they_contradict(
    change: list[float], trend: int, stressed: float, allowed: list[bool]
) -> None:
    facts = facts_of(np.array(change), np.full(4, float(trend)), np.full(4, stressed), np.full(4, 0.04))

    assert facts.allowed()[:, -1].tolist() == allowed


@dataclass(frozen=True)
class Run:
    """An engine after a market of a family it was never trained on, with its label at every bar."""

    market: LabelledMarket
    engine: Engine
    label: list[int]
    since: list[int]
    chances: list[FloatArray]
    allowed: list[list[bool]]


@pytest.fixture(scope="module")
def run() -> Run:
    market = simulate("alt", 60001, days=6)
    found = Run(market, Engine(Weights.load(), market.frame.assets), [], [], [], [])
    for row in range(len(market.frame)):
        found.engine.advance(market.frame.rows(row, row + 1))
        found.label.append(int(found.engine.filter.label[-1]))
        found.since.append(int(found.engine.filter.since[-1]) + BAR_MS)
        found.chances.append(found.engine.filter.chances[:, -1])
        found.allowed.append(found.engine.facts().allowed()[:, -1].tolist())
    return found


def test_the_regime_is_far_better_than_chance_on_a_family_never_trained_on(run: Run) -> None:
    scored = ~run.market.moving
    scored[: 3 * DAY] = False
    likeliest = np.array(run.chances).argmax(axis=1)
    label = np.array(run.label)
    shown, truth = np.where(label == TRANSITION, likeliest, label)[scored], run.market.regime[scored]

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


def test_every_label_shown_is_near_the_likeliest_and_true(run: Run) -> None:
    for label, chances, allowed in zip(run.label, run.chances, run.allowed, strict=True):
        if label == TRANSITION:
            near = [one for one in range(4) if chances[one] > chances.max() - LEAD and chances.max() >= 0.3]
            assert not any(allowed[one] for one in near)
        else:
            assert allowed[label]
            assert chances[label] > chances.max() - LEAD
