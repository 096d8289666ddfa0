"""Free ballots: each becomes one file that the generator counts, within limits, and nothing else is written."""

import asyncio
import base64
import resource
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from algosdk.account import address_from_private_key, generate_account
from nacl.signing import SigningKey
from starlette.testclient import TestClient
from structlog.testing import capture_logs

from gateway.buyer.free_vote import BallotAnswer, FreeVote, _EarlierVoters, add_file
from gateway.buyer.places import PER_ADDRESS, PER_ROUND, Claim, Places
from gateway.settings import GatewaySettings
from gateway.wire.algorand import DEMO_ARENA, TRANSACTION_PREFIX, address_of, key_of, pack
from gateway.wire.ballots import WORDS_FORM, read_ballot
from gateway.wire.foreign import read_msgpack
from gateway.wire.inbox import EARLIER_VOTERS, OPEN_ROUND, AnnouncedRound
from gateway.wire.networks import DEVNET
from gateway.wire.notes import RoundVote
from generator.arena.ballots import judge
from generator.catalog.words import Prediction
from generator.client.ballot import sign_ballot
from generator.record.inbox.folder import Inbox
from tests.arena.test_ballots import OPEN, POLL, none_known
from tests.buyer.test_ballot_relay import NOW, broken, node_of
from tests.support.buyer_pages import ballot_desk, page_client
from tests.support.clock import ManualClock

TAKING = AnnouncedRound(OPEN.round_id, OPEN.start_ms, int(NOW.timestamp() * 1000))


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
        sign_ballot(generate_account()[0], RoundVote.of(round_id, "BULLISH"), arena, DEVNET.genesis_hash)[1]
        .decode()
        .strip()
    )


def gateway(inbox: Inbox, client: str = "203.0.113.7", **settings: Any) -> TestClient:
    of = GatewaySettings(state_dir=inbox.folder.parent, arena={"inbox_url": str(inbox.folder)}, **settings)
    return page_client(ballot_desk(of, ManualClock(NOW), node_of()).show, client)


def free_vote(inbox: Inbox, clock: ManualClock | None = None) -> FreeVote:
    return FreeVote(inbox.folder, inbox.folder.parent / "free-vote.count", clock or ManualClock(NOW))


def cast(browser: TestClient, ballot: str, **headers: str) -> tuple[int, str | None]:
    answer = browser.get("/b", headers={"X-Ballot": ballot, **headers})
    return answer.status_code, answer.json().get("reason")


def left(inbox: Inbox) -> list[str]:
    return sorted(path.name for path in inbox.folder.iterdir() if path.name not in {OPEN_ROUND, EARLIER_VOTERS})


def test_a_key_made_in_a_browser_signs_what_was_prepared_and_it_counts(inbox: Inbox) -> None:
    key, browser = SigningKey.generate(), gateway(inbox)
    query = f"/b?voter={bytes(key.verify_key).hex()}&round={OPEN.round_id}&choice=BEARISH"
    unsigned = base64.b64decode(browser.get(query).json()["transaction"])
    signature = key.sign(TRANSACTION_PREFIX + unsigned).signature
    answer = browser.get(
        "/b", headers={"X-Ballot": base64.b64encode(pack({"sig": signature, "txn": read_msgpack(unsigned)})).decode()}
    )

    _, (ballot,) = judge([replace(file, arrived_ms=0) for file in inbox.files()], POLL, none_known)
    assert (ballot.choice, ballot.txid) == (Prediction.BEARISH, answer.json()["txid"])
    assert (answer.headers["cache-control"], answer.headers["vary"]) == ("no-store", "X-Ballot")
    assert "access-control-allow-origin" not in answer.headers


def test_without_a_question_it_says_whether_the_free_vote_is_on(inbox: Inbox, tmp_path: Path) -> None:
    said = [gateway(place).get("/b").json() for place in (inbox, Inbox(tmp_path / "elsewhere"))]

    assert said[0] == {"free_vote": "on"}
    assert (said[1]["free_vote"], said[1]["reason"]) == ("off", "off")


def test_a_generator_that_has_stopped_is_said_and_not_that_the_vote_is_off(inbox: Inbox) -> None:
    inbox.announce(replace(TAKING, read_ms=TAKING.read_ms - 180_001))
    browser = gateway(inbox)

    refused, said = browser.get("/b", headers={"X-Ballot": vote()}), browser.get("/b").json()

    assert (refused.status_code, refused.json()["reason"]) == (503, "stale")
    assert "has stopped: it last read votes at 2026-11-20 12:46 UTC" in refused.json()["detail"]
    assert (said["free_vote"], said["detail"]) == ("off", refused.json()["detail"])
    assert left(inbox) == []


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
        one, two = (free_vote(inbox) for _ in range(2))
        await asyncio.gather(*(way.add(read, "203.0.113.7") for way in (one, two, one, two, one)))

    asyncio.run(both())
    assert len(left(inbox)) == 1
    assert left(inbox)[0].endswith(".ballot")


