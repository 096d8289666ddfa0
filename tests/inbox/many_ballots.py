"""Thousands of ballots, made without the SDK's builders, from keys that are the same in every run."""

import base64
import hashlib
from functools import lru_cache
from typing import Any

from nacl.signing import SigningKey

from gateway.wire.algorand import DEMO_ARENA, TRANSACTION_PREFIX, key_of, pack, txid_of
from generator.arena.ballots import BallotFile, note_of
from generator.catalog.words import Prediction
from tests.support.arena_inputs import GENESIS

WORDS = tuple(Prediction)


@lru_cache(maxsize=20_000)
def key(number: int) -> SigningKey:
    """Return the key of one voter."""
    return SigningKey(hashlib.sha256(f"voter {number}".encode()).digest())


def ballot(
    number: int, round_id: str, choice: Prediction, at_ms: int, *, confirmed: bool = False, **changes: Any
) -> BallotFile:
    """Sign one ballot of voter `number`."""
    transaction = {
        "fv": 1,
        "gh": base64.b64decode(GENESIS),
        "lv": 1,
        "note": note_of(round_id, choice),
        "rcv": key_of(DEMO_ARENA),
        "snd": key(number).verify_key.encode(),
        "type": "pay",
        **changes,
    }
    message = TRANSACTION_PREFIX + pack(transaction)
    signed = {"sig": key(number).sign(message).signature, "txn": transaction}
    name = txid_of(message) + ("" if confirmed else ".ballot")  # as the chain's reader and `emi vote` name them
    return BallotFile(name, base64.b64encode(pack(signed)), at_ms, confirmed=confirmed)


def flood(count: int, round_id: str, at_ms: int, over_ms: int = 60_000) -> list[BallotFile]:
    """Return one ballot each of `count` voters, spread evenly over a time; the choices take turns."""
    return [ballot(number, round_id, WORDS[number % 3], at_ms + number * over_ms // count) for number in range(count)]
