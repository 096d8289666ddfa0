"""`emi buy`: pay for a product with play money and print it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from gateway.settings import GatewaySettings
    from generator.catalog.products import Product


def buy(
    product: Annotated[str, typer.Argument(help="market-regime, main-brain, atlas or atlas-human-report.")],
    url: Annotated[str | None, typer.Option(help="Origin of the service. Default: the configured one.")] = None,
    max_price: Annotated[
        int | None, typer.Option(help="Maximum to pay, in atomic units of USDC. Default: the price.")
    ] = None,
    devnet_url: Annotated[str | None, typer.Option(help="Origin of the devnet. Default: detected.")] = None,
    json_only: Annotated[bool, typer.Option("--json", help="Print the bought body alone.")] = False,
) -> None:
    """Buy a product with a throwaway devnet wallet: prints settled, txid, network, then the body.

    Example: emi buy atlas --json
    """
    import asyncio
    import json

    from gateway.devnet.keys import load_or_make
    from generator.catalog.money import usdc_amount
    from generator.cli._buying import Order, Purchases, purchase
    from generator.cli._settings import gateway_settings

    wanted = product_named(product)
    settings = gateway_settings()
    origin = (url or settings.origin).rstrip("/")
    devnet = _devnet_origin(devnet_url, origin, settings)
    most = wanted.price_atomic if max_price is None else max_price
    order = Order(origin + wanted.path, devnet, load_or_make(settings.state_dir / "keys" / "buyer.key"), most)
    bought = asyncio.run(purchase(order, Purchases(settings.state_dir / "purchases")))
    if not json_only:
        print(f"settled\ntxid     {bought.txid}\nnetwork  {bought.network}")
        amount = f"{usdc_amount(bought.amount_atomic)} USDC ({bought.amount_atomic} atomic units)"
        print(f"paid     {amount} by {bought.payer}\n")
    print(json.dumps(bought.body, ensure_ascii=False, indent=2))


def product_named(name: str) -> Product:
    """Return the product of a name on the command line; raise GeneratorError when there is none."""
    from generator.catalog.products import PRODUCTS
    from generator.errors import GeneratorError

    for product in PRODUCTS:
        if name in {product.buy_name, product.id}:
            return product
    raise GeneratorError(f"{name!r} is not for sale; products are {', '.join(one.buy_name for one in PRODUCTS)}")


def _devnet_origin(given: str | None, origin: str, settings: GatewaySettings) -> str:
    """Return the devnet's origin: as given, else the facilitator's, the running one's, the port after the gateway's."""
    from urllib.parse import urlsplit

    from gateway.devnet.settings import running_devnet
    from gateway.wire.loopback import is_loopback
    from generator.errors import GeneratorError

    found = (
        given
        or (settings.facilitator_url or "").removesuffix("/facilitator")
        or running_devnet(settings.state_dir)
        or f"http://127.0.0.1:{(urlsplit(origin).port or 0) + 1}"
    )
    parts = urlsplit(found)
    if parts.scheme not in {"http", "https"} or not is_loopback(parts.hostname or ""):
        raise GeneratorError(
            f"{found} is not on this machine: `emi buy` pays with play money from a loopback devnet only"
        )
    return found.rstrip("/")
