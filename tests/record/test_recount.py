"""The published ballots of a round: immutable, counted again by anyone, and every bent row is named."""

import base64
import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from nacl.signing import SigningKey

from gateway.wire.algorand import TRANSACTION_PREFIX, pack
from gateway.wire.foreign import read_msgpack
from generator.arena.ballots import FORM, BallotFile, Chances, Poll, Refusal, judge
from generator.arena.life import schedule_round
from generator.arena.published import canonical_json
from generator.arena.timetable import Slot
from generator.catalog.words import Prediction, RoundPhase
from generator.record.audit.audit import Audit
from generator.record.audit.recount import RecountError, path_of, recount
from generator.record.audit.rounds import RoundLog
from generator.record.verify import Verified, open_log
from tests.record.test_log import entries as log_entries
from tests.support.arena_inputs import HOUR, MINUTE, NOON, Vote, inputs_at, play_tick, ticks, voter
from tests.support.databases import dump, refused_ballots, url_in
from tests.support.log_records import CROWDED, Record, run_verify

ROUND, NEXT = "ETH-20261120-130000", "BTC-20261120-140000"
VOTES = (
    Vote(ROUND, Prediction.BULLISH, by=0, at_ms=NOON + MINUTE),
    Vote(ROUND, Prediction.BEARISH, by=1, at_ms=NOON + MINUTE),
    Vote(ROUND, Prediction.NEUTRAL, by=0, at_ms=NOON + 2 * MINUTE),  # in the place of the first
    Vote(ROUND, Prediction.BEARISH, by=2, at_ms=NOON + 3 * MINUTE),
)


