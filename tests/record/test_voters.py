"""The voters' records in the memory: counted once a resolved round, worked out at the lock."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from algosdk.account import address_from_private_key
from sqlalchemy import insert

from gateway.wire.notes import Chances
from generator.arena.voters import ChanceScores
from generator.catalog.durations import DAY_MS
from generator.catalog.words import Prediction
from generator.record.memory import tables as t
from generator.record.memory.ballots import crowd_of
from generator.record.memory.store import Memory
from generator.values.votes import Burst, LockedCrowd, RecordCrowd
from tests.support.arena_inputs import CONFIG, HOUR, MINUTE, NOON, Vote, hours, inputs_at, play_tick, store_tick, voter
from tests.support.databases import dump, reopen, url_in
from tests.support.known import known

NEXT = "BTC-20261120-130000"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    made = Memory.open(url_in(tmp_path))
    yield made
    made.close()


def vote_at(memory: Memory, now_ms: int, *votes: Vote) -> None:
    play_tick(memory, replace(inputs_at(now_ms), ballots=tuple(vote.but(at_ms=now_ms).file() for vote in votes)))


def round_at(hour: int) -> str:
    return f"BTC-20261120-{12 + hour:02d}0000"


def play_rounds(memory: Memory, count: int) -> None:
    """Voter 0 always says BULLISH, voter 1 always BEARISH; one round an hour."""
    for hour in range(count):
        now = NOON + hour * HOUR
        store_tick(memory, inputs_at(now))
        vote_at(
            memory,
            now + 30 * MINUTE,
            Vote(round_at(hour + 1), Prediction.BULLISH, 0),
            Vote(round_at(hour + 1), Prediction.BEARISH, 1),
        )
    play_tick(memory, inputs_at(NOON + count * HOUR))


def test_every_voter_of_a_resolved_round_is_counted_once(memory: Memory) -> None:
    play_rounds(memory, 5)
    outcomes = [row["outcome"] for row in memory.resolved_rounds(10)]

    board = memory.view(NOON + 5 * HOUR).leaderboard

    assert (board.voters, board.below_30, board.places) == (2, 2, ())
    assert len(outcomes) == 4


def test_the_crowd_by_record_is_that_of_the_lock_and_survives_a_restart(memory: Memory, tmp_path: Path) -> None:
    play_rounds(memory, 9)
    before = memory.view(NOON + 9 * HOUR).crowd
    memory = reopen(memory, url_in(tmp_path))

    after = memory.view(NOON + 9 * HOUR).crowd

    assert before == after
    assert after is not None
    assert after.by_record.voters in {0, 1, 2}
    assert after.bursts == ()
    memory.close()


def test_a_crowd_that_an_earlier_version_kept_as_fractions_is_read_as_counts(memory: Memory) -> None:
    play_tick(memory, inputs_at(NOON))
    by_record = {"voters": 2, "bullish": 1.0, "bearish": 0.0, "neutral": 0.0}
    burst = {"at_ms": NOON, "votes": 30, "same_choice": 29 / 30, "new_voters": 1.0}
    earlier = json.dumps({"by_record": by_record, "bursts": [burst]})

    with memory._engine.begin() as connection:
        connection.execute(insert(t.locked_crowds).values(round_id=round_at(0), crowd=earlier))
        found = crowd_of(connection, round_at(0))

    assert found == LockedCrowd(RecordCrowd(2, 1.0, 0.0, 0.0), (Burst(NOON, 30, 29, 30),))


def test_the_simulated_crowd_has_no_voter_record(memory: Memory) -> None:
    for now in hours(NOON, 4):
        store_tick(memory, inputs_at(now, config=replace(CONFIG, simulated_crowd=True)))

    view = memory.view(NOON + 4 * HOUR)

    assert view.live_tally.total > 0
    assert view.leaderboard.voters == 0
    assert view.crowd is None


def test_what_had_ended_stays_resolved_when_the_clock_goes_back(memory: Memory) -> None:
    play_rounds(memory, 3)

    after = play_tick(memory, replace(inputs_at(NOON - HOUR), next_close_ms=NOON - HOUR + 5 * MINUTE))

    assert after.teacher.lessons_total == 2
    assert after.live is None


def play_days(memory: Memory, votes: Mapping[int, Sequence[int]]) -> int:
    """Play the rounds of these hours after noon, with these voters; return the time after the last."""
    for hour in range(max(votes) + 1):
        now = NOON + hour * HOUR
        store_tick(memory, inputs_at(now))
        if hour in votes:
            named = datetime.fromtimestamp((now + HOUR) / 1000, UTC).strftime("BTC-%Y%m%d-%H0000")
            vote_at(memory, now + 30 * MINUTE, *(Vote(named, Prediction.BULLISH, number) for number in votes[hour]))
    last = NOON + (max(votes) + 2) * HOUR
    store_tick(memory, inputs_at(last - HOUR))
    store_tick(memory, inputs_at(last))
    return last


def addresses(*numbers: int) -> set[str]:
    return {address_from_private_key(voter(number)) for number in numbers}


def test_earlier_voters_were_counted_in_three_rounds_on_two_days(memory: Memory) -> None:
    votes = {0: [0, 1, 2], 1: [0, 1], 2: [0], 12: [1], 13: [2], 14: [3], 15: [3], 16: [3]}

    after = play_days(memory, votes)

    assert set(memory.earlier_voters(10, after)) == addresses(0, 1)
    assert set(memory.earlier_voters(10, after + DAY_MS)) == addresses(0, 1, 3)


def test_of_too_many_earlier_voters_those_of_most_rounds_are_named(memory: Memory) -> None:
    after = play_days(memory, {0: range(6), 1: range(6), 2: range(6), 3: [4, 5]}) + DAY_MS

    named = memory.earlier_voters(4, after)

    assert len(named) == 4
    assert addresses(4, 5) < set(named)
    assert memory.earlier_voters(4, after) is named


def test_chances_are_scored_for_their_voter_and_the_crowd_and_a_word_for_neither(memory: Memory) -> None:
    given = Chances(55, 30, 15)
    for hour in range(4):
        now = NOON + hour * HOUR
        play_tick(memory, inputs_at(now))
        said = Vote(round_at(hour + 1), by=0, chances=given if hour != 1 else None)
        vote_at(memory, now + 30 * MINUTE, said, Vote(round_at(hour + 1), by=1))
        store_tick(memory, inputs_at(now + 55 * MINUTE))  # in which the round is sealed again
    view = play_tick(memory, inputs_at(NOON + 4 * HOUR))

    expected = ChanceScores()
    for row in reversed(memory.resolved_rounds(10)):
        base = known(row["forecast"])["base_rate"]
        if row["round_id"] != round_at(2):
            chances = (base["down"], base["neutral"], base["up"])
            expected = expected.plus(given, chances, known(row["outcome"]))
    kept = dump(memory._engine.url.render_as_string())["voters"]
    scores = {address: scores for address, _resolved, _hits, _since, _by_hits, _by_chances, *scores in kept}
    first, second = (address_from_private_key(voter(number)) for number in (0, 1))
    assert expected.rounds == 2
    assert scores == {first: list(astuple(expected)), second: [None] * 5}
    assert (view.crowd_record.n, view.crowd_record.votes) == (2, 2)
    assert view.crowd_record.brier == round(expected.brier / 10**8 / 2, 4)
    board = view.leaderboard
    assert (board.gave_chances, board.gave_chances_below_30, board.by_score) == (1, 1, ())
