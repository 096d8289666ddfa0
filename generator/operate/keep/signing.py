"""Who made a backup: its manifest is signed by a key of the machine, and the operator keeps the public half elsewhere.

Whoever can write to the place where backups lie can change everything there, digests too, but has no key to sign it. A
shared secret (HMAC) would do the same, and would have to lie wherever a backup is verified, where whoever reads it can
sign too; a public key can lie anywhere. The machine makes its key with its first backup, so there is nothing to set.
"""

import base64
from dataclasses import replace
from pathlib import Path
from typing import Final

from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

from gateway.wire.durable import replace_file
from generator.errors import BackupError
from generator.operate.keep.manifest import Manifest

KEY_FILE: Final = "backup.key"


def own_key(path: Path) -> SigningKey:
    """Return the machine's signing key, made in a file for its owner alone where there is none; BackupError else."""
    try:
        # Made by the first backup: a machine that never makes one needs no key.
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, SigningKey.generate().encode().hex().encode() + b"\n")
        return SigningKey(bytes.fromhex(path.read_text(encoding="ascii")))
    except OSError as error:
        raise BackupError(f"{path}, the key that signs backups: {error.strerror}") from error
    except ValueError:
        raise BackupError(
            f"{path} is not a key that signs backups: move it away, and the next backup makes one"
        ) from None


def public_text(key: SigningKey) -> str:
    """Write the public half of a key, for the operator."""
    return base64.b64encode(bytes(key.verify_key)).decode()


def signed(manifest: Manifest, key: SigningKey) -> bytes:
    """Write a manifest with its signature."""
    signature = base64.b64encode(key.sign(manifest.unsigned()).signature).decode()
    return replace(manifest, signature=signature).content()


def check_signature(manifest: Manifest, signer: str) -> None:
    """Raise BackupError unless a manifest was signed by the key whose public half `signer` is."""
    try:
        VerifyKey(base64.b64decode(signer, validate=True))
    except (ValueError, TypeError) as error:
        raise BackupError(f"{signer[:60]!r} is not the public key of a machine that makes backups") from error

    if not manifest.signature:
        raise BackupError(f"backup {manifest.name} is not signed: one of an older version needs --unsigned")
    if not is_signed(manifest, signer):
        raise BackupError(f"backup {manifest.name} is not signed by {signer}: another's, or changed")


def is_signed(manifest: Manifest, signer: str) -> bool:
    """Return whether a manifest was signed by the key whose public half `signer` is."""
    key = VerifyKey(base64.b64decode(signer, validate=True))
    try:
        key.verify(manifest.unsigned(), base64.b64decode(manifest.signature, validate=True))
    except (BadSignatureError, ValueError):
        return False
    return True
