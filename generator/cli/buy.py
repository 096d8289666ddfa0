"""`emi buy`: pay for a product with play money and print it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from gateway.settings import GatewaySettings
    from generator.catalog.products import Product
    from generator.cli._buying import Order, Purchase


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
    from generator.cli._buying import Order
    from generator.cli._settings import gateway_settings

    wanted = product_named(product)
    settings = gateway_settings()
    origin = (url or settings.origin).rstrip("/")
    order = Order(
        url=origin + wanted.path,
        devnet_url=_devnet_origin(devnet_url, origin, settings),
        max_amount_atomic=wanted.price_atomic if max_price is None else max_price,
    )
    _show(_bought(order, settings.state_dir), json_only=json_only)


def _bought(order: Order, state: Path) -> Purchase:
    import asyncio

    from gateway.devnet.errors import DevnetError
    from gateway.devnet.keys import load_or_make
    from generator.cli._buying import Purchases, purchase
    from generator.errors import GeneratorError

    try:
        return asyncio.run(
            purchase(
                order,
                Purchases(state / "purchases"),
                lambda: load_or_make(state / "keys" / "buyer.key"),
                lambda line: print(f"emi: {line}", file=sys.stderr, flush=True),
            )
        )
    except DevnetError as error:
        raise GeneratorError(str(error)) from error


def product_named(name: str) -> Product:
    """Return the product of a name on the command line.

    Raises:
        GeneratorError: there is none.
    """
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

    facilitator = settings.facilitator_url
    found = given or (facilitator.removesuffix("/facilitator") if facilitator else None)
    found = found or running_devnet(settings.state_dir) or f"http://127.0.0.1:{(urlsplit(origin).port or 0) + 1}"
    parts = urlsplit(found)
    if parts.scheme not in {"http", "https"} or not is_loopback(parts.hostname or ""):
        raise GeneratorError(
            f"{found} is not on this machine: `emi buy` pays with play money from a loopback devnet only"
        )
    return found.rstrip("/")


def _show(bought: Purchase, *, json_only: bool) -> None:
    import json

    from generator.catalog.money import usdc_amount

    if not json_only:
        print("settled")
        print(f"txid     {bought.txid}")
        print(f"network  {bought.network}")
        amount = f"{usdc_amount(bought.amount_atomic)} USDC ({bought.amount_atomic} atomic units)"
        print(f"paid     {amount} by {bought.payer}\n")
    print(json.dumps(bought.body, ensure_ascii=False, indent=2))
