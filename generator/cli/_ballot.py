"""What `emi vote` needs: the open round as published, the voter's key, and an atomic drop into the inbox."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from generator.arena.address import default_address
from generator.arena.algorand import key_of
from generator.catalog.words import Prediction
from generator.cli._published import Published, read_json
from generator.errors import GeneratorError
from generator.settings import GeneratorSettings

PUBLISHED = "/api/human-consensus.php"


class VoteError(GeneratorError):
    """The vote cannot be cast; nothing was written."""


@dataclass(frozen=True, slots=True)
class OpenRound:
    """The round that takes votes, as published."""

    round_id: str
    closes: str


def check_choice(text: str) -> Prediction:
    """Read a choice, in any case.

    Raises:
        VoteError: it is none of the three.
    """
    try:
        return Prediction(text.upper())
    except ValueError:
        raise VoteError(f"choice is {text!r}; allowed: {', '.join(Prediction)}") from None


def arena_address(settings: GeneratorSettings) -> str:
    """Return the arena's address.

    Raises:
        VoteError: the setting is no address.
    """
    address = settings.arena.address or default_address()
    try:
        key_of(address)
    except ValueError as error:
        raise VoteError(f"EMI_ARENA__ADDRESS: {error}") from None
    return address


def find_open_round(origin: str | None, site: Path, wanted: str | None, now: datetime | None = None) -> OpenRound:
    """Find the round that takes votes.

    Args:
        origin: where to ask; None reads the published site of this machine.
        site: its folder.
        wanted: the only round to vote in, None for whichever is open.
        now: aware UTC wall time; None asks the machine.

    Raises:
        VoteError: nothing is published, no round is open, or it is another than the wanted one.
    """
    body = read_json(Published(origin or site), PUBLISHED)
    found = body.get("open_round") if isinstance(body, dict) else None
    if not isinstance(found, dict) or not isinstance(found.get("round_id"), str):
        raise VoteError(
            "no round takes votes now; the next opens when the brain has a forecast, look again in a minute"
        )
    taking = OpenRound(found["round_id"], str(found.get("closes")))
    if wanted is not None and wanted != taking.round_id:
        raise VoteError(f"round {wanted} does not take votes; {taking.round_id} does, until {taking.closes}")
    if _passed(taking.closes, now or datetime.now(UTC)):
        raise VoteError(
            f"votes in {taking.round_id} closed {taking.closes}; what is published is stale, is the service up?"
        )
    return taking


def _passed(closes: str, now: datetime) -> bool:
    try:
        return datetime.fromisoformat(closes) <= now
    except (ValueError, TypeError):
        raise VoteError(f"the published closing time {closes!r} is not a time") from None


def load_key(path: Path) -> str:
    """Read the voter's key; make one, readable by its owner only, on first use.

    Raises:
        VoteError: the file cannot be read or written, is no key, or others may read it.
    """
    try:
        _make_key(path)
        if path.stat().st_mode & 0o077:
            raise VoteError(f"{path} may be read by others: chmod 600 it")
        key = path.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise VoteError(f"voter's key {path} cannot be used: {error}") from None
    if not _is_key(key):
        raise VoteError(f"{path} holds no voter's key; remove it to get a new one")
    return key


def _make_key(path: Path) -> None:
    """Write a new key beside its place and link it in, so that a crash never leaves half a key."""
    from algosdk.account import generate_account

    if path.exists():
        return
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(generate_account()[0] + "\n")
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def _is_key(text: str) -> bool:
    import base64

    try:
        return len(base64.b64decode(text, validate=True)) == 64
    except ValueError:
        return False


def drop(folder: Path, txid: str, data: bytes) -> Path:
    """Put a ballot into the inbox in one step: the generator never sees half of it.

    Raises:
        VoteError: the folder cannot be written.
    """
    path = folder / f"{txid}.ballot"
    draft = folder / f".{txid}.tmp"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft.write_bytes(data)
        draft.replace(path)
    except OSError as error:
        raise VoteError(f"inbox {folder} cannot be written: {error.strerror}") from None
    return path
