"""What is sold: more than the free answers, in plain words where promised, and nothing one could trade by."""

import hashlib
import json
import re
from typing import Any

import pytest

from generator.brain.evidence import FAMILIES
from generator.catalog.assets import ASSETS
from generator.catalog.products import OF_A_MONTH, PRODUCT_BY_ID, PRODUCTS
from generator.compose.body import encode
from generator.market.bars import BAR_MS
from tests.support.bodies import composed, free, paid
from tests.support.builders import CONTEXTS, NOW_MS
from tests.support.vaults import PRICES
from tests.support.walk import leaves, strings

TRADES = re.compile(
    r"\b(entry|entries|stop|stops|stop-loss|size|sizing|take profit|target|targets|buy|sell)\b", re.IGNORECASE
)
REPORT = "x402-atlas-human-report"
REGIME = "x402-market-regime"
NO_DATA = "no order book, funding, open interest or liquidations"


@pytest.mark.parametrize("name", CONTEXTS)
@pytest.mark.parametrize("product", [row.id for row in PRODUCTS])
def test_no_paid_answer_speaks_of_how_to_trade(name: str, product: str) -> None:
    body = {key: value for key, value in paid(name, product).items() if key != "disclaimer"}
    found = [(path, value) for path, value in strings(body) if TRADES.search(value)]

    assert found == []


def test_the_report_has_each_coin_the_levels_and_what_was_bought() -> None:
    sold = paid("full", REPORT)["report"]

    assert [coin["asset"] for coin in sold["assets"]] == list(ASSETS)
    assert all(
        coin["usual_days"] == pytest.approx(abs(coin["change_24h"]) / coin["usual_day_percent"], abs=0.051)
        for coin in sold["assets"]
        if coin["usual_days"] is not None
    )
    assert list(sold["levels"]) == ["15m", "1h", "4h", "24h"]
    assert sold["receipt"] == {
        "snapshotId": "000000004711",
        "product": REPORT,
        "price_atomic": PRICES[REPORT],
        "as_of": "2026-11-20T09:53:00Z",
    }


def test_without_a_reading_there_is_no_ladder_and_no_partition() -> None:
    sold = paid("hourly", REPORT)["report"]
    layer = paid("hourly", "x402-atlas")["intelligence_layer"]

    assert sold["levels"] is sold["far"] is sold["rough"] is None
    assert layer["ladder"]["assets"] == layer["partition"]["assets"] == dict.fromkeys(ASSETS)
    assert layer["partition"]["furthest"] is None


def test_the_paid_regime_adds_what_the_free_one_does_not_have() -> None:
    body = paid("full", "x402-market-regime")

    assert body["assets"]["ETH"]["regime"] == "range"
    assert body["assets"]["ETH"]["same_as_market"] is False
    assert [row["what"] for row in body["what_changed"]][:3] == ["regime", "risk score", "strongest asset"]
    assert body["what_changed"][0]["text"] == "The regime is risk-on; 24 hours ago it was range."
    assert body["risk_drivers"]
    assert not {"assets", "what_changed", "risk_drivers"} & set(free("full", "market-regime"))


def test_an_unknown_day_before_is_named() -> None:
    body = paid("empty_memory", "x402-market-regime")

    assert body["what_changed"][0]["before"] is None
    assert "the regime of 24 hours ago is not known" in body["limitations"]


def test_the_paid_brain_gives_three_chances_that_sum_to_one() -> None:
    for asset in paid("full", "x402-main-brain")["assets"].values():
        assert round(sum(asset["probabilities"].values()), 6) == 1
        evidence = asset["evidence"]
        has_call = asset["call"] != "none"
        assert [bool(evidence["supporting"]), bool(evidence["opposing"])] == [has_call, has_call]
        assert [asset[key] is not None for key in ("edge_percent", "confidence", "agreement_percent")] == [has_call] * 3
        assert len([text for texts in evidence.values() for text in texts]) == len(FAMILIES)


def test_each_paid_answer_has_fields_that_no_free_answer_has() -> None:
    given = {path[-1] for body in composed("full").free.values() for path, _ in leaves(body.as_json())}
    added = {
        "x402-market-regime": {"what_changed", "risk_drivers", "expected_move", "same_as_market"},
        "x402-main-brain": {
            "edge_percent",
            "supporting",
            "opposing",
            "biases",
            "touch_above",
            "usual_percent",
            "leads",
        },
        "x402-atlas": {"touch_above", "middle_third_percent", "ahead_correlation", "deepest_first", "held_90"},
        "x402-atlas-human-report": {"heading", "usual_days", "touch_above", "series"},
    }

    for product, fields in added.items():
        sold = {path[-1] for path, _ in leaves(paid("full", product))}
        assert fields <= sold - given, product


