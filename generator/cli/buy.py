"""`emi buy`: pay for a product with play money and print it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

    from gateway.settings import GatewaySettings
    from generator.catalog.products import Product
    from generator.client.buying.purchase import Bought, Order
    from generator.client.buying.purchases import Purchase


def buy(  # noqa: PLR0917
    product: Annotated[str, typer.Argument(help="market-regime, main-brain, atlas or atlas-human-report.")],
    url: Annotated[
        str | None, typer.Option(help="Origin of the service. Default: the one that runs on the same state.")
    ] = None,
    max_price: Annotated[
        int | None, typer.Option(help="Maximum to pay, in atomic units of USDC. Default: the price.")
    ] = None,
    devnet_url: Annotated[str | None, typer.Option(help="Origin of the devnet. Default: detected.")] = None,
    node: Annotated[
        str | None,
        typer.Option(help="Origin of the node that is asked whether a payment landed. Default: the devnet."),
    ] = None,
    accept_payee: Annotated[
        str | None,
        typer.Option(
            help="Payee to accept from now on, an address. Default: the one of before; at first that of the settings, "
            "and of another one you are asked."
        ),
    ] = None,
    abandon: Annotated[
        str | None,
        typer.Option(help="Id of a payment that brought nothing: forget it and sign a new one."),
    ] = None,
    save: Annotated[
        Path | None, typer.Option(help="File for the bought body, byte for byte, as `emi verify --body` asks for it.")
    ] = None,
    json_only: Annotated[bool, typer.Option("--json", help="Print the bought body alone.")] = False,
) -> None:
    """Buy a product with a throwaway devnet wallet: prints settled, txid, network, then what was bought.

    The report is printed as text, the other products as JSON. Each payment is kept in STATE_DIR/purchases before it is
    sent; while it may have landed, the same command sends the same one again and signs no other.

    Example: emi buy atlas --json
    """
    import asyncio

    from gateway.devnet.keys import load_or_make
    from generator.cli._settings import gateway_settings
    from generator.cli._urls import origin_of, service_origin
    from generator.client.buying.purchase import Order

    wanted = product_named(product)
    settings = gateway_settings()
    origin = origin_of(url) if url else service_origin(settings)
    devnet = devnet_origin(origin_of(devnet_url) if devnet_url else None, origin, settings)
    order = Order(
        url=origin + wanted.path,
        product=wanted.id,
        node_url=origin_of(node) if node else devnet,
        devnet_url=devnet,
        key=load_or_make(settings.state_dir / "keys" / "buyer.key"),
        max_amount_atomic=wanted.price_atomic if max_price is None else max_price,
        accept_payee=_payee(accept_payee),
        own_payee=settings.payee,
    )
    asyncio.run(_buy(order, settings.state_dir, abandon, save, json_only=json_only))


async def _buy(order: Order, state_dir: Path, abandon_txid: str | None, save: Path | None, *, json_only: bool) -> None:
    """Buy and print while no other `emi buy` does on the same state: two would find nothing unfinished, and sign."""
    from generator.client.buying.purchase import Context, abandon, purchase
    from generator.client.buying.purchases import PurchaseFolder
    from generator.client.buying.web import open_web
    from generator.errors import GeneratorError
    from generator.lock import StateLock, StateLockTaken

    purchases = PurchaseFolder(state_dir / "purchases")
    try:
        with StateLock(state_dir, "buy"):
            if abandon_txid is not None:
                abandon(purchases, abandon_txid)
            async with open_web() as web:
                bought = await purchase(order, Context(web, purchases, agree=_asker()))
            _show(bought, save, json_only=json_only)
            purchases.keep(bought.purchase)
    except StateLockTaken as taken:
        raise GeneratorError(f"process {taken.pid} is buying with the same state; wait until it ends") from taken


def _show(bought: Bought, save: Path | None, *, json_only: bool) -> None:
    """Write the bought bytes to a file, if one is named, and print them for people."""
    from generator.errors import GeneratorError

    if save is not None:
        try:
            save.write_bytes(bought.content)
        except OSError as problem:
            raise GeneratorError(
                f"{save} cannot be written ({problem.strerror}); run the same command again"
            ) from problem
    _print(bought.purchase, json_only=json_only)


def _print(done: Purchase, *, json_only: bool) -> None:
    import json
    import os
    import sys

    from generator.catalog.money import usdc_amount
    from generator.client.buying.report import report_text

    text = None if json_only else report_text(done.body)
    body = text or json.dumps(done.body, ensure_ascii=False, indent=2)
    amount = f"{usdc_amount(done.amount_atomic)} USDC ({done.amount_atomic} atomic units)"
    head = f"settled\ntxid     {done.txid}\nnetwork  {done.network}\npaid     {amount} by {done.payer}\n\n"
    try:
        print(body if json_only else head + body, flush=True)
    except BrokenPipeError:
        # Whoever reads has what it wanted, as `| head` does; nothing more is to be written at the end of the process.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _asker() -> Callable[[str], bool] | None:
    """Return what asks the person at the terminal, None where there is none: what runs by itself agrees to nothing."""
    import sys

    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    return lambda question: typer.confirm(question, err=True)


def _payee(given: str | None) -> str | None:
    from algosdk.encoding import is_valid_address

    from generator.errors import GeneratorError

    if given is not None and not is_valid_address(given):
        raise GeneratorError(f"--accept-payee {given!r} is not an Algorand address (58 characters with a checksum)")
    return given


def product_named(name: str) -> Product:
    """Return the product of a name on the command line; raise GeneratorError when there is none."""
    from generator.catalog.products import PRODUCTS
    from generator.errors import GeneratorError

    for product in PRODUCTS:
        if name in {product.buy_name, product.id}:
            return product
    raise GeneratorError(
        f"{name!r} is not for sale; products are {', '.join(product.buy_name for product in PRODUCTS)}"
    )


def devnet_origin(given: str | None, origin: str, settings: GatewaySettings) -> str:
    """Return the devnet's origin: as given, else the facilitator's, the running one's, the port after the gateway's."""
    from urllib.parse import urlsplit

    from gateway.devnet.settings import running_devnet
    from gateway.wire.loopback import is_loopback
    from generator.errors import GeneratorError

    devnet = (
        given
        or (settings.facilitator_url or "").removesuffix("/facilitator")
        or running_devnet(settings.state_dir)
        or f"http://127.0.0.1:{(urlsplit(origin).port or 0) + 1}"
    )
    parts = urlsplit(devnet)
    if parts.scheme not in {"http", "https"} or not is_loopback(parts.hostname or ""):
        raise GeneratorError(
            f"{devnet} is not on this machine: `emi buy` pays with play money from a loopback devnet only"
        )
    return devnet.rstrip("/")
