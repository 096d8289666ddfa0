"""Verify a signed receipt: who signed it, that it is of these very bytes, and that the log began as it says."""

import base64
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from gateway.wire.foreign import read_json
from gateway.wire.receipts import (
    DID_PATH,
    PublicKey,
    ReceiptError,
    SignedReceipt,
    did_of,
    keys_of,
    receipt_in_response,
)
from generator.catalog.formats import iso
from generator.record.audit.game import Read
from generator.record.log.note import Checkpoint, NoteError, base64_bytes
from generator.record.verify import SignedLog, VerifyError, entries, filled

HEADER: Final = "payment-response:"
YEAR_10000_S: Final = 253_402_300_800
TEXTS: Final = ("network", "resourceUrl", "payer", "transaction", "bodySha256", "snapshotId")


@dataclass(frozen=True, slots=True)
class VerifiedReceipt:
    """A receipt that holds, and the head of the log that it names, None where it names none."""

    receipt: SignedReceipt
    price_atomic: int
    head: Checkpoint | None

    @property
    def lines(self) -> list[str]:
        """What was checked."""
        claims = self.receipt.claims
        lines = [
            f"receipt of {iso(1000 * claims['issuedAt'])}, signed with {self.receipt.key_id}",
            f"{claims['resourceUrl']}, snapshot {claims['snapshotId']}: {self.price_atomic} atomic units of USDC",
            f"paid by {claims['payer']} with {claims['transaction']} on {claims['network']}",
        ]
        if self.head is not None:
            lines.append(f"the log that is published now begins with the {self.head.size} entries that it names")
        return lines

    @property
    def proves(self) -> str:
        """What this check proved, and what it did not."""
        log = NAMES_LOG if self.head is not None else ""
        return filled(PROVES.format(log), NOT_PROVED)


PROVES: Final = (
    "This proves: the service that publishes this key says that it settled this payment and delivered these very "
    "bytes, in which snapshot and price stand{}."
)
NAMES_LOG: Final = "; and that what its log held then is still there, unchanged"
NOT_PROVED: Final = (
    "It does not prove: what was quoted before the payment, as the offer is not signed; that the transaction is on "
    "the chain (look it up there); or that anything in the body is true."
)


def verify_receipt(read: Read, log: SignedLog | None, jws: str, body: bytes) -> VerifiedReceipt:
    """Verify a receipt and the body that it came with; VerifyError names the first thing that does not hold.

    Args:
        read: reads what the service publishes.
        log: its signed log; None where it publishes none.
        jws: the receipt in compact form.
        body: the answer, byte for byte.
    """
    try:
        receipt = SignedReceipt.read(jws)
        _check_claims(receipt.claims)
        _check_key(receipt, _published_keys(read).get(receipt.key_id))
    except ReceiptError as error:
        raise VerifyError(str(error)) from None

    price_atomic = _checked_body(receipt.claims, body)
    head = _head(receipt.claims.get("checkpoint"))
    if head is not None:
        _check_prefix(read, log, head)
    return VerifiedReceipt(receipt, price_atomic, head)


def receipt_in(text: str) -> str:
    """Return the receipt of a file: PAYMENT-RESPONSE or its JSON, headers as curl writes them, `emi buy`'s file, a JWS.

    Raises:
        VerifyError: there is none in it.
    """
    for value in (text.strip(), *_header_values(text)):
        if value.count(".") == 2 and not value.startswith("{"):
            return value
        receipt = _in_json(value) or _in_json(_decoded(value))
        if receipt is not None:
            return receipt
    raise VerifyError("there is no signed receipt in that file: the service has no receipt key, or it is another file")


def _header_values(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if line.lower().startswith(HEADER):
            yield line[len(HEADER) :].strip()


def _decoded(value: str) -> str:
    try:
        return base64.b64decode(value, validate=True).decode()
    except ValueError:
        return ""


def _in_json(text: str) -> str | None:
    try:
        answer: Any = read_json(text)
    except ValueError:
        return None
    if isinstance(answer, dict) and isinstance(answer.get("receipt"), dict):
        answer = answer["receipt"]
    return receipt_in_response(answer)


def _check_claims(claims: Mapping[str, Any]) -> None:
    missing = [name for name in TEXTS if not isinstance(claims.get(name), str)]
    issued = claims.get("issuedAt")
    if type(issued) is not int or not 0 <= issued < YEAR_10000_S:
        missing.append("issuedAt")
    if missing:
        raise ReceiptError(f"the receipt does not say {', '.join(missing)}")


def _published_keys(read: Read) -> dict[str, PublicKey]:
    document = read(DID_PATH)
    if document is None:
        raise VerifyError(f"{DID_PATH}: nothing is published there, so no key of receipts is known")
    try:
        return keys_of(read_json(document))
    except ValueError as error:
        raise VerifyError(f"{DID_PATH}: {error}") from None


def _check_key(receipt: SignedReceipt, key: PublicKey | None) -> None:
    try:
        url = urlsplit(receipt.claims["resourceUrl"])
        did = did_of(f"{url.scheme}://{url.netloc}")
    except ValueError:
        raise VerifyError("the receipt's resourceUrl is not a URL") from None

    if not receipt.key_id.startswith(f"{did}#"):
        raise VerifyError(f"the receipt is for {url.netloc}, and its key is of {receipt.key_id}")

    # A retired key may still be published: what it signed before then holds.
    if key is None:
        raise VerifyError(f"the key {receipt.key_id} is not published by the service")
    if not receipt.is_signed_by(key):
        raise VerifyError("the receipt's signature does not hold: it was altered, or signed by someone else")
    if key.until is not None and iso(1000 * receipt.claims["issuedAt"]) > key.until:
        raise VerifyError(f"the receipt is dated after its key was retired at {key.until}")


def _checked_body(claims: Mapping[str, Any], body: bytes) -> int:
    """Return the price that the body states."""
    if hashlib.sha256(body).hexdigest() != claims["bodySha256"]:
        raise VerifyError("the body is not the one of the receipt: its SHA-256 is another")
    try:
        answer = read_json(body)
    except ValueError:
        answer = None
    if not isinstance(answer, dict) or answer.get("snapshotId") != claims["snapshotId"]:
        raise VerifyError("the body names another snapshot than the receipt")

    price_atomic = answer.get("price_atomic")
    if type(price_atomic) is not int:
        raise VerifyError("the body does not state its price")
    return price_atomic


def _head(claim: Any) -> Checkpoint | None:
    if claim is None:
        return None
    try:
        head = Checkpoint(str(claim["origin"]), claim["size"], base64_bytes(str(claim["root"])))
    except (KeyError, TypeError, NoteError):
        raise VerifyError("the receipt's checkpoint is malformed") from None
    if type(head.size) is not int or head.size < 1 or not head.origin:
        raise VerifyError("the receipt's checkpoint is malformed")
    return head


def _check_prefix(read: Read, log: SignedLog | None, head: Checkpoint) -> None:
    if log is None:
        raise VerifyError("the receipt names a head of the log, and the service publishes no log")
    if log.head.origin != head.origin:
        raise VerifyError(f"the receipt names the log {head.origin}, and this is {log.head.origin}")
    for _ in entries(read, log.head, head):
        pass
