"""Taking lost payments into the ledger: one by its txid, or all that the indexer lists and the ledger lacks."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from gateway.errors import GatewayError
from generator.catalog.money import usdc_amount
from generator.catalog.products import PRODUCTS, Product
from generator.errors import GeneratorError

if TYPE_CHECKING:
    from gateway.payments.lost import LostPayment, Search
    from gateway.settings import GatewaySettings

Ask = Callable[[str], str]
"""Asks one question and returns the answer, stripped; an empty one leaves the payment."""
NAMES = {product.id: product.buy_name for product in PRODUCTS}


def adopt_one(txid: str, product: Product) -> None:
    """Take in one payment as a product, and say whose it was."""
    payer = _take_in(_settings(), txid, product.id)
    print(f"adopted  {txid}\nproduct  {product.id}, {product.price_atomic} atomic units\npayer    {payer}")


def adopt_since(since: int, product: Product | None, *, take_all: bool, dry_run: bool) -> None:
    """Show every payment that the ledger lacks, and take in what is chosen.

    Args:
        since: round of the chain.
        product: what an amount that fits several bought; None asks.
        take_all: ask only where an amount fits several.
        dry_run: take in nothing.
    """
    ask = _at_terminal if sys.stdin.isatty() else None
    if ask is None and not (take_all or dry_run):
        raise GeneratorError("there is no terminal to ask at: add --all, or --dry-run to look first")
    settings = _settings()
    search = _search(settings, since)
    for payment in search.lost:
        _show(payment)

    chosen: list[tuple[LostPayment, str]] = []
    for payment in search.lost:
        product_id = choose(payment, product, take_all=take_all or dry_run, ask=None if dry_run else ask)
        if product_id is not None:
            chosen.append((payment, product_id))
    failed = 0 if dry_run else _take_all_in(settings, chosen)

    print(_summary(search, chosen, failed, dry_run=dry_run), file=sys.stderr)
    if failed:
        raise SystemExit(1)


def choose(payment: LostPayment, product: Product | None, *, take_all: bool, ask: Ask | None) -> str | None:
    """Return the id of the product that a payment is taken in as, None to leave it.

    Args:
        payment: what the chain shows.
        product: what an amount that fits several bought, where that is known.
        take_all: take it in without a question where its amount leaves no doubt.
        ask: asks a person; None where there is none.
    """
    fitting = payment.products
    if product is not None and product.id in fitting:
        fitting = (product.id,)
    if len(fitting) == 1 and take_all:
        return fitting[0]
    if not fitting or ask is None:
        return None

    if len(fitting) == 1:
        return fitting[0] if ask(f"{payment.txid}: take in as {NAMES[fitting[0]]}? [y/N] ") in {"y", "yes"} else None
    names = {NAMES[product_id]: product_id for product_id in fitting}
    while True:
        answer = ask(f"{payment.txid}: which did it buy, {' or '.join(names)}? [leave it] ")
        if not answer or answer in names:
            return names.get(answer)


def _take_all_in(settings: GatewaySettings, chosen: Sequence[tuple[LostPayment, str]]) -> int:
    """Take in one after the other, and return how many were not; each that was is durable."""
    failed = 0
    # One that fails leaves the others to be taken in: each is money that somebody paid.
    for payment, product_id in chosen:
        try:
            _take_in(settings, payment.txid, product_id)
        except GatewayError as error:
            failed += 1
            print(f"left     {payment.txid}: {error}", file=sys.stderr)
        else:
            print(f"adopted  {payment.txid}  {NAMES[product_id]}")
    return failed


def _take_in(settings: GatewaySettings, txid: str, product_id: str) -> str:
    from gateway.payments.adoption import adopt
    from gateway.upstream.http_client import Http

    async def run() -> str:
        async with Http() as http:
            return await adopt(settings, http, txid, product_id)

    return asyncio.run(run())


def _search(settings: GatewaySettings, since: int) -> Search:
    from gateway.payments.lost import find_lost
    from gateway.upstream.http_client import Http

    async def run() -> Search:
        async with Http() as http:
            return await find_lost(settings, http, since)

    return asyncio.run(run())


def _settings() -> GatewaySettings:
    """Return the settings of the gateway; on a devnet with its node and indexer, as `emi up` sets them."""
    from gateway.devnet.settings import running_devnet
    from generator.cli._settings import gateway_settings

    settings = gateway_settings()
    if settings.algod_url is None and settings.indexer_url is None:
        devnet = running_devnet(settings.state_dir)
        if devnet is None:
            raise GeneratorError("set EMI_INDEXER_URL or EMI_ALGOD_URL: the payment is looked up on the chain")
        return settings.model_copy(update={"algod_url": f"{devnet}/algod", "indexer_url": f"{devnet}/indexer"})
    return settings


def _show(payment: LostPayment) -> None:
    products = " or ".join(NAMES[product] for product in payment.products) or "(no product costs this)"
    amount = usdc_amount(payment.amount_atomic)
    print(f"lost     {payment.txid}  round {payment.round}  {amount} USDC  {payment.payer}  {products}")


def _summary(search: Search, chosen: Sequence[object], failed: int, *, dry_run: bool) -> str:
    lost = len(search.lost)
    several = sum(len(payment.products) > 1 for payment in search.lost)
    none = sum(not payment.products for payment in search.lost)
    taken = len(chosen) - failed

    facts = [f"{lost} lost, {search.known} known to the ledger; the indexer has read up to round {search.read_to}"]
    if dry_run:
        facts.append(f"{taken} would be adopted")
    else:
        facts.append(f"{taken} adopted, {lost - taken} left")
    if several and len(chosen) < len(search.lost) - none:
        facts.append("an amount that fits several products needs --product, or an answer")
    if none:
        facts.append(f"{none} of an amount that no product costs: look whose they are")
    return "\n".join(facts)


def _at_terminal(question: str) -> str:
    try:
        return input(question).strip().lower()
    except EOFError:
        return ""
