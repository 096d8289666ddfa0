"""Lessons of real hours and of a market with everything in it, held against the raw closes."""

import string
from collections import Counter
from pathlib import Path
from typing import Final

import pytest

from generator.arena.lessons import lesson_of
from generator.catalog.assets import ASSETS
from generator.catalog.text.lessons import ROUND
from generator.catalog.words import Concept
from generator.values.rounds import Lesson
from generator.values.votes import Tally
from tests.arena.test_concepts import MONDAY_NOON, a_round
from tests.words.lessons import Hour, complaints, lessons_of, spoilt, sweep
from tests.words.markets import eventful

CANDLES: Final = Path(__file__).parents[3] / "shared" / "market-data" / "candles"


@pytest.fixture(scope="module")
def lessons() -> list[tuple[Lesson, Hour]]:
    market = eventful(11)
    return list(lessons_of(market.closes, market.t_ms, ASSETS, every=1))


def test_every_lesson_holds_against_the_closes(lessons: list[tuple[Lesson, Hour]]) -> None:
    bad = [
        (made.round_id, wrong)
        for made, hour in lessons
        if (wrong := complaints(made.summary, made.point or "", made.concept, hour))
    ]

    assert bad == []
    assert {made.concept for made, _ in lessons} >= {Concept.FAT_TAILS, Concept.CORRELATION}
    assert sum("None of the" in made.summary for made, _ in lessons)


def test_a_lesson_that_is_spoilt_is_found(lessons: list[tuple[Lesson, Hour]]) -> None:
    planted: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    for made, hour in lessons:
        for name, text in spoilt(made.summary):
            planted[name] += 1
            missed[name] += not complaints(text, made.point or "", made.concept, hour)

    assert len(planted) == 11
    assert missed.total() <= 0.001 * planted.total(), missed


def test_a_rarity_that_is_left_out_is_found(lessons: list[tuple[Lesson, Hour]]) -> None:
    made, hour = next((made, hour) for made, hour in lessons if "None of the" in made.summary)
    sentences = [sentence for sentence in made.summary.split(". ") if "None of the" not in sentence]

    assert complaints(". ".join(sentences), "", None, hour) == ["how rare the hour was is left out"]


def test_a_lesson_is_the_same_whatever_hour_it_is_of() -> None:
    texts = set()
    for hour in range(48):
        start_ms = MONDAY_NOON + hour * 3_600_000
        made = lesson_of(a_round(start_ms=start_ms), Tally(), start_ms)
        texts.add(made.summary)

    assert len(texts) == 1


def test_every_place_of_a_lesson_is_filled_by_the_table() -> None:
    places = {
        name
        for rows in ROUND.groups.values()
        for row in rows
        for _, name, _, _ in string.Formatter().parse(row.text)
        if name
    }

    assert {name for name in places if name not in ROUND.slots and name not in ROUND.groups} == set()
    assert set(ROUND.slots) <= places


@pytest.mark.skipif(not CANDLES.is_dir(), reason="the recorded market data is not next to the project")
@pytest.mark.parametrize("name", ["binance-spot-5m-2022-10", "binance-spot-5m-2025-05"])
def test_every_lesson_of_a_recording_holds_against_its_closes(name: str) -> None:
    count, bad, planted, missed = sweep(CANDLES / name)

    assert count > 1_000
    assert bad == []
    assert missed.total() <= 0.001 * planted.total(), missed
