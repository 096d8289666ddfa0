"""The bazaar declaration is what the protocol's own package accepts, and it is small."""

import pytest
from jsonschema import Draft202012Validator
from x402.extensions.bazaar import (
    OutputConfig,
    QueryDiscoveryExtension,
    declare_discovery_extension,
    validate_discovery_extension,
)

from generator.catalog.products import PRODUCTS
from generator.compose.body import encode
from tests.support.bodies import composed
from tests.support.builders import CONTEXTS


@pytest.mark.parametrize("product", [row.id for row in PRODUCTS])
@pytest.mark.parametrize("name", CONTEXTS)
def test_the_declaration_is_valid_and_its_example_small(name: str, product: str) -> None:
    declared = composed(name).bazaar[product]

    Draft202012Validator(declared["schema"]).validate(declared["info"])
    assert validate_discovery_extension(QueryDiscoveryExtension.model_validate(declared)).valid
    assert declared["info"]["input"] == {"type": "http", "method": "GET", "queryParams": {}}
    assert declared["schema"]["properties"]["input"]["properties"]["queryParams"]["type"] == "object"
    assert len(encode(declared["info"]["output"]["example"])) <= 400
    assert len(encode(declared)) <= 1_000


def test_the_schema_is_that_of_the_protocol_s_own_helper_for_a_product() -> None:
    made = declare_discovery_extension(output=OutputConfig(example={}))["bazaar"]
    made["schema"]["properties"]["input"]["properties"]["method"]["enum"].remove("DELETE")

    declared = composed("full").bazaar[PRODUCTS[0].id]

    assert declared["schema"] == made["schema"]
    assert declared["info"]["output"]["type"] == made["info"]["output"]["type"]
    assert declared["info"].keys() == made["info"].keys()


def test_the_example_is_of_the_real_tick_and_shows_nothing_sold() -> None:
    example = composed("full").bazaar["x402-main-brain"]["info"]["output"]["example"]

    assert example["snapshotId"] == "000000004711"
    assert example["sections"] == [
        "summary",
        "assets",
        "joint",
        "ladder",
        "day_ahead",
        "pairs",
        "ranges_last_week",
        "track_record",
    ]
    assert "assets" not in example
