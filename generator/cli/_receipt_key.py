"""The key with which the gateway signs receipts, as `emi key receipt` shows, makes and replaces it."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from gateway.wire.receipts import ReceiptKey

NEXT: Final = """The generator publishes the public keys with its next release, at /.well-known/did.json.
Restart the gateway after that: it signs with the new key from then on."""


def show() -> None:
    """Print the public keys, the newest first, with the time since which each signs and until which it did."""
    from gateway.wire.receipts import PUBLIC_SUFFIX, read_public

    for key in read_public(_path().with_suffix(PUBLIC_SUFFIX)):
        print(f"{key.name}  {key.since} to {key.until or 'now'}")


def make() -> None:
    """Make the key (Ed25519) and the file of its public half. An existing key is never overwritten."""
    from gateway.wire.receipts import ReceiptKey, read_key
    from generator.errors import GeneratorError

    path = _path()
    if path.exists():
        read_key(path)
        raise GeneratorError(f"receipt key {path} is there already; `emi key receipt --rotate` replaces it")
    _write(path, ReceiptKey.generate())


def rotate() -> None:
    """Replace the key by a new one; the old public half stays published."""
    from gateway.wire.receipts import ReceiptKey, read_key
    from generator.errors import GeneratorError

    path = _path()
    if read_key(path) is None:
        raise GeneratorError(f"there is no receipt key {path} yet: run `emi key receipt --make`")
    _write(path, ReceiptKey.generate())


def _path() -> Path:
    from generator.cli._settings import gateway_settings

    return gateway_settings().receipt_key_path


def _write(path: Path, key: "ReceiptKey") -> None:
    """Put a key and its public half in place; the key that signed until now is retired."""
    from dataclasses import replace

    from gateway.wire.receipts import PUBLIC_SUFFIX, read_public, write_key
    from generator.catalog.formats import iso
    from generator.clock import SystemClock
    from generator.errors import GeneratorError

    now = iso(int(1000 * SystemClock().now().timestamp()))
    public = path.with_suffix(PUBLIC_SUFFIX)
    retired = [known if known.until else replace(known, until=now) for known in read_public(public)]
    try:
        write_key(path, key, [replace(key.public, since=now), *retired])
    except OSError as error:
        raise GeneratorError(f"receipt key {path} cannot be written: {error.strerror}") from error
    print(f"key file    {path} (mode 0600)\npublic key  {key.public.name}, in {public}\n\n{NEXT}")
