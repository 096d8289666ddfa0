"""The published description is valid, complete and true of every composed body."""

import importlib
import json
from functools import cache
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from ruamel.yaml import YAML

from generator.catalog.assets import ASSETS
from generator.catalog.endpoints import ENDPOINTS, RECOMMENDED_ORDER, Endpoint
from generator.catalog.links import DICTIONARY, STATUS_JSON, reasoning_path
from generator.catalog.money import usdc_amount
from generator.catalog.products import PRODUCTS, Product
from generator.catalog.text.answers import CAPACITY_NOTICE, CLIENT_ADVICE, VERSION_ADVICE
from generator.compose.body import Problem
from generator.site.openapi.document import openapi, openapi_yaml
from tests.support.bodies import bodies, composed
from tests.support.builders import CONTEXTS

ERRORS = ("400", "404", "405", "409", "410", "413", "429", "431", "500", "503")
GATEWAY = {
    "error": "payment required",
    "x402Version": 2,
    "resource": {
        "url": "https://api.example.org/x",
        "description": "d",
        "mimeType": "application/json",
        "tags": ["crypto"],
    },
    "accepts": [
        {
            "scheme": "exact",
            "network": "algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73ktiC1qzkkit8=",
            "asset": "31566704",
            "amount": "10000",
            "payTo": "A" * 58,
            "maxTimeoutSeconds": 60,
            "extra": {"decimals": 6, "name": "USDC", "feePayer": "B" * 58, "snapshotId": "000000004711"},
        }
    ],
    "extensions": {},
}


@cache
def document() -> dict[str, Any]:
    return openapi(
        base_url="https://api.example.org",
        project="Educational Market Intelligence",
        contact="ops@example.org",
        network="mainnet",
    )


def validator(model: str) -> Draft202012Validator:
    return Draft202012Validator({"$ref": f"#/components/schemas/{model}", "components": document()["components"]})


def operations() -> list[tuple[str, dict[str, Any]]]:
    return [(path, item["get"]) for path, item in document()["paths"].items()]


def test_the_yaml_parses_to_the_same_value() -> None:
    py_yaml: Any = importlib.import_module("yaml")

    for value in (document(), {**dict.fromkeys(AMBIGUOUS, 1), "texts": list(AMBIGUOUS)}):
        assert py_yaml.load(openapi_yaml(value), Loader=py_yaml.CSafeLoader) == value


def test_every_path_of_the_service_is_described_with_its_model() -> None:
    rows: tuple[Endpoint | Product, ...] = (*ENDPOINTS, *PRODUCTS)
    for row in rows:
        answer = document()["paths"][row.path]["get"]["responses"]["200"]
        assert answer["content"]["application/json"]["schema"] == {"$ref": f"#/components/schemas/{row.model}"}


def test_operation_ids_are_unique_and_nothing_needs_a_credential() -> None:
    ids = [operation["operationId"] for _, operation in operations()]

    assert len(ids) == len(set(ids)) == len(ENDPOINTS) + len(PRODUCTS) + 3
    assert [row["security"] for row in (document(), *(row for _, row in operations())) if row["security"]] == []


@pytest.mark.parametrize("product", PRODUCTS, ids=lambda row: row.id)
def test_a_paid_operation_states_its_terms(product: Product) -> None:
    operation = document()["paths"][product.path]["get"]

    info = operation["x-payment-info"]

    assert (operation["x-stability"], operation["x-cache-seconds"]) == (product.stability, product.cache_seconds)
    assert info["price"] == {"mode": "fixed", "currency": "USD", "amount": usdc_amount(product.price_atomic)}
    assert info["protocols"][0]["x402"]["amount"] == str(product.price_atomic)
    assert info["protocols"][0]["x402"]["asset"] == "31566704"
    assert "PAYMENT-REQUIRED" in operation["responses"]["402"]["headers"]
    assert set(operation["responses"]) == {"200", "402", "405", "409", "410", "413", "429", "431", "500", "503"}
    header = operation["parameters"][0]
    assert (header["name"], header["in"], header["required"]) == ("PAYMENT-SIGNATURE", "header", False)


@pytest.mark.parametrize("path", [row.path for row in ENDPOINTS])
def test_a_free_operation_is_stable_and_cached_for_a_minute(path: str) -> None:
    operation = document()["paths"][path]["get"]

    assert (operation["x-stability"], operation["x-cache-seconds"]) == ("stable", 60)


def test_only_reasoning_has_a_query_and_it_defaults_to_btc() -> None:
    queries = {
        path: row["parameters"] for path, row in operations() if row.get("parameters", [{}])[0].get("in") == "query"
    }

    assert list(queries) == ["/api/reasoning.php"]
    schema = queries["/api/reasoning.php"][0]["schema"]
    assert schema["enum"] == list(ASSETS)
    assert schema["default"] == "BTC"


