"""Prices for people say exactly what is paid."""

from dataclasses import replace

import pytest

from gateway.wire.networks import NETWORKS
from generator.catalog.money import us_cents, usdc_amount
from generator.catalog.products import PRODUCTS
from generator.compose.challenge import payment_needed, price_in_words
from generator.site.openapi.paths import _payment_info

SPELT = [
    (10_000, "0.01", "1 US cent"),
    (15_000, "0.015", "1.5 US cents"),
    (20_000, "0.02", "2 US cents"),
    (100_000, "0.10", "10 US cents"),
    (1, "0.000001", "0.0001 US cents"),
    (1_234_567, "1.234567", "123.4567 US cents"),
    (12_000_000, "12.00", "1200 US cents"),
]


@pytest.mark.parametrize(("atomic", "usdc", "cents"), SPELT)
def test_an_amount_is_written_exactly(atomic: int, usdc: str, cents: str) -> None:
    assert (usdc_amount(atomic), us_cents(atomic)) == (usdc, cents)


def test_a_price_of_part_of_a_cent_reads_alike_everywhere() -> None:
    product = replace(PRODUCTS[0], price_atomic=15_000)

    assert product.price_display == "0.015 USDC"
    assert price_in_words(product, "mainnet") == "0.015 USDC, about 1.5 US cents, once for this one answer"
    assert price_in_words(product, "testnet") == "0.015 USDC, play money, worth nothing, once for this one answer"
    assert _payment_info(product, NETWORKS["devnet"])["price"]["amount"] == "0.015"


@pytest.mark.parametrize(("network", "names"), [("devnet", True), ("testnet", False), ("mainnet", False)])
def test_the_402_of_a_plain_devnet_names_the_start_for_official_clients(network: str, names: bool) -> None:
    said = payment_needed(network)

    assert ("emi up --as testnet" in said) is names
    assert said.startswith("This resource is paid for per request.")
