"""What the payments ledger keeps of one payment."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Intent:
    """What is written before settle is asked.

    Args:
        txid: the payment's identity.
        product, path, cache_control, snapshot_id: what is bought, enough to deliver it without any vault.
        sha256, content: the body that was quoted.
        price_atomic: what is paid.
        payer: the sender.
        network: as the client sent it.
        identifier: the payment-identifier extension's id, if any.
        last_valid: last round at which it can land.
        intent_round: the chain's round now, None when it could not be read.
        owner: this process.
        at: wall time now.
    """

    txid: str
    product: str
    path: str
    cache_control: str
    snapshot_id: str
    sha256: str
    content: bytes
    price_atomic: int
    payer: str
    network: str
    identifier: str | None
    last_valid: int
    intent_round: int | None
    owner: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Adoption:
    """A payment that the chain shows and the ledger did not know, taken in by the operator; its body comes later.

    Args:
        txid: the payment's identity.
        product, path, cache_control: what it buys.
        price_atomic: what was paid.
        payer: the sender.
        network: the form of the network's name that receipts carry.
        last_valid: last round at which it could land.
        owner: this process.
        at: wall time now.
    """

    txid: str
    product: str
    path: str
    cache_control: str
    price_atomic: int
    payer: str
    network: str
    last_valid: int
    owner: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Record:
    """One payment as it stands on disk; times are seconds since the epoch.

    Args:
        keep_round: the round of the chain until which its body is kept.
        refusal_round: the round of the first look after settle was refused before any broadcast; None when it was not.
    """

    txid: str
    state: str
    product: str
    path: str
    cache_control: str
    snapshot_id: str
    sha256: str
    price_atomic: int
    payer: str
    network: str
    identifier: str | None
    last_valid: int
    intent_round: int | None
    watched_round: int | None
    owner: str
    settles: int
    reason: str | None
    evidence: str | None
    created_at: float
    closed_at: float | None
    deliveries: int
    refusal_round: int | None
    keep_round: int
    content: bytes | None

    @property
    def awaits_body(self) -> bool:
        """Whether the operator adopted it and nobody has presented it yet, so that no body was chosen."""
        return self.sha256 == ""

    @property
    def refused_since(self) -> int | None:
        """The round of that first look, as long as the refusal that it followed was the only answer to settle."""
        return self.refusal_round if self.settles == 1 else None
