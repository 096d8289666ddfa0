"""The models forbid extras, are frozen, and describe every field."""

from typing import Any

import pytest
from pydantic import ValidationError

from generator.compose.body import Body, encode
from generator.compose.scores import Probabilities
from generator.site.openapi.paths import component_schemas
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


def test_an_extra_field_is_refused() -> None:
    with pytest.raises(ValidationError, match="weight"):
        Probabilities.model_validate({"down": 0.3, "neutral": 0.4, "up": 0.3, "weight": 1.0})


def test_a_number_that_is_none_is_refused() -> None:
    with pytest.raises(ValidationError, match="finite"):
        Probabilities(down=float("nan"), neutral=0.4, up=0.3)


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
