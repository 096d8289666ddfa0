"""`emi payments`: list, inspect and export the payments ledger while the gateway runs."""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Iterable
from enum import StrEnum
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from generator.catalog.formats import iso_of_s
from generator.errors import GeneratorError

if TYPE_CHECKING:
    from gateway.ledger.view import LedgerView

LISTED: Final = 50
TXID: Final = re.compile(r"[A-Z2-7]{52}")
SHOWN: Final = ("txid", "state", "product", "snapshot_id", "payer", "created_at", "reason")
MOVED: Final = (
    "Settled payments of more than about 90 days ago are not listed: `emi payments --export csv` has what is kept of "
    "them, `emi payments TXID` one; the whole rows are in settled-YYYY-MM.csv."
)
EXPLAINED: Final = {
    "unknown": "the money may or may not have moved; looked up on the chain until that is certain",
    "settled": "paid; the answer is given again to whoever sends the same payment",
    "refused": "certainly not paid by this payment",
}


class PaymentState(StrEnum):
    """What became of a payment."""

    unknown = "unknown"
    settled = "settled"
    refused = "refused"


class Form(StrEnum):
    """What the payments are exported as."""

    csv = "csv"
    jsonl = "jsonl"


def payments(
    txid: Annotated[str | None, typer.Argument(help="Show all that is known of this payment alone.")] = None,
    state: Annotated[PaymentState | None, typer.Option(help="Only payments in this state.")] = None,
    limit: Annotated[int | None, typer.Option(help="At most this many, newest first. Default: 50.", min=1)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
    export: Annotated[Form | None, typer.Option(help="Write every payment, oldest first, without bodies.")] = None,
) -> None:
    """List payments, newest first; show one, or export all. Nothing is written, and the gateway may run.

    Of settled ones of more than about 90 days ago txid, product, amount and time are kept: they are not listed, and
    exported with their other columns empty. The whole rows are in the files settled-YYYY-MM.csv next to the ledger.

    Example: emi payments --state unknown
    """
    narrows = state is not None or limit is not None
    if export is not None:
        if txid is not None or narrows or as_json:
            raise GeneratorError(f"--export {export} writes every payment: name no transaction id and no other option")
        _export(export)
        return

    if txid is None:
        _list(state, limit or LISTED, as_json=as_json)
        return
    if narrows:
        raise GeneratorError("--state and --limit are for the list: name them without a transaction id")
    _show(txid, as_json=as_json)


def _list(state: PaymentState | None, limit: int, *, as_json: bool) -> None:
    # On disk an unknown payment is an intent whose answer is missing.
    stored = "intent" if state is PaymentState.unknown else state
    with _ledger() as view:
        rows = [_row(row) for row in view.rows(stored, limit)]
        shows_all = len(rows) < limit and state in {None, PaymentState.settled}
        if shows_all and view.has_moved_rows:
            print(MOVED, file=sys.stderr)
    if as_json:
        _write_jsonl(rows)
        return
    for row in rows:
        print("  ".join(str(row[name] or "-") for name in SHOWN))

    if rows:
        return
    if state is None:
        print("no payments", file=sys.stderr)
    else:
        print(f"no payments are {state}", file=sys.stderr)


def _show(txid: str, *, as_json: bool) -> None:
    if TXID.fullmatch(txid) is None:
        raise GeneratorError(
            f"{txid[:60]!r} is not a transaction id, which has 52 letters and digits; `emi payments` lists them"
        )
    with _ledger() as view:
        stored = view.row(txid)
    if stored is None:
        raise GeneratorError(f"the payments ledger holds no payment {txid!r}")

    row = _row(stored)
    if as_json:
        _write_jsonl([row])
        return
    for name, value in row.items():
        print(f"{name:16}{'-' if value is None else value}")
    print(f"\n{EXPLAINED[row['state']]}")


def _export(form: Form) -> None:
    with _ledger() as view:
        rows = (_row(row) for row in chain(view.moved_rows(), view.all_rows()))
        if form is Form.jsonl:
            _write_jsonl(rows)
            return
        writer = csv.DictWriter(sys.stdout, view.columns)
        writer.writeheader()
        writer.writerows({name: _plain_cell(value) for name, value in row.items()} for row in rows)


def _ledger() -> LedgerView:
    from gateway.ledger.view import LedgerView
    from generator.cli._settings import gateway_settings

    return LedgerView(gateway_settings().ledger_where)


def _row(stored: dict[str, Any]) -> dict[str, Any]:
    """Return a stored payment as it is shown; its identifier is what a payer proves a purchase with: no one sees it."""
    row = dict(stored)
    # The ledger writes an intent before it sends: without an answer nobody knows whether it was paid.
    if row["state"] == "intent":
        row["state"] = "unknown"
    if row["identifier"] is not None:
        row["identifier"] = "set"

    for name in ("created_at", "closed_at"):
        if row[name] is not None:
            row[name] = iso_of_s(row[name])
    return row


def _write_jsonl(rows: Iterable[dict[str, Any]]) -> None:
    for row in rows:
        print(json.dumps(row, ensure_ascii=False))


def _plain_cell(value: Any) -> Any:
    # A spreadsheet runs cells that begin like a formula.
    if isinstance(value, str) and value[:1] in {"=", "+", "-", "@"}:
        return f"'{value}"
    return value
