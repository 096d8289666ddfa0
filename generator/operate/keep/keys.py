"""Keys in a backup, encrypted for one recipient whose private half is kept off the machine (age, by pyrage)."""

from pathlib import Path

from generator.errors import BackupError


def encrypt(data: bytes, recipient: str) -> bytes:
    """Encrypt for the public key `age1…` of a recipient; BackupError for another text."""
    import pyrage  # noqa: PLC0415  only who backs up keys pays for it

    try:
        return bytes(pyrage.encrypt(data, [pyrage.x25519.Recipient.from_str(recipient)]))
    except pyrage.RecipientError as error:
        raise BackupError(f"--keys {recipient[:12]!r} is not a public key of age (age1…): {error}") from error


def decrypt(data: bytes, identity_file: Path) -> bytes:
    """Decrypt with the private key of a file as `age-keygen` writes it; BackupError where it does not fit."""
    import pyrage  # noqa: PLC0415  only who restores keys pays for it

    try:
        lines = [line.strip() for line in identity_file.read_text(encoding="ascii").splitlines()]
        identities = [pyrage.x25519.Identity.from_str(line) for line in lines if line and not line.startswith("#")]
        return bytes(pyrage.decrypt(data, identities))
    except (OSError, UnicodeDecodeError) as error:
        raise BackupError(f"{identity_file} cannot be read: {error}") from error
    except pyrage.IdentityError:
        raise BackupError(f"{identity_file} holds no private key of age (AGE-SECRET-KEY-1…)") from None
    except pyrage.DecryptError as error:
        raise BackupError(f"the keys of this backup cannot be decrypted with {identity_file}: {error}") from None


def make_identity(path: Path) -> str:
    """Make a private key in a new file, for its owner alone, and return its public key."""
    import pyrage  # noqa: PLC0415  as above

    from generator.operate.keep.files import write_private  # noqa: PLC0415

    identity = pyrage.x25519.Identity.generate()
    recipient = str(identity.to_public())
    try:
        write_private(path, f"# public key: {recipient}\n{identity}\n".encode())
    except OSError as error:
        raise BackupError(f"{path} cannot be written: {error.strerror}; it is never overwritten") from error
    return recipient
