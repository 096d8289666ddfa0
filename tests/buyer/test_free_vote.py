"""Free ballots: each becomes one file that the generator counts, within limits, and nothing else is written."""

import asyncio
import base64
import resource
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from algosdk.account import generate_account
from nacl.signing import SigningKey
from starlette.testclient import TestClient
from structlog.testing import capture_logs

from gateway.buyer.ballots import BallotDesk
from gateway.buyer.free_vote import PER_ADDRESS, PER_ROUND, BallotAnswer, FreeVote, add_file
from gateway.settings import GatewaySettings
from gateway.wire.algorand import DEMO_ARENA, TRANSACTION_PREFIX, key_of, pack, unpack
from gateway.wire.ballots import OPEN_ROUND, OpenRound, read_ballot
from gateway.wire.networks import DEVNET
from generator.arena.ballots import judge
from generator.catalog.words import Prediction
from generator.cli._ballot import sign_ballot
from generator.inbox.folder import Inbox
from tests.arena.test_ballots import OPEN, POLL, none_known
from tests.buyer.test_ballot_relay import NOW, broken, node_of
from tests.support.buyer_pages import idle_state, page_client
from tests.support.clock import ManualClock

TAKING = OpenRound(OPEN.round_id, OPEN.start_ms, int(NOW.timestamp() * 1000))


@pytest.fixture
def inbox(tmp_path: Path) -> Inbox:
    made = Inbox(tmp_path / "inbox")
    made.announce(TAKING)
    return made


