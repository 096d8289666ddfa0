"""One payment as the ledger keeps it, and what may be changed of it."""

from dataclasses import dataclass
from typing import Final

KEEP_ROUNDS: Final = 35_000
"""How long past its last valid round a payment's body is kept: more than a day, and counted by the chain."""


@dataclass(frozen=True, slots=True)
class Record:
    """One payment, its columns in their order and its body; times are seconds since the epoch.

    Args:
        txid: the payment's identity.
        state: `intent` while the outcome is unknown, then `settled` or `refused`.
        product, path, cache_control, snapshot_id, sha256: what is bought, enough to deliver it without any vault;
            sha256 is empty while an adopted payment has no body yet.
        price_atomic: what is paid.
        payer: the sender.
        network: as the client sent it.
        identifier: the payment-identifier extension's id, if any.
        last_valid: last round at which it can land.
        intent_round: the chain's round when the intent was written, None when it could not be read.
        watched_round: last round of an unbroken chain of algod's 404s since the intent, None when it is broken.
        owner: the process that asks the facilitator.
        settles: how often POST /settle was begun.
        reason: why it was refused, or may have been.
        evidence: why the outcome is certain.
        created_at, closed_at: wall time.
        deliveries: answers of 200.
        refusal_round: the round of the first lookup after settle was refused before any broadcast; None without one.
        keep_round: the round of the chain until which its body is kept.
        content: the body; None when it was not read, not chosen yet, or dropped.
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
    settles: int = 1
    reason: str | None = None
    evidence: str | None = None
    created_at: float = 0.0
    closed_at: float | None = None
    deliveries: int = 0
    refusal_round: int | None = None
    keep_round: int = 0
    content: bytes | None = None

    @property
    def awaits_body(self) -> bool:
        """Whether the operator adopted it and no one has presented it yet, so that no body was chosen."""
        return self.sha256 == ""

    @property
    def refused_since(self) -> int | None:
        """The refusal's round, as long as that refusal is the only answer to settle."""
        return self.refusal_round if self.settles == 1 else None


@dataclass(frozen=True, slots=True)
class Settle:
    """Close a payment as settled, also one that counted as refused."""

    evidence: str


@dataclass(frozen=True, slots=True)
class Refuse:
    """Close an intent as refused."""

    reason: str
    evidence: str


@dataclass(frozen=True, slots=True)
class NoteRefusal:
    """Keep that the first settle was refused before any broadcast, and that the chain had nothing at a round."""

    reason: str
    round: int


@dataclass(frozen=True, slots=True)
class Review:
    """Replace the evidence of a closed payment by a better one; its state stays."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Watch:
    """Keep how far the unbroken chain of 404s reaches."""

    round: int | None


Change = Settle | Refuse | NoteRefusal | Review | Watch
