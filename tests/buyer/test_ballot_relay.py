"""The Arena page's ballots are handed to the network, and nothing else is."""

import base64
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from algosdk.account import address_from_private_key, generate_account
from algosdk.atomic_transaction_composer import AccountTransactionSigner
from algosdk.encoding import msgpack_decode, msgpack_encode
from algosdk.transaction import PaymentTxn, SuggestedParams
from starlette.testclient import TestClient

from gateway.buyer.ballots import MAX_AT_ONCE, checked_ballot
from gateway.buyer.free_vote import BallotAnswer
from gateway.settings import DEMO_PAYEE, GatewaySettings
from gateway.upstream.chain import Presence
from gateway.upstream.http_client import JsonAnswer
from gateway.wire.algorand import DEMO_ARENA, key_of
from gateway.wire.ballots import lease_of
from gateway.wire.networks import DEVNET, TESTNET
from generator.arena.ballots import BallotFile, Poll, judge, note_of
from generator.catalog.words import Prediction
from tests.arena.test_ballots import OPEN
from tests.support.buyer_pages import ROUND, FakeNode, ballot_desk, page_client
from tests.support.clock import ManualClock

KEY = generate_account()[0]
VOTER = address_from_private_key(KEY)
NOW = datetime.fromtimestamp(OPEN.start_ms / 1000, UTC) - timedelta(minutes=10)
Change = Callable[[PaymentTxn], Any]


def ballot(change: Change = lambda _: None, note: bytes | None = None, **params: Any) -> str:
    """Sign a ballot as a wallet does, changed before it is signed."""
    terms = SuggestedParams(**{"fee": 1_000, "first": ROUND, "last": ROUND + 900, "gh": DEVNET.genesis_hash, **params})
    terms.flat_fee = True
    vote = note_of(OPEN.round_id, Prediction.BULLISH) if note is None else note
    payment = PaymentTxn(VOTER, terms, DEMO_ARENA, 0, note=vote)
    change(payment)
    (signed,) = AccountTransactionSigner(KEY).sign_transactions([payment], [0])
    return str(msgpack_encode(signed))


def taken(text: str, now: datetime = NOW) -> bool:
    try:
        checked_ballot(text, DEVNET, DEMO_ARENA, now)
    except BallotAnswer:
        return False
    return True


def counted(text: str, now: datetime = NOW) -> bool:
    """Return whether the generator counts it, confirmed on chain at that time."""
    now_ms = int(now.timestamp() * 1000)
    poll = Poll(DEMO_ARENA, DEVNET.genesis_hash, {OPEN.round_id: OPEN}, now_ms)
    verdicts, _ = judge([BallotFile("x", text.encode(), now_ms, confirmed=True)], poll, lambda _: frozenset())
    return verdicts[0].reason is None


def broken(text: str) -> str:
    raw = bytearray(base64.b64decode(text))
    raw[20] ^= 1
    return base64.b64encode(raw).decode()


def sets(**values: Any) -> Change:
    return lambda payment: vars(payment).update(values)


