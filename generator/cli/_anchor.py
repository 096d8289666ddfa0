"""The log's checkpoint in a note on chain: it shows that this part of the log existed by that block."""

from __future__ import annotations

import base64
import http.client
import json
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from gateway.wire.networks import NETWORKS
from generator.arena.sealing import canonical_json
from generator.catalog.formats import iso
from generator.cli._published import Published, PublishedError
from generator.errors import GeneratorError
from generator.inbox.chain import IndexerError, signed_of
from generator.record.log.note import Checkpoint, NoteError

if TYPE_CHECKING:
    from generator.record.log.reader import LogReader
    from generator.settings import GeneratorSettings

NOTE_PREFIX: Final = b"emi-log/v1:j"
LARGEST_NOTE: Final = 1_024
FEE_CEILING: Final = 20_000  # micro-ALGO; a higher fee stated by a node is not believed
ROUNDS_TO_WAIT: Final = 6  # about 15 seconds
TIMEOUT_S: Final = 10
CLIENT_FAULTS: Final = (OSError, ValueError, KeyError, TypeError, http.client.HTTPException)


class AnchorError(GeneratorError):
    """The anchor was not sent, or its fate is unknown; the text says which."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """A checkpoint as a transaction carries it, and the time of its block (ISO 8601, UTC)."""

    head: Checkpoint
    at: str
    sender: str


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


@dataclass(frozen=True, slots=True)
class AlgodNode:
    """The algod node that an anchor is sent to.

    Args:
        url: as the setting ALGOD_URL.
        token: of the node, empty for none.
        network: whose genesis the node must have.
        faucet: origin of a devnet's faucet, None where money is real.
    """

    url: str
    token: str
    network: str
    faucet: str | None = None


def node_of(settings: GeneratorSettings) -> AlgodNode:
    """Return the node as set by ALGOD_URL, else that of the devnet that runs on the same state.

    Raises:
        AnchorError: there is none.
    """
    from gateway.devnet.settings import running_devnet
    from generator.cli._settings import gateway_settings

    gateway = gateway_settings(state_dir=settings.state_dir)
    devnet = running_devnet(settings.state_dir)
    url = gateway.algod_url or (f"{devnet}/algod" if devnet else None)
    if url is None:
        raise AnchorError("no node to send to: set EMI_ALGOD_URL, or start a devnet with `emi up`")
    token = gateway.algod_token.get_secret_value() if gateway.algod_token else ""
    ours = devnet is not None and url.startswith(devnet)
    return AlgodNode(url, token, settings.network or "devnet", devnet if ours else None)


def send(node: AlgodNode, key: str, head: Checkpoint) -> tuple[str, int, int | None]:
    """Send a zero payment to oneself that carries a checkpoint.

    Returns:
        Its transaction id, the fee in micro-ALGO, and the round that confirmed it, None when none has yet.

    Raises:
        AnchorError: the node is of another network, refused it or did not answer, or the account cannot pay.
    """
    from algosdk.account import address_from_private_key
    from algosdk.atomic_transaction_composer import AccountTransactionSigner
    from algosdk.error import AlgodHTTPError, ConfirmationTimeoutError
    from algosdk.transaction import PaymentTxn, wait_for_confirmation
    from algosdk.v2client.algod import AlgodClient

    client, sender = AlgodClient(node.token, node.url), address_from_private_key(key)
    try:
        params = client.suggested_params(timeout=TIMEOUT_S)
        if params.gh != NETWORKS[node.network].genesis_hash:
            raise AnchorError(f"the node is of network {params.gen}, not {node.network}; nothing was sent")
        payment = PaymentTxn(sender, params, sender, 0, note=note_of(head))
        if payment.fee > FEE_CEILING:
            raise AnchorError(f"the node asks {payment.fee} micro-ALGO, more than {FEE_CEILING}; nothing was sent")
        if node.faucet is not None:
            urllib.request.urlopen(f"{node.faucet}/wallet/fund?address={sender}", timeout=TIMEOUT_S).close()  # noqa: S310
        client.send_transactions(AccountTransactionSigner(key).sign_transactions([payment], [0]))
    except (*CLIENT_FAULTS, AlgodHTTPError) as error:
        reason = str(error) if isinstance(error, AlgodHTTPError) else f"no answer ({type(error).__name__})"
        raise AnchorError(f"the node did not take the anchor: {reason}; sending it again is harmless") from None
    txid = str(payment.get_txid())
    try:
        found = wait_for_confirmation(client, txid, ROUNDS_TO_WAIT, timeout=TIMEOUT_S)
        return txid, payment.fee, int(found["confirmed-round"])
    except (*CLIENT_FAULTS, AlgodHTTPError, ConfirmationTimeoutError):
        return txid, payment.fee, None


def find(indexer: str, txid: str) -> Anchor:
    """Read an anchor from an indexer, which is believed only as far as the transaction's own id goes.

    Raises:
        PublishedError: the indexer does not answer, or has no such transaction.
        NoteError: it is not an anchor, or not what its id says.
    """
    data = Published(indexer).read(f"/v2/transactions/{txid}")
    try:
        row: Any = json.loads(data or b"{}")["transaction"]
        envelope = signed_of(row)
        if envelope is None or row["id"] != txid:
            raise NoteError(f"the indexer's transaction is not {txid}")
        return Anchor(head_in(envelope["txn"].get("note", b"")), iso(int(row["round-time"]) * 1000), str(row["sender"]))
    except (KeyError, TypeError, IndexerError, RecursionError, OverflowError) as error:
        raise PublishedError(f"{indexer} does not show transaction {txid}") from error


def check(reader: LogReader, origin: str, anchor: Anchor) -> str:
    """Check that a log extends an anchored checkpoint; return what that shows.

    Raises:
        ValueError: it does not, or the anchor is another log's.
    """
    if anchor.head.origin != origin:
        raise ValueError(f"the anchor is of the log {anchor.head.origin}")
    reader.check_extends(anchor.head)
    return f"anchored: the first {anchor.head.size} entries were there by {anchor.at}, by account {anchor.sender}"
