"""What witnesses sign (C2SP tlog-cosignature, Ed25519): that they saw a log's head at a time and that it only grew."""

from __future__ import annotations

import base64
import hashlib
import re
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from generator.record.log.note import KEY_BYTES, SIGNATURE_BYTES, NoteError, Verifier, base64_bytes, signatures_of

COSIGNATURE_V1: Final = b"\x04"
_TIMESTAMP: Final = struct.Struct(">Q")
_LATEST: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Cosigner:
    """A witness's public key with its name."""

    name: str
    public: bytes

    @property
    def key_id(self) -> bytes:
        """The first four bytes of the key's hash."""
        return hashlib.sha256(self.name.encode() + b"\n" + COSIGNATURE_V1 + self.public).digest()[:4]

    @property
    def text(self) -> str:
        """The form in which it is published: `name+hash+base64`."""
        return f"{self.name}+{self.key_id.hex()}+{base64.b64encode(COSIGNATURE_V1 + self.public).decode()}"

    def time_of(self, signature: bytes, text: str) -> int | None:
        """Return when it signed a checkpoint's text, in seconds since 1970; None where the signature does not hold."""
        if len(signature) != _TIMESTAMP.size + SIGNATURE_BYTES:
            return None
        (seconds,) = _TIMESTAMP.unpack_from(signature)
        message = f"cosignature/v1\ntime {seconds}\n{text}".encode()
        key = Verifier(self.name, self.public)
        if seconds > _LATEST or not key.verifies(signature[_TIMESTAMP.size :], message):
            return None
        return int(seconds)


def read_cosigner(text: str) -> Cosigner | None:
    """Read a witness's key; None for a kind that is not counted here, NoteError where it is malformed."""
    name, digest, encoded = [*text.strip().split("+", 2), "", ""][:3]
    data = base64_bytes(encoded)
    if not name or not re.fullmatch(r"[0-9a-f]{8}", digest) or len(data) < 2:
        raise NoteError("a witness's key has the form name+hash+key")
    if hashlib.sha256(name.encode() + b"\n" + data).hexdigest()[:8] != digest:
        raise NoteError(f"the hash of the key of {name} is not its own")

    if data[:1] != COSIGNATURE_V1:
        return None
    if len(data) != 1 + KEY_BYTES:
        raise NoteError(f"the key of {name} is not an Ed25519 key")
    return Cosigner(name, data[1:])


def times_of(note: bytes, cosigners: Iterable[Cosigner]) -> Mapping[str, int]:
    """Return when each witness signed a note, by its name: the earliest where it did so more than once.

    What does not hold is passed over: only the log itself answers for all lines of its note.
    """
    text, lines = signatures_of(note)
    known = {(cosigner.name, cosigner.key_id): cosigner for cosigner in cosigners}
    times: dict[str, int] = {}
    for name, key_id, signature in lines:
        cosigner = known.get((name, key_id))
        at = cosigner.time_of(signature, text) if cosigner else None
        if at is not None:
            times[name] = min(at, times.get(name, at))
    return times
