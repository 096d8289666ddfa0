"""Code of others buys and settles, unmodified, in both forms of the network's name."""

import pytest

from gateway.devnet.keys import new_key
from gateway.settings import DEMO_PAYEE
from gateway.wire.networks import TESTNET
from generator.catalog.products import PRODUCTS, Product
from tests.outside.market import FACILITATORS, Market, need

pytestmark = pytest.mark.outside
CLIENTS = ("python", "js")
FORMS = {"any": None, "full": TESTNET.full, "short": TESTNET.caip2}


def check_bought(lent: Market, client: str, facilitator: str, product: Product, form: str | None) -> None:
    key = lent.funded()
    had, payee_had = lent.balance(key.address), lent.balance(DEMO_PAYEE)

    bought = lent.buy(client, facilitator, product, key, form)

    assert bought.status == 200, bought.body
    assert bought.body["payment_status"] == "settled"
    assert (bought.receipt["success"], bought.receipt["payer"]) == (True, key.address)
    assert bought.receipt["network"] == form or form is None
    moved = lent.transaction(bought.receipt["transaction"])["asset-transfer-transaction"]
    assert (moved["amount"], moved["receiver"]) == (product.price_atomic, DEMO_PAYEE)
    assert had - lent.balance(key.address) == product.price_atomic
    assert lent.balance(DEMO_PAYEE) - payee_had == product.price_atomic


# The official Python client knows no short form: see the test of its refusal.
MATRIX = [(client, form) for client in CLIENTS for form in FORMS if (client, form) != ("python", "short")]


@pytest.mark.parametrize("facilitator", FACILITATORS)
@pytest.mark.parametrize(("client", "form"), MATRIX)
def test_every_client_buys_through_every_facilitator_and_pays_exactly_once(
    lent: Market, client: str, facilitator: str, form: str
) -> None:
    need(client, facilitator)

    check_bought(lent, client, facilitator, PRODUCTS[0], FORMS[form])


@pytest.mark.parametrize("product", PRODUCTS[1:], ids=lambda product: product.buy_name)
@pytest.mark.parametrize("client", CLIENTS)
def test_every_other_product_is_bought_too(lent: Market, client: str, product: Product) -> None:
    need(client)

    check_bought(lent, client, "ours", product, None)


def test_the_official_python_client_refuses_the_short_form_and_pays_nothing(lent: Market) -> None:
    need("python")
    key = lent.funded()
    had = lent.balance(key.address)

    done = lent.run_buyer("python", "ours", PRODUCTS[0], key, TESTNET.caip2)

    # If this begins to succeed, the client has learnt the form: put it into the matrix.
    assert done.returncode != 0
    assert "Unsupported CAIP-2 network" in done.stderr
    assert lent.balance(key.address) == had


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("facilitator", FACILITATORS)
def test_an_unfunded_official_client_gets_402_and_pays_nothing(lent: Market, client: str, facilitator: str) -> None:
    need(client, facilitator)
    payee_had = lent.balance(DEMO_PAYEE)

    bought = lent.buy(client, facilitator, PRODUCTS[0], new_key())

    assert bought.status == 402
    assert bought.receipt["success"] is False
    assert lent.balance(DEMO_PAYEE) == payee_had
