"""The doors: of each, good bytes to begin from, how they are read, and what may be raised."""

import base64
import hashlib
import json
import pickle
import re
import tempfile
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgpack

from gateway.errors import PaymentInvalid, VaultUnreadable
from gateway.payments.parse import read_payment
from gateway.settings import DEMO_PAYEE
from gateway.upstream.chain import _shown
from gateway.upstream.facilitator import _read_settle, _read_verdict, decoded_responses
from gateway.upstream.http_client import RemoteError, call
from gateway.vault.folder import read_manifest
from gateway.wire.algorand import TRANSACTION_PREFIX, pack, txid_of
from gateway.wire.daily import closes_at
from gateway.wire.foreign import ForeignBytesError, read_json, read_msgpack
from gateway.wire.networks import DEVNET
from gateway.wire.receipts import DID_PATH, EXTENSION, ReceiptError, ReceiptKey, b64, did_document, did_of, keys_of
from generator.arena.ballots import BallotFile, Chances, Refusal, judge_all
from generator.catalog.links import DAILY_JSON, RANGES_JSONL
from generator.catalog.log_kinds import step_of
from generator.errors import BackupError
from generator.market.recorded.files import read_file
from generator.market.recorded.sheets import UnreadableFileError
from generator.operate.keep.manifest import Manifest, Part, Schemas
from generator.record.audit.audit import Audit
from generator.record.audit.daily import daily_complaint
from generator.record.audit.game import AuditError
from generator.record.audit.hourly import ranges_complaint
from generator.record.audit.recount import RecountError, path_of, recount
from generator.record.inbox.chain import ballot_of
from generator.record.receipt import receipt_in, verify_receipt
from generator.record.verify import VerifyError
from tests.arena.test_ballots import OPEN, POLL
from tests.doors.mutate import HOSTILE_CSV, HOSTILE_JSON, HOSTILE_MSGPACK
from tests.inbox.test_chain import row
from tests.record.test_log import entries
from tests.support.arena_inputs import NOON, Vote, hours
from tests.support.gateway_wallet import Buyer
from tests.support.log_records import Record
from tests.support.vaults import write_vault

Read = Callable[[bytes], object]
ORIGIN: Final = "https://example.org"
VOTED: Final = "ETH-20261120-130000"
KEY: Final = ReceiptKey(bytes(32))
BODY: Final = b'{"endpoint":"x402-atlas","price_atomic":20000,"snapshotId":"000000000007"}'


@dataclass(frozen=True)
class Door:
    """One way in."""

    samples: tuple[bytes, ...]
    read: Read
    hostile: tuple[bytes, ...]
    refusals: tuple[type[Exception], ...] = ()  # none: whatever is wrong is answered, and nothing is raised


def _json(*values: Any) -> tuple[bytes, ...]:
    return tuple(json.dumps(value).encode() for value in values)


# Ballots


def _ballot(raw: bytes) -> None:
    """Judge one as the tick does; the desk reads it by the same function."""
    _judge(BallotFile("x", base64.b64encode(raw), 1))


def _row(data: bytes) -> None:
    """Read an indexer's row, and judge it."""
    value = read_json(data)
    if isinstance(value, dict):
        _judge(ballot_of(value))


def _judge(file: BallotFile) -> None:
    """Judge a ballot; what a reader raised where it should have refused is refused by this name."""
    verdict = judge_all([file], POLL, lambda _: frozenset()).verdicts[0]
    assert verdict.reason != Refusal.UNREADABLE.value


def _question(name: bytes) -> None:
    closes_at(name.decode(errors="replace"))


GOOD: Final = tuple(
    base64.b64decode(vote.file().data)
    for vote in (Vote(OPEN.round_id), Vote(OPEN.round_id, chances=Chances(60, 25, 15), change=1))
)
ROWS: Final = _json(row(), row(chances=Chances(60, 25, 15)), row(signature={"multisig": {}}))


# Payments: the payer's header, and the answers of facilitator and node


