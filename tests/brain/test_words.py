"""The brain's sentences: varied, true, and without figures of the models."""

import re
from dataclasses import replace

import numpy as np
import pytest

from generator.brain.engine import Engine
from generator.brain.evidence import FAMILIES, Side
from generator.brain.reading import BrainReading
from generator.brain.structure import HOUR_MS
from generator.brain.weights import Weights
from generator.catalog.assets import ASSETS
from generator.catalog.text.labels import BREADTH
from generator.catalog.words import Bias
from generator.lab.simulator import simulate
from generator.market.bars import BAR_MS
from generator.market.simulated.market import SimulatedMarket
from tests.support.markets import market, texts

FORBIDDEN = re.compile(
    r"weight|coefficient|threshold|feature|logit|softmax|posterior|heuristic|normalis|formula|sigma", re.IGNORECASE
)
_SHOWN_MS = 20_700 * 86_400_000  # a midnight


@pytest.fixture(scope="module")
def readings() -> list[BrainReading]:
    """Read forty moments, hours apart, of a market with and one without books."""
    bare = simulate("base", 60003, days=7).frame
    rich = market(1600, seed=4)
    found = []
    for frame in (bare, rich):
        engine = Engine(Weights.load(), frame.assets)
        step = len(frame) // 20
        found += [engine.update(frame.rows(i * step, (i + 1) * step)) for i in range(20)]
    return [reading for reading in found if reading is not None]


def test_no_sentence_speaks_of_the_machinery(readings: list[BrainReading]) -> None:
    assert [text for reading in readings for text in texts(reading) if FORBIDDEN.search(text)] == []


@pytest.fixture(scope="module")
def shown() -> list[BrainReading]:
    """Read twenty moments, half days apart, of the market that the service itself shows."""
    frame = SimulatedMarket(2026).bars(_SHOWN_MS, _SHOWN_MS + 10 * 288 * BAR_MS)
    engine = Engine(Weights.load(), ASSETS)
    found = [engine.update(frame.rows(i * 144, (i + 1) * 144)) for i in range(20)]
    return [reading for reading in found if reading is not None]


def distinct(said: list[str]) -> tuple[int, int]:
    """Return how many texts differ, and how many still do without their numbers."""
    return len(set(said)), len({re.sub(r"\d[\d.:]*", "#", text) for text in said})


def test_twenty_ticks_give_at_least_fifteen_summaries_of_the_market(
    readings: list[BrainReading], shown: list[BrainReading]
) -> None:
    for twenty in (readings[:20], readings[20:], shown):
        assert len(twenty) == 20
        assert distinct([reading.summary for reading in twenty])[0] >= 15


@pytest.mark.parametrize("asset", ASSETS)
def test_twenty_ticks_give_at_least_fifteen_summaries_of_each_asset(shown: list[BrainReading], asset: str) -> None:
    whole, bare = distinct([reading.assets[asset].summary for reading in shown])

    assert whole >= 15
    assert bare >= 12  # the words differ too, not only the figures


def test_twenty_consecutive_bars_give_at_least_fifteen_summaries() -> None:
    frame = SimulatedMarket(2026).bars(_SHOWN_MS, _SHOWN_MS + (2 * 288 + 20) * BAR_MS)
    engine = Engine(Weights.load(), ASSETS)
    engine.advance(frame.rows(0, 2 * 288))

    found = [engine.update(frame.rows(row, row + 1)) for row in range(2 * 288, len(frame))]

    assert len({reading.summary for reading in found if reading}) >= 15


def test_a_summary_is_true_of_its_tick(shown: list[BrainReading]) -> None:
    frame = SimulatedMarket(2026).bars(_SHOWN_MS, _SHOWN_MS + 10 * 288 * BAR_MS)
    closes = dict(zip(frame.t.tolist(), frame.fields["close"], strict=True))
    checked = 0
    for reading in shown:
        now, close_ms = closes[reading.t_ms], reading.t_ms + BAR_MS
        for column, (name, asset) in enumerate(reading.assets.items()):
            found = re.search(r"It is (up|down|flat)(?: ([\d.]+) %)? since (\d\d):00 UTC", asset.summary)
            if found is None:
                continue
            then_ms = close_ms // HOUR_MS * HOUR_MS - 6 * HOUR_MS
            assert int(found[3]) == then_ms // HOUR_MS % 24, name
            change = 100.0 * (now[column] / closes[then_ms - BAR_MS][column] - 1.0)
            signed = {"up": 1.0, "down": -1.0, "flat": 0.0}[found[1]] * float(found[2] or 0.0)
            assert signed == pytest.approx(change, abs=0.00501)
            points = {"up": 1, "down": -1}
            for way in points:
                pointing = re.search(rf"Pointing {way}: ([^.]+)\.", asset.summary)
                trend = asset.trend.value == way
                assert (pointing is not None and "the trend" in pointing[1]) == trend
            checked += 1
        rose = re.search(r"(\d) of (\d) coins rose", reading.summary)
        assert (rose is None) == (reading.regime.breadth is None)
        assert rose is None or int(rose[1]) / int(rose[2]) == reading.regime.breadth
    assert checked > 100


def test_evidence_names_every_family_once_and_is_counted_right(readings: list[BrainReading]) -> None:
    for reading in readings:
        for asset in reading.assets.values():
            sides = [item.side for item in asset.evidence]
            with_it, against = sides.count(Side.FOR), sides.count(Side.AGAINST)
            assert tuple(item.family for item in asset.evidence) == FAMILIES
            assert asset.coverage == pytest.approx(1.0 - sides.count(Side.MISSING) / 6)
            expected = with_it / (with_it + against) if with_it + against else None
            assert asset.agreement == expected


def test_volatility_never_takes_a_side(readings: list[BrainReading]) -> None:
    sides = {asset.evidence[2].side for reading in readings for asset in reading.assets.values()}

    assert sides <= {Side.NEUTRAL, Side.MISSING}


def test_coins_that_stood_still_are_not_said_to_have_fallen() -> None:
    frame = market(600)
    still = {name: np.ones_like(values) for name, values in frame.fields.items()}

    reading = Engine(Weights.load(), frame.assets).update(replace(frame, fields=still))

    assert reading is not None
    said = {found.text for asset in reading.assets.values() for found in asset.evidence if found.family == "breadth"}
    assert said == {BREADTH[0]}


def test_a_flat_call_says_that_there_is_no_edge(readings: list[BrainReading]) -> None:
    flat = [a for r in readings for a in r.assets.values() if a.forecast and a.bias is Bias.FLAT]

    assert flat
    assert all("no clear edge" in asset.summary for asset in flat)