@pytest.mark.parametrize("name", CONTEXTS)
def test_the_challenge_gives_nothing_of_the_body_away(name: str) -> None:
    for product in PRODUCTS:
        body, asked = composed(name).paid[product.id], composed(name).challenges[product.id]
        data = body.as_json()
        text = encode({**asked, "worth": None}).decode()
        shown = asked["quote"]["preview"]
        assert set(shown["redacted"]) <= set(shown["sections"])
        for part in shown["redacted"]:
            for _, value in strings(data[part]):
                is_free = len(value) <= 40 or value == shown["headline"]  # which titles the report
                assert is_free or value not in text
        assert "sha256" not in asked["quote"]


@pytest.mark.parametrize("name", CONTEXTS)
def test_the_preview_shows_what_is_free_and_redacts_only_what_is_sold(name: str) -> None:
    regime, coins = free(name, "market-regime")["regime"], free(name, "main-brain")["coins"]

    for challenge in composed(name).challenges.values():
        shown = challenge["quote"]["preview"]
        assert shown["headline"] == free(name, "market-regime")["headline"]
        assert [shown[key] for key in ("regime", "market_state")] == [regime["label"], regime["state"]]
        assert {key: shown[key] for key in ("probabilities", "volatility", "counts")}.items() <= regime.items()
        assert shown["btc_ranges"] == coins["BTC"]["ranges"]
        free_too = {"regime", "market_mode", "market_state", "confidence", "risk_score", "summary", "track_record"}
        assert not free_too & set(shown["redacted"])


@pytest.mark.parametrize("name", CONTEXTS)
def test_what_lacks_its_month_or_its_label_is_not_for_sale_and_all_else_is(name: str) -> None:
    known = free(name, "market-regime")["regime"]["label"] != "unknown"
    month = name not in {"hourly", "everything_missing"}

    unsold = composed(name).unavailable

    expected: set[str] = set()
    if not month:
        expected |= set(OF_A_MONTH)
    if not known:
        expected |= {REGIME, REPORT}
    assert set(unsold) == expected
    if not known:
        assert unsold[REGIME].reason.startswith("not sold while the market has no label: ")
    if name == "hourly":
        assert unsold["x402-atlas"].reason.endswith("this market has bars of 60 minutes")
        assert unsold["x402-atlas"].until_ms is None
    if name == "everything_missing":
        assert unsold["x402-main-brain"].reason.endswith("it has 0.0")
        assert unsold["x402-main-brain"].until_ms == NOW_MS + 8_208 * BAR_MS  # 28.5 days of bars


def test_depth_and_funding_that_are_missing_are_null_and_limited_and_all_is_sold() -> None:
    assert composed("candles_only").unavailable == {}
    for product in PRODUCTS:
        assert NO_DATA in paid("candles_only", product.id)["limitations"], product.id

    layer = paid("candles_only", "x402-atlas")["intelligence_layer"]

    assert layer["liquidity"]["depth_1pct_usd"] is layer["derivatives"]["mean_rate_8h_percent"] is None


def test_the_quote_can_be_paid_for_fifteen_minutes_after_the_next_tick() -> None:
    quote = composed("full").challenges["x402-atlas"]["quote"]

    assert quote["snapshotId"] == "000000004711"
    assert quote["valid_until"] == "2026-11-20T10:09:00Z"
    assert quote["price_in_words"].startswith(f"{PRODUCT_BY_ID['x402-atlas'].price_display}, about ")


def part_of(body: Any, path: str) -> Any:
    for name in path.split("."):
        body = body[name]
    return body


@pytest.mark.parametrize("name", CONTEXTS)
def test_the_worth_names_what_is_sold_with_a_digest_that_the_buyer_can_check(name: str) -> None:
    for product in PRODUCTS:
        worth = composed(name).challenges[product.id]["worth"]
        body = json.loads(encode(composed(name).paid[product.id]))

        sold = {path: part_of(body, path) for path in worth["fields"]}
        text = json.dumps(sold, ensure_ascii=False, separators=(",", ":"))

        assert worth["sha256"] == hashlib.sha256(text.encode()).hexdigest()
        has_idea = product.id == REPORT and body["report"]["idea"] is not None
        assert worth["paragraph"] == (body["report"]["idea"]["text"] if has_idea else None)
