"""Ballots on chain: an indexer that lies, repeats, skips, hangs or dies is harmless and named."""

import asyncio
import base64
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from algosdk.account import address_from_private_key
from algosdk.atomic_transaction_composer import AccountTransactionSigner
from algosdk.transaction import PaymentTxn, SuggestedParams
from structlog.testing import capture_logs

from gateway.wire.algorand import DEMO_ARENA, address_of
from generator.arena.ballots import ANY_PREFIX, BallotFile, Chances, Poll, Refusal, judge, note_of
from generator.catalog.words import Prediction
from generator.record.inbox import chain
from generator.record.inbox.chain import ChainBallots, IndexerError, Patience, ballot_of
from tests.arena.test_ballots import OPEN, POLL
from tests.support.arena_inputs import GENESIS, voter
from tests.support.gateway_app import in_loop

ROUND = OPEN.round_id
HASTY = Patience(poll_s=0.05, lock_s=0.05, step_s=0.01)  # for an indexer that never comes to it
QUICK = Patience(poll_s=60, lock_s=60, step_s=0.01)  # for one that does, on however slow a machine
BLOCK_S = (OPEN.start_ms - 600_000) // 1000


def row(
    by: int = 0,
    choice: Prediction = Prediction.BULLISH,
    at_round: int = 5_990,
    gen: str | None = "emi-devnet-v1",
    chances: Chances | None = None,
    **changes: Any,
) -> dict[str, Any]:
    """A confirmed ballot as an indexer shows it."""
    key = voter(by)
    params = SuggestedParams(fee=1_000, first=at_round - 5, last=at_round + 900, gh=GENESIS, gen=gen, flat_fee=True)
    payment = PaymentTxn(address_from_private_key(key), params, DEMO_ARENA, 0, note=note_of(ROUND, choice, chances))
    signed: Any = AccountTransactionSigner(key).sign_transactions([payment], [0])[0]
    found: dict[str, Any] = {
        "id": payment.get_txid(),
        "tx-type": "pay",
        "sender": payment.sender,
        "fee": payment.fee,
        "first-valid": payment.first_valid_round,
        "last-valid": payment.last_valid_round,
        "genesis-hash": GENESIS,
        "genesis-id": gen,
        "note": base64.b64encode(payment.note).decode(),
        "payment-transaction": {"receiver": DEMO_ARENA, "amount": 0, "close-amount": 0},
        "signature": {"sig": str(signed.signature)},
        "confirmed-round": at_round,
        "round-time": BLOCK_S,
    }
    return found | changes


class FakeIndexer:
    """An indexer with these rows, newest first, a token after each page that is not empty; subclasses misbehave."""

    def __init__(self, rows: list[dict[str, Any]], page: int = 2, current: int = 6_000) -> None:
        self.rows = rows
        self.page = page
        self.current = current
        self.time_s = BLOCK_S
        self.asked: list[tuple[str, dict[str, str]]] = []

    async def __call__(self, path: str, query: Mapping[str, str]) -> Any:
        self.asked.append((path, dict(query)))
        if path.startswith("/v2/blocks/"):
            self.time_s += 3
            return {"timestamp": self.time_s}
        before = int(query.get("next", len(self.rows)))
        found = [
            (place, one)
            for place, one in reversed(list(enumerate(self.rows)))
            if place < before and one["confirmed-round"] >= int(query.get("min-round", "0"))
        ][: min(self.page, int(query["limit"]))]
        answer: dict[str, Any] = {"current-round": self.current, "transactions": [one for _, one in found]}
        return answer | ({"next-token": str(found[-1][0])} if found else {})


def verdicts(files: tuple[BallotFile, ...], poll: Poll = POLL) -> dict[str, str | None]:
    return {verdict.name: verdict.reason for verdict in judge(files, poll, lambda _: frozenset())[0]}


@in_loop
async def test_every_page_is_read_and_every_ballot_holds_with_the_same_verifier() -> None:
    rows = [row(by) for by in range(5)]
    ballots = ChainBallots(FakeIndexer(rows), DEMO_ARENA)

    files = await ballots.receive()

    assert verdicts(files) == {one["id"]: None for one in rows}
    assert {file.arrived_ms for file in files} == {BLOCK_S * 1000}


@in_loop
async def test_chances_on_chain_are_asked_for_and_count_as_words_do() -> None:
    indexer = FakeIndexer([row(0), row(1, chances=Chances(15, 25, 60))])

    files = await ChainBallots(indexer, DEMO_ARENA).receive()
    _, ballots = judge(files, POLL, lambda _: frozenset())

    prefix = base64.b64decode(indexer.asked[0][1]["note-prefix"])
    assert [note_of(ROUND, "BULLISH", given).startswith(prefix) for given in (None, Chances(60, 25, 15))] == [True] * 2
    assert {(ballot.choice, ballot.chances) for ballot in ballots} == {("BULLISH", None), ("BEARISH", (15, 25, 60))}


