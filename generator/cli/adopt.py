"""`emi adopt`: take payments into the ledger that the chain shows and the ledger lacks."""

from typing import Annotated

import typer

from generator.errors import GeneratorError


def adopt(
    txid: Annotated[str | None, typer.Argument(help="The payment's transaction id.")] = None,
    product: Annotated[str | None, typer.Option(help="market-regime, main-brain, atlas or atlas-human-report.")] = None,
    since: Annotated[
        int | None, typer.Option(help="Every transfer to the payee since this round that the ledger lacks.", min=0)
    ] = None,
    take_all: Annotated[bool, typer.Option("--all", help="With --since: take them in without asking.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="With --since: only show what would be taken in.")] = False,
) -> None:
    """Take in payments that the chain shows and the ledger does not know, as after the loss of a ledger.

    Whoever presents such a payment next gets what it bought: the snapshot it quotes, or the newest. Its amount must be
    the product's price.

    With --since the indexer is asked for every transfer to the payee, and the amount says which product it bought.
    Where it fits several, the one that --product names is taken, else you are asked; with --all and no terminal it is
    left. Name the round of the newest payment in the restored ledger: its `intent_round` in
    `emi payments --json --limit 1`.

    Example: emi adopt --since 46012345 --dry-run
    """
    from generator.cli._adopting import adopt_one, adopt_since
    from generator.cli.buy import product_named

    wanted = None if product is None else product_named(product)
    if (txid is None) == (since is None):
        raise GeneratorError("name either a transaction id or --since ROUND, e.g. `emi adopt --since 46012345`")
    if since is not None:
        adopt_since(since, wanted, take_all=take_all, dry_run=dry_run)
        return

    if take_all or dry_run:
        raise GeneratorError("--all and --dry-run go with --since")
    if wanted is None:
        raise GeneratorError("name what it bought with --product, e.g. `emi adopt TXID --product atlas`")
    adopt_one(str(txid), wanted)
