"""The fixed sentences and values of the contract, read back from every body."""

from collections.abc import Callable
from typing import Any

import pytest

from generator.catalog.assets import ASSETS
from generator.catalog.endpoints import ENDPOINT_BY_ID, ENDPOINTS
from generator.catalog.products import PRODUCT_BY_ID, PRODUCTS
from generator.catalog.text.answers import USAGE_CHARACTERISTICS
from tests.support.bodies import composed, free, paid, published
from tests.support.builders import CONTEXTS

NAMED = ("financial", "investment", "trading", "tax", "legal", "betting", "gambling", "fund-management")
TIMES = ("updated", "updated_at", "updated_utc", "generated_at")
PAID_TYPES = {
    "x402-market-regime": "paid_educational_market_regime",
    "x402-main-brain": "paid_educational_main_brain",
    "x402-atlas": "paid_educational_atlas",
    "x402-atlas-human-report": "paid_educational_human_report",
}


@pytest.mark.parametrize("name", CONTEXTS)
def test_every_body_says_that_it_is_educational_and_no_advice(name: str) -> None:
    for key, body in published(name).items():
        if key.endswith("#bazaar"):
            continue
        notice = body.get("disclaimer") or body["educational_notice"]
        assert "educational" in notice, key
        assert [word for word in NAMED if word not in notice] == [], key
        assert "neither certainty nor a promise" in notice, key


@pytest.mark.parametrize("name", CONTEXTS)
@pytest.mark.parametrize("endpoint", [row.id for row in ENDPOINTS])
def test_every_free_body_carries_the_envelope(name: str, endpoint: str) -> None:
    body, row = free(name, endpoint), ENDPOINT_BY_ID[endpoint]

    assert body["success"] is True
    assert body["access"] == "public"
    assert body["version"] == ("v1.3" if endpoint in {"market-regime", "main-brain"} else "v1")
    assert body["status"] in {"available", "degraded", "unavailable"}
    assert body["capability_boundary"]["does_not_provide"] == list(row.does_not_provide)
    assert body["name"] == row.name
    assert body["truth_statement"] == row.truth_statement
    assert {body[key] for key in TIMES if key in body} == {body["freshness"]["generated_at"]}
    assert any(key in body for key in TIMES)
    assert body.get("mode", body["freshness"]["source_mode"]) == body["freshness"]["source_mode"]


@pytest.mark.parametrize("endpoint", ["market-regime", "main-brain"])
def test_the_rich_bodies_carry_purpose_and_characteristics(endpoint: str) -> None:
    body = free("full", endpoint)

    assert body["usage_characteristics"] == USAGE_CHARACTERISTICS
    assert body["usage_characteristics"]["cache_seconds"] == 60
    assert body["schema_version"] == "1.3.0"
    assert body["purpose"] == ENDPOINT_BY_ID[endpoint].purpose
    assert "predicts a gain" in body["truth_statement"]


@pytest.mark.parametrize("endpoint", ["market-regime", "main-brain"])
def test_the_page_for_people_sells_the_very_product_that_the_answer_prices(endpoint: str) -> None:
    offer = free("full", endpoint)["expanded_access"]

    assert offer["path"] == f"/api/x402-{endpoint}.php"
    assert offer["price_display"] == PRODUCT_BY_ID[f"x402-{endpoint}"].price_display
    assert offer["buyer_page"].endswith(f"/x402-buyer/?product={endpoint}")


def test_liquidity_carries_its_description_and_counts() -> None:
    body = free("missing_asset", "liquidity-lite")

    assert body["description"] == ENDPOINT_BY_ID["liquidity-lite"].purpose
    assert (body["asset_count"], body["assets_verified"], body["assets_failed"]) == (len(ASSETS), len(ASSETS) - 1, 1)


@pytest.mark.parametrize("product", PAID_TYPES)
@pytest.mark.parametrize("name", CONTEXTS)
def test_a_paid_body_carries_its_type_receipt_and_nothing_of_the_payer(name: str, product: str) -> None:
    body = paid(name, product)

    assert body["type"] == PAID_TYPES[product]
    assert body["snapshotId"] == "000000004711"
    assert {"payer", "txid", "transaction", "network", "payTo"} & set(body) == set()


@pytest.mark.parametrize("name", CONTEXTS)
def test_reasoning_lists_the_supported_assets(name: str) -> None:
    for asset in ASSETS:
        body = composed(name).free[f"/api/reasoning/{asset}.json"].as_json()
        assert body["asset"] == asset
        assert body["supported_assets"] == list(ASSETS)


def test_the_default_reasoning_is_that_of_btc() -> None:
    done = composed("full").free

    assert done["/api/reasoning.php"] == done["/api/reasoning/BTC.json"]


def test_at_most_twenty_lessons_and_ten_events_are_shown() -> None:
    assert len(free("full", "teacher-lessons")["latest_lessons"]) == 20
    assert len(free("full", "shared-intelligence")["events"]["latest"]) == 10


def test_the_ecosystem_counts_endpoints_and_ticks_and_never_sales() -> None:
    body = free("full", "statistics")["api_ecosystem"]

    assert (body["endpoints_public"], body["endpoints_paid"]) == (len(ENDPOINTS), len(PRODUCTS))
    assert body["endpoints_stable"] + body["endpoints_evolving"] == len(ENDPOINTS) + len(PRODUCTS)
    assert (body["ticks_published_24h"], body["ticks_failed_24h"]) == (1_438, 2)
    assert not [key for key in body if any(word in key for word in ("sale", "revenue", "paid_count", "payer"))]


EXPECTED_STATUS: dict[str, Callable[[dict[str, Any]], bool]] = {
    "full": lambda body: body["status"] == "available",
    "missing_asset": lambda body: body["status"] == "degraded",
    "hourly": lambda body: body["status"] == "degraded",
    "everything_missing": lambda body: body["status"] == "unavailable",
}


@pytest.mark.parametrize("name", EXPECTED_STATUS)
def test_the_status_word_follows_the_inputs(name: str) -> None:
    for body in published(name).values():
        if "freshness" in body:
            assert EXPECTED_STATUS[name](body)
