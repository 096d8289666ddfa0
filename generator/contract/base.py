"""The base of every published model."""

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel, ConfigDict

# What a reader looks at last; everything else keeps the order in which the models declare it.
TAIL: Final[tuple[str, ...]] = (
    "limitations",
    "capability_boundary",
    "next_resource",
    "developer_resources",
    "related_resources",
    "truth_statement",
    "developer_note",
    "privacy_note",
    "disclaimer",
    "educational_notice",
    "updated",
    "updated_at",
    "updated_utc",
    "freshness",
    "replay",
)


class Body(BaseModel):
    """A published object: frozen, no extra fields, no NaN."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    def as_json(self) -> dict[str, Any]:
        """Return the JSON object in its published key order."""
        data = self.model_dump(mode="json")
        last = [key for key in TAIL if key in data]
        return {key: data[key] for key in (*(k for k in data if k not in TAIL), *last)}


def absent(value: object) -> bool:
    """Return whether an optional field is left out of the answer."""
    return value is None
