"""`emi payments`: list, inspect, export and mend the payments ledger while the gateway runs."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from enum import StrEnum
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from generator.errors import GeneratorError

if TYPE_CHECKING:
    from gateway.ledger.view import LedgerView

payments_app = typer.Typer(help="List, inspect and export payments; only `adopt` writes.", no_args_is_help=True)
SHOWN: Final = ("txid", "state", "product", "snapshot_id", "payer", "created_at", "reason")
MOVED: Final = (
    "Settled payments of more than about 90 days ago are not listed: `emi payments export` has what is kept of them, "
    "`emi payments show TXID` one; the whole rows are in settled-YYYY-MM.csv."
)
EXPLAINED: Final = {
    "unknown": "the money may or may not have moved; looked up on the chain until that is certain",
    "settled": "paid; the answer is given again to whoever sends the same payment",
    "refused": "certainly not paid by this payment",
}


class PaymentState(StrEnum):
    """Which payments to list."""

    unknown = "unknown"
    settled = "settled"
    refused = "refused"
    all = "all"


@payments_app.command("list")
def list_payments(
    state: Annotated[PaymentState, typer.Option(help="Only payments in this state.")] = PaymentState.all,
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
        shows_all = len(rows) < limit and state in {PaymentState.all, PaymentState.settled}
        if shows_all and view.has_moved_rows:
            print(MOVED, file=sys.stderr)
    if as_json:
        _write_jsonl(rows)
        return
    for row in rows:
        print("  ".join(str(row[name] or "-") for name in SHOWN))

    if rows:
        return
    if state is PaymentState.all:
        print("no payments", file=sys.stderr)
    else:
        print(f"no payments are {state}", file=sys.stderr)


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

    Of settled ones of more than about 90 days ago txid, product, amount and time are kept; their other columns are
    empty here and filled in the files settled-YYYY-MM.csv next to the ledger.

    Example: emi payments export --csv > payments.csv
    """
    if as_csv and as_jsonl:
        raise GeneratorError("choose one of --csv and --jsonl")
    with _ledger() as view:
        rows = (_row(row) for row in chain(view.moved_rows(), view.all_rows()))
        if as_jsonl:
            _write_jsonl(rows)
            return
        writer = csv.DictWriter(sys.stdout, view.columns)
        writer.writeheader()
        writer.writerows({name: _plain_cell(value) for name, value in row.items()} for row in rows)


@payments_app.command("adopt")
def adopt(
    txid: Annotated[str | None, typer.Argument(help="The payment's transaction id.")] = None,
    product: Annotated[str | None, typer.Option(help="market-regime, main-brain, atlas or atlas-human-report.")] = None,
    since: Annotated[
        int | None, typer.Option(help="Every transfer to the payee since this round that the ledger lacks.", min=0)
    ] = None,
    take_all: Annotated[bool, typer.Option("--all", help="With --since: take them in without asking.")] = False,
    dry_run: Annotated[bool, typer.Option(help="With --since: only show what would be taken in.")] = False,
) -> None:
    """Take in payments that the chain shows and the ledger does not know, as after the loss of a ledger.

    Whoever presents such a payment next gets what it bought: the snapshot it quotes, or the newest. Its amount must be
    the product's price.

    With --since the indexer is asked for every transfer to the payee, and the amount says which product it bought.
    Where it fits several, the one that --product names is taken, else you are asked; with --all and no terminal it is
    left. Name the round of the newest payment in the restored ledger: its `intent_round` in
    `emi payments list --json --limit 1`.

    Example: emi payments adopt TXID --product atlas

    Example: emi payments adopt --since 46012345 --dry-run
    """
    from generator.cli._adopting import adopt_one, adopt_since
    from generator.cli.buy import product_named

    wanted = None if product is None else product_named(product)
    if (txid is None) == (since is None):
        raise GeneratorError(
            "name either a transaction id or --since ROUND, e.g. `emi payments adopt --since 46012345`"
        )
    if since is not None:
        adopt_since(since, wanted, take_all=take_all, dry_run=dry_run)
        return
    if take_all or dry_run:
        raise GeneratorError("--all and --dry-run go with --since")
    if wanted is None:
        raise GeneratorError("name what it bought with --product, e.g. `emi payments adopt TXID --product atlas`")
    adopt_one(str(txid), wanted)


def _ledger() -> LedgerView:
    from gateway.ledger.view import LedgerView
    from generator.cli._settings import gateway_settings

    return LedgerView(gateway_settings().ledger_where)


def _row(stored: dict[str, Any]) -> dict[str, Any]:
    """Return a stored payment as it is shown; its identifier is what a payer proves a purchase with: no one sees it."""
    row = dict(stored)
    if row["state"] == "intent":
        row["state"] = "unknown"
    if row["identifier"] is not None:
        row["identifier"] = "set"

    for name in ("created_at", "closed_at"):
        if row[name] is not None:
            row[name] = datetime.fromtimestamp(row[name], UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return row


def _write_jsonl(rows: Iterable[dict[str, Any]]) -> None:
    for row in rows:
        print(json.dumps(row, ensure_ascii=False))


def _plain_cell(value: Any) -> Any:
    # A spreadsheet runs cells that begin like a formula.
    if isinstance(value, str) and value[:1] in {"=", "+", "-", "@"}:
        return f"'{value}"
    return value
