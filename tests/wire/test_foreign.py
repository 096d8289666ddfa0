"""The one reader of what others wrote: what it reads, and that whatever it does not read ends in its one error."""

import json
import math
from contextlib import suppress
from typing import Any

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.wire.foreign import MAX_DEPTH, ForeignBytesError, read_json, read_msgpack

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
)


def nested(scalars: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    text = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
    return st.recursive(scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4))


REFUSED_JSON: dict[str, bytes | str] = {
    "nothing": b"",
    "two values": b"{} {}",
    "half a text": b'{"a": 1',
    "deep arrays": b"[" * 100_000,
    "deep arrays, closed": b"[" * 65 + b"]" * 65,
    "deep objects": b'{"a":' * 65 + b"1" + b"}" * 65,
    "lone surrogate": b'{"r": "\\ud800"}',
    "lone low surrogate in a key": b'{"\\uDC00": 1}',
    "surrogate as bytes": b'"\xed\xa0\x80"',
    "surrogate in text": '"\ud800"',
    "no UTF-8": b'"\xff"',
    "UTF-16": '{"a": 1}'.encode("utf-16"),
    "NaN": b'{"a": NaN}',
    "Infinity": b"[Infinity]",
    "minus Infinity": b"-Infinity",
    "beyond a double": b"[1e999]",
    "a whole number beyond a double": b"-1" + b"0" * 309,
    "a whole number of too many digits": b"1" * 5_000,
    "duplicate key": b'{"payer": "A", "payer": "B"}',
    "duplicate key inside": b'[{"a": {"b": 1, "\\u0062": 1}}]',
    "line break in a string": b'"a\nb"',
}
REFUSED_MSGPACK = {
    "nothing": b"",
    "two values": b"\x01\x02",
    "half a map": b"\x82\xa1a\x01",
    "key of bytes": msgpack.packb({b"a": 1}),
    "keys of text and of bytes": msgpack.packb({"a": 1, b"a": 1}),
    "key of a number": msgpack.packb({1: 1}),
    "key of an array": b"\x81\x91\x01\x01",
    "duplicate key": b"\x82\xa1a\x01\xa1a\x02",
    "no UTF-8": b"\xa1\xff",
    "lone surrogate": b"\xa3\xed\xa0\x80",
    "NaN": msgpack.packb(math.nan),
    "Infinity": msgpack.packb([math.inf]),
    "a time": msgpack.packb(msgpack.Timestamp(0, 0)),
    "an extension": msgpack.packb(msgpack.ExtType(5, b"x")),
    "deep": b"\x91" * 65 + b"\x01",
    "very deep": b"\x91" * 100_000 + b"\x01",
    "an array of four billion": b"\xdd\xff\xff\xff\xff",
    "bytes of four billion": b"\xc6\xff\xff\xff\xff",
    "reserved": b"\xc1",
}


@given(nested(SCALARS))
def test_what_json_says_is_read_as_it_was_written(value: Any) -> None:
    assert read_json(json.dumps(value)) == value
    assert read_json(json.dumps(value, ensure_ascii=False).encode()) == value


@given(nested(SCALARS | st.binary()))
def test_what_msgpack_says_is_read_as_it_was_written(value: Any) -> None:
    assert read_msgpack(msgpack.packb(value)) == value


def test_json_that_readers_read_differently_is_refused() -> None:
    for name, data in REFUSED_JSON.items():
        with pytest.raises(ForeignBytesError):
            pytest.fail(f"{name} was read: {read_json(data)!r}")


def test_msgpack_that_cannot_be_sorted_stored_or_compared_is_refused() -> None:
    for name, data in REFUSED_MSGPACK.items():
        with pytest.raises(ForeignBytesError):
            pytest.fail(f"{name} was read: {read_msgpack(data)!r}")


def test_what_lies_on_the_bounds_is_read() -> None:
    deepest = b"[" * MAX_DEPTH + b"]" * MAX_DEPTH

    assert read_json(deepest)
    assert read_msgpack(b"\x91" * MAX_DEPTH + b"\x01")
    assert read_json(b"[1%s, 1e308, 1e-999, -0.0]" % (b"0" * 308)) == [10**308, 1e308, 0.0, -0.0]
    assert read_json(b'"\\ud83d\\ude00"') == "\N{GRINNING FACE}"
    assert read_json(b"\xef\xbb\xbf{}") == {}


def test_a_callers_limit_is_in_bytes() -> None:
    assert read_json('"\N{EURO SIGN}"', most_bytes=5)

    with pytest.raises(ForeignBytesError, match="longer than 4 bytes"):
        read_json('"\N{EURO SIGN}"', most_bytes=4)


@given(st.binary(max_size=200) | st.text(max_size=100).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for read in (read_json, read_msgpack):
        with suppress(ForeignBytesError):
            read(data)
