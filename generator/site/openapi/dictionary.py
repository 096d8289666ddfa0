"""The dictionary of words and scales, from the catalog's meanings and the published schemas."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from generator.catalog.discovery import CATALOG_VERSION
from generator.catalog.scales import CAUTIONS, Scale, scale_of
from generator.catalog.text.answers import DISCLAIMER
from generator.catalog.words import Word
from generator.compose.body import DictionaryResponse, ScaleRow, WordSet

Schemas = Mapping[str, Mapping[str, Any]]


def dictionary(project: str, schemas: Schemas) -> DictionaryResponse:
    """Describe every word set and every numeric scale that the schemas use."""
    kinds = {kind.__name__: kind for kind in Word.__subclasses__() if kind.__name__ in schemas}
    fields_of_kind: dict[str, list[str]] = {name: [] for name in kinds}
    # As keys of a dict: each once, in the order of the schemas.
    fields_of_scale: dict[Scale, dict[str, None]] = {}

    for where, field, type_name in fields(schemas):
        if type_name in kinds:
            fields_of_kind[type_name].append(f"{where}.{field}")
        if type_name in {"number", "integer"}:
            scale = scale_of(field, type_name)
            if scale is not None:
                fields_of_scale.setdefault(scale, {})[field] = None

    return DictionaryResponse(
        success=True,
        project=project,
        version=CATALOG_VERSION,
        words={name: _word_set(kind, fields_of_kind[name]) for name, kind in kinds.items()},
        scales=tuple(_scale_row(scale, names) for scale, names in fields_of_scale.items()),
        disclaimer=DISCLAIMER,
    )


def _word_set(kind: type[Word], fields: Iterable[str]) -> WordSet:
    return WordSet(
        meaning=(kind.__doc__ or "").split("\n")[0],
        fields=tuple(fields),
        values={word.value: word.meaning for word in kind},
        do_not_conclude=CAUTIONS.get(kind.__name__),
    )


def _scale_row(scale: Scale, fields: Iterable[str]) -> ScaleRow:
    return ScaleRow(
        unit=scale.unit,
        range=scale.range,
        meaning=scale.meaning,
        fields=tuple(fields),
        do_not_conclude=scale.caution or None,
    )


def fields(schemas: Schemas) -> Iterator[tuple[str, str, str]]:
    """Yield object, field and JSON type of every property; the name of the type where it is a reference."""
    for where, schema in schemas.items():
        for field, described in schema.get("properties", {}).items():
            for option in described.get("anyOf", [described]):
                if "$ref" in option:
                    yield where, field, option["$ref"].rsplit("/", 1)[1]
                else:
                    yield where, field, option.get("type", "")
