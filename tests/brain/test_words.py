"""The brain's sentences: varied, true, and without figures of the models."""

import re
from dataclasses import replace

import numpy as np
import pytest

from generator.brain.engine import Engine
from generator.brain.evidence import FAMILIES
from generator.brain.reading import BrainReading
from generator.brain.weights import Weights
from generator.catalog.text.labels import BREADTH
from generator.catalog.words import Call, Side
from tests.support.markets import market, priced, texts

FORBIDDEN = re.compile(
    r"weight|coefficient|threshold|feature|logit|softmax|posterior|heuristic|normalis|formula|sigma", re.IGNORECASE
)
_SHOWN_MS = 20_700 * 86_400_000  # a midnight


@pytest.fixture(scope="module")
def readings() -> list[BrainReading]:
    """Read forty moments, hours apart, of a market with and one without books."""
    bare = priced(market(480, seed=3).fields["close"])
    rich = market(480, seed=4)
    found = []
    for frame in (bare, rich):
        engine = Engine(Weights.load(), frame.assets)
        step = len(frame) // 20
        found += [engine.update(frame.rows(i * step, (i + 1) * step)) for i in range(20)]
    return [reading for reading in found if reading is not None]


def test_no_sentence_speaks_of_the_machinery(readings: list[BrainReading]) -> None:
    assert [text for reading in readings for text in texts(reading) if FORBIDDEN.search(text)] == []


def test_evidence_names_every_family_once_and_is_counted_right(readings: list[BrainReading]) -> None:
    for reading in readings:
        for asset in reading.assets.values():
            sides = [item.side for item in asset.evidence]
            with_it, against = sides.count(Side.FOR), sides.count(Side.AGAINST)
            assert tuple(item.family for item in asset.evidence) == FAMILIES
            assert asset.coverage == pytest.approx(1.0 - sides.count(Side.MISSING) / len(FAMILIES))
            known = len(sides) - sides.count(Side.MISSING)
            has_call = asset.forecast is not None and asset.forecast.call is not Call.NONE
            assert asset.agreement == (with_it / known if has_call and known else None)
            assert has_call or with_it + against == 0


def test_coins_that_stood_still_are_not_said_to_have_fallen() -> None:
    frame = market(300)
    swaying = 1.0 + 1e-5 * (np.arange(300)[:, None] % 2)
    still = {name: np.ones_like(values) * swaying for name, values in frame.fields.items()}

    reading = Engine(Weights.load(), frame.assets).update(replace(frame, fields=still))

    assert reading is not None
    said = {found.text for asset in reading.assets.values() for found in asset.evidence if found.family == "breadth"}
    assert said == {BREADTH[0]}
