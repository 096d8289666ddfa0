"""GET /api/dictionary.json: what every word and every number of the answers means."""

from pydantic import Field

from generator.contract.base import Body


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
