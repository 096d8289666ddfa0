"""Bad input: counted, named, and harmless. What an indexer does wrong is in test_chain."""

import base64
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.wire.algorand import pack, unpack
from gateway.wire.networks import NETWORKS
from generator.arena.ballots import BallotFile, Refusal
from generator.catalog.words import Prediction
from generator.inbox.folder import Inbox
from generator.record.memory.store import Memory
from tests.inbox.many_ballots import ballot, flood
from tests.support.arena_inputs import HOUR, MINUTE, NOON, inputs_at, play_tick
from tests.support.databases import url_in

OPEN = "BTC-20261120-130000"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    made = Memory.open(url_in(tmp_path))
    play_tick(made, inputs_at(NOON))
    yield made
    made.close()


def good(number: int = 0, at_ms: int = NOON + 1) -> BallotFile:
    return ballot(number, OPEN, Prediction.BULLISH, at_ms)


def wrongly_signed() -> BallotFile:
    file = good(1)
    envelope = unpack(base64.b64decode(file.data))
    envelope["sig"] = bytes(64)
    return replace(file, data=base64.b64encode(pack(envelope)))


BAD: dict[Refusal, Callable[[], BallotFile]] = {
    Refusal.BAD_SIGNATURE: wrongly_signed,
    Refusal.OTHER_NETWORK: lambda: ballot(
        2, OPEN, Prediction.BULLISH, NOON + 1, gh=base64.b64decode(NETWORKS["mainnet"].genesis_hash)
    ),
    Refusal.NO_SUCH_ROUND: lambda: ballot(3, "BTC-20261120-110000", Prediction.BULLISH, NOON + 1),
    Refusal.NOTE_FORM: lambda: ballot(4, OPEN, Prediction.BULLISH, NOON + 1, note=b"\xf0\x9f" * 512),
    Refusal.CLOSED: lambda: ballot(5, OPEN, Prediction.BULLISH, NOON + HOUR),
}


@pytest.mark.parametrize("refusal", BAD)
def test_a_bad_ballot_is_counted_named_and_moved_and_a_good_one_counts(
    tmp_path: Path, memory: Memory, refusal: Refusal
) -> None:
    folder = tmp_path / "inbox"
    folder.mkdir()
    for name, file in (("good", good()), ("bad", BAD[refusal]())):
        (folder / name).write_bytes(file.data)
    late = NOON + HOUR if refusal is Refusal.CLOSED else NOON + 1
    files = tuple(replace(file, arrived_ms=late if file.name == "bad" else NOON + 1) for file in Inbox(folder).files())

    view = play_tick(memory, replace(inputs_at(NOON + HOUR), ballots=files))
    Inbox(folder).clear(files)

    assert view.live_tally.total == 1
    assert memory.rejected_ballots() == {refusal.value: 1}
    assert list(folder.iterdir()) == []


def test_a_flood_of_ballots_is_counted_shown_as_a_burst_and_moves_nothing_else(memory: Memory) -> None:
    files = flood(1_000, OPEN, NOON + 30 * MINUTE)
    quiet = [ballot(20_000 + number, OPEN, Prediction.NEUTRAL, NOON + number * MINUTE) for number in range(1, 4)]

    play_tick(memory, replace(inputs_at(NOON + 31 * MINUTE), ballots=(*files, *quiet)))
    view = play_tick(memory, inputs_at(NOON + HOUR))

    assert view.live_tally.total == 1_003
    assert view.crowd is not None
    assert [(burst.at_ms, burst.votes, burst.new_voters) for burst in view.crowd.bursts] == [
        (NOON + 30 * MINUTE, 1_000, 1.0)
    ]
    assert view.crowd.by_record.voters == 0
    assert memory.rejected_ballots() == {}


# A clock step across a lock


def test_a_clock_set_back_across_a_lock_takes_no_more_votes_for_the_locked_round(memory: Memory) -> None:
    play_tick(memory, replace(inputs_at(NOON + 59 * MINUTE), ballots=(good(),)))
    play_tick(memory, inputs_at(NOON + HOUR))
    back = NOON + 30 * MINUTE
    play_tick(memory, replace(inputs_at(back), ballots=(ballot(7, OPEN, Prediction.BEARISH, back),)))
    view = play_tick(memory, inputs_at(NOON + HOUR + MINUTE))

    assert view.live_tally.total == 1
    assert memory.rejected_ballots() == {Refusal.READ_LATE.value: 1}
    assert view.live is not None
    assert view.live.round_id == OPEN
