"""Read ballots: signed zero-amount Algorand payments to the arena address, with an ARC-2 note.

Note: `emi-arena/v1:j{"r":"<round_id>","p":"BULLISH|BEARISH|NEUTRAL"}`. The generator counts them, and the gateway hands
on only such as it will count; when a round closes, each of them judges by its own clock.

Counted ballots are published for good. So in the form that is in force a ballot has no room for anything but a vote:
each field is absent or follows from voter, round, choice and network. Only a transaction's fee and rounds of validity
are free numbers, and those of a ballot that is not on chain are fixed too. Rounds that were opened before this form
came into force take, and are verified by, the form of their time.
"""

import base64
import binascii
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from gateway.wire.algorand import TRANSACTION_PREFIX, address_of, pack, signature_holds, txid_of, unpack
from gateway.wire.networks import NETWORKS

NOTE_PREFIX: Final = b"emi-arena/v1:j"
MAX_FILE_BYTES: Final = 4_096
MAX_NOTE_BYTES: Final = 256
FORM: Final = 2
"""The form of ballots that is in force: nothing but a ballot. The log names the form of each round that it seals."""
FIRST_FORM: Final = 1
"""The form of rounds of which the log names none: any genesis id, lease, group and spacing of the note."""
MAX_BALLOT_BYTES: Final = 512
"""Of the msgpack of a ballot."""
CHANGES: Final = 20
"""So often a voter may sign in one round: the first vote and 19 changes of mind."""
CHOICES: Final = frozenset({"BULLISH", "BEARISH", "NEUTRAL"})
_LEASE_PREFIX: Final = b"emi-arena/lease"
_GENESIS_IDS: Final = {network.genesis_hash_bytes: network.genesis_id for network in NETWORKS.values()}
_NUMBERS: Final = ("fee", "fv", "lv")
_KEYS: Final = frozenset({"fee", "fv", "gen", "gh", "grp", "lv", "lx", "note", "rcv", "snd", "type"})


class Refusal(StrEnum):
    """Why a ballot does not count."""

    TOO_LARGE = "larger than 4096 bytes"
    TOO_LONG = "larger than a ballot's 512 bytes"
    UNREADABLE = "file cannot be read"
    NOT_BASE64 = "not base64"
    NOT_A_TRANSACTION = "not one canonical signed transaction"
    MULTISIG = "multisig ballots are not counted"
    LOGICSIG = "logic signature ballots are not counted"
    REKEYED = "signed by another key than the sender's"
    NOT_A_PAYMENT = "not a payment"
    REKEYS = "would rekey the account"
    CLOSES = "would close the account"
    NOT_ZERO = "amount is not zero"
    OTHER_NETWORK = "signed for another network"
    OTHER_RECEIVER = "not addressed to the arena"
    UNKNOWN_FIELD = "carries a field that a ballot must not have"
    NOTE_FORM = "note is not a ballot's"
    LEASE = "lease is not one of this voter in this round"
    NOT_FREE = "neither free nor on chain"
    CHOICE = "choice is not BULLISH, BEARISH or NEUTRAL"
    NO_SUCH_ROUND = "no such round takes votes"
    OTHER_ASSET = "round id and asset do not agree"
    CLOSED = "round is closed"
    SEEN_LATE = "confirmed in time, seen after the lock"
    READ_LATE = "arrived in time, read after the lock"
    REPEATED = "already counted"
    BAD_SIGNATURE = "signature is wrong"


class RefusedError(Exception):
    """This ballot does not count."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal)
        self.refusal = refusal


@dataclass(frozen=True, slots=True)
class SignedBallot:
    """A ballot whose form holds; its signature and its round are not checked yet."""

    raw: bytes  # msgpack of the signed transaction
    transaction: Mapping[str, Any]  # its fields, as on the wire
    signature: bytes  # ed25519, 64 bytes
    round_id: str  # the round that it votes in, which may not exist
    choice: str  # one of CHOICES
    message: bytes  # the bytes that were signed

    @property
    def txid(self) -> str:
        """The transaction id."""
        return txid_of(self.message)

    @property
    def voter(self) -> str:
        """The sender's address."""
        return address_of(self.transaction["snd"])

    @property
    def is_free(self) -> bool:
        """Whether no one can ever submit it: it pays no fee, and its validity ended with the first block."""
        return "fee" not in self.transaction and self.transaction.get("fv") == self.transaction.get("lv") == 1

    def is_signed(self) -> bool:
        """Return whether the signature is the sender's."""
        return signature_holds(self.transaction["snd"], self.message, self.signature)


def note_of(round_id: str, choice: str) -> bytes:
    """Write a ballot's note."""
    return NOTE_PREFIX + json.dumps({"r": round_id, "p": choice}, separators=(",", ":")).encode()


def lease_of(voter: bytes, round_id: str, change: int) -> bytes:
    """Return the lease of a voter's next ballot in a round, by which a vote that is repeated is another transaction.

    Who votes up, then down, then up again would sign the first transaction once more, which counts once. A lease that
    follows from what the ballot says anyway carries nothing else.

    Args:
        voter: the public key, 32 bytes.
        round_id: the round that takes votes.
        change: how often the voter changed the vote in this round before, 0 to 19.
    """
    if not 0 <= change < CHANGES:
        raise ValueError(f"a vote can be changed {CHANGES - 1} times in a round")
    return hashlib.sha256(_LEASE_PREFIX + voter + round_id.encode() + bytes([change])).digest()