def test_a_file_that_is_there_is_never_written_again(inbox: Inbox) -> None:
    (inbox.folder / "x.ballot").write_bytes(b"first")

    add_file(inbox.folder, "x", b"second")

    assert (inbox.folder / "x.ballot").read_bytes() == b"first"
    assert left(inbox) == ["x.ballot"]


def test_the_41st_voter_of_an_address_is_429_until_the_close_and_others_still_vote(inbox: Inbox) -> None:
    browser = gateway(inbox, "127.0.0.1", trusted_proxies=("127.0.0.1",))
    answers = [cast(browser, vote(), **{"X-Forwarded-For": "203.0.113.7"}) for _ in range(PER_ADDRESS + 1)]
    again = browser.get("/b", headers={"X-Ballot": vote(), "X-Forwarded-For": "6.6.6.6, 203.0.113.7"})

    assert answers == [(200, None)] * PER_ADDRESS + [(429, "too_many")]
    assert (again.status_code, again.headers["retry-after"]) == (429, "600")
    assert cast(browser, vote(), **{"X-Forwarded-For": "203.0.113.8"})[0] == 200
    assert len(left(inbox)) == PER_ADDRESS + 1


def voting(key: str, inbox: Inbox, address: str, clock: ManualClock | None = None) -> str | None:
    """Add one ballot at a gateway that has just been started; return why not."""
    text = sign_ballot(key, RoundVote.of(OPEN.round_id, "BULLISH"), DEMO_ARENA, DEVNET.genesis_hash)[1]
    ballot = read_ballot(text, key_of(DEMO_ARENA), DEVNET.genesis_hash_bytes)
    try:
        asyncio.run(free_vote(inbox, clock).add(ballot, address))
    except BallotAnswer as answer:
        return answer.reason
    return None


def flood(inbox: Inbox) -> list[str | None]:
    """Vote as one IPv6 /56 did that bought a round out: four new voters of each of its 26 subnets."""
    free, clock = free_vote(inbox), ManualClock(NOW)
    assert clock.now() == NOW

    async def cast_all() -> list[str | None]:
        said: list[str | None] = []
        for number in range(4 * 26):
            ballot = read_ballot(vote().encode(), key_of(DEMO_ARENA), DEVNET.genesis_hash_bytes)
            try:
                await free.add(ballot, f"2001:db8:0:{number % 26:x}::{number:x}")
                said.append(None)
            except BallotAnswer as answer:
                said.append(answer.reason)
        return said

    return asyncio.run(cast_all())


def test_one_ipv6_56_takes_60_places_and_others_vote_also_after_a_restart(inbox: Inbox) -> None:
    regular = generate_account()[0]
    inbox.announce(TAKING, [address_from_private_key(regular)])

    said = flood(inbox)

    assert (said.count(None), said.count("too_many")) == (60, 44)
    assert voting(generate_account()[0], inbox, "198.51.100.9") is None
    assert voting(regular, inbox, "198.51.100.10") is None
    assert voting(generate_account()[0], inbox, "2001:db8:0:ff::1") == "too_many"


def test_many_networks_leave_half_of_the_round_to_earlier_voters_and_late_visitors(inbox: Inbox) -> None:
    regular, visitor = generate_account()[0], generate_account()[0]
    inbox.announce(TAKING, [address_from_private_key(regular)])
    places = Places(inbox.folder.parent / "free-vote.count")
    for number in range(500):
        claim = Claim(f"bought {number}", f"subscriber {number}", f"network {number}", earlier=False)
        places.take(TAKING, claim, TAKING.read_ms, lambda: None)

    said = gateway(inbox).get("/b").json()
    assert (said["free_vote"], "kept until 12:55 UTC" in said["detail"]) == ("full", True)
    assert voting(visitor, inbox, "198.51.100.9") == "full"
    assert voting(regular, inbox, "198.51.100.9") is None
    late = ManualClock(NOW + timedelta(minutes=5))
    inbox.announce(replace(TAKING, read_ms=int(late.unix() * 1000)))
    assert voting(visitor, inbox, "198.51.100.9", late) is None


def test_a_full_round_says_so_before_and_after_a_press_and_when_to_come_again(inbox: Inbox) -> None:
    places = Places(inbox.folder.parent / "free-vote.count")
    for number in range(PER_ROUND):
        places.take(TAKING, Claim(str(number), None, None, earlier=True), TAKING.read_ms, lambda: None)
    browser = gateway(inbox)

    said, refused = browser.get("/b").json(), browser.get("/b", headers={"X-Ballot": vote()})

    assert (said["free_vote"], refused.status_code, refused.headers["retry-after"]) == ("full", 429, "600")
    assert "Free ballots of 500 voters" in said["detail"] == refused.json()["detail"]


