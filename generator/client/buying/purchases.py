"""What a buyer keeps: every payment that it signed, before it is sent, and the payee of each origin."""

from __future__ import annotations

import base64
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from gateway.devnet.errors import LedgerRefusal
from gateway.devnet.transactions import parse_item
from gateway.wire.durable import replace_file, sync_folder
from gateway.wire.foreign import read_json
from generator.client.buying.offer import origin_key
from generator.errors import GeneratorError

Status = Literal["signed", "paid", "settled", "refused", "abandoned"]
OPEN: Final = frozenset({"signed", "paid"})
"""Of these the money may be gone and the document is not here yet."""


@dataclass(frozen=True, slots=True)
class Purchase:
    """One signed payment and what became of it.

    Args:
        txid: id of the payment on the chain, computed from what was signed.
        url: what it buys.
        header: the value of PAYMENT-SIGNATURE.
        network: as the offer names it.
        payer: the throwaway wallet's address.
        amount_atomic: atomic units.
        status: `signed` until something is known, or it was shown; `paid`: the chain or the seller says that it
            settled, and the document is not here; `settled`: receipt, txid, digest and quote agree; `refused`: it
            never settled and cannot any more; `abandoned`: the buyer said to forget it.
        receipt: the decoded PAYMENT-RESPONSE, when there was one.
        body: what was delivered, when it was JSON.
        payee: who gets the money.
        product: id of what it buys; None in a file of an earlier version, like the next two.
        snapshot_id: of the quote.
        sha256: of the quote.
        failed: what did not agree in what was delivered.
    """

    txid: str
    url: str
    header: str
    network: str
    payer: str
    amount_atomic: int
    status: Status = "signed"
    receipt: dict[str, Any] | None = None
    body: Any = None
    payee: str | None = None
    product: str | None = None
    snapshot_id: str | None = None
    sha256: str | None = None
    failed: tuple[str, ...] = ()

    @property
    def last_valid(self) -> int:
        """Return the round after which it can no longer commit, read from what was signed."""
        payload = read_json(base64.b64decode(self.header))["payload"]
        item = parse_item(base64.b64decode(payload["paymentGroup"][payload["paymentIndex"]]))
        return int(item.fields["lv"])


class PurchaseFolder:
    """The folder of purchases, and the payees in a file next to it.

    Args:
        folder: STATE_DIR/purchases; made 0700 with the first one.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._payees = folder.with_name("payees.json")

    def path(self, txid: str) -> Path:
        """Return the file of a purchase."""
        return self._folder / f"{txid}.json"

    def keep(self, purchase: Purchase) -> Purchase:
        """Write a purchase down, whole or not at all, and return it once a power cut cannot take it back.

        Raises:
            GeneratorError: the folder cannot be written; then the payment must not be sent.
        """
        path = self.path(purchase.txid)
        try:
            _make_folder(self._folder)
            _write(path, asdict(purchase))
        except OSError as problem:
            raise GeneratorError(f"the purchase cannot be kept in {path}: {problem.strerror}") from problem
        return purchase

    def find(self, txid: str) -> Purchase | None:
        """Return the purchase of a payment, None when there is none."""
        path = self.path(txid)
        return _read(path) if path.exists() else None

    def unfinished(self, url: str) -> Purchase | None:
        """Return the oldest payment for this URL whose money may be gone and whose document is not here."""
        files = sorted(self._folder.glob("*.json"), key=lambda path: (path.stat().st_mtime_ns, path.name))
        wanted = _place(url)
        return next((kept for kept in map(_read, files) if kept.status in OPEN and _place(kept.url) == wanted), None)

    def payee_of(self, url: str) -> str | None:
        """Return whom this origin was paid to before, None when never.

        Raises:
            GeneratorError: the file cannot be read; then no payee can be called the one of before.
        """
        return self._known_payees().get(origin_key(url))

    def pin_payee(self, url: str, payee: str) -> None:
        """Remember whom this origin is paid to; GeneratorError when that cannot be kept."""
        payees = self._known_payees() | {origin_key(url): payee}
        try:
            _make_folder(self._payees.parent)
            _write(self._payees, payees)
        except OSError as problem:
            raise GeneratorError(f"the payee cannot be kept in {self._payees}: {problem.strerror}") from problem

    def _known_payees(self) -> dict[str, str]:
        try:
            payees = read_json(self._payees.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as problem:
            raise GeneratorError(f"{self._payees} is not readable; nothing was paid") from problem
        if not isinstance(payees, dict):
            raise GeneratorError(f"{self._payees} is not readable; nothing was paid")
        return payees


def _place(url: str) -> tuple[str, str]:
    return origin_key(url), urlsplit(url).path


def _read(path: Path) -> Purchase:
    """Return the purchase of a file; one that cannot be read is an error, since it may have been paid."""
    try:
        fields = read_json(path.read_text(encoding="utf-8"))
        purchase = Purchase(**fields | {"failed": tuple(fields.get("failed", ()))})
        if purchase.status in OPEN:
            _ = purchase.last_valid
    except (OSError, ValueError, TypeError, KeyError, AttributeError, IndexError, LedgerRefusal) as problem:
        raise GeneratorError(f"{path} is not a readable purchase; move it away if you know it is settled") from problem
    return purchase


def _make_folder(folder: Path) -> None:
    """Make a folder whose name is on the disk too, also after a run that died between the two."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    sync_folder(folder.parent)


def _write(path: Path, value: Any) -> None:
    """Replace a file by one that is whole and on the disk, name and content, when this returns."""
    replace_file(path, json.dumps(value, ensure_ascii=False, indent=1).encode())