def test_errors_are_problem_details() -> None:
    responses = document()["components"]["responses"]

    assert set(responses) == {f"Problem{status}" for status in ERRORS}
    for answer in responses.values():
        assert "application/problem+json" in answer["content"]
    used = {status for _, row in operations() for status in row["responses"]}
    assert set(ERRORS) <= used


def test_the_guidance_gives_order_advice_limits_and_versions() -> None:
    text = document()["info"]["x-guidance"]

    assert [text.index(f"{place}. {name}") for place, name in enumerate(RECOMMENDED_ORDER, 1)] == sorted(
        text.index(f"{place}. {name}") for place, name in enumerate(RECOMMENDED_ORDER, 1)
    )
    for sentence in (CLIENT_ADVICE, CAPACITY_NOTICE, VERSION_ADVICE):
        assert sentence in text


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("https://b.example/help", {"url": "https://b.example/help"}),
        ("", {"url": "https://a.example/docs/"}),
        ("ops@example.org", {"url": "https://a.example/docs/", "email": "ops@example.org"}),
        ("https://b.example, mailto:ops@example.org", {"url": "https://b.example", "email": "ops@example.org"}),
        ("ops@example.org,https://b.example", {"url": "https://b.example", "email": "ops@example.org"}),
    ],
)
def test_the_contact_is_a_url_an_address_both_or_the_docs(setting: str, said: dict[str, str]) -> None:
    made = openapi(base_url="https://a.example", project="P", contact=setting, network="devnet")

    assert made["info"]["contact"] == {"name": "P", **said}
    assert set(made["info"]["license"]) == {"name", "url"}


@pytest.mark.parametrize("name", CONTEXTS)
def test_every_composed_body_fits_the_published_schema(name: str) -> None:
    for key, body in bodies(name).items():
        errors = [error.message for error in validator(type(body).__name__).iter_errors(body.as_json())]
        assert errors == [], key


@pytest.mark.parametrize("name", CONTEXTS)
def test_every_challenge_with_the_gateways_part_fits_the_402_schema(name: str) -> None:
    for challenge in composed(name).challenges.values():
        quoted = {**challenge, **GATEWAY, "quote": {**challenge["quote"], "sha256": "ab" * 32}}
        validator("X402PaymentRequiredResponse").validate(quoted)


def test_every_example_is_an_answer_that_the_service_publishes() -> None:
    published = {row.path for row in ENDPOINTS} | {row.sample for row in PRODUCTS}
    published |= {STATUS_JSON, DICTIONARY, reasoning_path("BTC")}

    media = [row["responses"]["200"]["content"]["application/json"] for _, row in operations()]

    addresses = [example["externalValue"] for row in media for example in row["examples"].values()]
    assert sorted(addresses) == sorted(f"https://api.example.org{path}" for path in published)


def test_a_problem_fits_with_and_without_the_assets() -> None:
    plain = Problem(
        type="about:blank", title="Not Found", status=404, detail="No such path.", instance="/x", project="P",
        disclaimer="For educational use only.",
    )  # fmt: skip

    assert "supported_assets" not in plain.as_json()
    validator("Problem").validate(plain.as_json())
    validator("Problem").validate(json.loads(json.dumps({**plain.as_json(), "supported_assets": ["BTC"]})))


AMBIGUOUS = (
    "56:15", "1:30.5", "-1:02:03", "yes", "No", "on", "OFF", "y", "n", "0123", "0o17", "0x1F", "0b1", "1_000",
    "2026-11-20", "2026-11-20T09:53:00Z", "=", "<<", "~", "null", "", ".inf", ".NaN", "+.5", "1e3", "1.", "-", "?",
    "true", "# a", "a: b",
)  # fmt: skip


@pytest.mark.parametrize("version", [(1, 1), (1, 2)])
def test_readers_of_yaml_1_1_and_1_2_read_what_the_json_says(version: tuple[int, int]) -> None:
    document = {**dict.fromkeys(AMBIGUOUS, 1), "texts": list(AMBIGUOUS), "numbers": [1e-05, 1e16, 0.1, -3, 12, 1.5e-7]}
    reader = YAML(typ="safe", pure=True)
    reader.version = version

    assert reader.load(openapi_yaml(document)) == document


def test_every_endpoint_leads_to_its_own_page_by_a_whole_url() -> None:
    leads = {path: row["externalDocs"]["url"] for path, row in operations() if "externalDocs" in row}

    named = [(row.path, row.id) for row in ENDPOINTS] + [(row.path, row.id) for row in PRODUCTS]
    assert leads == {path: f"https://api.example.org/docs/{name}/" for path, name in named}
