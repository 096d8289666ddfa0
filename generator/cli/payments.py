"""`emi payments`: list, inspect, export and mend the payments ledger while the gateway runs."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from generator.errors import GeneratorError

if TYPE_CHECKING:
    from gateway.ledger.view import LedgerView

payments_app = typer.Typer(help="List, inspect and export payments; only `adopt` writes.", no_args_is_help=True)
SHOWN: Final = ("txid", "state", "product", "snapshot_id", "payer", "created_at", "reason")
EXPLAINED: Final = {
    "unknown": "the money may or may not have moved; looked up on the chain until that is certain",
    "settled": "paid; the answer is given again to whoever sends the same payment",
    "refused": "certainly not paid by this payment",
}


class State(StrEnum):
    """Which payments to list."""

    unknown = "unknown"
    settled = "settled"
    refused = "refused"
    all = "all"


@payments_app.command("list")
def list_payments(
    state: Annotated[State, typer.Option(help="Only payments in this state.")] = State.all,
    limit: Annotated[int, typer.Option(help="At most this many, newest first.", min=1)] = 50,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """List payments, newest first.

    Example: emi payments list --state unknown
    """
    # On disk an unknown payment is an intent whose answer is missing.
    stored = {"unknown": "intent", "all": None}.get(state, state)
    with _ledger() as view:
        rows = [_row(row) for row in view.rows(stored, limit)]
    if as_json:
        _write_jsonl(rows)
        return
    for row in rows:
        print("  ".join(str(row[name] or "-") for name in SHOWN))
    if not rows:
        print("no payments" if state is State.all else f"no payments are {state}", file=sys.stderr)


@payments_app.command("show")
def show(txid: Annotated[str, typer.Argument(help="The payment's transaction id.")]) -> None:
    """Show all that is known of one payment.

    Example: emi payments show TXID
    """
    with _ledger() as view:
        stored = view.row(txid)
    if stored is None:
        raise GeneratorError(f"the payments ledger holds no payment {txid[:60]!r}")
    row = _row(stored)
    for name, value in row.items():
        print(f"{name:16}{'-' if value is None else value}")
    print(f"\n{EXPLAINED[row['state']]}")


@payments_app.command("export")
def export(
    as_csv: Annotated[bool, typer.Option("--csv", help="CSV with a header; the default.")] = False,
    as_jsonl: Annotated[bool, typer.Option("--jsonl", help="One JSON object a line.")] = False,
) -> None:
    """Write every payment to standard output, oldest first, without bodies.

    Example: emi payments export --csv > payments.csv
    """
    if as_csv and as_jsonl:
        raise GeneratorError("choose one of --csv and --jsonl")
    with _ledger() as view:
        rows = (_row(row) for row in view.all_rows())
        if as_jsonl:
            _write_jsonl(rows)
            return
        writer = csv.DictWriter(sys.stdout, view.columns)
        writer.writeheader()
        writer.writerows({name: _plain_cell(value) for name, value in row.items()} for row in rows)


@payments_app.command("adopt")
def adopt(
    txid: Annotated[str, typer.Argument(help="The payment's transaction id.")],
    product: Annotated[str, typer.Option(help="market-regime, main-brain, atlas or atlas-human-report.")],
) -> None:
    """Take in a payment that the chain shows and the ledger does not know, as after the loss of a ledger.

    Whoever presents that payment next gets what it bought: the snapshot it quotes, or the newest. Its amount must be
    the product's price.

    Example: emi payments adopt TXID --product atlas
    """
    import asyncio

    from gateway.devnet.settings import running_devnet
    from gateway.payments.adoption import adopt as take_in
    from gateway.upstream.http_client import Http
    from generator.cli._settings import gateway_settings
    from generator.cli.buy import product_named

    wanted, settings = product_named(product), gateway_settings()
    if settings.algod_url is None and settings.indexer_url is None:
        devnet = running_devnet(settings.state_dir)
        if devnet is None:
            raise GeneratorError("set EMI_INDEXER_URL or EMI_ALGOD_URL: the payment is looked up on the chain")
        # As `emi up` sets it for its gateway.
        settings = settings.model_copy(update={"algod_url": f"{devnet}/algod", "indexer_url": f"{devnet}/indexer"})

    async def run() -> str:
        async with Http() as http:
            return await take_in(settings, http, txid, wanted.id)

    payer = asyncio.run(run())
    print(f"adopted  {txid}\nproduct  {wanted.id}, {wanted.price_atomic} atomic units\npayer    {payer}")


def _ledger() -> LedgerView:
    from gateway.ledger.view import LedgerView
    from generator.cli._settings import gateway_settings

    return LedgerView(gateway_settings().ledger_where)


def _row(stored: dict[str, Any]) -> dict[str, Any]:
    """Return a stored payment as it is shown; its identifier is what a payer proves a purchase with: no one sees it."""
    row = dict(stored)
    row["state"] = "unknown" if row["state"] == "intent" else row["state"]
    row["identifier"] = None if row["identifier"] is None else "set"
    for name in ("created_at", "closed_at"):
        if row[name] is not None:
            row[name] = datetime.fromtimestamp(row[name], UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return row


def _write_jsonl(rows: Iterable[dict[str, Any]]) -> None:
    for row in rows:
        print(json.dumps(row, ensure_ascii=False))


def _plain_cell(value: Any) -> Any:
    # A spreadsheet runs cells that begin like a formula.
    return f"'{value}" if isinstance(value, str) and value[:1] in {"=", "+", "-", "@"} else value
