"""`emi verify --receipt`: what holds, what does not, and what is said of it."""

import base64
import hashlib
import json
import random
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from gateway.payments.receipts import extension_of
from gateway.wire.receipts import DID_PATH, ReceiptKey, did_document, did_of
from generator.record.published import head_of
from generator.record.receipt import receipt_in, verify_receipt
from generator.record.verify import VerifyError, open_log
from tests.support.altered import altered_receipt
from tests.support.arena_inputs import NOON, hours
from tests.support.log_records import Record, run_verify

ORIGIN = "https://example.org"
KEY = ReceiptKey(bytes(32))
OTHER = ReceiptKey(b"1" * 32)
BODY = b'{"endpoint":"x402-atlas","price_atomic":20000,"snapshotId":"000000000007"}'
ALTERED = 1_000


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Record:
    made = Record(tmp_path_factory.mktemp("record"))
    made.play(hours(NOON, 1))
    made.publish()
    made.write({DID_PATH: json.dumps(did_document(ORIGIN, [KEY.public])).encode()})
    return made


def claims(record: Record, **changed: Any) -> dict[str, Any]:
    head = head_of(record.read("checkpoint"))
    root = base64.b64encode(head.root).decode()
    return {
        "version": 1,
        "network": "algorand:x",
        "resourceUrl": f"{ORIGIN}/api/x402-atlas.php",
        "payer": "P" * 58,
        "issuedAt": NOON // 1000,
        "transaction": "T" * 52,
        "bodySha256": hashlib.sha256(BODY).hexdigest(),
        "snapshotId": "000000000007",
        "checkpoint": {"origin": head.origin, "size": head.size, "root": root},
        **changed,
    }


def signed(record: Record, key: ReceiptKey = KEY, did: str = did_of(ORIGIN), **changed: Any) -> str:
    return key.sign(claims(record, **changed), did)


def run(record: Record, folder: Path, text: str, body: bytes = BODY) -> Result:
    (folder / "receipt").write_text(text)
    (folder / "body").write_bytes(body)
    return run_verify(record.site, "--receipt", str(folder / "receipt"), "--body", str(folder / "body"))


def test_a_receipt_that_holds_is_shown_with_what_it_proves_and_what_not(record: Record, tmp_path: Path) -> None:
    result = run(record, tmp_path, signed(record))

    said = " ".join(result.output.split())
    assert result.exit_code == 0
    assert f"signed with did:web:example.org#{KEY.public.name}" in said
    assert f"{ORIGIN}/api/x402-atlas.php, snapshot 000000000007: 20000 atomic units of USDC" in said
    assert f"begins with the {record.log_size} entries that it names" in said
    assert "It does not prove: what was quoted before the payment" in said


def test_a_receipt_without_a_head_of_the_log_says_nothing_of_it(record: Record, tmp_path: Path) -> None:
    result = run(record, tmp_path, signed(record, checkpoint=None))

    assert result.exit_code == 0
    assert "the log" not in result.output


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"bodySha256": "0" * 64}, "its SHA-256 is another"),
        ({"snapshotId": "000000000008"}, "the body names another snapshot"),
        ({"payer": None}, "does not say payer"),
        ({"issuedAt": "1"}, "does not say issuedAt"),
        ({"issuedAt": True}, "does not say issuedAt"),
        ({"resourceUrl": "https://example.com/api/x402-atlas.php"}, "the receipt is for example.com"),
        ({"checkpoint": {"origin": "example.org/log", "size": 0, "root": ""}}, "checkpoint is malformed"),
        ({"checkpoint": {"origin": "o/log", "size": 3, "root": "AAAA"}}, "names the log o/log"),
    ],
)
def test_a_signed_receipt_that_does_not_fit_is_refused(
    changed: dict[str, Any], reason: str, record: Record, tmp_path: Path
) -> None:
    result = run(record, tmp_path, signed(record, **changed))

    assert (result.exit_code, result.exception is None or isinstance(result.exception, SystemExit)) == (1, True)
    assert reason in result.output


@pytest.mark.parametrize(("more", "reason"), [(1, "entries were removed"), (-1, "not those that were signed before")])
def test_a_receipt_of_another_history_is_refused(more: int, reason: str, record: Record, tmp_path: Path) -> None:
    head = claims(record)["checkpoint"]

    result = run(record, tmp_path, signed(record, checkpoint={**head, "size": head["size"] + more}))

    assert result.exit_code == 1
    assert reason in result.output


def test_a_receipt_by_a_key_that_is_not_published_is_refused(record: Record, tmp_path: Path) -> None:
    result = run(record, tmp_path, signed(record, OTHER))

    assert result.exit_code == 1
    assert f"#{OTHER.public.name} is not published by the service" in result.output


def test_a_retired_key_proves_receipts_from_before_its_end_alone(record: Record) -> None:
    def read(path: str) -> bytes | None:
        retired = json.loads(json.dumps(did_document(ORIGIN, [KEY.public])))
        retired["verificationMethod"][0]["revoked"] = "2026-11-20T00:00:00Z"
        return json.dumps(retired).encode() if path == DID_PATH else record.site_read(path)

    until = 1_795_132_800
    verify_receipt(read, None, signed(record, checkpoint=None, issuedAt=until), BODY)

    with pytest.raises(VerifyError, match="dated after its key was retired"):
        verify_receipt(read, None, signed(record, checkpoint=None, issuedAt=until + 1), BODY)


def test_of_1000_altered_receipts_none_is_taken(record: Record) -> None:
    jws = signed(record)
    log = open_log(record.site_read)
    chance = random.Random(26)
    verify_receipt(record.site_read, log, jws, BODY)

    for _ in range(ALTERED):
        with pytest.raises(VerifyError):
            verify_receipt(record.site_read, log, altered_receipt(jws, chance), BODY)


def test_another_body_is_refused(record: Record, tmp_path: Path) -> None:
    assert "the body is not the one" in run(record, tmp_path, signed(record), BODY + b" ").output


def test_a_receipt_is_found_in_every_file_that_holds_one(record: Record) -> None:
    jws = signed(record)
    said = json.dumps({"success": True, "extensions": extension_of(jws)})
    header = base64.b64encode(said.encode()).decode()
    kept = json.dumps({"txid": "T", "receipt": json.loads(said)})

    for text in (jws, f"{jws}\n", said, header, f"HTTP/1.1 200 OK\r\nPAYMENT-RESPONSE: {header}\r\n", kept):
        assert receipt_in(text) == jws
    for text in ("", "{}", "x", json.dumps({"success": True}), "payment-response: x"):
        with pytest.raises(VerifyError):
            receipt_in(text)


def test_a_receipt_without_its_body_is_refused(record: Record, tmp_path: Path) -> None:
    (tmp_path / "receipt").write_text(signed(record))

    result = run_verify(record.site, "--receipt", str(tmp_path / "receipt"))

    assert "belong together" in str(result.exception)
