"""A body that the catalog lists is composed, by the model that it names, and can be bought where it is sold."""

from gateway.buyer.products import FLOWS
from generator.catalog.endpoints import ENDPOINTS, RECOMMENDED_ORDER
from generator.catalog.links import BUYER_PAGES
from generator.catalog.products import PRODUCTS
from generator.compose.all import FREE, MODELS, PAID


def test_every_endpoint_and_product_has_a_composer_in_compose_all() -> None:
    assert list(FREE) == [row.id for row in ENDPOINTS], "generator/compose/all.py: FREE"
    assert list(PAID) == [row.id for row in PRODUCTS], "generator/compose/all.py: PAID"


def test_every_composer_returns_the_model_that_the_catalog_names() -> None:
    assert {row.model for row in ENDPOINTS} | {row.model for row in PRODUCTS} <= set(MODELS)


def test_every_suggested_resource_exists() -> None:
    known = {row.id for row in ENDPOINTS} | {row.id for row in PRODUCTS}

    assert {row.next_resource for row in ENDPOINTS} <= known
    assert set(RECOMMENDED_ORDER) <= known


def test_every_product_has_a_page_where_it_is_bought() -> None:
    sold = {row.id for row in PRODUCTS}

    assert set(BUYER_PAGES) == sold, "generator/catalog/links.py: BUYER_PAGES"
    assert {flow.product for flow in FLOWS} == sold, "gateway/buyer/products.py: FLOWS"
