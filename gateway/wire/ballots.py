"""Read ballots: signed zero-amount Algorand payments to the arena address, with a note of `notes`.

The generator counts them, and the gateway hands on only such as it will count; when a round closes, each of them judges
by its own clock.

Counted ballots are published for good. So in the form that is in force a ballot has no room for anything but a vote:
each field is absent or follows from voter, round, vote and network. Only a transaction's fee and rounds of validity
are free numbers, and those of a ballot that is not on chain are fixed too. Rounds that were opened before this form
came into force take, and are verified by, the form of their time.
"""

import base64
import binascii
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gateway.wire.algorand import TRANSACTION_PREFIX, address_of, pack, signature_holds, txid_of
from gateway.wire.foreign import ForeignBytesError, read_msgpack
from gateway.wire.networks import NETWORKS
from gateway.wire.notes import RoundVote, Vote, read_note
from gateway.wire.refusals import Refusal, RefusedError

MAX_FILE_BYTES: Final = 4_096
FORM: Final = 3
"""The form of ballots that is in force: a word or chances. The log names the form of each round that it seals."""
WORDS_FORM: Final = 2
"""The form of rounds that take words alone: nothing but a ballot."""
FIRST_FORM: Final = 1
"""The form of rounds of which the log names none: any genesis id, lease, group and spacing of the note."""
MAX_BALLOT_BYTES: Final = 512
"""Of the msgpack of a ballot."""
CHANGES: Final = 20
"""So often a voter may sign in one round: the first vote and 19 changes of mind."""
_LEASE_PREFIX: Final = b"emi-arena/lease"
_GENESIS_IDS: Final = {network.genesis_hash_bytes: network.genesis_id for network in NETWORKS.values()}
_NUMBERS: Final = ("fee", "fv", "lv")
_KEYS: Final = frozenset({"fee", "fv", "gen", "gh", "grp", "lv", "lx", "note", "rcv", "snd", "type"})


@dataclass(frozen=True, slots=True)
class SignedBallot:
    """A ballot whose form holds; its signature and its round are not checked yet."""

    raw: bytes  # msgpack of the signed transaction
    transaction: Mapping[str, Any]  # its fields, as on the wire
    signature: bytes  # ed25519, 64 bytes
    vote: Vote  # what its note says
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


def lease_of(voter: bytes, subject: str, change: int) -> bytes:
    """Return the lease of a voter's next ballot in a round, by which a vote that is repeated is another transaction.

    Who votes up, then down, then up again would sign the first transaction once more, which counts once. A lease that
    follows from what the ballot says anyway carries nothing else.

    Args:
        voter: the public key, 32 bytes.
        subject: the round that takes votes.
        change: how often the voter changed the vote in this round before, 0 to 19.
    """
    if not 0 <= change < CHANGES:
        raise ValueError(f"a vote can be changed {CHANGES - 1} times in a round")
    return hashlib.sha256(_LEASE_PREFIX + voter + subject.encode() + bytes([change])).digest()


def read_ballot(data: bytes, receiver: bytes, genesis_hash: bytes) -> SignedBallot:
    """Read a ballot of any form; RefusedError says why it cannot count. `check_form` says whether it is of a round's.

    Args:
        data: base64 of the msgpack of a signed transaction.
        receiver: the arena's public key, 32 bytes.
        genesis_hash: of the network, 32 bytes.
    """
    raw, envelope = _decode(data)
    transaction: dict[str, Any] = envelope["txn"]
    _check_payment(transaction, receiver, genesis_hash)
    vote = read_note(transaction.get("note"))

    signed_bytes = TRANSACTION_PREFIX + pack(transaction)
    return SignedBallot(raw, transaction, envelope["sig"], vote, signed_bytes)


def check_form(ballot: SignedBallot, form: int = FORM) -> None:
    """Refuse a ballot that holds more than a vote, or another vote than a round of this form takes.

    Raises:
        RefusedError: something in it does not follow from its voter, round, vote and network, or it gives chances to a
            round that takes words alone.
    """
    is_word = isinstance(ballot.vote, RoundVote) and ballot.vote.chances is None
    if form <= WORDS_FORM and not is_word:
        raise RefusedError(Refusal.WORDS_ALONE)
    if form == FIRST_FORM:
        return

    transaction = ballot.transaction
    network = _GENESIS_IDS.get(transaction["gh"])
    leases = {lease_of(transaction["snd"], ballot.vote.subject, change) for change in range(CHANGES)}

    refusals = (
        (len(ballot.raw) > MAX_BALLOT_BYTES, Refusal.TOO_LONG),
        ("grp" in transaction, Refusal.UNKNOWN_FIELD),
        (any(transaction.get(name, 0) < 0 for name in _NUMBERS), Refusal.NOT_A_TRANSACTION),
        ("gen" in transaction and transaction["gen"] != network, Refusal.OTHER_NETWORK),
        ("lx" in transaction and transaction["lx"] not in leases, Refusal.LEASE),
        (transaction["note"] != ballot.vote.note, Refusal.NOTE_FORM),
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
        envelope = read_msgpack(raw)
    except ForeignBytesError:
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
