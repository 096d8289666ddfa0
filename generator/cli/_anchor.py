"""The log's head in a note on chain: whoever reads it there knows that the log's beginning existed by that block."""

from __future__ import annotations

import base64
import json
from base64 import b64decode
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from generator.arena.sealing import canonical_json
from generator.catalog.formats import iso
from generator.cli._ballot import CONFIRMED_WITHIN_S, Chain, VoteError, check_fee
from generator.cli._published import Published, PublishedError
from generator.inbox.chain import IndexerError, signed_of
from generator.record.log.note import Checkpoint, NoteError

if TYPE_CHECKING:
    from generator.record.log.reader import LogReader

NOTE_PREFIX: Final = b"emi-log/v1:j"
LARGEST_NOTE: Final = 1_024


@dataclass(frozen=True, slots=True)
class Anchor:
    """A head as a transaction carries it, and the time of its block (ISO 8601, UTC)."""

    head: Checkpoint
    at: str
    sender: str


def note_of(head: Checkpoint) -> bytes:
    """Write a head as an ARC-2 note."""
    return NOTE_PREFIX + canonical_json({"o": head.origin, "n": head.size, "r": base64.b64encode(head.root).decode()})


def head_in(note: bytes) -> Checkpoint:
    """Read a head out of a note.

    Raises:
        NoteError: it is not a note of a log.
    """
    if not note.startswith(NOTE_PREFIX) or len(note) > LARGEST_NOTE:
        raise NoteError("the transaction carries no head of a log")
    try:
        told = json.loads(note[len(NOTE_PREFIX) :])
        return Checkpoint.parse(f"{told['o']}\n{int(told['n'])}\n{told['r']}\n")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise NoteError("the transaction carries no head of a log") from error


def send(chain: Chain, key: str, head: Checkpoint) -> tuple[str, int, int | None]:
    """Send a payment of nothing to oneself that carries a head.

    Returns:
        Its transaction id, the fee in micro-ALGO, and the round that confirmed it, None when none has yet.

    Raises:
        VoteError: another network, or the account cannot pay the fee; nothing was sent.
        NodeError: the node refused it, or did not answer.
    """
    from algosdk.account import address_from_private_key
    from algosdk.atomic_transaction_composer import AccountTransactionSigner
    from algosdk.encoding import msgpack_encode
    from algosdk.transaction import PaymentTxn

    from gateway.wire.networks import NETWORKS

    terms = chain.node.terms()
    if terms.genesis_hash != NETWORKS[chain.network].genesis_hash:
        raise VoteError(f"the node is of network {terms.params.gen}, not {chain.network}; nothing was sent")
    check_fee(chain, key, terms.params.fee)
    sender = address_from_private_key(key)
    payment = PaymentTxn(sender, terms.params, sender, 0, note=note_of(head))
    signed = AccountTransactionSigner(key).sign_transactions([payment], [0])[0]
    txid = str(payment.get_txid())
    chain.node.send(b64decode(msgpack_encode(signed)), txid)
    return txid, terms.params.fee, chain.node.wait(txid, CONFIRMED_WITHIN_S)


def find(indexer: str, txid: str) -> Anchor:
    """Read an anchor from an indexer, which is believed only as far as the transaction's own id goes.

    Raises:
        PublishedError: the indexer does not answer, or has no such transaction.
        NoteError: it is no anchor, or not what its id says.
    """
    data = Published(indexer).read(f"/v2/transactions/{txid}")
    try:
        row: Any = json.loads(data or b"{}")["transaction"]
        envelope = signed_of(row)
        if envelope is None or row["id"] != txid:
            raise NoteError(f"the indexer's transaction is not {txid}")
        return Anchor(head_in(envelope["txn"].get("note", b"")), iso(int(row["round-time"]) * 1000), str(row["sender"]))
    except (KeyError, TypeError, IndexerError, RecursionError, OverflowError) as error:
        raise PublishedError(f"{indexer} does not show transaction {txid}") from error


def check(reader: LogReader, origin: str, anchor: Anchor) -> str:
    """Check that a log goes on from an anchored head; return what that shows.

    Raises:
        ValueError: it does not, or the anchor is another log's.
    """
    if anchor.head.origin != origin:
        raise ValueError(f"the anchor is of the log {anchor.head.origin}")
    reader.check_extends(anchor.head)
    return f"anchored: the first {anchor.head.size} entries were there by {anchor.at}, by account {anchor.sender}"