REFUSED: dict[str, str] = {
    "an amount": ballot(sets(amt=1)),
    "another receiver": ballot(sets(receiver=DEMO_PAYEE)),
    "a closing": ballot(sets(close_remainder_to=DEMO_PAYEE)),
    "a rekeying": ballot(sets(rekey_to=DEMO_PAYEE)),
    "another network": ballot(gh=TESTNET.genesis_hash),
    "a part of a group": ballot(sets(group=bytes(range(32)))),
    "no note": ballot(note=b""),
    "another note": ballot(note=b"hello"),
    "a note with more in it": ballot(note=b'emi-arena/v1:j{"r":"BTC-20261120-130000","p":"BULLISH","x":"1"}'),
    "an unknown choice": ballot(note=b'emi-arena/v1:j{"r":"BTC-20261120-130000","p":"UP"}'),
    "a round that is none": ballot(note=b'emi-arena/v1:j{"r":"BTC","p":"BULLISH"}'),
    "a day that is none": ballot(note=b'emi-arena/v1:j{"r":"BTC-20269920-130000","p":"BULLISH"}'),
    "a note of garbage": ballot(note=b"emi-arena/v1:j" + b"[" * 900),
    "a wrong signature": broken(ballot()),
    "a fee of a thousand times": ballot(fee=1_000_000),
    "no fee": ballot(fee=0),
    "a long life": ballot(last=ROUND + 5_000),
    "a lease of anything": ballot(sets(lease=bytes(range(32)))),
    "a genesis id of anything": ballot(gen="ANY TEXT"),
    "not base64": "%%%",
    "not msgpack": base64.b64encode(b"\xc1" * 50).decode(),
    "nothing": "",
    "a list": base64.b64encode(b"\x90").decode(),
    "too much": base64.b64encode(b"x" * 2_000).decode(),
}


def test_another_address_is_read_from_the_arena_s_settings_among_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("EMI_ARENA__ADDRESS", DEMO_PAYEE)
    monkeypatch.setenv("EMI_ARENA__ASSETS", "BTC,ETH")

    assert GatewaySettings().arena_address == DEMO_PAYEE
    monkeypatch.setenv("EMI_ARENA__ADDRESS", "someone")
    with pytest.raises(ValueError, match="not an Algorand address"):
        GatewaySettings()


def test_a_ballot_that_is_handed_on_is_one_that_counts() -> None:
    assert taken(ballot())
    assert counted(ballot())


def test_at_the_lock_it_is_too_late_and_a_moment_before_it_is_not() -> None:
    lock = datetime.fromtimestamp(OPEN.start_ms / 1000, UTC)

    assert taken(ballot(), lock - timedelta(milliseconds=1))
    with pytest.raises(BallotAnswer) as refused:
        checked_ballot(ballot(), DEVNET, DEMO_ARENA, lock)
    assert refused.value.reason == "locked"


# The path


def node_of(**answers: Any) -> FakeNode:
    return FakeNode(VOTER, **answers)


def page(node: FakeNode, client: str = "testclient") -> TestClient:
    return page_client(ballot_desk(clock=ManualClock(NOW), chain=node).show, client)


def asking(way: str = "chain", **changes: str) -> str:
    query = {"voter": VOTER, "round": OPEN.round_id, "choice": "BULLISH", "way": way, **changes}
    return f"/b?{urlencode(query)}"


def test_a_prepared_ballot_counts_once_it_is_signed_and_ends_about_the_close() -> None:
    prepared = page(node_of()).get(asking()).json()

    unsigned = msgpack_decode(prepared["transaction"])
    (signed,) = AccountTransactionSigner(KEY).sign_transactions([unsigned], [0])
    assert counted(str(msgpack_encode(signed)))
    assert (prepared["fee"], unsigned.first_valid_round) == (1_000, ROUND)
    assert 600 / 3 < unsigned.last_valid_round - ROUND < 600 / 2.5


def test_a_change_of_mind_is_prepared_with_its_own_lease_and_a_repeat_with_the_same() -> None:
    browser = page(node_of())

    leases = [msgpack_decode(browser.get(asking(change=n)).json()["transaction"]).lease for n in ("0", "1", "1", "19")]

    assert leases == [lease_of(key_of(VOTER), OPEN.round_id, change) for change in (0, 1, 1, 19)]
    assert browser.get(asking(change="20")).json()["reason"] == "changes"


@pytest.mark.parametrize(
    "params", [None, {}, {"last-round": ROUND, "genesis-hash": TESTNET.genesis_hash}, {"last-round": -1}]
)
def test_without_a_node_that_can_be_believed_nothing_is_prepared_for_the_chain(params: Any) -> None:
    answer = page(node_of(params=params)).get(asking())

    assert (answer.status_code, answer.json()["reason"]) == (503, "no_node")
    assert answer.headers["retry-after"] == "5"


