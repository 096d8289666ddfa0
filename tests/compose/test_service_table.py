"""Every field of the service, by name, type and nullability: in the published schema and in composed bodies."""

from typing import Any

import pytest

from generator.catalog.endpoints import ENDPOINTS, Endpoint
from generator.catalog.products import PRODUCTS, Product
from generator.compose.all import Composed, compose
from generator.site.openapi.paths import component_schemas
from tests.compose.service_table import FIELDS, MAY_BE_ABSENT, REQUIRED
from tests.support.builders import CONTEXTS

SCHEMAS = component_schemas()
ROWS = [(model, field, kind) for model, fields in FIELDS.items() for field, kind in fields.items()]
PYTHON: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "object": (dict,),
}
COMPOSED: dict[str, Composed] = {}


def composed(name: str) -> Composed:
    if name not in COMPOSED:
        COMPOSED[name] = compose(CONTEXTS[name]())
    return COMPOSED[name]


def resolve(schema: dict[str, Any]) -> dict[str, Any]:
    return SCHEMAS[schema["$ref"].rsplit("/", 1)[1]] if "$ref" in schema else schema


def schema_fits(schema: dict[str, Any], kind: str) -> bool:
    """Compare a property's schema with a type of the table, nullability included."""
    options = schema.get("anyOf", [schema])
    kinds = [resolve(option) for option in options]
    nullable = any(option.get("type") == "null" for option in kinds)
    real = [(raw, done) for raw, done in zip(options, kinds, strict=True) if done.get("type") != "null"]
    if nullable != kind.endswith("?") or len(real) != 1:
        return False
    raw, done = real[0]
    kind = kind.rstrip("?")
    if kind.endswith("[]"):
        return done.get("type") == "array" and schema_fits(done["items"], kind[:-2])
    if kind.startswith("{"):
        return done.get("type") == "object" and schema_fits(done["additionalProperties"], kind[1:-1])
    return done.get("type") == kind if kind in PYTHON else raw.get("$ref", "").endswith(f"/{kind}")


def value_fits(value: Any, kind: str) -> bool:
    if value is None:
        return kind.endswith("?")
    kind = kind.rstrip("?")
    if kind.endswith("[]"):
        return isinstance(value, list) and all(value_fits(item, kind[:-2]) for item in value)
    if kind.startswith("{"):
        return isinstance(value, dict) and all(value_fits(item, kind[1:-1]) for item in value.values())
    if kind in FIELDS:
        return isinstance(value, dict) and not misfits(kind, value)
    return isinstance(value, PYTHON[kind]) and (kind == "boolean" or not isinstance(value, bool))


def misfits(model: str, body: dict[str, Any]) -> list[str]:
    if model not in FIELDS:
        return [f"{model}: add its fields to tests/compose/service_table.py"]
    return [
        f"{model}.{field}: {body.get(field)!r} is not {kind}"
        for field, kind in FIELDS[model].items()
        if not (field in body and value_fits(body[field], kind))
        and not (field not in body and (model, field) in MAY_BE_ABSENT)
    ]


def schema_kind(model: str, field: str, kind: str) -> str:
    """The flat confidence is left out while unknown; the report alone has no product id."""
    if (model, field) in {*MAY_BE_ABSENT, ("X402AtlasPaidResponse", "product_id")}:
        return kind + "?"
    return kind


@pytest.mark.parametrize(("model", "field", "kind"), ROWS, ids=[f"{row[0]}.{row[1]}" for row in ROWS])
def test_the_published_schema_has_the_field_with_its_type(model: str, field: str, kind: str) -> None:
    schema = SCHEMAS[model]["properties"][field]

    assert schema_fits(schema, schema_kind(model, field, kind)), schema


@pytest.mark.parametrize("model", REQUIRED)
def test_the_published_schema_requires_what_the_service_requires(model: str) -> None:
    assert set(REQUIRED[model]) <= set(SCHEMAS[model]["required"])


@pytest.mark.parametrize("name", CONTEXTS)
@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda row: row.id)
def test_a_free_body_has_every_field_with_its_type(name: str, endpoint: Endpoint) -> None:
    body = composed(name).free[endpoint.path].as_json()

    assert misfits(endpoint.model, body) == []


@pytest.mark.parametrize("name", CONTEXTS)
@pytest.mark.parametrize("product", PRODUCTS, ids=lambda row: row.id)
def test_a_paid_body_has_every_field_with_its_type(name: str, product: Product) -> None:
    body = composed(name).paid[product.id].as_json()

    assert misfits(product.model, body) == []
    assert body["payment_status"] == "settled"


def test_the_table_notices_a_wrong_type() -> None:
    body = composed("full").free["/api/human-consensus.php"].as_json()

    body["round"]["seconds_left"] = "420"

    assert misfits("HumanConsensusResponse", body) == [
        f"HumanConsensusResponse.round: {body['round']!r} is not RoundInfo"
    ]
