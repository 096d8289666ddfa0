"""Make a ballot: what `emi vote` signs."""

from __future__ import annotations

from algosdk.account import address_from_private_key
from algosdk.atomic_transaction_composer import AccountTransactionSigner
from algosdk.encoding import msgpack_encode
from algosdk.transaction import PaymentTxn, SuggestedParams

from generator.arena.ballots import note_of
from generator.catalog.words import Prediction


def sign_ballot(
    private_key: str,
    round_id: str,
    choice: Prediction,
    address: str,
    genesis_hash: str,
    *,
    lease: bytes | None = None,
) -> tuple[str, bytes]:
    """Sign one ballot that no one can ever submit: its fee is zero and its validity ends in ledger round 1.

    Args:
        private_key: base64 of seed and public key, as the SDK writes it.
        round_id: the round that takes votes.
        choice: the vote.
        address: the arena's.
        genesis_hash: standard base64.
        lease: 32 random bytes make a second ballot of the same vote another one; it counts when it comes last.

    Returns:
        The transaction id and the file's content: base64 of the msgpack.
    """
    params = SuggestedParams(fee=0, first=1, last=1, gh=genesis_hash, flat_fee=True)
    sender = address_from_private_key(private_key)
    payment = PaymentTxn(sender, params, address, 0, note=note_of(round_id, choice), lease=lease)
    signed = AccountTransactionSigner(private_key).sign_transactions([payment], [0])[0]
    return str(payment.get_txid()), msgpack_encode(signed).encode() + b"\n"
