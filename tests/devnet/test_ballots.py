"""The devnet carries ballots: its node takes them, and its indexer lists them as a real one does."""

import asyncio
import base64
import struct
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gateway.devnet.keys import Key, new_key
from gateway.devnet.ledger import started_at
from gateway.wire.algorand import DEMO_ARENA
from gateway.wire.networks import DEVNET
from generator.arena.ballots import ANY_PREFIX, BallotFile, Poll, judge, note_of
from generator.catalog.words import Prediction
from generator.record.inbox.chain import Ask, ChainBallots, IndexerError
from tests.arena.test_ballots import OPEN
from tests.support.devnet_app import START_ROUND, DevnetApp, devnet_app, pass_rounds, pay

ARENA = DEMO_ARENA


def cast(devnet: DevnetApp, key: Key, choice: Prediction = Prediction.BULLISH, **changes: Any) -> str:
    """Send one ballot through the node and return its transaction id."""
    first = devnet.ledger.rounds.current()
    item = pay(key, 0, ARENA, first, **{"note": note_of(OPEN.round_id, choice), **changes})
    answer = devnet.client.post("/algod/v2/transactions", content=item.wire)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["txId"])


def voters(devnet: DevnetApp, count: int) -> list[Key]:
    keys = [new_key() for _ in range(count)]
    for key in keys:
        devnet.fund(key.address)
    return keys


def search(devnet: DevnetApp, **query: str) -> dict[str, Any]:
    answer = devnet.client.get(
        "/indexer/v2/transactions", params={name.replace("_", "-"): query[name] for name in query}
    )
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def ids(answer: Mapping[str, Any]) -> list[str]:
    return [row["id"] for row in answer["transactions"]]


def asking(devnet: DevnetApp) -> Ask:
    async def ask(path: str, query: Mapping[str, str]) -> Any:
        answer = devnet.client.get(f"/indexer{path}", params=dict(query))
        if answer.status_code != 200:
            raise IndexerError(f"the indexer answered {answer.status_code}")
        return answer.json()

    return ask


def verdicts(files: tuple[BallotFile, ...]) -> list[str | None]:
    start_ms = 2**60  # after every block of the devnet_app chain
    live = {OPEN.round_id: replace(OPEN, start_ms=start_ms)}
    poll = Poll(ARENA, DEVNET.genesis_hash, live, start_ms - 1)
    return [verdict.reason for verdict in judge(files, poll, lambda _: frozenset())[0]]


def test_a_ballot_costs_its_fee_and_is_listed_with_signature_and_block_time(tmp_path: Path) -> None:
    with devnet_app(tmp_path) as devnet:
        (key,) = voters(devnet, 1)
        had = devnet.ledger.micro_algos(key.address)
        txid = cast(devnet, key)
        (row,) = search(devnet, address=ARENA, address_role="receiver", tx_type="pay")["transactions"]

        assert devnet.ledger.micro_algos(key.address) == had - 1_000
        assert (row["id"], row["sender"], row["confirmed-round"]) == (txid, key.address, START_ROUND)
        assert row["round-time"] == int(started_at(START_ROUND))
        assert row["payment-transaction"] == {"amount": 0, "receiver": ARENA, "close-amount": 0}
        assert base64.b64decode(row["note"]) == note_of(OPEN.round_id, Prediction.BULLISH)
        assert len(base64.b64decode(row["signature"]["sig"])) == 64


def test_an_address_s_transactions_come_newest_first_in_pages_with_tokens(tmp_path: Path) -> None:
    with devnet_app(tmp_path) as devnet:
        txids = []
        for key in voters(devnet, 5):
            txids.append(cast(devnet, key))
            if len(txids) == 3:
                pass_rounds(devnet.clock, 1)
        pages, query = [], {"address": ARENA, "limit": "2"}
        while True:
            pages.append(search(devnet, **query))
            if "next-token" not in pages[-1]:
                break
            query["next"] = pages[-1]["next-token"]

        assert [ids(page) for page in pages] == [txids[:2:-1], txids[2:0:-1], txids[:1], []]
        assert struct.unpack("<QI", base64.urlsafe_b64decode(pages[1]["next-token"])) == (START_ROUND, 1)


def test_role_type_note_and_rounds_are_filtered(tmp_path: Path) -> None:
    with devnet_app(tmp_path) as devnet:
        (key,) = voters(devnet, 1)
        ballot = cast(devnet, key)
        pass_rounds(devnet.clock, 2)
        other = cast(devnet, key, note=b"hello")
        prefix = base64.b64encode(ANY_PREFIX).decode()

        assert ids(search(devnet, address=key.address, address_role="sender")) == [other, ballot]
        assert ids(search(devnet, address=key.address, address_role="receiver")) == []
        assert ids(search(devnet, address=ARENA, note_prefix=prefix)) == [ballot]
        assert ids(search(devnet, address=ARENA, min_round=str(START_ROUND + 1))) == [other]
        assert ids(search(devnet, address=ARENA, tx_type="axfer")) == []


@pytest.mark.parametrize(
    "query",
    [
        {"address": "someone"},
        {"note-prefix": "%%"},
        {"limit": "-1"},
        {"limit": "many"},
        {"min-round": "9" * 30},
        {"next": "AAAA"},
        {"next": "?"},
    ],
)
def test_a_query_that_an_indexer_does_not_take_is_400(tmp_path: Path, query: dict[str, str]) -> None:
    with devnet_app(tmp_path) as devnet:
        answer = devnet.client.get("/indexer/v2/transactions", params={"address": ARENA, **query})

        assert answer.status_code == 400
        assert answer.json()["message"].startswith("invalid input: ")


def test_a_block_has_its_time_and_one_to_come_is_not_there(tmp_path: Path) -> None:
    with devnet_app(tmp_path) as devnet:
        (key,) = voters(devnet, 1)
        cast(devnet, key)
        header = devnet.client.get(f"/indexer/v2/blocks/{START_ROUND}?header-only=true").json()

        assert (header["round"], header["timestamp"]) == (START_ROUND, int(started_at(START_ROUND)))
        assert "transactions" not in header
        assert devnet.client.get(f"/indexer/v2/blocks/{START_ROUND + 1}").status_code == 404


def test_every_ballot_on_the_devnet_holds_with_the_generator_s_verifier(tmp_path: Path) -> None:
    with devnet_app(tmp_path) as devnet:
        for number, key in enumerate(voters(devnet, 4)):
            cast(devnet, key, tuple(Prediction)[number % 3], **({"gen": None} if number == 3 else {}))
        files = asyncio.run(ChainBallots(asking(devnet), ARENA).receive())

        assert verdicts(files) == [None] * 4
        assert {file.arrived_ms for file in files} == {int(started_at(START_ROUND)) * 1000}
