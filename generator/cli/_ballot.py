"""Parts of `emi vote`: the open round as published, the voter's key, a signed ballot, a drop into the inbox."""

import http.client
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from algosdk.account import address_from_private_key
from algosdk.atomic_transaction_composer import AccountTransactionSigner
from algosdk.encoding import msgpack_encode
from algosdk.error import WrongChecksumError, WrongKeyLengthError
from algosdk.transaction import PaymentTxn, SuggestedParams

from gateway.devnet.keys import load_or_make
from gateway.wire.ballots import OPEN_ROUND, OpenRound, note_of
from generator.catalog.words import Prediction
from generator.cli._published import Published, fetch, read_json
from generator.errors import GeneratorError


def find_open_round(origin: str | None, site: Path, wanted: str | None) -> tuple[str, str]:
    """Return the id of the round that takes votes, and when it closes.

    Args:
        origin: where to ask; None reads the published site of this machine.
        site: its folder.
        wanted: the only round to vote in, None for whichever is open.

    Raises:
        GeneratorError: nothing is published, no round is open, or it is another than the wanted one.
    """
    body = read_json(Published(origin or site), "/api/human-consensus.php")
    found = body.get("open_round") if isinstance(body, dict) else None
    if not isinstance(found, dict) or not isinstance(found.get("round_id"), str):
        raise GeneratorError(
            "no round takes votes now; the next opens when the brain has a forecast, try again in a minute"
        )
    round_id, closes = found["round_id"], str(found.get("closes"))
    if wanted not in {None, round_id}:
        raise GeneratorError(f"round {wanted} does not take votes; {round_id} does, until {closes}")
    try:
        closed = datetime.fromisoformat(closes) <= datetime.now(UTC)
    except (ValueError, TypeError):
        raise GeneratorError(f"the published closing time {closes!r} is not a time") from None
    if closed:
        raise GeneratorError(f"votes in {round_id} closed {closes}; what is published is stale, is the service up?")
    return round_id, closes


def load_key(path: Path) -> str:
    """Read an account's key; make one, readable by its owner only, on first use.

    Raises:
        DevnetError: the file cannot be read or written, or is not a key.
        GeneratorError: others may read it.
    """
    if path.exists() and path.stat().st_mode & 0o077:
        raise GeneratorError(f"{path} may be read by others: chmod 600 it")
    return load_or_make(path).secret


def sign_ballot(
    private_key: str,
    round_id: str,
    choice: Prediction,
    address: str,
    genesis_hash: str,
    *,
    lease: bytes | None = None,
) -> tuple[str, bytes]:
    """Sign one ballot that no one can ever submit: its fee is zero and its validity ends in ledger round 1.

    Args:
        private_key: base64 of seed and public key, as the SDK writes it.
        round_id: the round that takes votes.
        choice: the vote.
        address: the arena's.
        genesis_hash: standard base64.
        lease: 32 random bytes make a second ballot of the same vote another one; it counts when it comes last.

    Returns:
        The transaction id and the file's content: base64 of the msgpack.
    """
    params = SuggestedParams(fee=0, first=1, last=1, gh=genesis_hash, flat_fee=True)
    sender = address_from_private_key(private_key)
    payment = PaymentTxn(sender, params, address, 0, note=note_of(round_id, choice), lease=lease)
    signed = AccountTransactionSigner(private_key).sign_transactions([payment], [0])[0]
    return str(payment.get_txid()), msgpack_encode(signed).encode() + b"\n"


def vote_over_http(url: str, private_key: str, round_id: str, choice: Prediction, lease: bytes) -> str:
    """Sign a free ballot for the path of a service, hand it in, and return its id; GeneratorError says why not."""
    asked = {"voter": address_from_private_key(private_key), "round": round_id, "choice": str(choice)}
    terms = _ask(f"{url}?{urlencode(asked)}")
    try:
        txid, data = sign_ballot(private_key, round_id, choice, terms["arena"], terms["genesis_hash"], lease=lease)
    except (KeyError, TypeError, ValueError, WrongChecksumError, WrongKeyLengthError) as error:
        raise GeneratorError(f"{url} does not say what to sign: {error}") from None
    _ask(url, {"X-Ballot": data.decode().strip()})
    return txid


def _ask(url: str, headers: Mapping[str, str] | None = None) -> Any:
    """Return what the path for ballots answers."""
    try:
        status, body = fetch(url, headers=headers)
        answer = json.loads(body)
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise GeneratorError(f"{url.partition('?')[0]} takes no ballots: {error}") from None
    if status != HTTPStatus.OK:
        detail = answer.get("detail") if isinstance(answer, dict) else None
        raise GeneratorError(f"the ballot is not taken: {detail or f'HTTP {status}'}")
    return answer


def drop(folder: Path, txid: str, data: bytes) -> Path:
    """Put a ballot into the inbox in one step: the generator never sees half of it; GeneratorError if it cannot."""
    path = folder / f"{txid}.ballot"
    draft = folder / f".{txid}.tmp"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft.write_bytes(data)
        draft.replace(path)
    except OSError as error:
        raise GeneratorError(f"inbox {folder} cannot be written: {error.strerror}") from None
    return path


def is_read(folder: Path, round_id: str) -> bool:
    """Return whether a generator said lately that it counts ballots of this round that lie in a folder."""
    try:
        taking = OpenRound.of((folder / OPEN_ROUND).read_bytes())
    except (OSError, ValueError):
        return False
    return taking.round_id == round_id and taking.is_read(datetime.now(UTC).timestamp() * 1000)