@pytest.fixture
def full_disk() -> AbstractContextManager[None]:
    @contextmanager
    def no_file_grows() -> Iterator[None]:
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, limits[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    return no_file_grows()


def vote(round_id: str = OPEN.round_id, arena: str = DEMO_ARENA) -> str:
    return (
        sign_ballot(generate_account()[0], round_id, Prediction.BULLISH, arena, DEVNET.genesis_hash)[1].decode().strip()
    )


def gateway(inbox: Inbox, client: str = "203.0.113.7", **settings: Any) -> TestClient:
    of = GatewaySettings(arena={"inbox_url": str(inbox.folder)}, **settings)
    return page_client(BallotDesk(idle_state(of, ManualClock(NOW), chain=node_of())).show, client)


def cast(browser: TestClient, ballot: str, **headers: str) -> tuple[int, str | None]:
    answer = browser.get("/b", headers={"X-Ballot": ballot, **headers})
    return answer.status_code, answer.json().get("reason")


def left(inbox: Inbox) -> list[str]:
    return sorted(path.name for path in inbox.folder.iterdir() if path.name != OPEN_ROUND)


def test_a_key_made_in_a_browser_signs_what_was_prepared_and_it_counts(inbox: Inbox) -> None:
    key, browser = SigningKey.generate(), gateway(inbox)
    query = f"/b?voter={bytes(key.verify_key).hex()}&round={OPEN.round_id}&choice=BEARISH"
    unsigned = base64.b64decode(browser.get(query).json()["transaction"])
    signature = key.sign(TRANSACTION_PREFIX + unsigned).signature
    answer = browser.get(
        "/b", headers={"X-Ballot": base64.b64encode(pack({"sig": signature, "txn": unpack(unsigned)})).decode()}
    )

    _, (ballot,) = judge([replace(file, arrived_ms=0) for file in inbox.files()], POLL, none_known)
    assert (ballot.choice, ballot.txid) == (Prediction.BEARISH, answer.json()["txid"])
    assert (answer.headers["cache-control"], answer.headers["vary"]) == ("no-store", "X-Ballot")
    assert "access-control-allow-origin" not in answer.headers


def test_without_a_question_it_says_whether_the_free_vote_is_on(inbox: Inbox, tmp_path: Path) -> None:
    said = [gateway(place).get("/b").json() for place in (inbox, Inbox(tmp_path / "elsewhere"))]

    assert said == [{"free_vote": "on"}, {"free_vote": "off"}]


HOSTILE = {
    "too long": "A" * 5_000,
    "not base64": "%%%",
    "another round": vote("BTC-20991231-230000"),
    "a closed round": vote("BTC-20200101-000000"),
    "a round that is none": vote("X"),
    "another arena": vote(arena=generate_account()[1]),
    "a bad signature": broken(vote()),
}


@pytest.mark.parametrize("ballot", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_header_writes_nothing(inbox: Inbox, ballot: str) -> None:
    assert cast(gateway(inbox), ballot)[0] == 400
    assert left(inbox) == []


def test_a_replay_is_the_same_file_and_counts_once_by_two_gateways_at_once(inbox: Inbox) -> None:
    ballot = vote()

    async def both() -> None:
        read = read_ballot(ballot.encode(), key_of(DEMO_ARENA), DEVNET.genesis_hash_bytes)
        one, two = (FreeVote(inbox.folder, ManualClock(NOW)) for _ in range(2))
        await asyncio.gather(*(way.add(read, "203.0.113.7") for way in (one, two, one, two, one)))

    asyncio.run(both())
    assert len(left(inbox)) == 1
    assert left(inbox)[0].endswith(".ballot")


def test_a_file_that_is_there_is_never_written_again(inbox: Inbox) -> None:
    (inbox.folder / "x.ballot").write_bytes(b"first")

    add_file(inbox.folder, "x", b"second")

    assert (inbox.folder / "x.ballot").read_bytes() == b"first"
    assert left(inbox) == ["x.ballot"]


def test_the_21st_ballot_of_an_address_is_429_until_the_close_and_others_still_vote(inbox: Inbox) -> None:
    browser = gateway(inbox, "127.0.0.1", trusted_proxies=("127.0.0.1",))
    answers = [cast(browser, vote(), **{"X-Forwarded-For": "203.0.113.7"}) for _ in range(PER_ADDRESS + 1)]
    again = browser.get("/b", headers={"X-Ballot": vote(), "X-Forwarded-For": "6.6.6.6, 203.0.113.7"})

    assert answers == [(200, None)] * PER_ADDRESS + [(429, "too_many")]
    assert (again.status_code, again.headers["retry-after"]) == (429, "600")
    assert cast(browser, vote(), **{"X-Forwarded-For": "203.0.113.8"})[0] == 200
    assert len(left(inbox)) == PER_ADDRESS + 1


def test_the_501st_ballot_of_a_round_is_refused_and_the_next_round_takes_again(inbox: Inbox) -> None:
    free = FreeVote(inbox.folder, ManualClock(NOW))
    following = OpenRound("BTC-20261120-140000", OPEN.start_ms + 3_600_000, TAKING.read_ms)

    async def add(count: int, round_id: str = OPEN.round_id) -> None:
        for _ in range(count):
            read = read_ballot(vote(round_id).encode(), key_of(DEMO_ARENA), DEVNET.genesis_hash_bytes)
            await free.add(read, "127.0.0.1")

    async def fill() -> None:
        await add(PER_ROUND)
        with pytest.raises(BallotAnswer, match="500 free ballots"):
            await add(1)
        inbox.announce(following)
        await add(1, following.round_id)

    asyncio.run(fill())
    assert len(left(inbox)) == PER_ROUND + 1


def test_two_seconds_before_the_close_it_is_too_late(inbox: Inbox) -> None:
    clock = ManualClock(NOW + timedelta(minutes=9, seconds=58))
    inbox.announce(replace(TAKING, read_ms=int(clock.now().timestamp() * 1000)))

    with pytest.raises(BallotAnswer, match="takes no votes now"):
        asyncio.run(FreeVote(inbox.folder, clock).check_open(OPEN.round_id))


def _missing(inbox: Inbox) -> None:
    (inbox.folder / OPEN_ROUND).unlink()
    inbox.folder.rmdir()


BROKEN = {
    "no folder": _missing,
    "no open round": lambda inbox: inbox.announce(None),
    "a generator that stopped": lambda inbox: inbox.announce(replace(TAKING, read_ms=TAKING.read_ms - 180_001)),
    "garbage": lambda inbox: (inbox.folder / OPEN_ROUND).write_text("one"),
    "garbage inside": lambda inbox: (inbox.folder / OPEN_ROUND).write_text("BTC now then"),
}


@pytest.mark.parametrize("breaks", BROKEN.values(), ids=BROKEN.keys())
def test_where_no_generator_reads_the_free_vote_is_off_and_no_folder_is_made(inbox: Inbox, breaks: Any) -> None:
    breaks(inbox)
    there = inbox.folder.exists()

    answer = gateway(inbox).get("/b", headers={"X-Ballot": vote()})

    assert (answer.status_code, answer.json()["reason"]) == (503, "off")
    assert "The free vote is off" in answer.json()["detail"]
    assert inbox.folder.exists() is there


def test_a_full_disk_is_said_leaves_nothing_and_takes_the_same_ballot_later(inbox: Inbox, full_disk: Any) -> None:
    browser, ballot = gateway(inbox), vote()
    with full_disk, capture_logs() as logged:
        refused = cast(browser, ballot)

    assert (refused, left(inbox), len(logged)) == ((503, "off"), [], 1)
    assert cast(browser, ballot) == (200, None)