def test_the_next_round_takes_again(inbox: Inbox) -> None:
    places = Places(inbox.folder.parent / "free-vote.count")
    for number in range(PER_ROUND):
        places.take(TAKING, Claim(str(number), None, None, earlier=True), TAKING.read_ms, lambda: None)
    inbox.announce(AnnouncedRound("BTC-20991120-140000", 4_100_000_000_000, TAKING.read_ms))

    assert gateway(inbox).get("/b").json() == {"free_vote": "on"}
    assert cast(gateway(inbox), vote("BTC-20991120-140000")) == (200, None)


def test_earlier_voters_that_cannot_be_read_are_kept_as_they_were_and_said_once(inbox: Inbox) -> None:
    key = bytes(range(32))
    known = _EarlierVoters(inbox.folder / EARLIER_VOTERS)
    inbox.announce(TAKING, [address_of(key)])
    before = known.holds(key)
    with capture_logs() as logged:
        for damage in (b"", b"x" * 64, b"x"):
            (inbox.folder / EARLIER_VOTERS).write_bytes(damage)
            assert known.holds(key) is before is True

    assert len(logged) == 1
    assert _EarlierVoters(inbox.folder / "none").holds(key) is False


def test_once_votes_are_closed_a_gateway_keeps_nothing_of_their_networks(inbox: Inbox) -> None:
    counts, clock = inbox.folder.parent / "free-vote.count", ManualClock(NOW)
    assert voting(generate_account()[0], inbox, "198.51.100.9", clock) is None
    started_later = free_vote(inbox, clock)
    before = counts.stat().st_size
    clock.step(timedelta(minutes=10))

    asyncio.run(started_later.forget_closed_rounds())

    assert (before > 0, counts.read_bytes()) == (True, b"")


def test_two_seconds_before_the_close_it_is_too_late(inbox: Inbox) -> None:
    clock = ManualClock(NOW + timedelta(minutes=9, seconds=58))
    inbox.announce(replace(TAKING, read_ms=int(clock.now().timestamp() * 1000)))

    with pytest.raises(BallotAnswer, match="takes no votes now"):
        asyncio.run(free_vote(inbox, clock).check_open(RoundVote(OPEN.round_id, "BULLISH")))


def _missing(inbox: Inbox) -> None:
    shutil.rmtree(inbox.folder)


BROKEN = {
    "no folder": _missing,
    "no open round": lambda inbox: inbox.announce(None),
    "garbage": lambda inbox: (inbox.folder / OPEN_ROUND).write_text("one"),
    "another form of ballots": lambda inbox: (inbox.folder / OPEN_ROUND).write_bytes(TAKING.content() + b"1"),
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


def test_chances_are_prepared_taken_and_counted(inbox: Inbox) -> None:
    key, browser = SigningKey.generate(), gateway(inbox)
    query = f"/b?voter={bytes(key.verify_key).hex()}&round={OPEN.round_id}&chances=60,25,15"
    unsigned = base64.b64decode(browser.get(query).json()["transaction"])
    signature = key.sign(TRANSACTION_PREFIX + unsigned).signature
    signed = base64.b64encode(pack({"sig": signature, "txn": read_msgpack(unsigned)})).decode()
    answer = browser.get("/b", headers={"X-Ballot": signed}).json()

    _, (ballot,) = judge([replace(file, arrived_ms=0) for file in inbox.files()], POLL, none_known)
    assert read_msgpack(unsigned)["note"] == b'emi-arena/v2:j{"r":"%s","q":[60,25,15]}' % OPEN.round_id.encode()
    assert (ballot.chances, ballot.choice, ballot.txid) == ((60, 25, 15), Prediction.BULLISH, answer["txid"])
    assert (answer["choice"], answer["chances"]) == ("BULLISH", {"up": 60, "neutral": 25, "down": 15})


def test_a_round_that_was_opened_before_chances_takes_a_word_and_says_so(inbox: Inbox) -> None:
    key, browser = SigningKey.generate(), gateway(inbox)
    inbox.announce(replace(TAKING, form=WORDS_FORM))
    query = f"/b?voter={bytes(key.verify_key).hex()}&round={OPEN.round_id}"
    answers = [
        browser.get(f"{query}&{said}") for said in ("chances=60,25,15", "chances=60,25,15&way=chain", "choice=BULLISH")
    ]

    assert [answer.json().get("reason") for answer in answers] == ["words_alone", "words_alone", None]
    assert "takes a word alone" in answers[0].json()["detail"]


NO_CHANCES = ("60,25", "60,25,16", "60.0,25,15", "", "-1,50,51", "60,25,15&choice=BULLISH")


def test_chances_that_are_none_are_refused_before_anything_is_signed(inbox: Inbox) -> None:
    query = f"/b?voter={bytes(SigningKey.generate().verify_key).hex()}&round={OPEN.round_id}&chances="
    browser = gateway(inbox)

    reasons = {said: browser.get(query + said).json().get("reason") for said in NO_CHANCES}

    assert reasons == dict.fromkeys(NO_CHANCES, "no_ballot")
