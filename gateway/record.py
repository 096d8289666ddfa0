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
        settling_until: wall time until which this process may be asking the facilitator.
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
    settling_until: datetime
    at: datetime


@dataclass(frozen=True, slots=True)
class Record:
    """One payment as it stands on disk; times are seconds since the epoch.

    Args:
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
    settling_until: float
    reason: str | None
    evidence: str | None
    created_at: float
    closed_at: float | None
    keep_until: float
    deliveries: int
    refusal_round: int | None
    content: bytes | None

    @property
    def refused_since(self) -> int | None:
        """The round of that first look, as long as the refusal that it followed was the only answer to settle."""
        return self.refusal_round if self.settles == 1 else None
