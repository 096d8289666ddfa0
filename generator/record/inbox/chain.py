"""Ballots on chain: zero payments to the arena address, read from an indexer.

The indexer is believed as little as possible: each row is put back into the transaction that was signed, and goes
through the same verifier as a ballot of the inbox, so a row that an indexer invented or changed does not count. What
it can still do is leave rows out; each poll therefore reads some rounds again that it has read before.

An indexer gives the transactions of an address newest first, with a token after each page that is not empty.

The time of a ballot is that of the block that confirmed it. In the tick that locks a round the indexer is given a few
seconds to reach the lock's time; a ballot that was confirmed in time and is seen later is refused by that name.
"""

import asyncio
import base64
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import structlog

from gateway.wire.algorand import TRANSACTION_PREFIX, key_of, pack, txid_of
from generator.arena.ballots import ANY_PREFIX, BallotFile, Refusal

OVERLAP_ROUNDS: Final = 100  # about five minutes, read again at each poll
FIRST_QUERY_ROUNDS: Final = 2_000  # about 95 minutes: the longest a round takes votes
PAGE: Final = 1_000
MOST_PAGES: Final = 40
SEEN_KEPT: Final = 100_000

Ask = Callable[[str, Mapping[str, str]], Awaitable[Any]]  # path and query -> the JSON that was answered

log = structlog.get_logger("emi.arena")


@dataclass(frozen=True, slots=True)
class Patience:
    """How long an indexer is waited for, in seconds: with a poll, at a lock, between two looks at a lock."""

    poll_s: float = 8.0
    lock_s: float = 8.0
    step_s: float = 1.0


class IndexerError(Exception):
    """The indexer did not answer, or not as an indexer."""


class ChainBallots:
    """Ballots from the chain. It keeps nothing on disk: after a restart it reads the last hour and a half again."""

    def __init__(self, ask: Ask, address: str, patience: Patience | None = None) -> None:
        self._ask = ask
        self._patience = patience or Patience()
        self._address = address
        self._from: int | None = None
        self._resume = ""  # the page at which to resume a run of pages that an earlier poll did not end
        self._run_began = 0  # the indexer's round when that run began
        self._seen: dict[str, None] = {}  # transaction ids, the oldest first
        self._pending: list[str] = []
        self._complaint: str | None = None  # None before the first query

    async def receive(self, lock_ms: int | None = None) -> tuple[BallotFile, ...]:
        """Return ballots that were not returned before; what was read before an indexer failed is kept and counts.

        In a tick that makes a lock the indexer is waited for until it is past it.
        """
        if lock_ms is not None:
            await self._reach(lock_ms)

        files: dict[str, BallotFile] = {}
        resumed_at = self._resume
        try:
            async with asyncio.timeout(self._patience.poll_s):
                complaint = await self._read_pages(files)
        except (IndexerError, TimeoutError) as error:
            complaint = str(error) or "no answer in time"
            if self._resume == resumed_at:  # not one page: its token may be what is wrong
                self._resume = ""
        self._complain(complaint)

        self._seen.update(dict.fromkeys(files))
        while len(self._seen) > SEEN_KEPT:
            del self._seen[next(iter(self._seen))]
        self._pending += files
        return tuple(files.values())

    def acknowledge(self) -> None:
        """Note that the memory has dealt with all that was returned: the chain itself keeps everything."""
        self._pending = []

    def requeue(self) -> None:
        """Return again what the memory has not dealt with: the tick that read it failed."""
        if not self._pending:
            return

        for txid in self._pending:
            self._seen.pop(txid, None)
        self._pending = []
        self._from = None
        self._resume = ""

    def quarantine(self, files: Sequence[BallotFile]) -> None:
        """Pass these transactions over until the next start: the chain keeps them."""
        self._seen.update(dict.fromkeys(file.name for file in files if file.confirmed))

    async def _reach(self, lock_ms: int) -> None:
        """Wait, but not for long, until the indexer's last block is past a moment."""
        query = {"limit": "1", "address": self._address}

        # A block after the lock: whatever came in time is in what the indexer shows.
        try:
            async with asyncio.timeout(self._patience.lock_s):
                while True:
                    current = _whole(_object(await self._ask("/v2/transactions", query)).get("current-round"))
                    block = _object(await self._ask(f"/v2/blocks/{current}", {"header-only": "true"}))
                    if _whole(block.get("timestamp")) * 1000 >= lock_ms:
                        return
                    await asyncio.sleep(self._patience.step_s)
        except (IndexerError, TimeoutError) as error:
            log.warning(
                "the indexer is not known to be past the lock: ballots that it shows later are not counted",
                reason=str(error) or "it is behind",
            )

    async def _read_pages(self, files: dict[str, BallotFile]) -> str:
        """Read pages, newest first as indexers give those of an address, and return what was wrong with them.

        A run of pages goes from the newest ballot back to the round where the last run began, less some that are read
        again. One that an outage or the number of pages cut short is resumed where it was, and is followed by another.
        """
        query = await self._query()
        is_resumed_run = bool(self._resume)

        for _ in range(MOST_PAGES):
            resumed = {"next": self._resume} if self._resume else {}
            answer = _object(await self._ask("/v2/transactions", {**query, "min-round": str(self._from), **resumed}))
            if not self._resume:  # what comes while pages are read is read by the next run
                self._run_began = _whole(answer.get("current-round"))

            rows = answer.get("transactions") or []
            if not isinstance(rows, list):
                raise IndexerError("the indexer's transactions are not a list")
            for row in rows:
                self._take(row, files)

            token = answer.get("next-token")
            if not rows or not isinstance(token, str) or not token:  # the last page
                self._from = max(self._from or 0, self._run_began - OVERLAP_ROUNDS)
                self._resume = ""
                if not is_resumed_run:
                    return ""
                is_resumed_run = False
            elif token == self._resume:
                self._resume = ""
                return "the indexer gives the same page twice"
            else:
                self._resume = token
        return f"more than {MOST_PAGES} pages at once; the rest follows"

    async def _query(self) -> dict[str, str]:
        query = {
            "address": self._address,
            "address-role": "receiver",
            "tx-type": "pay",
            "note-prefix": base64.b64encode(ANY_PREFIX).decode(),
            "limit": str(PAGE),
        }

        # The first query goes back some rounds, for what arrived while this process was down.
        if self._from is None:
            answer = _object(await self._ask("/v2/transactions", {**query, "limit": "1"}))
            self._from = max(0, _whole(answer.get("current-round")) - FIRST_QUERY_ROUNDS)

        return query

    def _take(self, row: Any, files: dict[str, BallotFile]) -> None:
        if not isinstance(row, dict):
            return
        txid = row.get("id")
        if not isinstance(txid, str) or not 0 < len(txid) <= 64:
            return
        if txid not in self._seen and txid not in files:
            files[txid] = ballot_of(row)

    def _complain(self, text: str) -> None:
        """Log a trouble once. The first query is passed over: programs started together wait for each other."""
        first = self._complaint is None
        if text and not first and text != self._complaint:
            log.warning("ballots on chain cannot be read now", reason=text)
        self._complaint = "" if first else text


