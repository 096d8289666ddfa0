"""One payment as the ledger keeps it, and what may be changed of it."""

from dataclasses import dataclass
from typing import Final

KEEP_ROUNDS: Final = 35_000
"""How long past its last valid round a payment's body is kept: more than a day, and counted by the chain."""


@dataclass(frozen=True, slots=True)
class Record:
    """One payment, its columns in their order and its body; times are wall time, seconds since the epoch."""

    txid: str
    state: str  # `intent` while the outcome is unknown, then `settled` or `refused`
    product: str  # this and the next four are enough to deliver it without any vault
    path: str
    cache_control: str
    snapshot_id: str
    sha256: str  # of the body; empty while an adopted payment has none yet
    price_atomic: int
    payer: str
    network: str  # as the client sent it
    identifier: str | None  # of the payment-identifier extension
    last_valid: int  # last round at which it can land
    intent_round: int | None  # the chain's when the intent was written, None when it could not be read
    watched_round: int | None  # last of an unbroken chain of algod's 404s since the intent, None when it is broken
    owner: str  # the process that asks the facilitator
    settles: int = 1  # how often POST /settle was begun
    reason: str | None = None  # why it was refused, or may have been
    evidence: str | None = None  # why the outcome is certain
    created_at: float = 0.0
    closed_at: float | None = None
    deliveries: int = 0  # answers of 200
    refusal_round: int | None = None  # of the first lookup after settle was refused before any broadcast, if it was
    keep_round: int = 0  # the round of the chain until which its body is kept
    delivered_round: int | None = None  # the chain's about when it was first delivered, None when it never was
    receipt: str | None = None  # signed when it settled; None without a key, or once its body is dropped
    content: bytes | None = None  # the body; None when it was not read, not chosen yet, or dropped

    @property
    def awaits_body(self) -> bool:
        """Whether the operator adopted it and no one has presented it yet, so that no body was chosen."""
        return self.sha256 == ""

    @property
    def is_retired(self) -> bool:
        """Whether it settled so long ago that only its txid, product, amount and time are kept."""
        return self.path == ""

    @property
    def refused_since(self) -> int | None:
        """The refusal's round, as long as that refusal is the only answer to settle."""
        if self.settles != 1:
            return None
        return self.refusal_round


@dataclass(frozen=True, slots=True)
class Settle:
    """Close a payment as settled, also one that counted as refused."""

    evidence: str
    receipt: str | None = None


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
