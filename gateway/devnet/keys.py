"""Accounts' keys in files that only their owner can read; they are never logged and never in an answer."""

import base64
import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from algosdk import account
from algosdk.error import WrongKeyLengthError
from nacl.signing import SigningKey

from gateway.devnet.errors import DevnetError


@dataclass(frozen=True, slots=True)
class Key:
    """One account's key: its address, and the private key as the Algorand SDK takes it, kept out of repr."""

    address: str
    secret: str = field(repr=False)


def new_key() -> Key:
    """Return a fresh key that no file holds."""
    secret, address = account.generate_account()
    return Key(address, secret)


def key_of_seed(seed: bytes) -> Key:
    """Return the key that 32 bytes stand for."""
    pair = SigningKey(seed)
    secret = base64.b64encode(seed + pair.verify_key.encode()).decode()
    return Key(str(account.address_from_private_key(secret)), secret)


def load_or_make(path: Path) -> Key:
    """Return the key in a file; make the file first when there is none.

    Args:
        path: the key file; made 0600; its folder and the one above, if they are made here, 0700.

    Raises:
        DevnetError: the file cannot be read or written, or holds no key.
    """
    try:
        for folder in (path.parent.parent, path.parent):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            _write_once(path, new_key().secret)
        path.chmod(0o600)
        secret = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as problem:
        raise DevnetError(f"key file {path}: {problem}") from problem

    try:
        address = account.address_from_private_key(secret)
        if len(address) != 58:
            raise ValueError
    except (ValueError, WrongKeyLengthError) as problem:
        raise DevnetError(f"key file {path} holds no key; remove it to get a new throwaway one") from problem
    return Key(address, secret)


def _write_once(path: Path, secret: str) -> None:
    """Put a new key file in place whole, or leave the one that another process just made."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    with draft.open("w", encoding="ascii") as file:
        draft.chmod(0o600)
        file.write(secret)
        file.flush()
        os.fsync(file.fileno())
    with suppress(FileExistsError):
        os.link(draft, path)
    draft.unlink()
