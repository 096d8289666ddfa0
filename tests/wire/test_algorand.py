"""Algorand encoding against the official SDK."""

import pytest
from algosdk import constants, encoding, transaction
from algosdk.account import generate_account

from gateway.wire.algorand import (
    MAX_GROUP,
    MAX_NOTE_BYTES,
    MIN_FEE,
    TRANSACTION_PREFIX,
    address_of,
    group_id_of,
    key_of,
    pack,
    txid_of,
)
from gateway.wire.foreign import read_msgpack
from gateway.wire.networks import DEVNET


def payment(note: bytes) -> transaction.PaymentTxn:
    secret, sender = generate_account()
    assert secret
    params = transaction.SuggestedParams(1_000, 10, 20, DEVNET.genesis_hash, flat_fee=True)
    return transaction.PaymentTxn(sender, params, sender, 0, note=note)


def test_addresses_transaction_ids_and_groups_are_those_of_the_sdk() -> None:
    payments = [payment(b"one"), payment(b"two")]
    fields = [one.dictify() for one in payments]

    assert [txid_of(TRANSACTION_PREFIX + pack(one)) for one in fields] == [one.get_txid() for one in payments]
    assert group_id_of(fields) == transaction.calculate_group_id(payments)
    assert [address_of(key_of(one.sender)) for one in payments] == [one.sender for one in payments]


def test_what_is_packed_unpacks_to_the_same_without_its_zero_values() -> None:
    assert read_msgpack(pack({"snd": bytes(32), "amt": 0, "fee": 1})) == {"fee": 1, "snd": bytes(32)}
    assert encoding.msgpack_encode({"b": 1, "a": 2}) == "gqFhAqFiAQ=="


@pytest.mark.parametrize("text", ["", "someone", "A" * 58])
def test_an_invalid_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not an Algorand address"):
        key_of(text)


def test_the_chain_s_limits_are_those_of_the_sdk() -> None:
    assert (MAX_GROUP, MIN_FEE, MAX_NOTE_BYTES) == (
        constants.TX_GROUP_LIMIT,
        constants.MIN_TXN_FEE,
        constants.NOTE_MAX_LENGTH,
    )
