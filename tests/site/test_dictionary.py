"""Every word and every number that is published has its meaning in the dictionary, in OpenAPI and in llms-full.txt."""

import json
from datetime import UTC, datetime

import pytest

from generator.catalog.links import DICTIONARY
from generator.catalog.scales import scale_of
from generator.catalog.words import Word
from generator.site.files.discovery import discovery
from generator.site.openapi.dictionary import fields
from generator.site.openapi.paths import component_schemas
from tests.support.page_view import SITE

FILES = discovery(SITE, datetime(2026, 11, 20, 9, 53, tzinfo=UTC), {})
SHOWN = json.loads(FILES[DICTIONARY])


@pytest.mark.parametrize("kind", Word.__subclasses__())
def test_every_word_has_its_meaning_wherever_words_are_explained(kind: type[Word]) -> None:
    meanings = {word.value: word.meaning for word in kind}

    assert all(meanings.values())
    assert SHOWN["words"][kind.__name__]["values"] == meanings
    described = component_schemas()[kind.__name__]["description"]
    for word, meaning in meanings.items():
        assert f"`{word}`: {meaning}" in described
        assert f"- `{word}`: {meaning}\n" in FILES["/llms-full.txt"].decode()


def test_every_number_of_every_model_is_on_a_scale_of_the_dictionary() -> None:
    explained = {name for row in SHOWN["scales"] for name in row["fields"]}
    numbers = [(name, kind) for _, name, kind in fields(component_schemas()) if kind in {"number", "integer"}]

    assert [name for name, kind in numbers if scale_of(name, kind) is None or name not in explained] == []
    assert scale_of("bananas", "number") is None
