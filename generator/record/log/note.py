"""Signed notes and checkpoints: C2SP signed-note and tlog-checkpoint, Ed25519."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

from generator.record.log.tiles import HASH_BYTES

ED25519: Final = b"\x01"
KEY_BYTES: Final = 32
SIGNATURE_BYTES: Final = 64
LARGEST_NOTE: Final = 1_000_000
MOST_SIGNATURES: Final = 100  # of the log and its witnesses
DASH: Final = "— "


class NoteError(ValueError):
    """A note, a key or a checkpoint is not what it should be; the message says why."""


@dataclass(frozen=True, slots=True)
class Verifier:
    """A public key with its name."""

    name: str
    public: bytes

    @property
    def key_id(self) -> bytes:
        """The first four bytes of the key's hash."""
        return hashlib.sha256(self.name.encode() + b"\n" + ED25519 + self.public).digest()[:4]

    @property
    def text(self) -> str:
        """The form in which it is published: `name+hash+base64`.

        >>> Signer("example.org/log", bytes(32)).verifier.text
        'example.org/log+4e933303+ATtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop'
        """
        return f"{self.name}+{self.key_id.hex()}+{base64.b64encode(ED25519 + self.public).decode()}"

    @classmethod
    def parse(cls, text: str) -> Verifier:
        """Read the published form; raise NoteError where it is malformed, or the hash is not the key's."""
        name, key = _named_key(text.strip(), "public key")
        verifier = cls(name, key)
        if verifier.text != text.strip():
            raise NoteError("public key hash mismatch")
        return verifier

    def verifies(self, signature: bytes, text: bytes) -> bool:
        """Return whether this key made the signature."""
        try:
            VerifyKey(self.public).verify(text, signature)
        except (BadSignatureError, ValueError):
            return False
        return True


class Signer:
    """A private key with its name; never printed."""

    def __init__(self, name: str, seed: bytes) -> None:
        _check_name(name)
        self._key = SigningKey(seed)
        self.verifier = Verifier(name, bytes(self._key.verify_key))

    def __repr__(self) -> str:
        return f"Signer({self.verifier.name})"

    @classmethod
    def generate(cls, name: str) -> Signer:
        """Make a new key."""
        return cls(name, bytes(SigningKey.generate()))

    @classmethod
    def parse(cls, text: str) -> Signer:
        """Read a key file's line; raise NoteError, which never holds the key, where it is malformed."""
        head = "PRIVATE+KEY+"
        if not text.startswith(head):
            raise NoteError("this is not a private key of a log")
        name, seed = _named_key(text.strip().removeprefix(head), "private key")
        return cls(name, seed)

    @property
    def text(self) -> str:
        """The key file's line. A secret."""
        seed = base64.b64encode(ED25519 + bytes(self._key)).decode()
        return f"PRIVATE+KEY+{self.verifier.name}+{self.verifier.key_id.hex()}+{seed}"

    def derive(self, purpose: str) -> str:
        """Return a secret of its own for another purpose, 64 hex digits; the key cannot be worked out from it."""
        return hmac.new(bytes(self._key), purpose.encode(), hashlib.sha256).hexdigest()

    def line(self, text: str) -> str:
        """Return the signature line of a note's text."""
        signature = self._key.sign(text.encode()).signature
        return f"{DASH}{self.verifier.name} {base64.b64encode(self.verifier.key_id + signature).decode()}\n"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The head of a log: how many entries, and the root over them.

    >>> head = Checkpoint("example.org/log", 0, bytes(32))
    >>> print(head.text, end="")
    example.org/log
    0
    AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=
    >>> key = Signer("example.org/log", bytes(32))
    >>> Checkpoint.open(head.signed([key]), [key.verifier]) == head
    True
    """

    origin: str
    size: int
    root: bytes

    @property
    def text(self) -> str:
        """The note's text."""
        return f"{self.origin}\n{self.size}\n{base64.b64encode(self.root).decode()}\n"

    def signed(self, signers: Sequence[Signer]) -> bytes:
        """Return the note, signed by every key in turn."""
        return (self.text + "\n" + "".join(signer.line(self.text) for signer in signers)).encode()

    @classmethod
    def open(cls, note: bytes, verifiers: Sequence[Verifier]) -> Checkpoint:
        """Read a checkpoint that a trusted key signed and none failed to; raise NoteError for any other."""
        return cls.parse(open_note(note, verifiers))

    @classmethod
    def parse(cls, text: str) -> Checkpoint:
        """Read a checkpoint's text, signature already checked."""
        lines = text.split("\n")
        if len(lines) < 4 or "" in lines[:-1]:
            raise NoteError("a checkpoint has three lines")

        origin, size, encoded_root = lines[:3]
        root = base64_bytes(encoded_root)
        if not re.fullmatch(r"0|[1-9][0-9]{0,18}", size) or len(root) != HASH_BYTES:
            raise NoteError("a checkpoint's second line is a size, its third a hash")
        return cls(origin, int(size), root)


