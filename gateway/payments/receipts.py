"""What the seller signs of a settled payment: the extension offer-receipt, with what was delivered and the log's head.

A receipt is made in the statement that settles a payment, or that gives an adopted one its body, and stored with its
row: a payment has one receipt or none, whatever happens in between, and each replay carries the same.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from gateway.ledger.record import Change, Record, Settle
from gateway.settings import GatewaySettings
from gateway.vault.folder import VaultReader
from gateway.wire.networks import NETWORKS
from gateway.wire.receipts import EXTENSION, VERSION, ReceiptKey, did_of


class Receipts:
    """Sign receipts of one service; without a key there are none."""

    def __init__(self, settings: GatewaySettings, vault: VaultReader, key: ReceiptKey | None) -> None:
        self._origin = settings.origin
        self._vault = vault
        self._key = key

    def sign(self, record: Record, at: datetime) -> str | None:
        """Return the receipt of a payment that settled and has its body; None without a key, or a body."""
        if self._key is None or record.awaits_body:
            return None
        claims = {
            "version": VERSION,
            "network": _caip2(record.network),
            "resourceUrl": self._origin + record.path,
            "payer": record.payer,
            "issuedAt": int(at.timestamp()),
            "transaction": record.txid,
            "bodySha256": record.sha256,
            "snapshotId": record.snapshot_id,
        }

        vault = self._vault.current()
        if vault is not None and vault.checkpoint is not None:
            claims["checkpoint"] = dict(vault.checkpoint)
        return self._key.sign(claims, did_of(self._origin))

    def added_to(self, change: Change | None, record: Record, at: datetime) -> Change | None:
        """Return a change of a payment's row, with the receipt where it settles the payment."""
        if not isinstance(change, Settle):
            return change
        return replace(change, receipt=self.sign(record, at))


def extension_of(receipt: str) -> dict[str, Any]:
    """Return what PAYMENT-RESPONSE carries as its extensions."""
    return {EXTENSION: {"info": {"version": VERSION, "receipt": {"format": FORMAT, "signature": receipt}}}}


FORMAT: Final = "jws"


def _caip2(network: str) -> str:
    return next((known.caip2 for known in NETWORKS.values() if network in known.forms), network)
