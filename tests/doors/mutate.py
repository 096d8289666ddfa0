"""Change good bytes into hostile ones, drawn from a seed."""

import math
from random import Random
from typing import Any, Final

import msgpack

MOST_BYTES: Final = 20_000
HOSTILE_JSON: Final = (
    *(b'"\\ud800"', b'"\\uDFFF\\ud83d"', b'"\\u0000"', b'"\xed\xa0\x80"', b'"\xff"', b'"\x00"', b'"\n"', b'""'),
    *(b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-1e999", b"1e-999", b"-0", b"-0.0", b"01", b".5", b"1."),
    *(b"1" * 40, b"1" * 5_000, b"-1" + b"0" * 18, b"18446744073709551616", b"9223372036854775808", b"-1", b"0", b"1.5"),
    *(b"null", b"true", b"false", b"{}", b"[]", b"[[]]", b'{"":{}}', b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\"),
    *(b"[" * 70 + b"]" * 70, b"[" * 5_000, b'{"a":' * 70 + b"1" + b"}" * 70, b'{"a":' * 2_000),
    *(b'"https://[x/"', b'"\\ud800":1,', b'"99991231"', b'"0000-00-00T99:99:99Z"', b"\xef\xbb\xbf", b"\xff\xfe"),
)
"""Values, and parts of values, that some reader of JSON takes for what they are not."""
_VALUES: Final[tuple[Any, ...]] = (
    *(None, True, -1, 0, 2**64 - 1, -(2**63), 1.5, math.nan, math.inf, "", "x", b"", b"x" * 32, b"x" * 64, [], {}),
    *({b"a": 1}, {"a": 1, b"a": 2}, {1: 1}, {None: 1}, {"a": {b"b": 1}}, {"x": {}}, {"x": [1]}),
)
HOSTILE_MSGPACK: Final = (
    *map(msgpack.packb, _VALUES),
    *(b"\x82\xa1a\x01\xa1a\x02", b"\x81\x91\x01\x01", b"\xa1\xff", b"\xa3\xed\xa0\x80", b"\xc1", b"\xd4\x05x"),
    *(b"\xd6\xff\x00\x00\x00\x00", b"\x91" * 70 + b"\x01", b"\x91" * 5_000, b"\xdd\xff\xff\xff\xff"),
    *(b"\xdf\xff\xff\xff\xff", b"\xc6\xff\xff\xff\xff", b"\xdb\xff\xff\xff\xff", b"\xc4\x01b", b"\xa1b"),
)
"""Likewise of msgpack: keys that are bytes, numbers or nothing, lengths without their bytes, extension types."""

HOSTILE_CSV: Final = (
    *(b"nan", b"inf", b"-inf", b"1e999", b"1e308", b"-1", b"0x10", b"1_000", b"", b" ", b"\xff", b"\x00", b'"', b'"",'),
    *(b",", b",,,,,,,,", b"\n", b"\r\n", b"\r", b"\xef\xbb\xbf", b"9" * 400, b"1" * 19, b"ts", b"'", b"\xed\xa0\x80"),
)
"""Likewise of tables: numbers that are none, quotes that never end, and lines of other lengths."""


class Mutator:
    """Draws hostile bytes from good ones.

    Args:
        seed: the same one draws the same.
        hostile: what is put into them.
    """

    def __init__(self, seed: int, hostile: tuple[bytes, ...]) -> None:
        self._random = Random(seed)
        self._hostile = hostile
        self._steps = (self._flip, self._cut, self._insert, self._replace, self._repeat, self._replace_value)

    def changed(self, sample: bytes) -> bytes:
        """Return some good bytes, changed in one place or in a few."""
        data = sample
        for _ in range(self._random.choice((1, 1, 1, 2, 4))):
            data = self._random.choice(self._steps)(data)
        return data[:MOST_BYTES]

    def _span(self, data: bytes) -> tuple[int, int]:
        start = self._random.randrange(len(data) + 1)
        return start, min(len(data), start + self._random.choice((0, 1, 2, 8, 40)))

    def _flip(self, data: bytes) -> bytes:
        if not data:
            return b"\x00"
        at = self._random.randrange(len(data))
        return data[:at] + bytes([data[at] ^ (1 << self._random.randrange(8))]) + data[at + 1 :]

    def _cut(self, data: bytes) -> bytes:
        start, end = self._span(data)
        return data[:start] if self._random.random() < 0.3 else data[:start] + data[end:]

    def _insert(self, data: bytes) -> bytes:
        start, _ = self._span(data)
        return data[:start] + self._random.choice(self._hostile) + data[start:]

    def _replace(self, data: bytes) -> bytes:
        start, end = self._span(data)
        return data[:start] + self._random.choice(self._hostile) + data[end:]

    def _repeat(self, data: bytes) -> bytes:
        start, end = self._span(data)
        return data[:end] + data[start:]

    def _replace_value(self, data: bytes) -> bytes:
        """Replace what lies between a colon and the comma or bracket after it, which keeps most JSON readable."""
        colons = [at for at, byte in enumerate(data) if byte == 0x3A]
        if not colons:
            return self._replace(data)
        start = self._random.choice(colons) + 1
        end = min((at for at in (data.find(mark, start) for mark in b",}]") if at >= 0), default=len(data))
        return data[:start] + self._random.choice(self._hostile) + data[end:]
