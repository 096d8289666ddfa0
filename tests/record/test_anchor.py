"""Anchors: a checkpoint in a note on chain, sent by `emi log anchor` and looked up by `emi verify --anchor`."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from gateway.settings import GatewaySettings
from gateway.wire.algorand import unpack
from generator.cli._anchor import NOTE_PREFIX, check, head_in, note_of, send
from generator.cli._published import PublishedError
from generator.errors import GeneratorError
from generator.record.log.note import NoteError
from generator.record.log.reader import LogReader
from tests.support.arena_inputs import GENESIS, voter
from tests.support.local_servers import answering
from tests.support.published_log import head_of, publish

ENTRIES = [f"entry {number}".encode() for number in range(300)]
EARLY = head_of(ENTRIES[:120])


class FakeNode:
    """A node that takes what it is given; also an indexer. `answers`: path prefix -> JSON, or (status, JSON)."""

    def __init__(self, **answers: object) -> None:
        self.answers: dict[str, object] = {
            "/v2/transactions/params": {
                "last-round": 7_000,
                "min-fee": 1_000,
                "fee": 0,
                "genesis-hash": GENESIS,
                "genesis-id": "emi-devnet-v1",
                "consensus-version": "x",
            },
            "/v2/status": {"last-round": 7_000},
            "/v2/transactions/pending": {"confirmed-round": 7_001, "pool-error": ""},
            "/v2/transactions": {"txId": "x"},
            **answers,
        }
        self.sent: list[bytes] = []

    def answer(self, path: str, body: bytes | None) -> tuple[int, bytes]:
        if body is not None:
            self.sent.append(body)
        name = max((one for one in self.answers if path.startswith(one)), key=len)
        found = self.answers[name]
        status, content = found if isinstance(found, tuple) else (200, found)
        return status, json.dumps(content).encode()


def anchored(fake: FakeNode) -> tuple[str, int, int | None]:
    with answering(fake.answer) as url:
        return send(GatewaySettings(algod_url=url, algod_token=SecretStr("s3cret")), None, voter(0), EARLY)


@pytest.fixture(scope="module")
def sent() -> tuple[str, bytes]:
    """One anchor as it was sent to the node."""
    fake = FakeNode()
    txid, fee, block = anchored(fake)
    assert (fee, block) == (1_000, 7_001)
    return txid, fake.sent[0]


def row_of(txid: str, signed: bytes, **changes: Any) -> dict[str, Any]:
    """Tell a transaction as an indexer does."""
    from algosdk.encoding import encode_address

    envelope = unpack(signed)
    transaction = envelope["txn"]
    found = {
        "id": txid,
        "tx-type": "pay",
        "sender": encode_address(transaction["snd"]),
        "fee": transaction["fee"],
        "first-valid": transaction["fv"],
        "last-valid": transaction["lv"],
        "genesis-hash": base64.b64encode(transaction["gh"]).decode(),
        "genesis-id": transaction["gen"],
        "note": base64.b64encode(transaction["note"]).decode(),
        "payment-transaction": {"receiver": encode_address(transaction["rcv"]), "amount": 0},
        "signature": {"sig": base64.b64encode(envelope["sig"]).decode()},
        "round-time": 1_795_298_000,
    }
    return found | changes


def reader(entries: list[bytes] = ENTRIES) -> LogReader:
    files = publish(entries)
    return LogReader(lambda tile: files[tile.path], head_of(entries))


def looked_up(txid: str, row: object, log: LogReader | None = None, origin: str = EARLY.origin) -> str:
    with answering(FakeNode(**{"/v2/transactions/": {"transaction": row}}).answer) as url:
        return check(url, txid, log or reader(), origin)


def test_an_anchor_is_sent_found_and_shows_what_was_there_by_then(sent: tuple[str, bytes]) -> None:
    txid, signed = sent

    found = looked_up(txid, row_of(txid, signed))

    assert found.startswith("anchored: the first 120 entries were there by 2026-11-2")
    transaction = unpack(signed)["txn"]
    assert transaction["snd"] == transaction["rcv"]
    assert "amt" not in transaction


@pytest.mark.parametrize(
    ("answers", "line", "sent"),
    [
        ({"/v2/transactions/params": []}, "no answer", 0),
        ({"/v2/transactions/params": (503, {})}, "did not take the anchor", 0),
        ({"/v2/transactions": (400, {"message": "txn dead: round 9"})}, "txn dead", 1),
    ],
)
def test_an_anchor_that_cannot_be_sent_is_one_clear_line(answers: dict[str, object], line: str, sent: int) -> None:
    fake = FakeNode(**answers)

    with pytest.raises(GeneratorError, match=line):
        anchored(fake)
    assert len(fake.sent) == sent


@pytest.mark.parametrize(
    ("changes", "line"),
    [({"genesis-hash": base64.b64encode(bytes(32)).decode()}, "nothing was sent"), ({"min-fee": 5_000_000}, "20000")],
)
def test_a_node_of_another_network_or_with_a_wild_fee_gets_nothing(changes: dict[str, object], line: str) -> None:
    fake = FakeNode()
    fake.answers["/v2/transactions/params"] |= changes  # type: ignore[operator]

    with pytest.raises(GeneratorError, match=line):
        anchored(fake)
    assert not fake.sent


def test_a_log_that_was_changed_since_its_anchor_is_named(sent: tuple[str, bytes]) -> None:
    txid, signed = sent
    row = row_of(txid, signed)

    with pytest.raises(ValueError, match="history was changed"):
        looked_up(txid, row, reader([b"forged", *ENTRIES[1:]]))
    with pytest.raises(ValueError, match="of the log example"):
        looked_up(txid, row, origin="another.example/log")


def test_an_indexer_that_bends_the_note_is_not_believed(sent: tuple[str, bytes]) -> None:
    txid, signed = sent
    bent = base64.b64encode(note_of(head_of(ENTRIES[:99]))).decode()

    with pytest.raises(NoteError, match="is not"):
        looked_up(txid, row_of(txid, signed, note=bent))


@pytest.mark.parametrize("row", [None, [], {}, {"id": 5}, "x"])
def test_an_indexer_that_shows_none_is_one_clear_line(row: object) -> None:
    with pytest.raises(PublishedError, match="does not show transaction T"):
        looked_up("T", row)


@pytest.mark.parametrize(
    "note",
    [
        b"",
        b"x" * 2_000,
        NOTE_PREFIX,
        NOTE_PREFIX + b"[]",
        NOTE_PREFIX + json.dumps({"o": "a", "n": -1, "r": ""}).encode(),
    ],
)
def test_an_invalid_note_is_refused(note: bytes) -> None:
    with pytest.raises(NoteError):
        head_in(note)


def test_a_folder_without_a_log_is_one_clear_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from typer.testing import CliRunner

    from generator.cli.log import log_app

    monkeypatch.setenv("EMI_STATE_DIR", str(tmp_path))
    result = CliRunner().invoke(log_app, ["anchor"])

    assert result.exit_code == 1
    assert "no log is published" in str(result.exception)
