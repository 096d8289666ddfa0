"""Receipts of the x402 extension offer-receipt: the key, its public half for a DID document, and the JWS (EdDSA)."""

import base64
import hashlib
import json
import re
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NotRequired
from urllib.parse import quote, urlsplit

from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey
from typing_extensions import TypedDict

from gateway.wire.durable import replace_file
from gateway.wire.foreign import read_json

EXTENSION: Final = "offer-receipt"
VERSION: Final = 1
DID_PATH: Final = "/.well-known/did.json"
ALGORITHM: Final = "EdDSA"
PUBLIC_SUFFIX: Final = ".pub"
KEY_BYTES: Final = 32
FOR_OTHERS: Final = 0o077  # bits of a file's mode
MAX_JWS: Final = 4_096
_TIME: Final = r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z"
_LINE: Final = re.compile(rf"([A-Za-z0-9_-]{{43}}) ({_TIME})(?: ({_TIME}))?")


class ReceiptError(ValueError):
    """A key or a receipt is not what it should be; the message says why and never holds a private key."""


@dataclass(frozen=True, slots=True)
class PublicKey:
    """The public half of a receipt key, and for which time it signed."""

    raw: bytes = field(repr=False)
    since: str = ""  # ISO 8601, UTC
    until: str | None = None  # None while it signs

    @property
    def jwk(self) -> dict[str, str]:
        """The key as a JSON Web Key (RFC 8037)."""
        return {"crv": "Ed25519", "kty": "OKP", "x": b64(self.raw)}

    @property
    def name(self) -> str:
        """The key's thumbprint (RFC 7638).

        >>> PublicKey(unb64("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo")).name
        'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k'
        """
        return b64(hashlib.sha256(canonical(self.jwk)).digest())

    @property
    def line(self) -> str:
        """How the key is written in a `.pub` file."""
        return " ".join(filter(None, (b64(self.raw), self.since, self.until)))


class ReceiptKey:
    """A private receipt key; never printed."""

    def __init__(self, seed: bytes) -> None:
        self._key = SigningKey(seed)
        self.public = PublicKey(bytes(self._key.verify_key))

    @classmethod
    def generate(cls) -> "ReceiptKey":
        """Make a new key."""
        return cls(bytes(SigningKey.generate()))

    def __repr__(self) -> str:
        return f"ReceiptKey({self.public.name})"

    @property
    def text(self) -> str:
        """What its file holds: a private JSON Web Key. A secret."""
        return json.dumps({**self.public.jwk, "d": b64(bytes(self._key))}) + "\n"

    def sign(self, claims: Mapping[str, Any], did: str) -> str:
        """Return the JWS of some claims, in compact form.

        >>> key = ReceiptKey(bytes(32))
        >>> SignedReceipt.read(key.sign({"payer": "P"}, "did:web:example.org")).claims
        {'payer': 'P'}
        """
        header = {"alg": ALGORITHM, "kid": f"{did}#{self.public.name}"}
        signed = f"{b64(canonical(header))}.{b64(canonical(claims))}"
        return f"{signed}.{b64(self._key.sign(signed.encode()).signature)}"


@dataclass(frozen=True, slots=True)
class SignedReceipt:
    """A JWS that was read and not verified yet."""

    key_id: str  # a DID URL
    claims: Mapping[str, Any]
    signed: bytes
    signature: bytes

    @classmethod
    def read(cls, jws: str) -> "SignedReceipt":
        """Read the compact form; raise ReceiptError where it is malformed or has another spelling."""
        parts = jws.split(".")
        if len(parts) != 3 or len(jws) > MAX_JWS:
            raise ReceiptError("the receipt is not a JWS in compact form")

        header = _object(parts[0])
        claims = _object(parts[1])
        if header.keys() != {"alg", "kid"} or header["alg"] != ALGORITHM or not isinstance(header["kid"], str):
            raise ReceiptError(f"the receipt's header names more or other than {ALGORITHM} and a key")
        return cls(header["kid"], claims, f"{parts[0]}.{parts[1]}".encode(), unb64(parts[2]))

    def is_signed_by(self, key: PublicKey) -> bool:
        """Return whether a key made the signature."""
        try:
            VerifyKey(key.raw).verify(self.signed, self.signature)
        except (BadSignatureError, ValueError):
            return False
        return True


def receipt_in_response(answer: Any) -> str | None:
    """Return the receipt, in compact form, of the JSON object of PAYMENT-RESPONSE; None where it has none."""
    for name in ("extensions", EXTENSION, "info", "receipt", "signature"):
        answer = answer.get(name) if isinstance(answer, dict) else None
    return answer if isinstance(answer, str) else None


def did_of(origin: str) -> str:
    """Return the DID of an origin.

    >>> did_of("https://example.org"), did_of("http://127.0.0.1:8402")
    ('did:web:example.org', 'did:web:127.0.0.1%3A8402')
    """
    return f"did:web:{quote(urlsplit(origin).netloc, safe='')}"


class KeyMethod(TypedDict):
    """One key that signs receipts."""

    id: str
    """Its name below the DID."""
    type: str
    """JsonWebKey."""
    controller: str
    """The DID."""
    publicKeyJwk: Mapping[str, str]
    """The public key."""
    revoked: NotRequired[str]
    """When it was retired, ISO 8601 UTC."""