@in_loop
async def test_an_indexer_that_starts_with_us_raises_no_alarm_and_one_that_stays_away_is() -> None:
    async def unavailable(_path: str, _query: Mapping[str, str]) -> Any:
        raise IndexerError("the indexer did not answer")

    ballots = ChainBallots(unavailable, DEMO_ARENA)
    found = []
    with capture_logs() as logged:
        for _ in range(3):
            found.append(len(logged))
            await ballots.receive()

    assert found == [0, 0, 1]
    assert [(row["log_level"], row["reason"]) for row in logged] == [("warning", "the indexer did not answer")]


@in_loop
async def test_ballots_that_were_not_stored_can_be_had_again() -> None:
    ballots = ChainBallots(FakeIndexer([row(0, at_round=5_000)]), DEMO_ARENA)
    files = await ballots.receive()
    ballots.requeue()

    assert await ballots.receive() == files
    ballots.acknowledge()
    ballots.requeue()
    assert await ballots.receive() == ()


@in_loop
async def test_a_page_that_was_skipped_is_found_by_the_next_poll() -> None:
    rows = [row(by, at_round=5_990) for by in range(4)]
    indexer = FakeIndexer(rows[:1] + rows[3:])
    ballots = ChainBallots(indexer, DEMO_ARENA)
    await ballots.receive()
    indexer.rows = rows

    assert {file.name for file in await ballots.receive()} == {rows[1]["id"], rows[2]["id"]}


@in_loop
async def test_pages_that_repeat_end_and_lose_nothing_that_was_shown() -> None:
    class Repeating(FakeIndexer):
        async def __call__(self, path: str, query: Mapping[str, str]) -> Any:
            answer = await super().__call__(path, {name: text for name, text in query.items() if name != "next"})
            return answer | {"next-token": "always"}

    indexer = Repeating([row(by) for by in range(5)])

    files = await ChainBallots(indexer, DEMO_ARENA).receive()

    assert len(files) == 2
    assert len(indexer.asked) <= 4


@in_loop
async def test_more_than_forty_pages_are_read_over_several_polls() -> None:
    indexer = FakeIndexer([row(0, id=f"{number}", at_round=5_000) for number in range(chain.MOST_PAGES * 2 + 5)])
    ballots = ChainBallots(indexer, DEMO_ARENA)

    first, second = await ballots.receive(), await ballots.receive()

    assert len(first) == chain.MOST_PAGES * 2
    assert len(second) == 5
    await ballots.receive()
    indexer.asked.clear()
    await ballots.receive()
    assert [query["min-round"] for _, query in indexer.asked] == [str(indexer.current - chain.OVERLAP_ROUNDS)]


@in_loop
async def test_what_was_read_before_an_outage_counts_and_the_next_poll_resumes_there() -> None:
    class Ailing(FakeIndexer):
        pages_left = 3

        async def __call__(self, path: str, query: Mapping[str, str]) -> Any:
            self.pages_left -= 1
            if self.pages_left < 0:
                raise IndexerError("down")
            return await super().__call__(path, query)

    indexer = Ailing([row(by) for by in range(7)])
    ballots = ChainBallots(indexer, DEMO_ARENA)
    first = await ballots.receive()
    indexer.pages_left = 100
    second = await ballots.receive()

    assert (len(first), len(second)) == (4, 3)
    assert {file.name for file in first + second} == {one["id"] for one in indexer.rows}


@in_loop
async def test_a_page_that_can_no_longer_be_had_is_forgotten() -> None:
    class Forgetful(FakeIndexer):
        async def __call__(self, path: str, query: Mapping[str, str]) -> Any:
            if "next" in query:
                raise IndexerError("the indexer answered 400")
            return await super().__call__(path, query)

    indexer = Forgetful([row(by) for by in range(4)])
    ballots = ChainBallots(indexer, DEMO_ARENA)
    assert len(await ballots.receive()) == 2
    assert await ballots.receive() == ()
    indexer.rows.append(row(9))

    assert [file.name for file in await ballots.receive()] == [indexer.rows[-1]["id"]]


@in_loop
async def test_at_a_lock_an_indexer_without_blocks_is_read_all_the_same() -> None:
    class Blockless(FakeIndexer):
        async def __call__(self, path: str, query: Mapping[str, str]) -> Any:
            if path.startswith("/v2/blocks/"):
                raise IndexerError("the indexer answered 404")
            return await super().__call__(path, query)

    assert len(await ChainBallots(Blockless([row(0)]), DEMO_ARENA, QUICK).receive(lock_ms=OPEN.start_ms)) == 1


