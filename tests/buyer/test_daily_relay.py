"""Answers to the daily question at the gateway: prepared, taken into places of their own, and refused by name."""

import asyncio
import base64
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from nacl.signing import SigningKey
from starlette.testclient import TestClient

from gateway.buyer.free_vote import FreeVote
from gateway.settings import GatewaySettings
from gateway.wire.algorand import DEMO_ARENA, TRANSACTION_PREFIX, pack
from gateway.wire.foreign import read_msgpack
from gateway.wire.inbox import AnnouncedRound
from gateway.wire.networks import DEVNET
from generator.arena.ballots import Poll, judge_all
from generator.arena.daily import DailyState, play_daily
from generator.record.inbox.folder import Inbox
from tests.arena.test_ballots import none_known
from tests.buyer.test_ballot_relay import node_of
from tests.support.arena_inputs import inputs_at, ms
from tests.support.buyer_pages import ballot_desk, page_client
from tests.support.clock import ManualClock

NOW = datetime(2026, 11, 24, 14, 0, tzinfo=UTC)
NOW_MS = ms("2026-11-24T14:00")
NAME = "BTC-DAILY-20261124"
QUESTION = AnnouncedRound(NAME, ms("2026-11-25T12:00"), NOW_MS)
ASKED = f"daily={NAME}&r50=-40,35&r90=-120,110"


@pytest.fixture
def inbox(tmp_path: Path) -> Inbox:
    made = Inbox(tmp_path / "inbox")
    made.announce(None, (), QUESTION)
    return made


def gateway(inbox: Inbox, now: datetime = NOW) -> TestClient:
    of = GatewaySettings(state_dir=inbox.folder.parent, arena={"inbox_url": str(inbox.folder)})
    return page_client(ballot_desk(of, ManualClock(now), node_of()).show, "203.0.113.7")


def signed(browser: TestClient, key: SigningKey, asked: str = ASKED) -> dict[str, str]:
    """Prepare an answer and sign it; return the header that hands it in."""
    prepared = browser.get(f"/b?voter={bytes(key.verify_key).hex()}&{asked}").json()
    unsigned = base64.b64decode(prepared["transaction"])
    signature = key.sign(TRANSACTION_PREFIX + unsigned).signature
    return {"X-Ballot": base64.b64encode(pack({"sig": signature, "txn": read_msgpack(unsigned)})).decode()}


def test_an_answer_that_a_browser_signs_counts_with_its_ranges(inbox: Inbox) -> None:
    browser = gateway(inbox)
    taken = browser.get("/b", headers=signed(browser, SigningKey.generate())).json()

    asked = replace(inputs_at(ms("2026-11-24T13:00")), usual_day=0.01)
    [(_, question)] = play_daily(DailyState(), asked, None)
    files = [replace(file, arrived_ms=NOW_MS) for file in inbox.files()]
    poll = Poll(DEMO_ARENA, DEVNET.genesis_hash, {}, NOW_MS, questions={NAME: question})
    [answer] = judge_all(files, poll, none_known).answers
    assert (answer.txid, answer.ends) == (taken["txid"], (-120, -40, 35, 110))
    assert (taken["question_id"], taken["r50"], taken["r90"]) == (NAME, [-40, 35], [-120, 110])


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        (f"daily={NAME}&r50=-140,35&r90=-120,110", "no_ballot"),
        (f"daily={NAME}&r50=-40,35", "no_ballot"),
        ("daily=BTC-DAILY-20261199&r50=-40,35&r90=-120,110", "no_ballot"),
        ("daily=BTC-20261124-140000&r50=-40,35&r90=-120,110", "no_ballot"),
        ("daily=BTC-DAILY-20261123&r50=-40,35&r90=-120,110", "locked"),
        ("daily=BTC-DAILY-20261125&r50=-40,35&r90=-120,110", "locked"),
    ],
)
def test_what_does_not_answer_the_open_question_is_refused(inbox: Inbox, asked: str, reason: str) -> None:
    key = SigningKey.generate()

    refused = gateway(inbox).get(f"/b?voter={bytes(key.verify_key).hex()}&{asked}")

    assert (refused.status_code, refused.json()["reason"]) == (400, reason)


def test_without_a_generator_that_asks_no_answer_is_taken(inbox: Inbox) -> None:
    browser = gateway(inbox)
    header = signed(browser, SigningKey.generate())
    inbox.announce(None)

    refused = browser.get("/b", headers=header)

    assert (refused.status_code, refused.json()["reason"]) == (503, "off")
    assert inbox.files() == ()


def test_places_of_the_question_are_not_those_of_the_round(inbox: Inbox) -> None:
    browser = gateway(inbox)
    browser.get("/b", headers=signed(browser, SigningKey.generate()))

    kept = sorted(path.name for path in inbox.folder.parent.glob("*.count"))

    assert kept == ["daily-free-vote.count"]


def test_the_key_of_a_closed_question_is_forgotten(inbox: Inbox) -> None:
    browser = gateway(inbox)
    browser.get("/b", headers=signed(browser, SigningKey.generate()))
    counts = inbox.folder.parent / "free-vote.count"

    later = ManualClock(datetime(2026, 11, 25, 12, 0, 1, tzinfo=UTC))
    asyncio.run(FreeVote(inbox.folder, counts, later).forget_closed_rounds())

    assert (inbox.folder.parent / "daily-free-vote.count").read_bytes() == b""