def ballot_of(row: Mapping[str, Any]) -> BallotFile:
    """Put an indexer's row back into the signed transaction, as a ballot file of the time of its block.

    A row that does not give its own transaction id back is a ballot that cannot be read, never an exception.
    """
    name = str(row.get("id"))
    try:
        arrived_ms = _whole(row["round-time"]) * 1000
        envelope = _signed_of(row)
        data = b"" if envelope is None else base64.b64encode(pack(envelope))
    except Exception:  # noqa: BLE001  whatever a row is: it must not keep the others, and the tick, from being read
        return BallotFile(name, b"", 0, Refusal.NOT_A_TRANSACTION, confirmed=True)
    return BallotFile(name, data, arrived_ms, None if data else Refusal.NOT_A_TRANSACTION, confirmed=True)


def _signed_of(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the signed transaction whose id the row carries; some tell the genesis id also where none was signed."""
    transaction = _transaction(row)
    signature = _object(row["signature"])
    envelope: dict[str, Any] = {"txn": transaction}
    if "sig" not in signature:
        # Distinguished from a broken row: the verifier names them.
        kind = "msig" if "multisig" in signature else "lsig"
        return {**envelope, kind: {"v": 1}}

    envelope["sig"] = _bytes(signature["sig"])
    if "auth-addr" in row:
        envelope["sgnr"] = key_of(str(row["auth-addr"]))

    for omitted in ((), ("gen",)):
        envelope["txn"] = {key: value for key, value in transaction.items() if key not in omitted}
        if txid_of(TRANSACTION_PREFIX + pack(envelope["txn"])) == row["id"]:
            return envelope
    return None


def _transaction(row: Mapping[str, Any]) -> dict[str, Any]:
    payment = _object(row["payment-transaction"])
    fields: dict[str, Any] = {
        "type": str(row["tx-type"]),
        "snd": key_of(str(row["sender"])),
        "rcv": key_of(str(payment["receiver"])),
        "gh": _bytes(row["genesis-hash"]),
        "fee": _whole(row.get("fee", 0)),
        "fv": _whole(row.get("first-valid", 0)),
        "lv": _whole(row["last-valid"]),
        "amt": _whole(payment.get("amount", 0)),
    }

    for key, name in (("note", "note"), ("lx", "lease"), ("grp", "group")):
        if row.get(name):
            fields[key] = _bytes(row[name])
    if row.get("genesis-id"):
        fields["gen"] = str(row["genesis-id"])
    if row.get("rekey-to"):
        fields["rekey"] = key_of(str(row["rekey-to"]))
    if payment.get("close-remainder-to"):
        fields["close"] = key_of(str(payment["close-remainder-to"]))

    # What is zero was not signed; older indexers write it out.
    return {key: value for key, value in fields.items() if value not in (0, "", b"", bytes(32))}


def _bytes(text: Any) -> bytes:
    return base64.b64decode(str(text), validate=True)


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise IndexerError("the indexer's answer is not an object")
    return value


def _whole(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 2**63:
        raise IndexerError("expected an unsigned integer from the indexer")
    return value
