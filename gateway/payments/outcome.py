"""How an attempt to buy ends; each becomes one answer on the wire."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Delivered:
    """Settled: the quoted bytes and the receipt."""

    txid: str
    path: str
    content: bytes
    sha256: str
    cache_control: str
    network: str
    payer: str
    replay: bool
    identifier: str | None = None
    """The payment identifier it came with; a secret, never shown."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Certainly not paid by this payment: 402 with a fresh challenge.

    Args:
        code: snake-case reason.
        text: one sentence, may be empty.
        network: as the client sent it; None when no receipt belongs to the answer.
        payer: the sender, if known.
    """

    code: str
    text: str
    network: str | None = None
    payer: str | None = None


@dataclass(frozen=True, slots=True)
class Gone:
    """Settled and delivered long ago, the body kept no longer: 410, never a challenge, since it is paid."""

    txid: str
    network: str
    payer: str
    identifier: str | None = None


@dataclass(frozen=True, slots=True)
class Withheld:
    """Settled, but presented without the identifier it came with: 409, never a challenge, since it is paid."""


@dataclass(frozen=True, slots=True)
class Pending:
    """The outcome is not known: 503, never a challenge, since the money may have moved."""

    txid: str
    network: str
    payer: str


@dataclass(frozen=True, slots=True)
class Unavailable:
    """Nothing was asked of the payment; the same one may work later: 503."""

    reason: str
    retry_after_s: int = 5


@dataclass(frozen=True, slots=True)
class Limited:
    """Too many attempts from this address: 429."""

    retry_after_s: int


Outcome = Delivered | Refused | Gone | Withheld | Pending | Unavailable | Limited
