"""The models forbid extras, are frozen, and describe every field."""

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

import generator.values
from generator.compose.body import Body, encode
from generator.compose.coins import Quoted
from generator.site.openapi.paths import component_schemas
from generator.values.published import PUBLISHED
from tests.support.bodies import bodies
from tests.support.builders import CONTEXTS


def subclasses(model: type[Body]) -> set[type[Body]]:
    below = {child for child in model.__subclasses__() if child.__module__.startswith("generator.")}
    return below.union(*(subclasses(child) for child in below)) if below else below


@pytest.mark.parametrize("model", sorted(subclasses(Body), key=str))
def test_a_model_is_frozen_closed_and_described(model: type[Body]) -> None:
    assert model.model_config["frozen"]
    assert model.model_config["extra"] == "forbid"
    assert model.__doc__
    assert [name for name, field in model.model_fields.items() if not field.description] == []


def values() -> list[type[Any]]:
    """Return every value that is published as it is."""
    modules = [import_module(f"generator.values.{module.name}") for module in iter_modules(generator.values.__path__)]
    classes = {kind for module in modules for kind in vars(module).values() if isinstance(kind, type)}
    return sorted((kind for kind in classes if "__pydantic_config__" in vars(kind)), key=str)


@pytest.mark.parametrize("value", values())
def test_a_published_value_is_frozen_described_and_requires_all_but_marks(value: type[Any]) -> None:
    schema = TypeAdapter(value).json_schema()

    assert value.__dataclass_params__.frozen
    assert value.__pydantic_config__ == PUBLISHED
    assert schema["description"]
    assert [name for name, field in schema["properties"].items() if "description" not in field] == []
    marks = {name for name, field in schema["properties"].items() if field.get("default") is False}
    assert schema["required"] == [name for name in schema["properties"] if name not in marks]


def test_an_extra_field_is_refused() -> None:
    with pytest.raises(ValidationError, match="weight"):
        Quoted.model_validate({"asset": "BTC", "price": 1.0, "change_24h": 0.3, "weight": 1.0})


def test_a_number_that_is_none_is_refused() -> None:
    with pytest.raises(ValidationError, match="finite"):
        Quoted(asset="BTC", price=float("nan"), change_24h=0.3)


def test_the_encoder_refuses_nan_in_a_plain_mapping() -> None:
    with pytest.raises(ValueError, match="JSON"):
        encode({"x": float("nan")})


def test_the_encoder_writes_compact_utf_8_in_declared_order() -> None:
    assert encode({"b": "ü", "a": [1, 2.5, None]}) == '{"b":"ü","a":[1,2.5,null]}'.encode()


def test_the_published_objects_are_open_and_their_arrays_have_items() -> None:
    def walk(node: Any) -> None:
        if isinstance(node, list):
            for item in node:
                walk(item)
        if isinstance(node, dict):
            assert node.get("additionalProperties") is not False
            assert node.get("type") != "array" or "items" in node
            for item in node.values():
                walk(item)

    walk(component_schemas())


LAST = (
    "limitations", "capability_boundary", "next_resource", "developer_resources", "related_resources",
    "truth_statement", "developer_note", "privacy_note", "disclaimer", "educational_notice",
    "updated", "updated_at", "updated_utc", "freshness", "replay",
)  # fmt: skip


@pytest.mark.parametrize("name", CONTEXTS)
def test_every_body_ends_with_its_limits_its_notices_and_its_times(name: str) -> None:
    for path, body in bodies(name).items():
        written = list(body.as_json())
        last = [field for field in LAST if field in written]
        assert written[len(written) - len(last) :] == last, path
