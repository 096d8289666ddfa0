"""A published object: its JSON and how its numbers are rounded; errors other than 402, and the dictionary."""

import json
from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from generator.catalog import formats

# What a reader looks at last; everything else keeps the order in which the models declare it.
TAIL: Final = (
    "limitations", "capability_boundary", "next_resource", "developer_resources", "related_resources",
    "truth_statement", "developer_note", "privacy_note", "disclaimer", "educational_notice",
    "updated", "updated_at", "updated_utc", "freshness", "replay",
)  # fmt: skip


# Rounded where a body is built; what is not a number is null.
Percent = Annotated[float | None, BeforeValidator(formats.percent)]
Change24h = Annotated[float | None, BeforeValidator(formats.change)]
Score = Annotated[float | None, BeforeValidator(formats.score)]
Significant = Annotated[float | None, BeforeValidator(formats.significant)]


class Body(BaseModel):
    """A published object: frozen, no extra fields, no NaN."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    def as_fields(self) -> dict[str, Any]:
        """Return each field by its name, for a body that adds to this one: `Longer(**shorter.as_fields(), more=1)`."""
        return dict(self)

    def as_json(self) -> dict[str, Any]:
        """Return the JSON object in its published key order."""
        data = self.model_dump(mode="json")
        first = [key for key in data if key not in TAIL]
        last = [key for key in TAIL if key in data]
        return {key: data[key] for key in (*first, *last)}


def absent(value: object) -> bool:
    """Return whether an optional field is left out of the answer."""
    return value is None


def encode(value: Body | Mapping[str, Any]) -> bytes:
    """Return compact UTF-8 JSON in declared key order; raise ValueError where a NaN or an infinity is in it."""
    data = value.as_json() if isinstance(value, Body) else value
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


class Problem(Body):
    """An error in `application/problem+json`."""

    type: str = Field(description="Address that names the kind of problem, or about:blank.")
    title: str = Field(description="The kind of problem in a few words.")
    status: int = Field(description="HTTP status code.")
    detail: str = Field(description="What went wrong in this request.")
    instance: str = Field(description="Path of the request.")
    project: str = Field(description="Name of the service.")
    disclaimer: str = Field(description="Educational notice.")
    supported_assets: tuple[str, ...] | None = Field(
        default=None, exclude_if=absent, description="Assets that the service reads, where that helps."
    )


class WordSet(Body):
    """One closed set of words."""

    meaning: str = Field(description="What the set is of.")
    fields: tuple[str, ...] = Field(description="Where it is: <object>.<field>, as in OpenAPI.")
    values: dict[str, str] = Field(description="Word to its meaning.")
    do_not_conclude: str | None = Field(description="What not to conclude from it; null where nothing tempts.")


class ScaleRow(Body):
    """One numeric scale."""

    unit: str = Field(description="Its unit.")
    range: str = Field(description="Its range.")
    meaning: str = Field(description="What it measures.")
    fields: tuple[str, ...] = Field(description="Names of the fields that are on it.")
    do_not_conclude: str | None = Field(description="What not to conclude from it; null where nothing tempts.")


class DictionaryResponse(Body):
    """Every word set and every numeric scale of the answers; it changes with the version, not with the market."""

    success: bool = Field(description="True on every 200.")
    project: str = Field(description="Name of the service.")
    version: str = Field(description="Version of the OpenAPI catalogue.")
    words: dict[str, WordSet] = Field(description="Name of the type in OpenAPI to its words.")
    scales: tuple[ScaleRow, ...] = Field(description="Every scale; a whole number on no other is a count.")
    disclaimer: str = Field(description="Educational notice.")