class _Answering:
    """HTTP that gives one answer."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw

    async def exchange(self, *_: Any, **__: Any) -> tuple[int, bytes]:
        return 200, self._raw


def _done(work: Coroutine[Any, Any, Any]) -> Any:
    """Return what a coroutine gives that waits for nothing."""
    try:
        work.send(None)
    except StopIteration as end:
        return end.value
    raise AssertionError("it waits")


def _facilitator(raw: bytes) -> None:
    """Read an answer of verify, of settle, and a header of either."""
    decoded_responses(base64.b64encode(raw).decode())
    answer = _done(call(_Answering(raw), "POST", "http://f", timeout_s=1, headers={}))  # type: ignore[arg-type]
    for read in (_read_verdict, _read_settle):
        verdict = read(answer)
        texts = () if verdict is None else asdict(verdict).values()
        "".join(text for text in texts if isinstance(text, str)).encode()


def _node(raw: bytes) -> None:
    _shown(raw, NODE_TXID)


def _payment(data: bytes) -> None:
    read_payment(base64.b64encode(data).decode(), DEVNET, DEMO_PAYEE)


SHOWN: Final = {"pool-error": "", "confirmed-round": 5, "txn": read_msgpack(GOOD[0])}
NODE_TXID: Final = txid_of(TRANSACTION_PREFIX + pack(SHOWN["txn"]["txn"]))
VERDICTS: Final = _json(
    {"isValid": True, "payer": "A" * 58},
    {"isValid": False, "invalidReason": "insufficient_funds", "invalidMessage": "x"},
    {"success": True, "transaction": "T" * 52, "network": DEVNET.full, "payer": "A" * 58},
    {"success": False, "errorReason": "settle_exact_failed", "transaction": "", "network": DEVNET.full},
)


# Files: the vault, a backup, recorded candles


@cache
def _scratch() -> Path:
    return Path(tempfile.mkdtemp(prefix="doors"))


@cache
def vault_manifest() -> bytes:
    folder = _scratch() / "vault"
    folder.mkdir()
    write_vault(folder)
    return (folder / "manifest.json").read_bytes()


def _recorded(data: bytes) -> None:
    path = _scratch() / "BTCUSDT.csv"
    path.write_bytes(data)
    read_file(path, "BTC")


def _backup(data: bytes) -> None:
    Manifest.of(data, BACKUP_NAME)


BACKUP_NAME: Final = "20261128T055134Z"
_BEGAN: Final = "2026-11-28T05:51:34+00:00"
_PARTS: Final = (Part("memory", "memory.sqlite3.gz", 10, "0" * 64, "/state/memory.sqlite3"),)
BACKUP: Final = Manifest(BACKUP_NAME, "1.0", Schemas("1", "1"), _BEGAN, _BEGAN, 7, 9, _PARTS).content()
CANDLES: Final = b"ts,open,high,low,close,volume\n" + b"".join(
    b"%d,1.5,2,1,1.75,100\n" % (NOON + number * 300_000) for number in range(5)
)


# What `emi verify` reads


@cache
def record() -> Record:
    """Return a published record with votes and daily questions."""
    made = Record(_scratch() / "record")
    made.usual_day = 2.0
    at = hours(NOON, 3)
    made.play(at, {at[1]: [Vote(VOTED, by=number, at_ms=NOON + 1).file() for number in range(3)]})
    made.publish()
    return made


@cache
def _audits() -> tuple[Audit, dict[str, tuple[bytes, bytes]]]:
    """Return the audit of the whole log, and by kind the state of an audit before the first entry of it, and that."""
    audit = Audit()
    before: dict[str, tuple[bytes, bytes]] = {}
    for entry in entries(record()):
        before.setdefault(step_of(json.loads(entry)), (pickle.dumps(audit), entry))
        audit.take(entry)
    return audit, before


def _entries() -> tuple[bytes, ...]:
    return tuple(entry for _, entry in _audits()[1].values())


def _entry(data: bytes) -> None:
    """Take a changed entry after those that came before it."""
    kind = _KIND.search(data)
    states = _audits()[1]
    state, _ = states.get(kind[1].decode() if kind else "", states["round.sealed"])
    pickle.loads(state).take(data)


def _daily(data: bytes) -> None:
    audit, _ = _audits()
    _said(daily_complaint(data, audit.daily, audit.last_at))


def _ranges(data: bytes) -> None:
    _said(ranges_complaint(data, _audits()[0].hourly))


def _said(complaint: str | None) -> None:
    """Write what `emi verify` prints."""
    (complaint or "").encode()


def _ballots(data: bytes) -> None:
    audit, _ = _audits()
    recount(VOTED, audit.rounds.voted[VOTED], lambda path: data if path == path_of(VOTED) else None)


_GAME: Final = re.compile(rb'"game":\s*"([a-z.]+)","kind"')
_KIND: Final = re.compile(rb'"kind":\s*"([a-z.]+)"')


def _receipt(data: bytes) -> None:
    """Verify a receipt whose signature holds, of changed claims."""
    header = b64(json.dumps({"alg": "EdDSA", "kid": f"{did_of(ORIGIN)}#{KEY.public.name}"}).encode())
    signed = f"{header}.{b64(data)}"
    jws = f"{signed}.{b64(KEY._key.sign(signed.encode()).signature)}"
    document = json.dumps(did_document(ORIGIN, [KEY.public])).encode()
    verified = verify_receipt(lambda path: document if path == DID_PATH else None, None, jws, BODY)
    "\n".join(verified.lines).encode()


def _document(data: bytes) -> None:
    keys_of(read_json(data))


def _receipt_file(data: bytes) -> None:
    receipt_in(data.decode(errors="replace"))


def _published(path: str) -> bytes:
    data = record().site_read(path)
    assert data is not None
    return data


DOCUMENT: Final = _json(did_document(ORIGIN, [KEY.public]))
RECEIPT_FILE: Final = {"extensions": {EXTENSION: {"info": {"receipt": {"signature": "a.b.c"}}}}}
CLAIMS: Final = {
    "version": 1,
    "network": "algorand:x",
    "resourceUrl": f"{ORIGIN}/api/x402-atlas.php",
    "payer": "P" * 58,
    "issuedAt": NOON // 1000,
    "transaction": "T" * 52,
    "bodySha256": hashlib.sha256(BODY).hexdigest(),
    "snapshotId": "000000000007",
}


DOORS: Final[Mapping[str, Callable[[], Door]]] = {
    "JSON": lambda: Door(ROWS, read_json, HOSTILE_JSON, (ForeignBytesError,)),
    "msgpack": lambda: Door(GOOD, read_msgpack, HOSTILE_MSGPACK, (ForeignBytesError,)),
    "ballot": lambda: Door(GOOD, _ballot, HOSTILE_MSGPACK),
    "row of an indexer": lambda: Door(ROWS, _row, HOSTILE_JSON, (ForeignBytesError,)),
    "daily question": lambda: Door(
        (b"BTC-DAILY-20261124", b"BTC-DAILY-99991225"), _question, HOSTILE_CSV, (ValueError,)
    ),
    "answer of a facilitator": lambda: Door(VERDICTS, _facilitator, HOSTILE_JSON, (RemoteError,)),
    "answer of a node": lambda: Door((msgpack.packb(SHOWN),), _node, HOSTILE_MSGPACK),
    "payment": lambda: Door(_json(Buyer().pay().value), _payment, HOSTILE_JSON, (PaymentInvalid,)),
    "manifest of the vault": lambda: Door((vault_manifest(),), read_manifest, HOSTILE_JSON, (VaultUnreadable,)),
    "manifest of a backup": lambda: Door((BACKUP,), _backup, HOSTILE_JSON, (BackupError,)),
    "recorded candles": lambda: Door((CANDLES,), _recorded, HOSTILE_CSV, (UnreadableFileError,)),
    "entry of the log": lambda: Door(
        tuple(entry for _, entry in _audits()[1].values()), _entry, HOSTILE_JSON, (AuditError,)
    ),
    "daily.json": lambda: Door((_published(DAILY_JSON),), _daily, HOSTILE_JSON),
    "ranges.jsonl": lambda: Door((_published(RANGES_JSONL)[:2_000],), _ranges, HOSTILE_JSON),
    "published ballots": lambda: Door((_published(path_of(VOTED)),), _ballots, HOSTILE_JSON, (RecountError,)),
    "receipt": lambda: Door(_json(CLAIMS), _receipt, HOSTILE_JSON, (VerifyError,)),
    "file of a receipt": lambda: Door(_json(RECEIPT_FILE), _receipt_file, HOSTILE_JSON, (VerifyError,)),
    "did.json": lambda: Door(
        _json(did_document(ORIGIN, [KEY.public])), _document, HOSTILE_JSON, (ForeignBytesError, ReceiptError)
    ),
}