@in_loop
async def test_a_row_of_an_older_indexer_that_writes_zero_fields_out_holds() -> None:
    zero = base64.b64encode(bytes(32)).decode()
    found = row(0, group=zero, lease=zero)
    found["payment-transaction"]["close-remainder-to"] = address_of(bytes(32))

    assert list(verdicts((ballot_of(found),)).values()) == [None]


@pytest.mark.parametrize(
    "answer",
    [None, [], {}, {"current-round": "5"}, {"current-round": -1}, {"current-round": 5, "transactions": 3}, "x"],
)
@in_loop
async def test_an_answer_that_is_none_gives_no_ballots_and_the_next_poll_works(answer: Any) -> None:
    indexer = FakeIndexer([row(0)])

    class Sick:
        well = False

        async def __call__(self, path: str, query: Mapping[str, str]) -> Any:
            return await indexer(path, query) if self.well else answer

    sick = Sick()
    ballots = ChainBallots(sick, DEMO_ARENA)
    assert await ballots.receive() == ()
    sick.well = True

    assert len(await ballots.receive()) == 1


@in_loop
async def test_an_indexer_that_hangs_holds_nothing_up() -> None:
    async def hanging(_path: str, _query: Mapping[str, str]) -> Any:
        await asyncio.sleep(3600)

    assert await ChainBallots(hanging, DEMO_ARENA, HASTY).receive() == ()


@in_loop
async def test_at_a_lock_the_indexer_is_waited_for_until_it_is_past_it() -> None:
    indexer = FakeIndexer([row(0)])
    indexer.time_s = OPEN.start_ms // 1000 - 10

    files = await ChainBallots(indexer, DEMO_ARENA, QUICK).receive(lock_ms=OPEN.start_ms)

    assert len(files) == 1
    assert indexer.time_s * 1000 >= OPEN.start_ms


@in_loop
async def test_an_indexer_that_stays_behind_is_waited_for_only_so_long() -> None:
    class Behind(FakeIndexer):
        async def __call__(self, path: str, query: Mapping[str, str]) -> Any:
            self.time_s = 0
            return await super().__call__(path, query)

    indexer = Behind([row(0)])
    waits_shortly = replace(QUICK, lock_s=0.05)
    assert len(await ChainBallots(indexer, DEMO_ARENA, waits_shortly).receive(lock_ms=OPEN.start_ms)) == 1
    assert sum(path.startswith("/v2/blocks/") for path, _ in indexer.asked) <= 6


# An indexer that makes rows up, or bends them


@pytest.mark.parametrize(
    "changes",
    [
        {"sender": DEMO_ARENA},
        {"note": base64.b64encode(note_of(ROUND, Prediction.BEARISH)).decode()},
        {"payment-transaction": {"receiver": DEMO_ARENA, "amount": 5}},
        {"last-valid": 1},
        {"id": "A" * 52},
        {"signature": {"sig": base64.b64encode(bytes(64)).decode()}},
        {"genesis-hash": base64.b64encode(bytes(32)).decode()},
        {"tx-type": "axfer"},
    ],
)
def test_a_row_that_an_indexer_bent_does_not_count(changes: dict[str, Any]) -> None:
    file = ballot_of(row(0, **changes))

    assert next(iter(verdicts((file,)).values())) in {Refusal.NOT_A_TRANSACTION, Refusal.BAD_SIGNATURE}


@pytest.mark.parametrize(
    "changes",
    [
        {"note": base64.b64encode(b"x" * 1_000).decode()},
        {"note": base64.b64encode(ANY_PREFIX + b"{").decode()},
        {"note": "?"},
        {"sender": "invalid"},
        {"round-time": "soon"},
        {"round-time": None},
        {"signature": None},
        {"signature": {"multisig": {}}},
        {"signature": {"logicsig": {}}},
        {"payment-transaction": None},
        {"confirmed-round": None},
        {"fee": 10**30},
    ],
)
def test_garbage_is_a_verdict_never_an_exception(changes: dict[str, Any]) -> None:
    given = row(0) | changes

    found = next(iter(verdicts((ballot_of(given),)).values()))

    assert found is not None or changes == {"confirmed-round": None}


def test_a_transaction_that_did_not_name_its_genesis_id_is_put_back_too() -> None:
    found = row(3, gen=None) | {"genesis-id": "emi-devnet-v1"}

    assert list(verdicts((ballot_of(found),)).values()) == [None]