def cast(*votes: Vote) -> dict[int, list[BallotFile]]:
    """Arrange ballots by the tick that reads them."""
    by_tick: dict[int, list[BallotFile]] = {}
    for vote in votes:
        by_tick.setdefault(-(-vote.at_ms // (5 * MINUTE)) * 5 * MINUTE, []).append(vote.file())
    return by_tick


GIVEN = {"up": 60, "neutral": 25, "down": 15}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Play and publish four hours, once."""
    made = Record(tmp_path_factory.mktemp("played"))
    ballots = cast(*VOTES, Vote(NEXT, by=1, at_ms=NOON + HOUR + MINUTE))
    made.play(ticks(NOON, 4 * 60, 5), ballots)
    made.publish()
    made.memory.close()
    return made.folder


@pytest.fixture
def record(played: Path, tmp_path: Path) -> Iterator[Record]:
    folder = tmp_path / "copy"
    shutil.copytree(played, folder)
    made = Record(folder)
    yield made
    made.memory.close()


def sheet(record: Record, part: int = 1) -> dict[str, Any]:
    body: dict[str, Any] = json.loads((record.site / path_of(ROUND, part).lstrip("/")).read_bytes())
    return body


def bend(record: Record, change: Callable[[dict[str, Any]], object]) -> None:
    body = sheet(record)
    change(body)
    record.write({path_of(ROUND): json.dumps(body).encode()})


def signed_kept(record: Record) -> int:
    return len(dump(url_in(record.folder))["signed_ballots"])


def test_the_last_ballot_of_each_voter_is_published_as_it_was_signed(record: Record) -> None:
    ballots = sheet(record)["ballots"]

    assert sorted((row["choice"], row["arrived_ms"]) for row in ballots) == [
        ("BEARISH", NOON + MINUTE),
        ("BEARISH", NOON + 3 * MINUTE),
        ("NEUTRAL", NOON + 2 * MINUTE),
    ]
    assert [row["txid"] for row in ballots] == sorted(row["txid"] for row in ballots)
    for row in ballots:
        assert set(row) == {"txid", "voter", "choice", "arrived_ms", "signed"}
        transaction = read_msgpack(base64.b64decode(row["signed"]))["txn"]
        assert row["choice"].encode() in transaction["note"]


def test_a_part_says_of_which_round_it_is_and_how_to_check_it(record: Record) -> None:
    text = (record.site / path_of(ROUND).lstrip("/")).read_text()
    body = {name: value for name, value in json.loads(text).items() if name != "ballots"}

    assert text.endswith("]}\n")
    assert body.pop("note") == (
        "Every counted ballot of this round. `signed` is base64 of the msgpack of the signed Algorand transaction, "
        "from which txid, voter and choice follow. SHA-256 over all txids, sorted, each with a newline, is "
        "`ballots_sha256` of the log's entry round.locked. Simulated votes are not ballots."
    )
    assert body == {
        "round_id": ROUND,
        "closed": "2026-11-20T13:00:00Z",
        "ballots_total": 3,
        "part": 1,
        "parts": 1,
        "address": CROWDED.address,
        "genesis_hash": CROWDED.genesis_hash,
    }


def test_an_honest_count_is_repeated_by_the_command(record: Record) -> None:
    result = run_verify(record.site)

    assert result.exit_code == 0, result.output
    assert "ballots counted again: 4 of 2 rounds, every signature checked" in result.output
    assert "each signed by its voter, one a voter" in " ".join(result.output.split())


def other(by: int, choice: Prediction = Prediction.BULLISH, round_id: str = ROUND) -> dict[str, Any]:
    """Write a row of a ballot that is valid and was not counted."""
    vote = Vote(round_id, choice, by=by, at_ms=NOON + MINUTE)
    poll = Poll(CROWDED.address, CROWDED.genesis_hash, {ROUND: _open()}, NOON + 2 * MINUTE)
    _, found = judge([vote.file()], poll, lambda _: frozenset())
    txid, voter = (found[0].txid, found[0].voter) if found else ("T" * 52, "V" * 58)
    data = vote.file().data.strip().decode()
    return {"txid": txid, "voter": voter, "choice": str(choice), "arrived_ms": vote.at_ms, "signed": data}


def _open() -> Any:
    slot = Slot(NOON + HOUR, NOON + 2 * HOUR)
    fresh = schedule_round(slot, ("ETH",), opens_ms=NOON, warm_up=False)
    return replace(fresh, phase=RoundPhase.OPEN)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda body: body["ballots"].pop(), "their digest is"),
        (lambda body: body["ballots"].append(other(9)), "their digest is"),
        (lambda body: body["ballots"].append(other(0)), "is counted 2 times"),
        (lambda body: body["ballots"].append(body["ballots"][0]), "already counted"),
        (lambda body: body["ballots"].append(other(9, round_id=NEXT)), "no such round takes votes"),
        (lambda body: body["ballots"][0].update(choice="BULLISH"), "are not those of its signed transaction"),
        (lambda body: body["ballots"][0].update(voter=other(9)["voter"]), "are not those of its signed transaction"),
        (lambda body: body["ballots"][0].update(chances=GIVEN), "are not those of its signed transaction"),
        (lambda body: body["ballots"][0].update(signed=body["ballots"][1]["signed"]), "already counted"),
        (lambda body: body["ballots"][0].update(signed="AAAA"), "not one canonical signed transaction"),
        (lambda body: body["ballots"][0].update(arrived_ms=NOON + HOUR), "round is closed"),
        (lambda body: body.update(genesis_hash=base64.b64encode(bytes(32)).decode()), "another network"),
        (lambda body: body.update(parts=2), "part 2 of 2 is not published"),
        (lambda body: body.update(parts=10**9), "invalid part count"),
        (lambda body: body.update(ballots={}), "their digest is"),
        (lambda body: body.pop("ballots"), "not of the form"),
        (lambda body: body["ballots"][0].pop("signed"), "not of the form"),
    ],
)
def test_what_was_bent_is_named_with_its_round(
    record: Record, change: Callable[[dict[str, Any]], object], named: str
) -> None:
    bend(record, change)
    result = run_verify(record.site)

    assert result.exit_code == 1
    assert f"round {ROUND}: published ballots:" in result.output
    assert named in result.output


def test_a_round_whose_ballots_went_away_is_named_with_what_the_log_counted(record: Record) -> None:
    (record.site / path_of(ROUND).lstrip("/")).unlink()
    result = run_verify(record.site)

    assert result.exit_code == 1
    assert f"emi: round {ROUND}: {path_of(ROUND)} is not published; the log counted 3 ballots" in result.output
    assert "every signature checked" not in result.output


def test_the_release_that_shows_a_lock_also_has_its_ballots(record: Record) -> None:
    vote = Vote("ETH-20261120-170000", by=1, at_ms=NOON + 4 * HOUR + MINUTE)
    record.play(ticks(NOON + 4 * HOUR, 60, 5), cast(vote))
    record.play([NOON + 5 * HOUR])
    record.publish()

    assert (record.site / path_of("ETH-20261120-170000").lstrip("/")).exists()


# Publishing


def published_ballots(record: Record) -> dict[str, bytes]:
    """Return the file of ballots of the next release."""
    return {path: data for path, data in record.published.prepare().immutable.items() if "ballots" in path}


def test_many_ballots_are_published_in_parts_one_a_release(tmp_path: Path) -> None:
    record = Record(tmp_path, part=2)
    record.play(ticks(NOON, 120, 5), cast(*(Vote(ROUND, by=by, at_ms=NOON + MINUTE) for by in range(5))))
    sizes = []
    while (files := record.published.prepare()).ballots is not None:
        sizes.append(len(files.ballots.ballots))
        record.write(files.immutable)
        record.done(files)
    record.publish()

    assert sizes == [2, 2, 1]
    assert "5 of 1 rounds" in run_verify(record.site).output
    record.memory.close()


def test_a_crash_before_the_release_is_noted_puts_the_same_bytes_again(tmp_path: Path) -> None:
    record = Record(tmp_path)
    record.play(ticks(NOON, 60, 5), cast(*VOTES))
    first = published_ballots(record)
    record.restart()
    second = published_ballots(record)
    record.done(record.published.prepare())

    assert first == second != {}
    assert published_ballots(record) == {}
    record.memory.close()


def test_a_site_that_was_lost_gets_its_ballots_again(record: Record) -> None:
    (record.site / "log" / "checkpoint").unlink()
    (record.site / path_of(ROUND).lstrip("/")).unlink()
    record.restart()
    record.play([NOON + 4 * HOUR + MINUTE])
    record.publish()

    assert sheet(record)["ballots_total"] == 3


def test_of_many_rounds_with_votes_the_last_are_recounted_and_the_others_named(record: Record) -> None:
    audit = Audit(RoundLog(most_voted=1, kept=2))
    for entry in log_entries(record):
        audit.take(entry)

    lines = Verified(open_log(record.site_read), audit, (), {audit.rounds.recounted: 1}).lines

    assert (list(audit.rounds.voted), audit.rounds.voted_before) == ([NEXT], 1)
    assert (len(audit.rounds.ended), len(audit.rounds.rows)) == (3, 2)
    assert set(audit.rounds.entries) >= set(audit.rounds.rows)
    assert ROUND not in audit.rounds.entries
    assert "ballots counted again: 1 of 1 rounds, every signature checked; 1 older rounds with votes were not" in lines


def test_of_ballots_that_are_published_again_the_newest_round_is_first(record: Record) -> None:
    record.published.resume(None)
    names = []
    while (files := record.published.prepare()).ballots is not None:
        names.append(files.ballots.round_id)
        record.done(files)

    assert names == [NEXT, ROUND]


def test_replaced_ballots_go_at_the_lock_and_the_others_are_kept(tmp_path: Path) -> None:
    record = Record(tmp_path)
    record.play(ticks(NOON, 55, 5), cast(*VOTES))
    before = signed_kept(record)

    record.play([NOON + HOUR])

    assert (before, signed_kept(record)) == (4, 3)
    record.memory.close()


def test_a_round_that_never_locked_publishes_no_ballots(tmp_path: Path) -> None:
    record = Record(tmp_path)
    record.play(ticks(NOON, 55, 5), cast(*VOTES))
    play_tick(record.memory, inputs_at(NOON + HOUR, config=CROWDED, venues=1))

    assert published_ballots(record) == {}
    record.memory.close()


# The form of ballots


def with_lease(vote: Vote) -> BallotFile:
    """Sign a ballot as versions before the second form did: with 32 random bytes as its lease."""
    signer = SigningKey(base64.b64decode(voter(vote.by))[:32])
    transaction = {**read_msgpack(base64.b64decode(vote.file().data))["txn"], "lx": bytes(range(32)), "gen": "ANY TEXT"}
    signature = signer.sign(TRANSACTION_PREFIX + pack(transaction)).signature
    return BallotFile("old", base64.b64encode(pack({"sig": signature, "txn": transaction})), vote.at_ms)


def opened_before_ballots_had_forms(folder: Path) -> Record:
    """Open a round, and take the form out of its entry, as an earlier version left it."""
    record = Record(folder)
    record.play([NOON])
    with sqlite3.connect(url_in(folder).removeprefix("sqlite:///")) as database:
        number, data = database.execute("select id, data from log_entries where kind = 'round.sealed'").fetchone()
        entry = json.loads(data)
        assert entry.pop("ballot_form") == FORM
        database.execute("update log_entries set data = ? where id = ?", (canonical_json(entry), number))
    database.close()
    record.restart()
    return record


def test_a_round_that_an_upgrade_found_open_keeps_the_form_of_its_time(tmp_path: Path) -> None:
    record = opened_before_ballots_had_forms(tmp_path)
    old = with_lease(Vote(ROUND, at_ms=NOON + MINUTE))
    new = Vote(ROUND, by=1, at_ms=NOON + MINUTE, change=4).file()
    following = with_lease(Vote(NEXT, at_ms=NOON + HOUR + MINUTE))

    record.play(ticks(NOON + MINUTE, 180), {NOON + 5 * MINUTE: [old, new], NOON + 65 * MINUTE: [following]})
    record.publish()

    assert len(sheet(record)["ballots"]) == 2
    assert "ballots counted again: 2 of 1 rounds" in run_verify(record.site).output
    assert refused_ballots(record.memory) == {Refusal.OTHER_NETWORK.value: 1}
    record.memory.close()


def test_data_put_into_a_published_ballot_fails_the_round_s_own_form(record: Record) -> None:
    old = with_lease(VOTES[3])
    row = {**other(2), "signed": old.data.decode(), "arrived_ms": old.arrived_ms}
    bend(record, lambda body: body["ballots"].append(row))

    result = run_verify(record.site)

    assert result.exit_code == 1
    assert Refusal.OTHER_NETWORK.value in result.output


def test_ballots_of_a_form_to_come_are_not_called_wrong(record: Record) -> None:
    logged = {"ballot_form": FORM + 1, "start": "2026-11-20T13:00:00Z", "end": "2026-11-20T14:00:00Z", "asset": "ETH"}
    data = (record.site / path_of(ROUND).lstrip("/")).read_bytes()

    with pytest.raises(RecountError, match="verify with a newer one"):
        recount(ROUND, logged, lambda _: data)


@pytest.fixture
def given(tmp_path: Path) -> Iterator[Record]:
    """Play and publish a round in which one of three voters gives chances."""
    made = Record(tmp_path)
    made.play(ticks(NOON, 60, 5), cast(*VOTES[:3], replace(VOTES[3], chances=Chances(15, 25, 60))))
    made.publish()
    made.play(ticks(NOON + 65 * MINUTE, 60, 5))
    made.publish()
    yield made
    made.memory.close()


def test_chances_are_published_with_their_ballot_and_counted_again(given: Record) -> None:
    rows = [row for row in sheet(given)["ballots"] if "chances" in row]

    assert [(row["choice"], row["chances"]) for row in rows] == [("BEARISH", {"up": 15, "neutral": 25, "down": 60})]
    said = " ".join(run_verify(given.site).output.split())
    assert "ballots counted again: 3 of 1 rounds" in said
    assert "people in the log: 1 vote with chances in 1 round, Brier" in said


def test_bent_chances_are_named_in_a_row_and_in_the_sums_of_the_log(given: Record) -> None:
    audit = Audit()
    for entry in log_entries(given):
        audit.take(entry)
    logged = dict(audit.rounds.voted[ROUND])
    sums = logged.pop("chance_sums")
    data = (given.site / path_of(ROUND).lstrip("/")).read_bytes()

    for bent in ({}, {"chance_sums": {**sums, "up": 16, "down": 59}}):
        with pytest.raises(RecountError, match="their chances add up to"):
            recount(ROUND, logged | bent, lambda _: data)

    bend(given, lambda body: next(row for row in body["ballots"] if "chances" in row).update(chances=GIVEN))
    assert "are not those of its signed transaction" in run_verify(given.site).output
