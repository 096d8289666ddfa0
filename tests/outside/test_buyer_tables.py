"""What was bought, as people read it: every product, on a phone and on a desk, and as Markdown."""

import re
from typing import Any

import pytest

from generator.catalog.products import PRODUCTS
from tests.outside.site_pages import BROWSED, Browser, Page
from tests.support.bodies import paid
from tests.support.local_servers import Shop

pytestmark = BROWSED
STRUCTURED = [product.id for product in PRODUCTS if product.product_id]
SHOW = """async (body) => {
  const { blocks, draw, markdown } = await import("/assets/buyer-report.js");
  const made = blocks(body, "Bought", []);
  document.getElementById("purchase").hidden = document.getElementById("report").hidden = false;
  document.getElementById("report").replaceChildren(...draw(made));
  document.querySelectorAll("#report .part").forEach((part) => { part.open = true; });
  return markdown(made);
}"""
BINS = [
    {"low_percent": 0.0, "high_percent": 35.0, "n": 26, "hit": None, "note": "sparse"},
    {
        "low_percent": 35.0,
        "high_percent": 40.0,
        "n": 163,
        "hit": {"n": 163, "percent": 31.9, "low_percent": 25.2, "high_percent": 39.4},
        "note": None,
    },
    {"low_percent": 60.0, "high_percent": 100.0, "n": 0, "hit": None, "note": "sparse"},
]


def shown(browser: Browser, shop: Shop, body: dict[str, Any], width: int = 1280) -> tuple[Page, str]:
    """Open a body in a page of a width, and return the page with the body's Markdown."""
    page = browser.new_page(viewport={"width": width, "height": 844})
    page.goto(f"{shop.gateway}/x402-buyer/")
    return page, page.evaluate(SHOW, body)


def test_a_rate_that_is_known_is_shown_and_a_note_that_is_not_there_is_not_unknown(
    browser: Browser, shop: Shop
) -> None:
    page, written = shown(browser, shop, {"calibration": BINS})

    heads = page.locator("#report thead th").all_inner_texts()
    rows = [row.locator("th, td").all_inner_texts() for row in page.locator("#report tbody tr").all()]

    assert heads == ["Said", "Cases", "Right", "Note"]
    assert rows == [
        ["0.0 to 35.0%", "26", "not known", "sparse"],
        ["35.0 to 40.0%", "163", "31.9% (25.2 to 39.4%)", "none"],
        ["60.0 to 100.0%", "0", "not known", "sparse"],
    ]
    assert "| 35.0 to 40.0% | 163 | 31.9% (25.2 to 39.4%) | none |" in written
    page.close()


@pytest.mark.parametrize("width", [390, 768, 1440])
@pytest.mark.parametrize("product", STRUCTURED)
def test_nothing_of_a_bought_document_is_cut_at_its_edge(
    browser: Browser, shop: Shop, product: str, width: int
) -> None:
    page, _ = shown(browser, shop, paid("full", product), width)

    cut = page.evaluate(
        "[...document.querySelectorAll('#report .scroll')].filter((one) => one.scrollWidth > one.clientWidth)"
        ".map((one) => one.innerText.slice(0, 60))"
    )

    assert cut == []
    assert page.evaluate("document.documentElement.scrollWidth") == width
    page.close()


@pytest.mark.parametrize("product", STRUCTURED)
def test_no_name_of_a_field_is_shown_raw(browser: Browser, shop: Shop, product: str) -> None:
    page, written = shown(browser, shop, paid("full", product))
    document = written.split("```json")[0]

    names = page.locator("#report h3, #report h4, #report h5, #report h6, #report th, #report dt").all_inner_texts()

    assert len(names) > 20
    assert [name for name in names if re.search(r"_|pct|\bUsd\b|\busd\b|\bbps_|^N$|[a-z]24h| percent\b", name)] == []
    assert re.findall(r"^#+ .*_.*$|\| [a-z]+\\_[a-z]+ \|", document, re.MULTILINE) == []
    page.close()


def test_texts_of_a_document_are_read_as_texts_and_not_in_columns(browser: Browser, shop: Shop) -> None:
    body = paid("full", "x402-atlas")
    page, written = shown(browser, shop, body, 390)

    for part in ("ladder", "partition", "day_ahead"):
        assert body["intelligence_layer"][part]["text"] in page.inner_text("#report")
        assert body["intelligence_layer"][part]["text"] in written
    narrow = page.evaluate(
        "[...document.querySelectorAll('#report td, #report dd')]"
        ".filter((cell) => cell.innerText.length > 60 && cell.clientWidth < 200)"
        ".map((one) => one.innerText)"
    )
    assert narrow == []
    page.close()


def test_the_evidence_in_words_and_the_reading_of_the_smaller_products_are_shown(browser: Browser, shop: Shop) -> None:
    brain, regime = paid("full", "x402-main-brain"), paid("full", "x402-market-regime")

    page, _ = shown(browser, shop, brain)
    text = page.inner_text("#report")
    page.close()
    page, _ = shown(browser, shop, regime)
    first = page.locator("#report dl").first.inner_text()

    assert brain["summary"]["text"] in text
    for asset in brain["assets"].values():
        assert all(said in text for said in asset["evidence"]["supporting"])
    assert f"Market mode\n{regime['market_mode']}" in first
    page.close()


def test_the_report_has_a_row_for_each_coin(browser: Browser, shop: Shop) -> None:
    body = paid("full", "x402-atlas-human-report")
    page, written = shown(browser, shop, body)

    tables = "\n".join(page.locator("#report table").all_inner_texts())  # those of plots are folded: empty

    for asset in body["report"]["assets"]:
        assert asset["name"] in tables
        assert f"| {asset['usual_days']:.1f} |" in written
    assert body["report"]["question"]["text"] in page.inner_text("#report")
    page.close()


def test_a_sample_says_of_which_time_it_is(browser: Browser, shop: Shop) -> None:
    page = browser.new_page()
    page.goto(f"{shop.gateway}/x402-buyer/")

    page.click("#show-sample")
    page.wait_for_selector("#sample-report h2")

    assert re.fullmatch(
        r"The crypto market on \d+ \w+ 20\d\d, \d\d:\d\d UTC, in plain words", page.inner_text("#sample-report h2")
    )
    assert "now" not in page.inner_text("#sample-report h2")
    page.close()


def test_numbers_have_units_thousands_and_sensible_digits_and_parts_are_folded(browser: Browser, shop: Shop) -> None:
    coins = [
        {"asset": name, "price": price, "change_24h": -1.5, "spread_bps": 0.4, "depth_1pct_usd": 17_564_100_000.0}
        for name, price in (("BTC", 82021.8), ("ALGO", 0.192731), ("XLM", 2.5))
    ]
    body = {
        "headline": "Calm.",
        "confidence": {"regime": 39},
        "regime": {"probabilities": {"range": 0.4212}},
        "coins": coins,
    }
    page, written = shown(browser, shop, body)

    rows = [row.locator("th, td").all_inner_texts() for row in page.locator("#report tbody tr").all()]

    assert rows[0] == ["BTC", "$82,021.80", "\u22121.50%", "0.40 bps", "$17.56 billion"]
    assert [row[1] for row in rows[1:]] == ["$0.192731", "$2.50"]
    assert "**Regime**: 39.0%" in written
    assert "**Range**: 42.1%" in written
    assert page.locator("#report details.part > summary").all_inner_texts() == [
        "Confidence",
        "Regime",
        "Coins",
        "About this document",
    ]
    page.close()