def test_a_ballot_is_sent_as_it_was_signed_and_its_txid_is_returned() -> None:
    node = node_of()
    text = ballot()
    answer = page(node).get("/b", headers={"X-Ballot": text})

    assert node.sent == [base64.b64decode(text)]
    received = answer.json()
    assert (received["voter"], received["round_id"], received["choice"]) == (VOTER, OPEN.round_id, "BULLISH")
    assert received["txid"] == checked_ballot(text, DEVNET, DEMO_ARENA, NOW).txid
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED.keys())
def test_an_invalid_ballot_reaches_no_node(text: str) -> None:
    node = node_of()
    answer = page(node).get("/b", headers={"X-Ballot": text})

    assert (answer.status_code, node.sent) == (400, [])
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("answer", "known", "status", "reason"),
    [
        (JsonAnswer(400, {"message": "account X: overspend (account Y)"}), Presence.ABSENT, 400, "too_little_algo"),
        (JsonAnswer(400, {"message": "balance 1 below min 100000"}), Presence.ABSENT, 400, "too_little_algo"),
        (JsonAnswer(400, {"message": "txn dead: round 9 outside of 1--2"}), Presence.ABSENT, 400, "locked"),
        (JsonAnswer(400, {"message": "transaction X using an overlapping lease"}), Presence.ABSENT, 400, "sent"),
        (JsonAnswer(400, {"message": "<b>anything</b>"}), Presence.ABSENT, 400, "refused"),
        (JsonAnswer(400, ["odd"]), Presence.UNKNOWN, 400, "refused"),
        (JsonAnswer(401, None), Presence.UNKNOWN, 503, "no_node"),
        (JsonAnswer(500, {"message": "boom"}), Presence.ABSENT, 503, "no_node"),
        (None, Presence.UNKNOWN, 503, "no_node"),
        (JsonAnswer(400, {"message": "transaction already in ledger"}), Presence.FOUND, 200, None),
        (None, Presence.POOLED, 200, None),
        (JsonAnswer(502, None), Presence.FOUND, 200, None),
    ],
)
def test_what_a_node_says_becomes_our_own_words(
    answer: JsonAnswer | None, known: Presence, status: int, reason: str | None
) -> None:
    received = page(node_of(answer=answer, known=known)).get("/b", headers={"X-Ballot": ballot()})

    assert (received.status_code, received.json().get("reason")) == (status, reason)
    assert "anything" not in received.text
    assert "boom" not in received.text


def test_too_many_from_one_address_are_429() -> None:
    browser = page(node_of(), client="203.0.113.7")
    answers = [browser.get("/b", headers={"X-Ballot": ballot()}).status_code for _ in range(240 + 1)]

    assert answers == [200] * 240 + [429]


def test_too_many_at_once_are_turned_away() -> None:
    node = node_of()
    relay = ballot_desk(clock=ManualClock(NOW), chain=node)
    relay._running = MAX_AT_ONCE

    assert page_client(relay.show).get("/b", headers={"X-Ballot": ballot()}).status_code == 503
    assert node.sent == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"voter": ""},
        {"voter": f"{VOTER[:-1]}1"},
        {"voter": "ab" * 31},
        {"round": "BTC"},
        {"round": "BTC-20200101-000000"},
        {"choice": "UP"},
        {"way": "post"},
        {"change": "20"},
        {"change": "-1"},
        {"change": "\u0663"},
        {"change": "9" * 5_000},
    ],
)
def test_what_cannot_be_prepared_is_400_and_asks_no_node(wrong: dict[str, str]) -> None:
    node = node_of()

    assert page(node).get(asking(**wrong)).status_code == 400
    assert node.asked == []


def test_a_preflight_lets_no_other_page_send_a_ballot() -> None:
    answer = page(node_of()).options("/b")

    assert "x-ballot" not in answer.headers["access-control-allow-headers"].lower()
