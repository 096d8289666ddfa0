"""Find transfers to our payee in what a client sent, whatever else is wrong with it.

`gateway.payments.parse` decides what is taken as a payment. Here nothing is taken: whoever sent a transfer that may be
on the chain must not be asked for another one before the chain was asked, also where the rest cannot be read.
"""

import binascii
import functools
import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgpack

from gateway.values import Transfer
from gateway.wire.algorand import (
    DECODE_ERRORS,
    KEY_BYTES,
    TRANSACTION_PREFIX,
    UINT64,
    address_of,
    key_of,
    pack,
    txid_of,
)
from gateway.wire.networks import Network

NUMBERS: Final = ("xaid", "aamt", "fee", "fv", "lv")
OTHERS: Final = ("type", "gen", "gh", "grp", "lx", "note", "rekey", "snd", "arcv", "aclose", "asnd")
# The encoding that is agreed, and one more around it.
MAX_WRAPPINGS: Final = 2
# What says no more than that it is a transfer, on which network and to whom, is longer in base64.
SHORTEST: Final = 100
_RUN: Final = re.compile(rf"[A-Za-z0-9+/_-]{{{SHORTEST},}}={{0,2}}")
_FROM_URL_SAFE: Final = str.maketrans("-_", "+/")
receiver: Final = functools.lru_cache(maxsize=4)(key_of)
"""Return the public key of an address."""


def find_transfers(header: str, network: Network, payee: str) -> tuple[Transfer, ...]:
    """Return every transfer to our payee that any text in a payment header holds, each once."""
    transfers: dict[str, Transfer] = {}
    texts = [header]
    for _ in range(MAX_WRAPPINGS):
        texts = [part for text in texts for part in _texts(text)]
        for text in texts:
            transfer = read_transfer(_item(text), network, payee)
            if transfer is not None:
                transfers.setdefault(transfer.txid, transfer)
    return tuple(transfers.values())


def read_transfer(item: Any, network: Network, payee: str) -> Transfer | None:
    """Return the transfer to our payee that a decoded transaction is, signed or not; None if it is none.

    One of another network can never be on our chain, so it is none.
    """
    txn = item.get("txn", item) if isinstance(item, dict) else None
    if not isinstance(txn, dict) or txn.get("type") != "axfer" or txn.get("gh") != network.genesis_hash_bytes:
        return None
    if receiver(payee) not in (txn.get("arcv"), txn.get("aclose")):
        return None

    fields = _as_the_sdk_reads(txn)
    try:
        txid = txid_of(TRANSACTION_PREFIX + pack(fields))
    except DECODE_ERRORS:
        # Of types that no transaction holds: no facilitator can have broadcast it.
        return None

    payer = ""
    sender = fields.get("snd")
    if isinstance(sender, bytes) and len(sender) == KEY_BYTES:
        payer = address_of(sender)
    return Transfer(txid, payer, fields.get("fv", 0), fields.get("lv", 0), network.full)


def _as_the_sdk_reads(txn: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the fields that a facilitator's SDK would broadcast: it drops unknown ones and makes floats whole."""
    numbers = {name: _whole(txn[name]) for name in NUMBERS if txn.get(name)}
    return {**numbers, **{name: txn[name] for name in OTHERS if txn.get(name)}}


def _whole(value: Any) -> int:
    if not isinstance(value, int | float) or not math.isfinite(value):
        return 0
    if not 0 <= value < UINT64:
        return 0
    return int(value)


def _texts(text: str) -> Iterator[str]:
    """Yield whatever in a text may be a transaction: the texts of its JSON, or where that is none, runs of base64."""
    if len(text) < SHORTEST:
        return
    forms = (_decoded(text).decode("utf-8", "replace"), text)
    for form in forms:
        try:
            # As pairs, so that a member which is there twice hides nothing; read_json would refuse it.
            value = json.loads(form, object_pairs_hook=list)  # noqa: TID251
        except (ValueError, RecursionError):
            continue
        yield from (part for part in _texts_in(value) if len(part) >= SHORTEST)
        return
    for form in forms:
        yield from _RUN.findall(form)


def _texts_in(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            yield part
        elif isinstance(part, list | tuple):
            waiting += part


def _item(text: str) -> Any:
    try:
        return msgpack.unpackb(_decoded(text), raw=False, strict_map_key=False)  # noqa: TID251  likewise
    except DECODE_ERRORS:
        return None


def _decoded(text: str) -> bytes:
    """Decode base64 of either alphabet, padded or not; nothing when it is none."""
    try:
        return binascii.a2b_base64(text.translate(_FROM_URL_SAFE) + "==")
    except ValueError:
        return b""
