"""What a PAYMENT-REQUIRED header says, as every client of ours reads it."""

import base64

import pytest

from gateway.wire.foreign import ForeignBytesError
from gateway.wire.required import read_required


def header_of(text: bytes) -> str:
    return base64.b64encode(text).decode()


def test_the_terms_are_the_object_that_the_header_holds() -> None:
    terms = b'{"x402Version": 2, "accepts": [{"amount": "10000"}]}'

    assert read_required(header_of(terms)) == {"x402Version": 2, "accepts": [{"amount": "10000"}]}


@pytest.mark.parametrize(
    "header",
    [
        "",
        "{}",
        "eyJ4NDAyVmVyc2lvbiI6",
        header_of(b"[]"),
        header_of(b"null"),
        header_of(b'{"a": 1, "a": 2}'),
        header_of(b"{}") + "\n!",
        "é",
    ],
)
def test_what_is_not_base64_of_an_object_is_refused(header: str) -> None:
    with pytest.raises(ForeignBytesError):
        read_required(header)
