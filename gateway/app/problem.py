"""Errors other than 402, as RFC 9457 problem documents; one table from status to words."""

from __future__ import annotations

import json
from typing import Any, Final

from starlette.responses import Response

PROBLEMS: Final[dict[int, tuple[str, str]]] = {
    400: ("bad-request", "The request cannot be understood"),
    404: ("not-found", "There is nothing at this path"),
    405: ("method-not-allowed", "This path answers GET, HEAD and OPTIONS only"),
    409: ("identifier-required", "The payment is settled, and its identifier is missing"),
    410: ("gone", "The payment is settled, and its answer is kept no longer"),
    412: ("precondition-failed", "The file is not the one that the request names"),
    413: ("body-refused", "Requests carry no body here"),
    421: ("misdirected", "This service does not answer for the host that the request names"),
    429: ("rate-limited", "Too many payment attempts"),
    431: ("headers-too-large", "The request headers are larger than 16 KiB"),
    500: ("internal", "Something failed on our side"),
    503: ("unavailable", "No honest answer can be given right now"),
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
    "access-control-expose-headers": "PAYMENT-REQUIRED, PAYMENT-RESPONSE, Retry-After",
}
SITE_CORS_HEADERS: Final[dict[str, str]] = {
    **CORS_HEADERS,
    "access-control-expose-headers": "PAYMENT-REQUIRED, PAYMENT-RESPONSE, Retry-After, X-Generation",
}
"""Of published files: a page elsewhere may read which release an answer is of."""
ALLOWED_METHODS: Final = "GET, HEAD, OPTIONS"


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
    """Make one problem document.

    Args:
        status: a status of the table.
        detail: one sentence about this occurrence; never an exception's text.
        instance: the request's path.
        project: the service's name.
        disclaimer: the educational notice.
        headers: more headers, e.g. Retry-After.
        **members: more members, e.g. supported_assets.

    Returns:
        The answer, never stored by caches.
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


def preflight() -> Response:
    """Answer OPTIONS: any origin may read and pay."""
    return Response(
        status_code=204,
        headers={
            **CORS_HEADERS,
            "access-control-allow-methods": ALLOWED_METHODS,
            "access-control-allow-headers": "PAYMENT-SIGNATURE, X-PAYMENT, Content-Type, Access-Control-Expose-Headers",
            "access-control-max-age": "86400",
            "allow": ALLOWED_METHODS,
            **SECURITY_HEADERS,
        },
    )
