"""The unsigned transactions that pay one entry of an x402 offer on Algorand."""

from collections.abc import Mapping
from typing import Any

from algosdk import transaction

from gateway.wire.networks import Network


def payment_group(  # noqa: PLR0917
    accepted: Mapping[str, Any],
    payer: str,
    network: Network,
    rounds: tuple[int, int],
    min_fee: int,
    note: bytes,
    lease: bytes | None = None,
) -> list[Any]:
    """Build the fee payer's part and then the payment, or the payment alone where the offer names no fee payer.

    Args:
        accepted: the entry of `accepts`.
        payer: the buyer's address.
        network: whose genesis the transactions name.
        rounds: first and last valid round.
        min_fee: micro-ALGO a transaction.
        note: of the payment; it makes two payments of one price in one round two transactions.
        lease: of the payment.
    """

    def terms(fee: int) -> transaction.SuggestedParams:
        genesis = {"gh": network.genesis_hash, "gen": network.genesis_id}
        return transaction.SuggestedParams(fee, *rounds, **genesis, flat_fee=True)

    fee_payer = accepted["extra"].get("feePayer")
    payment = transaction.AssetTransferTxn(
        payer,
        terms(0 if fee_payer else min_fee),
        accepted["payTo"],
        int(accepted["amount"]),
        int(accepted["asset"]),
        note=note,
        lease=lease,
    )
    if not fee_payer:
        return [payment]
    fee = transaction.PaymentTxn(fee_payer, terms(2 * min_fee), fee_payer, 0)
    return list(transaction.assign_group_id([fee, payment]))
