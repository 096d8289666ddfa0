"""Answers on the paid paths, encoded once and sent as raw ASGI."""

from __future__ import annotations

import binascii
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from starlette.types import Receive, Scope, Send

from gateway.app.problem import CORS_HEADERS, SECURITY_HEADERS

Headers = list[tuple[bytes, bytes]]
VARY: Final = b"PAYMENT-SIGNATURE, X-PAYMENT"
PAID_HEADERS: Final[tuple[tuple[bytes, bytes], ...]] = (
    (b"vary", VARY),
    *((name.encode(), value.encode()) for name, value in {**CORS_HEADERS, **SECURITY_HEADERS}.items()),
)
# What the server itself adds: the status line and a Date header.
SERVER_HEADER_BYTES: Final = 40 + 39
MAX_HEADER_BYTES: Final = 4_096


@dataclass(frozen=True, slots=True)
class Encoded:
    """A finished answer; sending it does no encoding.

    Args:
        status: HTTP status.
        headers: lower-case names, content-length included.
        body: the bytes; left out for HEAD.
    """

    status: int
    headers: Headers
    body: bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the answer as an ASGI application."""
        await send({"type": "http.response.start", "status": self.status, "headers": self.headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else self.body})


def encoded(status: int, body: bytes, headers: Iterable[tuple[bytes, bytes]]) -> Encoded:
    """Make an answer on a paid path: JSON, with the headers that every such answer carries.

    Args:
        status: HTTP status.
        body: JSON bytes.
        headers: what this answer adds, lower-case names.

    Returns:
        The finished answer.
    """
    length = str(len(body)).encode()
    base = [(b"content-type", b"application/json"), (b"content-length", length), *PAID_HEADERS]
    return Encoded(status, [*base, *headers], body)


def header_bytes(headers: Iterable[tuple[bytes, bytes]]) -> int:
    """Return what headers weigh on the wire, the server's own included."""
    return SERVER_HEADER_BYTES + sum(len(name) + len(value) + 4 for name, value in headers)


def receipt_header(
    *, success: bool, network: str, transaction: str, payer: str | None, reason: str | None = None
) -> tuple[bytes, bytes]:
    """Make the PAYMENT-RESPONSE header.

    Args:
        success: whether the payment is settled.
        network: the form that the client sent.
        transaction: the computed txid, empty when nothing was or may have been broadcast.
        payer: the sender's address.
        reason: the error reason when not settled.

    Returns:
        Name and value.
    """
    # As x402's SettleResponse goes over the wire; a test holds both equal.
    answer: dict[str, str | bool] = {"success": success}
    if reason is not None:
        answer["errorReason"] = reason
    if payer is not None:
        answer["payer"] = payer
    answer |= {"transaction": transaction, "network": network}
    text = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
    return (b"payment-response", binascii.b2a_base64(text.encode(), newline=False))
