"""No text types what the catalog counts: how many assets and answers there are, which, and at what price."""

import re
from pathlib import Path

import pytest

from generator.catalog.assets import ASSETS
from generator.catalog.counts import in_words
from generator.catalog.products import PRODUCTS

ROOT = Path(__file__).parents[2]
TEXTS = [
    path
    for folder in ("generator", "gateway", "templates", "site/assets")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in {".py", ".html", ".js", ".md", ".txt"}
]
_NUMBER = "four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|[0-9]+"
_THING = "assets|coins|endpoints|answers|addresses|products"
TYPED = re.compile(
    rf"\b(?:{_NUMBER}) (?:(?:free|paid|public|deeper|crypto) )?(?:{_THING})\b"
    rf"|\b(?:{_NUMBER}) (?:free|paid)\b"
    rf"|{ASSETS[0]}\W{{1,4}}{ASSETS[1]}\W{{1,4}}{ASSETS[2]}"
    rf"|\b(?:{'|'.join(sorted({re.escape(row.price_display) for row in PRODUCTS}))})",
    re.IGNORECASE,
)
CATALOG = {ROOT / "generator" / "catalog" / name for name in ("assets.py", "money.py", "products.py")}


def test_no_text_types_a_count_a_list_of_assets_or_a_price() -> None:
    found = {
        f"{path.relative_to(ROOT)}: {match.group()}"
        for path in TEXTS
        if path not in CATALOG
        for match in TYPED.finditer(path.read_text(encoding="utf-8"))
    }

    assert found == set()


def test_docs_type_only_prices_that_are_in_force() -> None:
    texts = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    in_force = {row.price_display.split()[0] for row in PRODUCTS}
    typed = {
        (path.relative_to(ROOT).as_posix(), amount)
        for path in texts
        for amount in re.findall(r"\b(0\.[0-9]+) USDC", path.read_text(encoding="utf-8"))
    }

    assert {amount for _, amount in typed} & in_force
    old = {(path, amount) for path, amount in typed if amount not in in_force}
    assert old == set(), "python -m tests.reference writes docs/reference; change the others by hand"


@pytest.mark.parametrize(
    "text", ["Nine free answers", "seven coins", "BTC, ETH, XRP", "13 endpoints", PRODUCTS[0].price_display]
)
def test_a_typed_count_is_found(text: str) -> None:
    assert TYPED.search(text)


@pytest.mark.parametrize(("count", "word"), [(0, "no"), (7, "seven"), (12, "twelve"), (13, "13")])
def test_a_count_is_written_in_words_up_to_twelve(count: int, word: str) -> None:
    assert in_words(count) == word
