"""The dictionary of words and scales, from the catalog's meanings and the published schemas."""

from collections.abc import Iterator, Mapping
from typing import Any

from generator.catalog.discovery import CATALOG_VERSION
from generator.catalog.scales import CAUTIONS, Scale, scale_of
from generator.catalog.text.answers import DISCLAIMER
from generator.catalog.words import Word
from generator.compose.body import DictionaryResponse, ScaleRow, WordSet

Schemas = Mapping[str, Mapping[str, Any]]


def dictionary(project: str, schemas: Schemas) -> DictionaryResponse:
    """Describe every word set and every numeric scale that the schemas use."""
    words = {kind.__name__: kind for kind in Word.__subclasses__() if kind.__name__ in schemas}
    uses: dict[str, list[str]] = {name: [] for name in words}
    scales: dict[Scale, dict[str, None]] = {}
    for where, field, kind in fields(schemas):
        if kind in uses:
            uses[kind].append(f"{where}.{field}")
        found = scale_of(field, kind) if kind in {"number", "integer"} else None
        if found is not None:
            scales.setdefault(found, {})[field] = None
    return DictionaryResponse(
        success=True,
        project=project,
        version=CATALOG_VERSION,
        words={
            name: WordSet(
                meaning=(kind.__doc__ or "").split("\n")[0],
                fields=tuple(uses[name]),
                values={word.value: word.meaning for word in kind},
                do_not_conclude=CAUTIONS.get(name),
            )
            for name, kind in words.items()
        },
        scales=tuple(
            ScaleRow(
                unit=scale.unit,
                range=scale.range,
                meaning=scale.meaning,
                fields=tuple(names),
                do_not_conclude=scale.caution or None,
            )
            for scale, names in scales.items()
        ),
        disclaimer=DISCLAIMER,
    )


def fields(schemas: Schemas) -> Iterator[tuple[str, str, str]]:
    """Yield object, field and JSON type of every property; the name of the type where it is a reference."""
    for where, schema in schemas.items():
        for field, shown in schema.get("properties", {}).items():
            for option in shown.get("anyOf", [shown]):
                yield where, field, option["$ref"].rsplit("/", 1)[1] if "$ref" in option else option.get("type", "")
