"""Fixed sentences and values of the public answers."""

from __future__ import annotations

from typing import Any, Final

DEFAULT_PROJECT: Final = "Educational Market Intelligence"

DISCLAIMER: Final = (
    "For educational use only. This is not financial, investment, trading, tax, legal, betting, "
    "gambling or fund-management advice. Confidence describes how strong the evidence is and how far "
    "it agrees; it is neither certainty nor a promise of any outcome."
)

USAGE_CHARACTERISTICS: Final[dict[str, Any]] = {
    "machine_readable": True,
    "stable_schema": True,
    "cache_seconds": 60,
    "authentication": "none",
    "payment_required": False,
    "response_format": "application/json",
}

NEEDS_5_MINUTE_BARS: Final = "needs 5-minute bars"

CLIENT_ADVICE: Final = (
    "Handle any status other than 200, missing fields, unavailable data, timeouts and schema changes "
    "without turning incomplete information into certainty."
)
CAPACITY_NOTICE: Final = (
    "Free access is not a promise of unlimited capacity, of uptime or of a future contract. "
    "Abusing shared infrastructure is not permitted."
)
VERSION_ADVICE: Final = (
    "Read the returned version and update time of every answer, treat the version fields in the answers as "
    "authoritative, and do not assume field sets."
)
