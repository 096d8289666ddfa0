"""How much a reader has to read: the words of prose in each free body.

A word of prose is one of a text value with a space in it, split at the spaces. Everything of that kind counts, the
disclaimer, limitations and advice to agents included; names of fields, paths, times and single words of a closed set
are read by programs and do not.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any, Final

import pytest

from generator.catalog.durations import HOUR_MS
from generator.catalog.endpoints import ENDPOINTS
from generator.catalog.words import SourceStatus
from generator.compose.all import compose_free
from generator.compose.tick import Tick
from generator.market.observation import AssetObservation
from generator.values.rounds import Event
from generator.values.scores import Estimate, MoveScores
from tests.support.bodies import free
from tests.support.builders import CONTEXTS
from tests.support.known import rate_of

MOST_WORDS: Final = 300
LESSONS: Final = "teacher-lessons"  # twenty lessons are its content
A_SENTENCE: Final = 10  # words, from which on a repeated text is one


def words_of(value: Any) -> int:
    return sum(len(text.split()) for text in _texts(value) if " " in text)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)


def test_words_of_prose_are_counted_wherever_they_lie() -> None:
    assert words_of({"a": "one two", "b": ["three four five", {"c": "path/alone"}], "d": 6, "e": None}) == 5


@cache
def with_moves_scored(state: str, *, faulty: bool = False) -> dict[str, Any]:
    """Return the free bodies of a state, by endpoint, once the chances of a move have a skill in every record."""
    ctx = with_three_faults(CONTEXTS[state]()) if faulty else CONTEXTS[state]()
    skill = Estimate(12.1, 10.5, 13.5)
    scores = MoveScores(
        1480,
        63.2,
        61.0,
        rate_of(948, 1480, 64.1, 59.0, 70.1),
        0.2,
        0.2,
        0.6,
        0.6,
        skill,
        skill,
    )
    records = {
        name: replace(getattr(ctx.arena, name), move=scores, no_calls=1159)
        for name in ("hourly_record", "arena_record")
    }
    texts = (
        "Round BTC-20261120-140000 takes votes until 2026-11-20T14:00:00Z.",
        "Round BTC-20261120-130000 is live; the brain said NEUTRAL.",
        "Round BTC-20261120-120000 is void: no tick in the minute after the start.",
        "The market changed from a falling day, rough or wild volatility to a day of ups and downs, normal volatility.",
    )
    events = tuple(Event(ctx.freshness.generated_ms, "any", text) for text in (*texts, *texts, *texts[:2]))
    bodies = compose_free(replace(ctx, arena=replace(ctx.arena, events=events, **records)))
    return {row.id: bodies[row.path].as_json() for row in ENDPOINTS}


def with_three_faults(ctx: Tick) -> Tick:
    """Return a tick in which one source failed, another is stale, and two coins have no fresh price or no data."""
    seen = ctx.observation
    sources = (
        *(
            replace(row, status=SourceStatus.FAILED, as_of=None, age_seconds=None, reason="timed out")
            for row in seen.sources[:1]
        ),
        *(replace(row, status=SourceStatus.STALE) for row in seen.sources[1:2]),
        *seen.sources[2:],
    )
    old = replace(seen.assets["XLM"], price_as_of_ms=ctx.freshness.generated_ms - HOUR_MS)
    gone = AssetObservation("HBAR", limitations=("no venue lists it now",))
    return replace(ctx, observation=replace(seen, sources=sources, assets={**seen.assets, "XLM": old, "HBAR": gone}))


@pytest.mark.parametrize("faulty", [False, True])
@pytest.mark.parametrize("state", CONTEXTS)
def test_a_full_record_keeps_to_it(state: str, *, faulty: bool) -> None:
    counted = {name: words_of(body) for name, body in with_moves_scored(state, faulty=faulty).items()}

    assert {name: words for name, words in counted.items() if words > MOST_WORDS and name != LESSONS} == {}


def test_three_faults_are_named_in_every_body_that_names_limits() -> None:
    said = " ".join(_texts(with_moves_scored("candles_only", faulty=True)["statistics"]))

    assert "failed sources: kraken (spot)" in said
    assert "stale sources: coinbase (spot)" in said
    assert "no fresh price: XLM" in said
    assert "no data for HBAR" in said


@pytest.mark.parametrize("state", CONTEXTS)
def test_no_free_body_but_the_lessons_says_more_than_three_hundred_words(state: str) -> None:
    counted = {row.id: words_of(free(state, row.id)) for row in ENDPOINTS if row.id != LESSONS}

    assert {endpoint: words for endpoint, words in counted.items() if words > MOST_WORDS} == {}


@pytest.mark.parametrize("endpoint", [row.id for row in ENDPOINTS if row.id != LESSONS])
def test_no_free_body_gives_a_sentence_twice(endpoint: str) -> None:
    for state in CONTEXTS:
        # Two records may have the same figures.
        texts = [text for text in _texts(free(state, endpoint)) if len(text.split()) >= A_SENTENCE and "%" not in text]

        assert sorted({text for text in texts if texts.count(text) > 1}) == [], state
