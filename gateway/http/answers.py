"""Answers: the headers of all, problem documents (RFC 9457), and finished bytes for the paid paths."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

Headers = list[tuple[bytes, bytes]]
PROBLEMS: Final[dict[int, tuple[str, str]]] = {
    400: ("bad-request", "The request cannot be understood"),
    404: ("not-found", "There is nothing at this path"),
    405: ("method-not-allowed", "This path answers GET, HEAD and OPTIONS only"),
    409: ("paid-already", "The payment was made before; do not pay again"),
    410: ("gone", "The payment is settled, and its answer is kept no longer"),
    413: ("body-refused", "Requests carry no body here"),
    421: ("misdirected", "This service does not answer for the host that the request names"),
    429: ("rate-limited", "Too many payment attempts"),
    431: ("headers-too-large", "The request headers are larger than 16 KiB"),
    500: ("internal", "Something failed on our side"),
    503: ("unavailable", "Not available now"),
}
# Used while no vault was ever read; afterwards the vault's own sentence is used.
FALLBACK_DISCLAIMER: Final = (
    "For educational use only. This is not financial, investment, trading, tax, legal, betting, gambling or "
    "fund-management advice. Confidence is neither certainty nor a promise of any outcome."
)
SECURITY_HEADERS: Final[dict[str, str]] = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
}
CORS_HEADERS: Final[dict[str, str]] = {
    "access-control-allow-origin": "*",
    "access-control-expose-headers": (
        "PAYMENT-REQUIRED, PAYMENT-RESPONSE, Retry-After, ETag, Date, Link, X-Request-Id, X-Generation"
    ),
}
"""A page elsewhere may read what the docs speak of: terms, when to ask again, which version and release, the id."""
ALLOWED_METHODS: Final = "GET, HEAD, OPTIONS"
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
    """A finished answer; sending it does no encoding."""

    status: int
    headers: Headers  # lower-case names, content-length included
    body: bytes  # left out for HEAD

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the answer as an ASGI application."""
        await send({"type": "http.response.start", "status": self.status, "headers": self.headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else self.body})


def encoded(status: int, body: bytes, headers: Iterable[tuple[bytes, bytes]]) -> Encoded:
    """Make an answer of JSON on a paid path: its own headers, lower-case, and those that every such answer carries."""
    length = str(len(body)).encode()
    base = [(b"content-type", b"application/json"), (b"content-length", length), *PAID_HEADERS]
    return Encoded(status, [*base, *headers], body)


def header_bytes(headers: Iterable[tuple[bytes, bytes]]) -> int:
    """Return what headers weigh on the wire, the server's own included."""
    return SERVER_HEADER_BYTES + sum(len(name) + len(value) + 4 for name, value in headers)


def problem(
    status: int,
    detail: str,
    *,
    instance: str,
    project: str,
    disclaimer: str = FALLBACK_DISCLAIMER,
    headers: dict[str, str] | None = None,
    **members: Any,
) -> Response:
    """Make one problem document, never stored by caches.

    Args:
        status: a status of the table.
        detail: one sentence about this occurrence; never an exception's text.
        instance: the request's path.
        project: the service's name.
        disclaimer: the educational notice.
        headers: more headers, e.g. Retry-After.
        **members: more members, e.g. supported_assets.
    """
    slug, title = PROBLEMS[status]

    body = {
        "type": f"urn:emi:problem:{slug}",
        "title": title,
        "status": status,
        "detail": detail,
        "instance": instance,
        "project": project,
        "disclaimer": disclaimer,
        **members,
    }
    return Response(
        json.dumps(body, ensure_ascii=False).encode(),
        status_code=status,
        media_type="application/problem+json",
        headers={"cache-control": "no-store", **CORS_HEADERS, **SECURITY_HEADERS, **(headers or {})},
    )


class Problems:
    """Make problem documents of one service, with the educational notice that is in force.

    Args:
        project: the service's name.
        notice: returns the vault's notice, None while there is no vault.
    """

    def __init__(self, project: str, notice: Callable[[], str | None]) -> None:
        self._project = project
        self._notice = notice

    @property
    def disclaimer(self) -> str:
        """The vault's educational notice, or ours while there is none."""
        notice = self._notice()
        return FALLBACK_DISCLAIMER if notice is None else notice

    def make(
        self,
        path: str,
        status: int,
        detail: str,
        headers: dict[str, str] | None = None,
        retry_s: int | None = None,
        **members: Any,
    ) -> Response:
        """Make a problem document about a request for a path, see `problem`; `retry_s` becomes Retry-After."""
        retry = {} if retry_s is None else {"retry-after": str(retry_s)}

        return problem(
            status,
            detail,
            instance=path,
            project=self._project,
            disclaimer=self.disclaimer,
            headers={**(headers or {}), **retry},
            **members,
        )


def preflight() -> Response:
    """Answer OPTIONS: any origin may read and pay."""
    return Response(
        status_code=204,
        headers={
            **CORS_HEADERS,
            "access-control-allow-methods": ALLOWED_METHODS,
            "access-control-allow-headers": (
                "PAYMENT-SIGNATURE, X-PAYMENT, Content-Type, If-None-Match, Cache-Control, Idempotency-Key, "
                "Access-Control-Expose-Headers"
            ),
            "access-control-max-age": "86400",
            "allow": ALLOWED_METHODS,
            **SECURITY_HEADERS,
        },
    )
