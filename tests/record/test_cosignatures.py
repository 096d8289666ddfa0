"""What a witness signed, by C2SP tlog-cosignature: the note's text, with the time of the witness's own clock."""

import struct

import pytest
from nacl.signing import SigningKey

from generator.record.log.cosignatures import Cosigner, read_cosigner
from generator.record.log.note import NoteError
from tests.support.witness import vkey

TEXT = "example.org/log\n3\nAAAA\n"
KEY = SigningKey(bytes(range(32)))
WITNESS = Cosigner("witness.example/one", bytes(KEY.verify_key))


def signed(at: int, text: str = TEXT) -> bytes:
    signature = KEY.sign(f"cosignature/v1\ntime {at}\n{text}".encode()).signature
    return struct.pack(">Q", at) + signature


@pytest.mark.parametrize("at", [0, 1_700_000_000, 2**63 - 1])
def test_a_cosignature_names_when_it_was_made(at: int) -> None:
    assert WITNESS.time_of(signed(at), TEXT) == at


@pytest.mark.parametrize(
    "signature", [signed(2**63), signed(7, f"{TEXT} "), signed(7)[:-1], signed(7) + b"\x00", bytes(72), b""]
)
def test_a_cosignature_of_another_text_length_or_time_does_not_hold(signature: bytes) -> None:
    assert WITNESS.time_of(signature, TEXT) is None


def test_a_witness_s_key_is_published_as_the_standard_has_it() -> None:
    assert WITNESS.text == vkey("witness.example/one", b"\x04", WITNESS.public)
    assert read_cosigner(f"{WITNESS.text}\n") == WITNESS


def test_a_key_of_a_kind_that_is_not_counted_has_at_least_one_byte() -> None:
    assert read_cosigner(vkey("witness.example/other", b"\x06", b"\x01")) is None
    with pytest.raises(NoteError, match="has the form"):
        read_cosigner(vkey("witness.example/other", b"\x06", b""))


@pytest.mark.parametrize("text", ["witness.example", "witness.example+86e9e835", "+86e9e835+BAAA", "a+86E9E835+BAAA"])
def test_a_witness_s_key_has_three_parts(text: str) -> None:
    with pytest.raises(NoteError, match=r"^a witness's key has the form name\+hash\+key$"):
        read_cosigner(text)
