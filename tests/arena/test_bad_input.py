"""Bad input: counted, named, and harmless. What an indexer does wrong is in test_chain."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from generator.arena.ballots import BallotFile, Refusal
from generator.catalog.words import Prediction
from generator.record.memory.store import Memory
from tests.inbox.many_ballots import ballot, flood
from tests.support.arena_inputs import HOUR, MINUTE, NOON, inputs_at, play_tick
from tests.support.databases import refused_ballots, url_in

OPEN = "BTC-20261120-130000"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    made = Memory.open(url_in(tmp_path))
    play_tick(made, inputs_at(NOON))
    yield made
    made.close()


def good(number: int = 0, at_ms: int = NOON + 1) -> BallotFile:
    return ballot(number, OPEN, Prediction.BULLISH, at_ms)


def test_a_flood_of_ballots_is_counted_shown_as_a_burst_and_moves_nothing_else(memory: Memory) -> None:
    files = flood(1_000, OPEN, NOON + 30 * MINUTE)
    quiet = [ballot(20_000 + number, OPEN, Prediction.NEUTRAL, NOON + number * MINUTE) for number in range(1, 4)]

    play_tick(memory, replace(inputs_at(NOON + 31 * MINUTE), ballots=(*files, *quiet)))
    view = play_tick(memory, inputs_at(NOON + HOUR))

    assert view.live_tally.total == 1_003
    assert view.crowd is not None
    assert [(burst.at_ms, burst.votes, burst.new_voters) for burst in view.crowd.bursts] == [
        (NOON + 30 * MINUTE, 1_000, 1_000)
    ]
    assert view.crowd.by_record.voters == 0
    assert refused_ballots(memory) == {}


# A clock step across a lock


def test_a_clock_set_back_across_a_lock_takes_no_more_votes_for_the_locked_round(memory: Memory) -> None:
    play_tick(memory, replace(inputs_at(NOON + 59 * MINUTE), ballots=(good(),)))
    play_tick(memory, inputs_at(NOON + HOUR))
    back = NOON + 30 * MINUTE
    play_tick(memory, replace(inputs_at(back), ballots=(ballot(7, OPEN, Prediction.BEARISH, back),)))
    view = play_tick(memory, inputs_at(NOON + HOUR + MINUTE))

    assert view.live_tally.total == 1
    assert refused_ballots(memory) == {Refusal.READ_LATE.value: 1}
    assert view.live is not None
    assert view.live.round_id == OPEN
