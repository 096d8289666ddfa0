"""The bazaar extension's declaration (x402 v2): how a resource is called and what comes back."""

from __future__ import annotations

from typing import Any, Final

from generator.compose.challenge import sections
from generator.contract.paid import PaidResponse

_SHOWN: Final = ("endpoint", "type", "payment_status", "price_atomic", "snapshotId", "as_of", "status")

# Validates `info`; the shape that the protocol's own declaration helper gives for GET without a query.
SCHEMA: Final[dict[str, Any]] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "input": {
            "type": "object",
            "properties": {
                "type": {"type": "string", "const": "http"},
                "method": {"type": "string", "enum": ["GET", "HEAD"]},
                "queryParams": {"type": "object", "properties": {}},
            },
            "required": ["type", "method"],
            "additionalProperties": False,
        },
        "output": {
            "type": "object",
            "properties": {"type": {"type": "string"}, "example": {"type": "object"}},
            "required": ["type"],
        },
    },
    "required": ["input"],
}


def bazaar(body: PaidResponse) -> dict[str, Any]:
    """Declare one product. The example shows the envelope and the names of the parts, not what is sold."""
    data = body.as_json()
    example = {**{key: data[key] for key in _SHOWN}, "sections": list(sections(body))}
    return {
        "info": {
            "input": {"type": "http", "method": "GET", "queryParams": {}},
            "output": {"type": "json", "example": example},
        },
        "schema": SCHEMA,
    }
