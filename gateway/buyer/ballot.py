"""Read one signed ballot of the Arena, to hand it to the network for the page that had it signed.

A ballot is judged by the generator, which reads it from the chain. Here it is only made sure that nothing else is handed
on: no money, no other receiver, no other network, no round that is locked. What passes here passes there; a test holds
both together.
"""

from __future__ import annotations

import binascii
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, NoReturn

from gateway.errors import GatewayError
from gateway.wire.algorand import (
    DECODE_ERRORS,
    MAX_LIFE_ROUNDS,
    SIGNATURE_BYTES,
    TRANSACTION_PREFIX,
    address_of,
    key_of,
    pack,
    signature_holds,
    txid_of,
    unpack,
)
from gateway.wire.networks import Network

MAX_BYTES: Final = 1_024
MIN_FEE: Final = 1_000
MAX_FEE: Final = 10_000
"""Micro-ALGO; a ballot that pays more than ten times the least fee is a mistake of whoever signed it."""
NOTE_PREFIX: Final = b"emi-arena/v1:j"
MAX_NOTE_BYTES: Final = 256
CHOICES: Final = frozenset({"BULLISH", "BEARISH", "NEUTRAL"})
ROUND_ID: Final = re.compile(r"[A-Z0-9]{2,10}-([0-9]{8}-[0-9]{6})")
KEYS: Final = frozenset({"fee", "fv", "gen", "gh", "lv", "lx", "note", "rcv", "snd", "type"})
NEEDED: Final = frozenset({"fee", "fv", "gh", "lv", "note", "rcv", "snd", "type"})


class BallotRefused(GatewayError):
    """It is no ballot that can count. `locked` when only its round is over."""

    def __init__(self, text: str, *, locked: bool = False) -> None:
        super().__init__(text)
        self.locked = locked


@dataclass(frozen=True, slots=True)
class SignedBallot:
    """A ballot that may be handed on.

    Args:
        txid: its transaction id.
        voter: the sender's address.
        round_id: the round that it votes in.
        choice: the vote.
        raw: the signed transaction as a node takes it.
    """

    txid: str
    voter: str
    round_id: str
    choice: str
    raw: bytes


def read_ballot(text: str, network: Network, arena: str, now: datetime) -> SignedBallot:
    """Read a signed ballot that is to go on chain.

    Args:
        text: standard base64 of the signed transaction.
        network: ours.
        arena: the address that ballots are sent to.
        now: aware UTC wall time.

    Raises:
        BallotRefused: anything else than a ballot for a round that takes votes; the text is fit to be shown.
    """
    raw, envelope = _decoded(text)
    transaction: dict[str, Any] = envelope["txn"]
    _check_payment(transaction, network, arena)
    round_id, choice = _note(transaction["note"])
    message = TRANSACTION_PREFIX + pack(transaction)
    if not signature_holds(transaction["snd"], message, envelope["sig"]):
        _refuse("The signature is not the sender's; ballots of rekeyed and shared accounts are not counted.")
    _check_open(round_id, now)
    return SignedBallot(txid_of(message), address_of(transaction["snd"]), round_id, choice, raw)


def _refuse(text: str) -> NoReturn:
    raise BallotRefused(text)


def _decoded(text: str) -> tuple[bytes, dict[str, Any]]:
    try:
        raw = binascii.a2b_base64(text.encode("ascii"), strict_mode=True)
    except ValueError:
        _refuse("X-Ballot: standard base64 of one signed transaction.")
    if len(raw) > MAX_BYTES:
        _refuse(f"X-Ballot: a ballot has less than {MAX_BYTES} bytes.")
    try:
        envelope = unpack(raw)
        canonical = isinstance(envelope, dict) and pack(envelope) == raw
    except DECODE_ERRORS:
        canonical = False
    if not canonical or not _is_signed(envelope):
        _refuse("The ballot is not one plainly signed transaction.")
    return raw, envelope


def _is_signed(envelope: Mapping[Any, Any]) -> bool:
    signature, transaction = envelope.get("sig"), envelope.get("txn")
    signed = set(envelope) == {"sig", "txn"} and isinstance(signature, bytes) and len(signature) == SIGNATURE_BYTES
    return signed and isinstance(transaction, dict)


def _check_payment(transaction: Mapping[str, Any], network: Network, arena: str) -> None:
    if not transaction.keys() <= KEYS:
        _refuse("A ballot moves nothing, closes nothing and stands alone; this transaction does more.")
    if not transaction.keys() >= NEEDED or transaction["type"] != "pay" or not _well_typed(transaction):
        _refuse("The ballot is not one plainly signed transaction.")
    if transaction["gh"] != network.genesis_hash_bytes:
        _refuse("The ballot is for another network.")
    if transaction["rcv"] != key_of(arena):
        _refuse("The ballot is not addressed to this Arena.")
    if not MIN_FEE <= transaction["fee"] <= MAX_FEE:
        _refuse(f"A ballot on chain pays a fee of {MIN_FEE} to {MAX_FEE} micro-ALGO.")
    if not 0 <= transaction["lv"] - transaction["fv"] <= MAX_LIFE_ROUNDS:
        _refuse("The ballot's rounds of validity make no sense.")


def _well_typed(transaction: Mapping[str, Any]) -> bool:
    numbers = all(type(transaction[name]) is int for name in ("fee", "fv", "lv"))
    hashes = [transaction[name] for name in ("gh", "lx", "rcv", "snd") if name in transaction]
    texts = isinstance(transaction["note"], bytes) and isinstance(transaction.get("gen", ""), str)
    return numbers and texts and all(isinstance(value, bytes) and len(value) == 32 for value in hashes)


def _note(note: bytes) -> tuple[str, str]:
    if len(note) > MAX_NOTE_BYTES or not note.startswith(NOTE_PREFIX):
        _refuse("The note is not a ballot's.")
    try:
        pairs = json.loads(note[len(NOTE_PREFIX) :], object_pairs_hook=list)
        fields = dict(pairs)
    except (ValueError, TypeError, RecursionError):
        _refuse("The note is not a ballot's.")
    round_id, choice = fields.get("r"), fields.get("p")
    if len(pairs) != 2 or not isinstance(round_id, str) or not isinstance(choice, str) or choice not in CHOICES:
        _refuse("The note is not a ballot's.")
    return round_id, choice


def _check_open(round_id: str, now: datetime) -> None:
    """Read when votes close from the round's name, which is when it goes live."""
    found = ROUND_ID.fullmatch(round_id)
    try:
        closes = datetime.strptime(found[1] if found else "", "%Y%m%d-%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        _refuse("The note names no round.")
    if now >= closes:
        raise BallotRefused(f"Votes in {round_id} are closed.", locked=True)
