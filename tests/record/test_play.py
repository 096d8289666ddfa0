"""What one tick stores, counts and shows."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from generator.arena.ballots import Refusal
from generator.arena.tally import simulated_tally
from generator.catalog.assets import ASSETS
from generator.catalog.words import Prediction, RoundPhase
from generator.record.inbox.folder import Inbox
from generator.record.memory.store import Memory
from generator.runtime import tick
from generator.values.votes import Tally
from tests.support.arena_inputs import CONFIG, HOUR, MINUTE, NOON, Vote, hours, inputs_at, play_tick, store_tick
from tests.support.databases import dump, reopen, url_in

ROUND = "BTC-20261120-130000"
OPENED = NOON + MINUTE


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    made = Memory.open(url_in(tmp_path))
    play_tick(made, inputs_at(NOON))
    yield made
    made.close()


def test_who_votes_again_in_a_later_tick_is_counted_once_with_the_later_choice(memory: Memory) -> None:
    vote = Vote(ROUND, choice=Prediction.BULLISH, at_ms=NOON + 5_000)
    later = vote.but(choice=Prediction.BEARISH, at_ms=OPENED + 5_000)
    first = play_tick(memory, inputs_at(OPENED, ballots=[vote.file(), vote.but(by=1).file()]))

    view = play_tick(memory, inputs_at(OPENED + MINUTE, ballots=[later.file()]))
    live = play_tick(memory, inputs_at(NOON + HOUR))

    assert (first.ballots_counted, view.ballots_counted) == (2, 2)
    assert live.live_tally == Tally(bullish=1, bearish=1, neutral=0)


def test_votes_count_once_a_voter_and_the_last_arrival_wins(memory: Memory) -> None:
    vote = Vote(ROUND, at_ms=NOON + 5_000)
    early = vote.but(choice=Prediction.BEARISH, at_ms=NOON + 1_000)
    other = vote.but(by=1, choice=Prediction.NEUTRAL)
    play_tick(memory, inputs_at(OPENED, ballots=[vote.file()]))
    view = play_tick(memory, inputs_at(OPENED + MINUTE, ballots=[early.file(), other.file()]))
    live = play_tick(memory, inputs_at(NOON + HOUR))

    assert view.ballots_counted == 2
    assert view.live_tally == Tally()
    assert live.live is not None
    assert live.live.round_id == ROUND
    assert live.live_tally == Tally(bullish=1, bearish=0, neutral=1)


def test_votes_of_the_last_minute_count_in_the_tick_at_the_start_and_not_after_it(memory: Memory) -> None:
    start = NOON + HOUR
    live = play_tick(memory, inputs_at(start, ballots=[Vote(ROUND, at_ms=start - 1).file()]))
    late = play_tick(memory, inputs_at(start + MINUTE, ballots=[Vote(ROUND, by=1, at_ms=start - 1).file()]))

    assert live.live_tally == late.live_tally == Tally(bullish=1)
    assert late.refused == {Refusal.READ_LATE.value: 1}


def test_a_crash_before_the_inbox_was_cleared_counts_nothing_twice(tmp_path: Path, memory: Memory) -> None:
    inbox = Inbox(tmp_path / "inbox")
    inbox.folder.mkdir()
    file = Vote(ROUND).file()
    (inbox.folder / file.name).write_bytes(file.data)
    early = [replace(found, arrived_ms=NOON) for found in asyncio.run(inbox.receive(None))]
    play_tick(memory, inputs_at(OPENED, ballots=early))

    memory = reopen(memory, url_in(tmp_path))
    play_tick(memory, inputs_at(OPENED + MINUTE, ballots=early))
    inbox.acknowledge()
    live = play_tick(memory, inputs_at(NOON + HOUR))
    memory.close()

    assert live.live_tally == Tally(bullish=1)
    assert live.ballots_counted == 1
    assert list(inbox.folder.iterdir()) == []


def test_the_simulated_crowd_is_kept_apart_and_marked(tmp_path: Path) -> None:
    memory = Memory.open(url_in(tmp_path, "crowd"))
    config = replace(CONFIG, simulated_crowd=True, seed=11)
    play_tick(memory, inputs_at(NOON, config=config))
    play_tick(memory, inputs_at(OPENED, config=config, ballots=[Vote(ROUND, Prediction.NEUTRAL).file()]))
    live = play_tick(memory, inputs_at(NOON + HOUR, config=config))
    done = play_tick(memory, inputs_at(NOON + 2 * HOUR, config=replace(config, seed=99)))
    row = memory.resolved_rounds(5)[0]
    memory.close()

    simulated = simulated_tally(11, ROUND)
    assert live.live is not None
    assert live.live.simulated_crowd
    assert live.live_simulated_tally == simulated
    assert live.live_tally == simulated.plus(Tally(neutral=1))
    assert live.ballots_counted == 1
    assert done.lessons[0].simulated_crowd
    assert row["simulated_votes"]["bullish"] == simulated.bullish
    assert row["votes"]["neutral"] == simulated.neutral + 1


def test_what_was_played_before_the_start_stays_marked(tmp_path: Path) -> None:
    memory = Memory.open(url_in(tmp_path, "backtest"))
    with memory.batch():
        for now in hours(NOON - 6 * HOUR, 6)[:-1]:
            store_tick(memory, replace(inputs_at(now), warm_up=True))
    with memory.batch():
        for now in hours(NOON, 3):
            view = play_tick(memory, inputs_at(now))
    rows = memory.resolved_rounds(50)
    memory.close()

    marked = sum(row["warm_up"] for row in rows)
    assert (len(rows), marked) == (8, 6)
    assert (view.arena_record.resolved, view.arena_record.warm_up, view.teacher.warm_up) == (2, 6, 6)
    assert view.rounds_warm_up == 6
    assert view.backtest is not None
    assert view.backtest.arena.resolved == 6
    assert view.backtest.hourly.resolved == view.hourly_record.warm_up > 0
    assert view.teacher.lessons_total == 2 + 6
    assert view.teacher.brain.n == view.arena_record.hit.n == 2 - view.arena_record.no_calls


def test_a_batch_that_fails_leaves_nothing(tmp_path: Path, memory: Memory) -> None:
    before, shown = dump(url_in(tmp_path)), memory.view(NOON)

    def interrupted() -> None:
        with memory.batch():
            for now in hours(NOON, 3):
                store_tick(memory, inputs_at(now))
            assert memory.resolved_rounds(5)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()

    assert dump(url_in(tmp_path)) == before
    assert memory.view(NOON) == shown
    assert memory.resolved_rounds(5) == []


def test_one_failed_tick_inside_a_batch_leaves_the_others(memory: Memory) -> None:
    def broken(_asset: str, _minutes: int) -> None:
        raise RuntimeError("brain")

    with memory.batch():
        play_tick(memory, inputs_at(OPENED, ballots=[Vote(ROUND).file()]))
        with pytest.raises(RuntimeError, match="brain"):
            play_tick(memory, replace(inputs_at(NOON + HOUR, ballots=[Vote(ROUND, by=1).file()]), forecast=broken))
        view = play_tick(memory, inputs_at(NOON + HOUR))

    assert view.live_tally == Tally(bullish=1)
    assert view.rounds == {RoundPhase.LIVE: 1, RoundPhase.OPEN: 1}


def test_the_brains_state_is_stored_with_the_tick(memory: Memory) -> None:
    play_tick(memory, inputs_at(OPENED))
    assert memory.brain_state() == str(OPENED).encode()

    with memory.tick() as transaction:
        tick.play_tick(transaction, inputs_at(OPENED + MINUTE))
    assert memory.brain_state() == str(OPENED).encode()


def test_a_round_opened_by_the_backtest_opens_again_in_the_first_live_tick(tmp_path: Path) -> None:
    memory = Memory.open(url_in(tmp_path, "fresh"))
    play_tick(memory, replace(inputs_at(NOON), warm_up=True))
    made = memory.view(NOON).open
    view = play_tick(memory, inputs_at(NOON + 5 * MINUTE))

    live = memory.view(NOON + 5 * MINUTE).open
    assert made is not None
    assert live is not None
    assert (made.round_id, made.warm_up) == (live.round_id, True)
    assert (live.warm_up, live.opens_ms) == (False, NOON + 5 * MINUTE)
    assert live.sealed_digest != made.sealed_digest
    assert [event.at_ms for event in view.events if event.kind == "round_opened"] == [NOON + 5 * MINUTE]
    memory.close()


def test_settled_predictions_come_newest_first_and_are_read_again_once_more_ended(memory: Memory) -> None:
    for minute in range(5, 181, 5):
        store_tick(memory, inputs_at(NOON + minute * MINUTE))
    before = memory.settled_predictions(100)
    play_tick(memory, inputs_at(NOON + 3 * HOUR + MINUTE))
    same = memory.settled_predictions(100)
    play_tick(memory, inputs_at(NOON + 4 * HOUR))

    assert len(before) == 2 * len(ASSETS)
    assert [made.start_ms for made in before] == sorted((made.start_ms for made in before), reverse=True)
    assert all(made.outcome is not None or made.void_reason is not None for made in before)
    assert same is before
    assert len(memory.settled_predictions(100)) == len(before) + len(ASSETS)
    assert memory.settled_predictions(5) == memory.settled_predictions(100)[:5]
