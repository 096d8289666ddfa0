r"""Read JSON and msgpack that others wrote: one set of bounds, and one error for whatever does not keep them.

What is read is I-JSON (RFC 7493), or the msgpack of the same values and of bytes: UTF-8 without lone surrogates, no NaN
and no Infinity, no number beyond the largest double, no key twice in an object, every key text, and not nested deeper
than `MAX_DEPTH`. Two readers of such bytes read the same, and each value can be encoded and compared. A number may
still be far larger than its field allows, and a text may hold anything: that is for the field's own reader.

The standard library reads everything else too: `json.loads` takes UTF-16, `NaN` and `"\ud800"`, gives the last of two
equal keys, and ends in RecursionError, which is not a ValueError, on deep nesting.
"""

import json
import math
from collections.abc import Sequence
from typing import Any, Final

import msgpack

MAX_BYTES: Final = 64 * 1024 * 1024
"""Read where a caller names no other limit."""
MAX_DEPTH: Final = 64
"""So many objects and arrays may stand inside each other."""
_BEYOND_DOUBLES: Final = 2**1024
_ESCAPE: Final = "\\u"
_SURROGATE_ESCAPE: Final = "\\ud"
_BOUNDLESS: Final = frozenset({str, bytes, bool, type(None)})


class ForeignBytesError(ValueError):
    """These bytes are not JSON, or not msgpack, that is read here; the text says what is wrong, in a few words."""


def read_json(data: bytes | str, most_bytes: int = MAX_BYTES) -> Any:
    r"""Return the value of one JSON text; a byte order mark before it is passed over, as RFC 8259 allows.

    >>> read_json(b'{"price": 1.5}')
    {'price': 1.5}
    >>> read_json(b'{"payer": "A", "payer": "B"}')
    Traceback (most recent call last):
    gateway.wire.foreign.ForeignBytesError: duplicate key in an object

    Args:
        data: UTF-8, or its text.
        most_bytes: a longer text is not read.

    Raises:
        ForeignBytesError: whatever keeps it from being such a text.
    """
    try:
        raw = data.encode() if isinstance(data, str) else data
        _check_size(raw, most_bytes)
        text = raw.decode("utf-8-sig")
        value = _DECODER.decode(text)

        # Half of a pair comes as an escape alone: its own bytes are not UTF-8.
        if _ESCAPE in text and _SURROGATE_ESCAPE in text.lower():
            json.dumps(value, ensure_ascii=False).encode()
    except ForeignBytesError:
        raise
    except UnicodeError:
        raise ForeignBytesError("not UTF-8, or half of a surrogate pair") from None
    except RecursionError:
        raise ForeignBytesError("nested too deeply") from None
    except ValueError:
        raise ForeignBytesError("not JSON") from None
    return _checked(value)


def read_msgpack(data: bytes, most_bytes: int = MAX_BYTES) -> Any:
    r"""Return the value of one msgpack; extension types are not read.

    >>> read_msgpack(b"\x81\xa3fee\xcd\x03\xe8")
    {'fee': 1000}

    Args:
        data: one value, and nothing after it.
        most_bytes: a longer one is not read.

    Raises:
        ForeignBytesError: whatever keeps it from being such a value.
    """
    _check_size(data, most_bytes)
    try:
        value = msgpack.unpackb(data, object_pairs_hook=_map_of, ext_hook=_refuse_extension)  # noqa: TID251
    except ForeignBytesError:
        raise
    except (ValueError, TypeError, OverflowError, RecursionError, msgpack.UnpackException):
        raise ForeignBytesError("not msgpack") from None
    return _checked(value)


def _check_size(data: bytes, most_bytes: int) -> None:
    if len(data) > most_bytes:
        raise ForeignBytesError(f"longer than {most_bytes} bytes")


def _object_of(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ForeignBytesError("duplicate key in an object")
    return fields


def _map_of(pairs: Sequence[tuple[Any, Any]]) -> dict[str, Any]:
    if not all(isinstance(key, str) for key, _ in pairs):
        raise ForeignBytesError("a key is not text")
    return _object_of(pairs)


def _refuse_constant(name: str) -> None:
    raise ForeignBytesError(f"{name} is not a number that JSON has")


def _refuse_extension(code: int, _data: bytes) -> None:
    raise ForeignBytesError(f"extension type {code}")


_DECODER: Final = json.JSONDecoder(  # noqa: TID251
    object_pairs_hook=_object_of, parse_constant=_refuse_constant
)


def _checked(value: Any) -> Any:
    """Return a value that keeps the bounds of numbers, types and depth; by levels, so that no depth is too deep."""
    containers: list[Any] = [[value]]
    for _ in range(MAX_DEPTH + 1):
        inner: list[Any] = []
        for held in containers:
            for item in held.values() if type(held) is dict else held:
                kind = type(item)
                if kind is dict or kind is list:
                    inner.append(item)
                elif kind not in _BOUNDLESS:
                    _check_number(item)
        if not inner:
            return value
        containers = inner
    raise ForeignBytesError("nested too deeply")


def _check_number(item: Any) -> None:
    if isinstance(item, float):
        if not math.isfinite(item):
            raise ForeignBytesError("a number that is not finite")
    elif not isinstance(item, int):  # msgpack has times too
        raise ForeignBytesError(f"a value of type {type(item).__name__}")
    elif not -_BEYOND_DOUBLES < item < _BEYOND_DOUBLES:
        raise ForeignBytesError("a whole number beyond all doubles")
