"""Signed payments and receipts of `emi buy`, one file each: written before the payment is sent, never signed twice."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from generator.errors import GeneratorError


@dataclass(frozen=True, slots=True)
class Purchase:
    """One signed payment and what became of it.

    Args:
        txid: id of the payment on the chain.
        url: what it buys.
        header: the value of PAYMENT-SIGNATURE.
        network: as the offer names it.
        payer: the throwaway wallet's address.
        amount_atomic: atomic units.
        status: `signed` until an answer is known, then `settled` or `refused`.
        receipt: the decoded PAYMENT-RESPONSE, when there was one.
        body: the product, when it was delivered.
    """

    txid: str
    url: str
    header: str
    network: str
    payer: str
    amount_atomic: int
    status: Literal["signed", "settled", "refused"] = "signed"
    receipt: dict[str, Any] | None = None
    body: Any = None


class Purchases:
    """The folder of purchases.

    Args:
        folder: STATE_DIR/purchases; made 0700 with the first one.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, txid: str) -> Path:
        """Return the file of a purchase."""
        return self._folder / f"{txid}.json"

    def keep(self, purchase: Purchase) -> Purchase:
        """Write a purchase down, whole or not at all, and return it.

        Raises:
            GeneratorError: the folder cannot be written; then the payment must not be sent.
        """
        path = self.path(purchase.txid)
        draft = path.with_suffix(".part")
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
                json.dump(asdict(purchase), file, ensure_ascii=False, indent=1)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(path)
        except OSError as problem:
            raise GeneratorError(f"the purchase cannot be kept in {path}: {problem.strerror}") from problem
        return purchase

    def finish(
        self, purchase: Purchase, status: Literal["settled", "refused"], receipt: dict[str, Any] | None, body: Any
    ) -> Purchase:
        """Write down how a purchase ended and return it."""
        return self.keep(replace(purchase, status=status, receipt=receipt, body=body))

    def unanswered(self, url: str) -> Purchase | None:
        """Return the oldest payment for this URL that was signed and whose end is not known."""
        if not self._folder.is_dir():
            return None
        files = sorted(self._folder.glob("*.json"), key=lambda path: (path.stat().st_mtime_ns, path.name))
        return next((one for one in map(_read, files) if one.url == url and one.status == "signed"), None)


def _read(path: Path) -> Purchase:
    """Return the purchase of a file; one that cannot be read is an error, since it may have been paid."""
    try:
        return Purchase(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as problem:
        raise GeneratorError(f"{path} is not a readable purchase; move it away if you know it is settled") from problem
