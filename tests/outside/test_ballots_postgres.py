"""Ballots through a record in PostgreSQL: counted, refused once, published, forgotten, as in SQLite."""

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from generator.arena.ballots import Refusal
from generator.catalog.words import Prediction
from generator.record.audit.recount import PART, BallotPart, content
from generator.record.memory import ballots
from generator.record.memory.store import Memory
from tests.inbox.many_ballots import ballot, flood
from tests.support.arena_inputs import HOUR, MINUTE, NOON, inputs_at, play_tick
from tests.support.databases import refused_ballots
from tests.support.servers import postgres

pytestmark = [pytest.mark.outside, pytest.mark.timeout(300)]
ROUND = "BTC-20261120-130000"


@pytest.fixture
def memory() -> Iterator[Memory]:
    with postgres() as server:
        made = Memory.open(server.url)
        yield made
        made.close()


def due(memory: Memory) -> BallotPart | None:
    with memory.reading() as connection:
        return ballots.due(connection, PART)


def requeue_all(memory: Memory) -> None:
    with memory.writing() as connection:
        ballots.requeue_all(connection)


def test_ballots_are_counted_and_published(memory: Memory) -> None:
    late = ballot(1, ROUND, Prediction.BULLISH, NOON + HOUR + 1, confirmed=True)
    again = ballot(0, ROUND, Prediction.NEUTRAL, NOON + 2 * MINUTE)
    play_tick(memory, inputs_at(NOON))
    play_tick(memory, replace(inputs_at(NOON + 5 * MINUTE), ballots=(*flood(600, ROUND, NOON), again)))
    view = play_tick(memory, replace(inputs_at(NOON + HOUR), ballots=(late,)))
    play_tick(memory, replace(inputs_at(NOON + HOUR + MINUTE), ballots=(late,)))
    sheet = due(memory)
    assert sheet is not None
    memory.tick_done("tick", "1", NOON, ok=True, reason=None, published=sheet)

    assert view.live_tally.total == 600
    assert refused_ballots(memory) == {Refusal.CLOSED.value: 1}
    assert len(json.loads(content(sheet))["ballots"]) == 600
    assert due(memory) is None
    requeue_all(memory)
    assert due(memory) == sheet
