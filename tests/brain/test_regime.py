"""The forward filter and the label on top of it."""

from __future__ import annotations

import numpy as np
import pytest

from generator.brain.engine import Engine
from generator.brain.regime import LABELS, FilterSettings, RegimeFilter, log_softmax
from generator.brain.training.simulator import DAY, simulate
from generator.brain.weights import Weights
from generator.catalog.words import RegimeLabel
from generator.market.values import FloatArray

SETTINGS = FilterSettings(evidence=0.2, dwell_bars=20.0, lead=0.1, undecided=0.33, ramp_bars=1.0)
MODEL = np.eye(4)


def fed(scores: FloatArray) -> RegimeFilter:
    """Feed scores (n, 4) of one market without assets of its own."""
    found = RegimeFilter((1,), MODEL, MODEL, SETTINGS)
    for t_ms, row in enumerate(scores):
        found.update(t_ms, np.repeat(row[:, None], 2, axis=1), np.ones(2))
    return found


def test_the_posterior_is_the_forward_recursion_and_not_a_smoothed_one() -> None:
    scores = np.random.default_rng(5).normal(0.0, 2.0, (80, 4))
    stay = 1.0 - 1.0 / 20.0
    moves = np.full((4, 4), (1.0 - stay) / 3.0) + np.eye(4) * (stay - (1.0 - stay) / 3.0)
    forward = np.full(4, 0.25)
    for row in scores:
        forward = (forward @ moves) * np.exp(log_softmax(row)) ** 0.2
        forward /= forward.sum()

    assert fed(scores).posterior[:, -1] == pytest.approx(forward, abs=1e-12)


def test_a_later_surprise_leaves_the_earlier_posterior_alone() -> None:
    scores = np.random.default_rng(6).normal(0.0, 1.0, (60, 4))
    surprise = np.concatenate([scores, np.tile([9.0, 0.0, 0.0, 0.0], (30, 1))])

    assert np.array_equal(fed(scores).posterior, fed(surprise[:60]).posterior)
    assert fed(surprise).posterior[0, -1] > 0.9


def test_without_evidence_the_posterior_forgets() -> None:
    found = fed(np.tile([5.0, 0.0, 0.0, 0.0], (50, 1)))
    sure = found.posterior[0, -1]

    for t_ms in range(50, 150):
        found.update(t_ms, np.zeros((4, 2)), np.zeros(2))

    assert sure > 0.7
    assert found.posterior[:, -1] == pytest.approx([0.25] * 4, abs=0.01)
    assert LABELS[int(found.label[-1])] is RegimeLabel.TRANSITION


def test_a_label_needs_a_clear_lead_to_move_and_remembers_the_one_before() -> None:
    settled = np.tile([4.0, 0.0, 0.0, 0.0], (60, 1))
    found = fed(settled)
    assert LABELS[int(found.label[-1])] is RegimeLabel.RISK_ON
    started = found.since[-1]

    labels = []
    for t_ms in range(60, 120):
        found.update(t_ms, np.repeat(np.array([[0.0], [4.0], [0.0], [0.0]]), 2, axis=1), np.ones(2))
        behind = found.posterior[1, -1] - found.posterior[0, -1] <= SETTINGS.lead
        labels.append((LABELS[int(found.label[-1])], behind))

    assert all(label is not RegimeLabel.RISK_OFF for label, behind in labels if behind)
    assert labels[-1][0] is RegimeLabel.RISK_OFF
    assert found.since[-1] > started
    assert LABELS[int(found.previous[-1])] in {RegimeLabel.RISK_ON, RegimeLabel.TRANSITION}


def test_the_regime_is_read_far_better_than_by_chance_on_a_family_never_trained_on() -> None:
    market = simulate("alt", 60001, days=24)
    engine = Engine(Weights.load(), market.frame.assets)
    shown, truth = [], []
    for start in range(0, len(market.frame), 6):
        engine.advance(market.frame.rows(start, start + 6))
        if start >= 8 * DAY and not market.moving[start + 5]:
            shown.append(int(engine.filter.label[-1]))
            truth.append(int(market.regime[start + 5]))

    said, true = np.array(shown), np.array(truth)
    balanced = np.mean([(said[true == regime] == regime).mean() for regime in np.unique(true)])
    assert balanced > 0.5  # four classes: chance is 0.25
