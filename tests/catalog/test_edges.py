"""The edge recipes name the assets and moved pages of the catalog; `python -m tests.catalog.edges` writes them."""

import pytest

from generator.catalog.assets import ASSETS
from generator.catalog.moved import MOVED
from tests.catalog.edges import EDGES, ROWS, written

HINT = "run: python -m tests.catalog.edges"


@pytest.mark.parametrize("name", ROWS)
def test_an_edge_names_the_assets_and_moved_pages_of_the_catalog(name: str) -> None:
    recipe = (EDGES / name).read_text()

    assert written(recipe, ROWS[name]) == recipe, HINT


@pytest.mark.parametrize("name", ["nginx/emi.conf", "caddy/Caddyfile", "cloudflare/worker.js"])
def test_a_recipe_has_every_asset(name: str) -> None:
    recipe = (EDGES / name).read_text()

    assert all(asset in recipe for asset in ASSETS), HINT


@pytest.mark.parametrize("name", ["nginx/emi.conf", "caddy/Caddyfile", "cloudflare/moved.js"])
def test_a_recipe_leads_every_moved_page_to_where_it_is_now(name: str) -> None:
    lines = (EDGES / name).read_text().splitlines()

    assert [old for old, new in MOVED.items() if not any(old in line and f'"{new}"' in line for line in lines)] == []
