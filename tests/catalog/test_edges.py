"""The edge recipes name the assets of the catalog; `python -m tests.catalog.edges` writes them."""

import pytest

from generator.catalog.assets import ASSETS
from tests.catalog.edges import EDGES, ROWS, written


@pytest.mark.parametrize("name", ROWS)
def test_an_edge_names_the_assets_of_the_catalog(name: str) -> None:
    recipe = (EDGES / name).read_text()

    assert all(asset in recipe for asset in ASSETS), "run: python -m tests.catalog.edges"
    assert written(recipe, ROWS[name]) == recipe, "run: python -m tests.catalog.edges"
