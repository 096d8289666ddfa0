"""The brain's sentences: readable, varied, and silent about its numbers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from textstat import textstat

from generator.brain import sentences
from generator.brain.engine import Engine
from generator.brain.evidence import FAMILIES
from generator.brain.training.simulator import simulate
from generator.brain.values import BrainReading, Side
from generator.brain.weights import PACKAGED, Weights
from generator.catalog.words import Bias
from tests.brain.markets import floats, market, texts

FORBIDDEN = re.compile(
    r"weight|coefficient|threshold|feature|logit|softmax|posterior|heuristic|normalis|formula|sigma", re.IGNORECASE
)


@pytest.fixture(scope="module")
def readings() -> list[BrainReading]:
    """Read forty moments, hours apart, of a market with and one without books."""
    bare = simulate("base", 60003, days=14).frame
    rich = market(3000, seed=4)
    found = []
    for frame in (bare, rich):
        engine = Engine(Weights.load(), frame.assets)
        step = len(frame) // 20
        found += [engine.update(frame.rows(i * step, (i + 1) * step)) for i in range(20)]
    return [reading for reading in found if reading is not None]


def syllables(word: str) -> int:
    """Count vowel groups: offline, and never fewer than a hyphenation would give."""
    groups = len(re.findall(r"[aeiouy]+", re.sub(r"e$|es$|ed$", "", word.lower())))
    return max(1, groups)


def grade(text: str) -> float:
    """Return the Flesch-Kincaid grade with textstat's counts of words and sentences.

    Its own syllables need a dictionary that it downloads, and tests use no network.
    """
    words = re.findall(r"[A-Za-z'-]+", text)
    per_sentence = float(textstat.lexicon_count(text)) / float(textstat.sentence_count(text))
    return 0.39 * per_sentence + 11.8 * sum(map(syllables, words)) / len(words) - 15.59


def significant(value: float) -> str:
    """Return the significant digits of a number, without sign, point and exponent."""
    return f"{abs(value):.12e}".split("e")[0].replace(".", "").rstrip("0")


def numbers(value: Any) -> Iterator[float]:
    if isinstance(value, dict):
        for part in value.values():
            yield from numbers(part)
    elif isinstance(value, list):
        for part in value:
            yield from numbers(part)
    elif isinstance(value, int | float):
        yield float(value)


def test_every_sentence_is_at_most_grade_nine(readings: list[BrainReading]) -> None:
    said = {text for reading in readings for text in texts(reading)}

    assert len(said) > 30
    assert {text: grade(text) for text in said if grade(text) > 9.0} == {}


def test_the_grade_notices_hard_prose() -> None:
    hard = "Institutional participants simultaneously reallocated considerable derivative exposure internationally."

    assert grade(hard) > 20.0
    assert grade("The cat sat on the mat.") < 2.0


def test_every_table_of_sentences_is_at_most_grade_nine() -> None:
    tables = (value for name, value in vars(sentences).items() if name.isupper() and isinstance(value, dict))
    lines = [line for table in tables for line in table.values() if line.endswith(".")]
    lines += [value for name, value in vars(sentences).items() if name.isupper() and isinstance(value, str)]

    assert len(lines) > 25
    assert {line: grade(line) for line in lines if grade(line) > 9.0} == {}


def test_no_sentence_speaks_of_the_machinery(readings: list[BrainReading]) -> None:
    assert [text for reading in readings for text in texts(reading) if FORBIDDEN.search(text)] == []


def test_no_number_of_the_weights_occurs_in_a_reading(readings: list[BrainReading]) -> None:
    body = json.loads(PACKAGED.read_bytes())
    secret = {significant(v) for name in ("market", "asset", "direction") for v in numbers(body[name])}
    secret = {digits for digits in secret if len(digits) >= 4}
    assert len(secret) > 200

    for reading in readings:
        assert not {significant(value) for value in floats(reading)} & secret
        for text in texts(reading):
            assert not {significant(float(n)) for n in re.findall(r"\d+(?:\.\d+)?", text)} & secret


def test_twenty_ticks_give_at_least_fifteen_summaries(readings: list[BrainReading]) -> None:
    assert len({reading.summary for reading in readings[:20]}) >= 15


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


def test_a_flat_call_says_that_there_is_no_edge(readings: list[BrainReading]) -> None:
    flat = [a for r in readings for a in r.assets.values() if a.forecast and a.bias is Bias.FLAT]

    assert flat
    assert all("no clear edge" in asset.summary for asset in flat)
