"""The log's checkpoint in a note on chain: it shows that this part of the log existed by that block."""

from __future__ import annotations

import base64
import http.client
import json
from typing import TYPE_CHECKING, Any, Final

from generator.arena.sealing import canonical_json
from generator.catalog.formats import iso
from generator.cli._published import Published, PublishedError, fetch
from generator.errors import GeneratorError
from generator.inbox.chain import IndexerError, signed_of
from generator.record.log.note import Checkpoint, NoteError

if TYPE_CHECKING:
    from gateway.settings import GatewaySettings
    from generator.record.log.reader import LogReader

NOTE_PREFIX: Final = b"emi-log/v1:j"
LARGEST_NOTE: Final = 1_024
FEE_CEILING: Final = 20_000  # micro-ALGO; a higher fee stated by a node is not believed
ROUNDS_TO_WAIT: Final = 6  # about 15 seconds
TIMEOUT_S: Final = 10
CLIENT_FAULTS: Final = (OSError, ValueError, KeyError, TypeError, http.client.HTTPException)


def note_of(head: Checkpoint) -> bytes:
    """Write a checkpoint as an ARC-2 note."""
    return NOTE_PREFIX + canonical_json({"o": head.origin, "n": head.size, "r": base64.b64encode(head.root).decode()})


def head_in(note: bytes) -> Checkpoint:
    """Read a checkpoint out of a note.

    Raises:
        NoteError: it is not a note of a log.
    """
    if not note.startswith(NOTE_PREFIX) or len(note) > LARGEST_NOTE:
        raise NoteError("the transaction carries no head of a log")
    try:
        found = json.loads(note[len(NOTE_PREFIX) :])
        return Checkpoint.parse(f"{found['o']}\n{int(found['n'])}\n{found['r']}\n")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise NoteError("the transaction carries no head of a log") from error


def send(settings: GatewaySettings, faucet: str | None, key: str, head: Checkpoint) -> tuple[str, int, int | None]:
    """Send a zero payment to oneself that carries a checkpoint.

    Args:
        settings: where algod is, its token, and the network whose genesis it must have.
        faucet: origin of the devnet whose faucet pays the fee, None where money is real.
        key: of the account that pays the fee.
        head: the checkpoint.

    Returns:
        Its transaction id, the fee in micro-ALGO, and the round that confirmed it, None when none has yet.

    Raises:
        GeneratorError: there is no node, it is of another network, refused it or did not answer.
    """
    from algosdk.account import address_from_private_key
    from algosdk.atomic_transaction_composer import AccountTransactionSigner
    from algosdk.error import AlgodHTTPError, ConfirmationTimeoutError
    from algosdk.transaction import PaymentTxn, wait_for_confirmation
    from algosdk.v2client.algod import AlgodClient

    if settings.algod_url is None:
        raise GeneratorError("no node to send to: set EMI_ALGOD_URL, or start a devnet with `emi up`")
    token = settings.algod_token.get_secret_value() if settings.algod_token else ""
    client, sender = AlgodClient(token, settings.algod_url), address_from_private_key(key)
    try:
        params = client.suggested_params(timeout=TIMEOUT_S)
        if params.gh != settings.chain_network.genesis_hash:
            raise GeneratorError(f"the node is of network {params.gen}, not {settings.network}; nothing was sent")
        payment = PaymentTxn(sender, params, sender, 0, note=note_of(head))
        if payment.fee > FEE_CEILING:
            raise GeneratorError(f"the node asks {payment.fee} micro-ALGO, more than {FEE_CEILING}; nothing was sent")
        if faucet is not None:
            fetch(f"{faucet}/wallet/fund?address={sender}")
        client.send_transactions(AccountTransactionSigner(key).sign_transactions([payment], [0]))
    except (*CLIENT_FAULTS, AlgodHTTPError) as error:
        reason = str(error) if isinstance(error, AlgodHTTPError) else f"no answer ({type(error).__name__})"
        raise GeneratorError(f"the node did not take the anchor: {reason}; sending it again is harmless") from None
    txid = str(payment.get_txid())
    try:
        found = wait_for_confirmation(client, txid, ROUNDS_TO_WAIT, timeout=TIMEOUT_S)
        return txid, payment.fee, int(found["confirmed-round"])
    except (*CLIENT_FAULTS, AlgodHTTPError, ConfirmationTimeoutError):
        return txid, payment.fee, None


def check(indexer: str, txid: str, reader: LogReader, origin: str) -> str:
    """Check that a log extends the checkpoint in a transaction; return what that shows.

    The indexer is believed only as far as the transaction's own id goes.

    Raises:
        PublishedError: the indexer does not answer, or has no such transaction.
        ValueError: it is not an anchor, not what its id says, another log's, or the log does not extend it.
    """
    data = Published(indexer).read(f"/v2/transactions/{txid}")
    try:
        row: Any = json.loads(data or b"{}")["transaction"]
        envelope = signed_of(row)
        if envelope is None or row["id"] != txid:
            raise NoteError(f"the indexer's transaction is not {txid}")
        head = head_in(envelope["txn"].get("note", b""))
        at, sender = iso(int(row["round-time"]) * 1000), str(row["sender"])
    except (KeyError, TypeError, IndexerError, RecursionError, OverflowError) as error:
        raise PublishedError(f"{indexer} does not show transaction {txid}") from error
    if head.origin != origin:
        raise ValueError(f"the anchor is of the log {head.origin}")
    reader.check_extends(head)
    return f"anchored: the first {head.size} entries were there by {at}, by account {sender}"