_Context = TypedDict("_Context", {"@context": list[str]})


class DidDocument(_Context):
    """The keys of an origin (did:web)."""

    id: str
    """The DID."""
    verificationMethod: list[KeyMethod]  # noqa: N815 -- a name of the standard
    """Each key that signed, newest first."""
    assertionMethod: list[str]  # noqa: N815 -- a name of the standard
    """Their ids."""


def did_document(origin: str, keys: Sequence[PublicKey]) -> DidDocument:
    """Return the DID document of an origin: every key that signed receipts, with the time at which it was retired."""
    did = did_of(origin)
    methods: list[KeyMethod] = []
    for key in keys:
        method: KeyMethod = {
            "id": f"{did}#{key.name}",
            "type": "JsonWebKey",
            "controller": did,
            "publicKeyJwk": key.jwk,
        }
        methods.append(method if key.until is None else {**method, "revoked": key.until})

    return {
        "@context": ["https://www.w3.org/ns/did/v1", "https://w3id.org/security/jwk/v1"],
        "id": did,
        "verificationMethod": methods,
        "assertionMethod": [method["id"] for method in methods],
    }


def keys_of(document: Any) -> dict[str, PublicKey]:
    """Return the Ed25519 keys of a DID document by their id; raise ReceiptError where it is none."""
    methods = document.get("verificationMethod") if isinstance(document, dict) else None
    if not isinstance(methods, list):
        raise ReceiptError("that is not a DID document")

    keys = {}
    for method in methods:
        jwk = method.get("publicKeyJwk") if isinstance(method, dict) else None
        if isinstance(jwk, dict) and (jwk.get("kty"), jwk.get("crv")) == ("OKP", "Ed25519"):
            until = method.get("revoked")
            if not isinstance(until, str | None):
                raise ReceiptError("a key of the DID document is revoked at no time")
            keys[str(method.get("id"))] = PublicKey(_key_bytes(jwk.get("x")), until=until)
    return keys


def read_key(path: Path) -> ReceiptKey | None:
    """Read a key file, None where there is none; raise ReceiptError for one that is shared or malformed."""
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & FOR_OTHERS:
            raise ReceiptError(f"receipt key {path} can be read by others (mode {mode:04o}): chmod 600 it")
        jwk = read_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ReceiptError(f"receipt key {path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        if isinstance(error, ReceiptError):
            raise
        raise ReceiptError(f"receipt key {path} is not a JSON Web Key") from None

    try:
        key = ReceiptKey(_key_bytes(jwk["d"]))
    except (ReceiptError, KeyError, TypeError):
        raise ReceiptError(f"receipt key {path} is not a private Ed25519 key") from None
    if jwk.get("x") != b64(key.public.raw):
        raise ReceiptError(f"receipt key {path} has two halves that do not belong together")
    return key


def read_public(path: Path) -> tuple[PublicKey, ...]:
    """Read a `.pub` file, the newest key first; none where there is no file. ReceiptError for a malformed one."""
    try:
        lines = path.read_text(encoding="ascii").split("\n")
    except FileNotFoundError:
        return ()
    except (OSError, UnicodeDecodeError) as error:
        raise ReceiptError(f"{path} cannot be read: {error}") from error

    matches = [_LINE.fullmatch(line) for line in lines if line]
    if not all(matches):
        raise ReceiptError(f"{path} is not a list of receipt keys; `emi key receipt` writes it")
    return tuple(PublicKey(unb64(match[1]), match[2], match[3]) for match in matches if match)


def write_key(path: Path, key: ReceiptKey, keys: Sequence[PublicKey]) -> None:
    """Write the public halves, then the private key, each whole and on the disk when this returns; OSError if not.

    In this order a crash leaves a published key that signs nothing yet, and never a signature without its key.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    public = "".join(f"{known.line}\n" for known in keys)
    replace_file(path.with_suffix(PUBLIC_SUFFIX), public.encode("ascii"), 0o644)
    replace_file(path, key.text.encode("ascii"))


def canonical(value: Mapping[str, Any]) -> bytes:
    """Return JSON of strings and integers in its canonical form (RFC 8785)."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def b64(data: bytes) -> str:
    """Return base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unb64(text: str) -> bytes:
    """Read base64url without padding; raise ReceiptError where it is none, or is spelt in another way."""
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except ValueError:
        raise ReceiptError("that is not base64url") from None
    if b64(data) != text:
        raise ReceiptError("that is not base64url in its one spelling")
    return data


def _key_bytes(text: Any) -> bytes:
    raw = unb64(text) if isinstance(text, str) else b""
    if len(raw) != KEY_BYTES:
        raise ReceiptError("that is not an Ed25519 key")
    return raw


def _object(part: str) -> dict[str, Any]:
    try:
        value = read_json(unb64(part))
    except ValueError:
        raise ReceiptError("the receipt is not a JWS of JSON") from None
    if not isinstance(value, dict):
        raise ReceiptError("the receipt is not a JWS of JSON objects")
    return value
