"""Receipt keys in files, and what is refused of a receipt's spelling."""

import json
from pathlib import Path

import pytest

from gateway.wire.receipts import (
    PublicKey,
    ReceiptError,
    ReceiptKey,
    SignedReceipt,
    b64,
    did_document,
    keys_of,
    read_key,
    read_public,
    write_key,
)

KEY = ReceiptKey(bytes(32))
SINCE = "2026-11-20T09:53:00Z"
# RFC 8037, appendix A.1 and A.4.
RFC_JWK = {
    "kty": "OKP",
    "crv": "Ed25519",
    "d": "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",
    "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
}
RFC_JWS = (
    "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc."
    "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"
)


def test_signature_and_key_are_those_of_the_rfcs_example(tmp_path: Path) -> None:
    path = tmp_path / "receipt.key"
    path.write_text(json.dumps(RFC_JWK))
    path.chmod(0o600)
    key = read_key(path)
    assert key is not None

    header, payload, signature = RFC_JWS.split(".")
    signed = SignedReceipt(
        "", {}, f"{header}.{payload}".encode(), key._key.sign(f"{header}.{payload}".encode()).signature
    )

    assert b64(signed.signature) == signature
    assert signed.is_signed_by(key.public)


def test_a_key_comes_back_from_its_files_and_only_its_owner_reads_the_private_one(tmp_path: Path) -> None:
    path = tmp_path / "keys" / "receipt.key"
    old = PublicKey(b"o" * 32, SINCE, "2026-11-21T00:00:00Z")

    write_key(path, KEY, [PublicKey(KEY.public.raw, SINCE), old])

    assert read_key(path).text == KEY.text  # type: ignore[union-attr]
    assert read_public(path.with_suffix(".pub")) == (PublicKey(KEY.public.raw, SINCE), old)
    assert [oct(file.stat().st_mode)[-3:] for file in (path, path.with_suffix(".pub"))] == ["600", "644"]
    assert KEY.text.strip() not in repr(KEY)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "not a JSON Web Key"),
        ("[]", "not a private Ed25519 key"),
        (json.dumps({"d": b64(b"1")}), "not a private Ed25519 key"),
        (json.dumps({**RFC_JWK, "x": KEY.public.jwk["x"]}), "two halves that do not belong together"),
    ],
)
def test_a_key_file_of_another_form_is_refused_without_showing_it(text: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "receipt.key"
    path.write_text(text)
    path.chmod(0o600)

    with pytest.raises(ReceiptError, match=reason) as refused:
        read_key(path)

    assert RFC_JWK["d"] not in str(refused.value)


def test_a_document_gives_its_keys_back_with_their_end() -> None:
    old = PublicKey(b"o" * 32, SINCE, "2026-11-21T00:00:00Z")

    found = keys_of(did_document("https://example.org", [PublicKey(KEY.public.raw, SINCE), old]))

    assert {name: (key.raw, key.until) for name, key in found.items()} == {
        f"did:web:example.org#{KEY.public.name}": (KEY.public.raw, None),
        f"did:web:example.org#{old.name}": (old.raw, old.until),
    }


@pytest.mark.parametrize("document", [None, [], {}, {"verificationMethod": [{"publicKeyJwk": {**RFC_JWK, "x": 1}}]}])
def test_what_is_not_a_document_of_keys_is_refused(document: object) -> None:
    with pytest.raises(ReceiptError):
        keys_of(document)


def test_a_receipt_has_one_spelling() -> None:
    jws = KEY.sign({"payer": "P"}, "did:web:example.org")
    head, claims, signature = jws.split(".")
    respelt = signature[:-1] + chr(ord(signature[-1]) + 1)
    unsigned = b64(json.dumps({"alg": "none", "kid": "k"}).encode())

    for other in (
        f"{jws}=",
        f" {jws}",
        f"{head}.{claims}",
        f"{head}.{claims}.{respelt}",
        f"{unsigned}.{claims}.",
        "a.b.c",
    ):
        with pytest.raises(ReceiptError):
            SignedReceipt.read(other)
