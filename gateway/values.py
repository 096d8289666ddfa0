"""Values that rooms hand to each other: a payment as its client signed it, a transfer to our payee."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Transfer:
    """A transaction that would move an asset to our payee: signed or not, of any asset and amount."""

    txid: str
    payer: str  # empty when it names none
    first_valid: int
    last_valid: int
    network: str  # as the client sent it, else ours


@dataclass(frozen=True, slots=True)
class Payment:
    """A payment that is well-formed and whose terms hold; its amount is compared with the snapshot's price later."""

    txid: str  # its identity, computed from the transaction
    payer: str
    amount_atomic: int
    first_valid: int  # first round at which it can land
    last_valid: int  # and the last
    group: tuple[str, ...]  # base64 items; the same txid may come in another group text
    index: int  # of the payment in the group
    network: str  # as the client sent it
    fee_payer: str | None  # echoed from the challenge, as the snapshot's id
    snapshot_id: str | None
    resource: dict[str, Any] | None  # forwarded as sent, as the extensions
    extensions: dict[str, Any] | None
    identifier: str | None  # of the payment-identifier extension
    others: tuple[Transfer, ...] = ()  # what else in the group would move an asset to our payee

    @property
    def transfer(self) -> Transfer:
        """The payment as a transfer to our payee."""
        return Transfer(self.txid, self.payer, self.first_valid, self.last_valid, self.network)
