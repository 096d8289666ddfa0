"""Failures of the gateway.

    GatewayError
    ├── VaultUnreadable
    ├── LedgerUnreadable, LedgerUnavailable (503), IdentityTaken
    └── PaymentInvalid (402)

Another service's lost answer is `RemoteError` of `gateway.upstream.http_client`. Wrong settings are ValueError
(pydantic's), one line each.
"""

from sqlalchemy.exc import SQLAlchemyError


class GatewayError(Exception):
    """Root of the gateway's failures; its text is one clear line for the operator."""


class VaultUnreadable(GatewayError):
    """The manifest or a body it names is not what it says."""


class LedgerUnreadable(GatewayError):
    """The payments ledger cannot be opened; nothing was overwritten."""


class LedgerUnavailable(GatewayError, SQLAlchemyError):
    """The payments ledger does not answer in time, or its file is not the one that was opened (503).

    A failure of the database like any other, so whoever handles those handles this.
    """


class IdentityTaken(GatewayError):
    """The txid or the payment identifier is in the payments ledger already."""


class PaymentInvalid(GatewayError):
    """The payment as sent can never be accepted (402): a snake-case word for machines, one sentence for people."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(f"{code}: {text}")
        self.code = code
        self.text = text


def database_reason(error: BaseException) -> str:
    """Return in one line, at most 200 characters, what the database said, without statement and parameters."""
    return " ".join(str(getattr(error, "orig", None) or error).split())[:200]