def read_ballot(data: bytes, receiver: bytes, genesis_hash: bytes) -> SignedBallot:
    """Read a ballot of any form; RefusedError says why it cannot count. `check_form` says whether it is of today's.

    Args:
        data: base64 of the msgpack of a signed transaction.
        receiver: the arena's public key, 32 bytes.
        genesis_hash: of the network, 32 bytes.
    """
    raw, envelope = _decode(data)
    transaction: dict[str, Any] = envelope["txn"]
    _check_payment(transaction, receiver, genesis_hash)
    round_id, choice = _read_note(transaction.get("note"))

    signed_bytes = TRANSACTION_PREFIX + pack(transaction)
    return SignedBallot(raw, transaction, envelope["sig"], round_id, choice, signed_bytes)


def check_form(ballot: SignedBallot) -> None:
    """Refuse a ballot that holds more than a vote.

    Raises:
        RefusedError: something in it does not follow from its voter, round, choice and network.
    """
    transaction = ballot.transaction
    network = _GENESIS_IDS.get(transaction["gh"])
    leases = {lease_of(transaction["snd"], ballot.round_id, change) for change in range(CHANGES)}

    refusals = (
        (len(ballot.raw) > MAX_BALLOT_BYTES, Refusal.TOO_LONG),
        ("grp" in transaction, Refusal.UNKNOWN_FIELD),
        (any(transaction.get(name, 0) < 0 for name in _NUMBERS), Refusal.NOT_A_TRANSACTION),
        ("gen" in transaction and transaction["gen"] != network, Refusal.OTHER_NETWORK),
        ("lx" in transaction and transaction["lx"] not in leases, Refusal.LEASE),
        (transaction["note"] != note_of(ballot.round_id, ballot.choice), Refusal.NOTE_FORM),
    )
    _refuse_first(refusals)


def _decode(data: bytes) -> tuple[bytes, dict[str, Any]]:
    """Unpack a file; whatever does not pack to the same bytes again is refused."""
    if len(data) > MAX_FILE_BYTES:
        raise RefusedError(Refusal.TOO_LARGE)
    try:
        raw = base64.b64decode(data.strip(), validate=True)
    except (binascii.Error, ValueError):
        raise RefusedError(Refusal.NOT_BASE64) from None

    try:
        envelope = unpack(raw)
    except ValueError:
        raise RefusedError(Refusal.NOT_A_TRANSACTION) from None
    if not isinstance(envelope, dict) or not isinstance(envelope.get("txn"), dict):
        raise RefusedError(Refusal.NOT_A_TRANSACTION)

    # The named reasons first: what is signed otherwise would also not pack to the same bytes.
    _check_envelope(envelope)
    if pack(envelope) != raw:
        raise RefusedError(Refusal.NOT_A_TRANSACTION)
    return raw, envelope


def _check_envelope(envelope: dict[Any, Any]) -> None:
    for key, refusal in (("msig", Refusal.MULTISIG), ("lsig", Refusal.LOGICSIG), ("sgnr", Refusal.REKEYED)):
        if key in envelope:
            raise RefusedError(refusal)
    signature = envelope.get("sig")
    if set(envelope) != {"sig", "txn"} or not isinstance(signature, bytes) or len(signature) != 64:
        raise RefusedError(Refusal.NOT_A_TRANSACTION)
    if any(not isinstance(value, bytes | str | int) for value in envelope["txn"].values()):
        raise RefusedError(Refusal.NOT_A_TRANSACTION)


def _check_payment(transaction: dict[str, Any], receiver: bytes, genesis: bytes) -> None:
    refusals = (
        (transaction.get("type") != "pay", Refusal.NOT_A_PAYMENT),
        ("rekey" in transaction, Refusal.REKEYS),
        ("close" in transaction, Refusal.CLOSES),
        ("amt" in transaction, Refusal.NOT_ZERO),
        (transaction.get("gh") != genesis, Refusal.OTHER_NETWORK),
        (transaction.get("rcv") != receiver, Refusal.OTHER_RECEIVER),
        (not _KEYS.issuperset(transaction), Refusal.UNKNOWN_FIELD),
    )
    _refuse_first(refusals)

    sender = transaction.get("snd")
    numbers = [transaction.get(name, 0) for name in _NUMBERS]
    if not isinstance(sender, bytes) or len(sender) != 32 or any(type(value) is not int for value in numbers):
        raise RefusedError(Refusal.NOT_A_TRANSACTION)


def _refuse_first(refusals: Iterable[tuple[bool, Refusal]]) -> None:
    for wrong, refusal in refusals:
        if wrong:
            raise RefusedError(refusal)


def _read_note(note: object) -> tuple[str, str]:
    if not isinstance(note, bytes) or len(note) > MAX_NOTE_BYTES or not note.startswith(NOTE_PREFIX):
        raise RefusedError(Refusal.NOTE_FORM)

    # As pairs, so that a key which is there twice is seen.
    try:
        pairs = json.loads(note[len(NOTE_PREFIX) :], object_pairs_hook=list)
        fields = dict(pairs)
    except (ValueError, TypeError, RecursionError):
        raise RefusedError(Refusal.NOTE_FORM) from None

    if len(pairs) != 2 or set(fields) != {"r", "p"} or not all(isinstance(value, str) for value in fields.values()):
        raise RefusedError(Refusal.NOTE_FORM)
    if fields["p"] not in CHOICES:
        raise RefusedError(Refusal.CHOICE)
    return fields["r"], fields["p"]
