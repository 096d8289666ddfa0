"""One answer of the OpenAPI document by itself is whole, true, and short enough to be read first."""

from collections.abc import Mapping
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from generator.catalog.endpoints import ENDPOINTS, Endpoint
from generator.catalog.links import openapi_slice
from generator.catalog.products import PRODUCTS, Product
from generator.compose.body import encode
from generator.site.files.discovery import as_example
from generator.site.files.sample import bundled_as_sold
from generator.site.openapi.document import openapi
from generator.site.openapi.slices import slices
from tests.support.bodies import bodies

BASE = "https://market-intelligence.example.org"
WHOLE = openapi(base_url=BASE, project="Educational Market Intelligence", contact="", network="mainnet")
ANSWERS = {
    **{path: as_example(body.as_json()) for path, body in bodies("full").items() if path.startswith("/")},
    **bundled_as_sold(),
}
SLICES = slices(WHOLE, ANSWERS)
ROWS: tuple[Endpoint | Product, ...] = (*ENDPOINTS, *PRODUCTS)
# Tokens of four bytes; others: 8,000.
LONGEST = {
    "market-regime": 7_000,
    "main-brain": 8_500,
    "statistics": 9_000,
    "x402-atlas": 16_000,
    "x402-main-brain": 8_700,
}


def tokens(document: Mapping[str, Any]) -> float:
    return len(encode(document)) / 4


def test_each_endpoint_and_product_has_one() -> None:
    assert set(SLICES) == {openapi_slice(row.id) for row in ROWS}
    assert [list(SLICES[openapi_slice(row.id)]["paths"]) for row in ROWS] == [[row.path] for row in ROWS]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_its_answer_fits_the_schema_that_it_carries(row: Endpoint | Product) -> None:
    document = SLICES[openapi_slice(row.id)]
    (operation,) = (item["get"] for item in document["paths"].values())
    schema = operation["responses"]["200"]["content"]["application/json"]["schema"]

    body = bodies("full")[row.path if isinstance(row, Endpoint) else row.id]

    validator = Draft202012Validator({**schema, "components": document["components"]})
    assert [error.message for error in validator.iter_errors(body.as_json())] == []


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_it_holds_a_short_answer_that_fits_its_schema(row: Endpoint | Product) -> None:
    document = SLICES[openapi_slice(row.id)]
    content = document["paths"][row.path]["get"]["responses"]["200"]["content"]["application/json"]

    short = content["examples"]["short"]["value"]

    validator = Draft202012Validator({**content["schema"], "components": document["components"]})
    assert [error.message for error in validator.iter_errors(short)] == []
    assert short.keys() == ANSWERS[row.path].keys()
    assert most_in_a_list(short) == 1
    assert content["examples"]["answer"].keys() == {"summary", "externalValue"}


def most_in_a_list(value: Any) -> int:
    if isinstance(value, Mapping):
        return max(map(most_in_a_list, value.values()), default=0)
    if isinstance(value, list):
        return max(len(value), *map(most_in_a_list, value)) if value else 0
    return 0


def test_without_an_answer_it_holds_none() -> None:
    (document,) = (part for path, part in slices(WHOLE).items() if path == openapi_slice("reasoning"))
    content = document["paths"]["/api/reasoning.php"]["get"]["responses"]["200"]["content"]["application/json"]

    assert list(content["examples"]) == ["answer"]


@pytest.mark.parametrize("path", SLICES)
def test_it_names_the_fields_of_the_whole_document(path: str) -> None:
    for name, schema in SLICES[path]["components"]["schemas"].items():
        whole = WHOLE["components"]["schemas"][name]
        assert schema.get("required") == whole.get("required")
        assert schema.get("enum") == whole.get("enum")
        assert described(schema) == described(whole), name


def described(schema: Mapping[str, Any]) -> dict[str, str]:
    return {field: about["description"] for field, about in schema.get("properties", {}).items()}


def test_it_still_refuses_what_the_whole_document_refuses() -> None:
    document = SLICES["/openapi/market-regime.json"]
    validator = Draft202012Validator(
        {"$ref": "#/components/schemas/MarketRegimeResponse", "components": document["components"]}
    )
    body = bodies("full")["/api/market-regime.php"].as_json()

    assert validator.is_valid(body)
    assert not validator.is_valid({**body, "regime": {**body["regime"], "confidence": "high"}})
    assert not validator.is_valid({**body, "regime": {**body["regime"], "label": "bull"}})


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_it_is_short_enough_to_be_read_first(row: Endpoint | Product) -> None:
    assert tokens(SLICES[openapi_slice(row.id)]) <= LONGEST.get(row.id, 8_000)


def test_the_whole_document_is_short_enough_for_an_agent() -> None:
    assert tokens(WHOLE) <= 60_000