def open_note(note: bytes, verifiers: Sequence[Verifier]) -> str:
    """Return the text of a note that a known key signed and none failed to; raise NoteError for any other."""
    text, signatures = signatures_of(note)

    trusted = {(key.name, key.key_id): key for key in verifiers}
    is_verified = False
    for name, key_id, signature in signatures:
        key = trusted.get((name, key_id))
        if key is None:
            continue  # others may sign too
        if not key.verifies(signature, text.encode()):
            raise NoteError(f"the signature of {name} does not hold")
        is_verified = True

    if not is_verified:
        raise NoteError("no trusted key signed this note")
    return text


def signatures_of(note: bytes) -> tuple[str, list[tuple[str, bytes, bytes]]]:
    """Return a note's text, and name, key id and signature of each of its lines, none of them checked."""
    text, signature_lines = _split(note)
    return text, _signatures(signature_lines)


def other_lines(note: bytes | None, name: str) -> bytes:
    """Return the signature lines of a note that are not those of a name; none without a note."""
    if note is None:
        return b""
    _, signature_lines = _split(note)
    own = f"{DASH}{name} "
    return "".join(line for line in signature_lines.splitlines(keepends=True) if not line.startswith(own)).encode()


def _split(note: bytes) -> tuple[str, str]:
    """Return a note's text, which is what is signed, and the lines with its signatures."""
    if len(note) > LARGEST_NOTE:
        raise NoteError("a note is too large")
    try:
        whole = note.decode()
    except UnicodeDecodeError as error:
        raise NoteError("a note is not UTF-8") from error
    if any(ord(character) < 0x20 and character != "\n" for character in whole):
        raise NoteError("a note has control characters")

    text, gap, signature_lines = whole.rpartition("\n\n")
    if not gap or not signature_lines.endswith("\n"):
        raise NoteError("a note has no signatures")
    return text + "\n", signature_lines


def _signatures(lines: str) -> list[tuple[str, bytes, bytes]]:
    """Return name, key id and signature of each line."""
    signatures = []
    for line in lines.removesuffix("\n").split("\n"):
        name, gap, encoded = line.removeprefix(DASH).partition(" ")
        data = base64_bytes(encoded)
        if not line.startswith(DASH) or not gap or not name or len(data) < 5:
            raise NoteError("a note's signature line is malformed")
        signatures.append((name, data[:4], data[4:]))

    if len(signatures) > MOST_SIGNATURES:
        raise NoteError("a note has too many signatures")
    return signatures


def _named_key(text: str, what: str) -> tuple[str, bytes]:
    parts = text.split("+", 2)
    if len(parts) != 3:
        raise NoteError(f"a {what} has the form name+hash+key")

    name, digest, encoded = parts
    _check_name(name)
    data = base64_bytes(encoded)
    if data[:1] != ED25519 or len(data) != 1 + KEY_BYTES or not re.fullmatch(r"[0-9a-f]{8}", digest):
        raise NoteError(f"this {what} is not an Ed25519 key of a log")
    return name, data[1:]


def _check_name(name: str) -> None:
    if not name or "+" in name or any(character.isspace() for character in name):
        raise NoteError("a key's name is not empty and has neither spaces nor a plus")


def base64_bytes(text: str) -> bytes:
    """Read standard base64; raise NoteError where it is none."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise NoteError("that is not base64") from error
