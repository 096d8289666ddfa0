"""Every fault is reported within three minutes, once at its start and once at its end, and nothing without a fault."""

import json

import pytest

from generator.cli.watch import advance
from generator.operate.watch.alerts import AlertState
from generator.operate.watch.judge import FAULTS
from tests.watch.pairs import WITHIN_S, pairs
from tests.watch.simulated import DAY, HOUR, KINDS, MINUTE, NOON, Listener, Trouble, played, seen, worst


@pytest.mark.parametrize("kind", KINDS)
def test_a_fault_is_reported_within_three_minutes_once_at_its_start_and_its_end(kind: str) -> None:
    least, most, messages, _ = worst(kind)

    assert 0 <= least <= most <= 180
    assert messages == 2


def test_every_fault_that_is_judged_is_played() -> None:
    assert [fault.name for fault in FAULTS] == list(dict.fromkeys(kind.partition("/")[0] for kind in KINDS))


def test_a_week_without_faults_reports_nothing_and_pings_for_each_tick() -> None:
    listener = played([], NOON, NOON + 7 * DAY)

    assert listener.heard == []
    assert len(listener.pings) == 7 * 24 * 60


@pytest.mark.parametrize("begin", range(2))
def test_of_two_faults_within_an_hour_each_is_reported(begin: int) -> None:
    some = list(pairs())[begin * 8 :: 72]  # all of them: python -m tests.watch --pairs

    waited = {pair: pair.waited_s() for pair in some}

    assert [pair for pair, seconds in waited.items() if seconds is None or seconds > WITHIN_S] == []


@pytest.mark.parametrize("gap_minutes", [2, 20, 58])
def test_what_comes_and_goes_within_an_hour_is_one_fault(gap_minutes: int) -> None:
    every = (gap_minutes + 5) * MINUTE
    troubles = [
        Trouble("facilitator", NOON + HOUR + turn * every, NOON + HOUR + turn * every + 5 * MINUTE) for turn in range(6)
    ]

    heard = played(troubles, NOON, troubles[-1].ends + 3 * HOUR).heard

    assert [message.event for _, message in heard] == ["start", "end"]
    assert heard[1][0] >= troubles[-1].ends + HOUR


def test_a_fault_of_three_days_is_reported_again_each_day() -> None:
    trouble = Trouble("node", NOON + HOUR, NOON + HOUR + 3 * DAY + HOUR)

    heard = played([trouble], NOON, trouble.ends + 2 * HOUR, by_file=True).heard

    assert [message.event for _, message in heard] == ["start", "still", "still", "still", "end"]
    assert len({message.since for _, message in heard}) == 1


def test_no_ping_says_that_all_is_well_while_a_fault_is_not_over() -> None:
    trouble = Trouble("certificate", NOON + HOUR, NOON + 2 * HOUR)

    pings = played([trouble], NOON, NOON + 4 * HOUR).pings

    assert not [at for at in pings if trouble.begins + MINUTE < at < trouble.ends + HOUR]
    assert [at for at in pings if at > trouble.ends + HOUR]


def test_what_no_one_took_is_reported_with_the_next_look() -> None:
    listener, state = Listener(), AlertState()
    trouble = Trouble("drill", NOON)
    problems = []
    for minute in range(4):
        listener.now = NOON + 60 * minute
        listener.unreachable = minute < 2
        state, said = advance(state, seen(listener.now, trouble), listener)
        problems.append(len(said))

    assert [at for at, _ in listener.heard] == [NOON + 120]
    assert problems == [2, 2, 0, 0]


def test_what_cannot_be_seen_is_neither_begun_nor_ended() -> None:
    ledger = Trouble("ledger", NOON + HOUR, NOON + 2 * HOUR)
    gone = Trouble("gateway", NOON + 2 * HOUR, NOON + 9 * HOUR)

    heard = played([ledger, gone], NOON, NOON + 8 * HOUR).heard

    assert [(message.fault, message.event) for _, message in heard] == [("ledger", "start"), ("gateway", "start")]


@pytest.mark.parametrize("torn", [b"", b"{", b"[]", b'{"faults": 5}', b'{"anchors": {}, "faults": [{}]}'])
def test_a_torn_story_begins_again(torn: bytes) -> None:
    assert AlertState.of(torn) == AlertState()


def test_a_message_is_one_object_that_names_its_row_of_the_runbook() -> None:
    (_, message), *_ = played([Trouble("venue", NOON)], NOON, NOON + HOUR).heard

    assert json.loads(json.dumps(message.content("/usr/share/doc/emi/runbook.md"))) == {
        "fault": "venue",
        "subject": "kraken",
        "event": "start",
        "since": "2025-11-25T12:00:20Z",
        "text": "kraken has answered nothing for half an hour",
        "runbook": "/usr/share/doc/emi/runbook.md#venue",
    }
