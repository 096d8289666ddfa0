"""One recorded CSV file: what it holds by its header, and its rows as numbers."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import IO, Final

import numpy as np

from generator.errors import SourceError
from generator.market.values import FloatArray, IntArray

_FIRST_MS: Final = 1_230_768_000_000  # 2009: older times are not milliseconds
_LAST_MS: Final = 4_102_444_800_000  # 2100
MOST_ROWS: Final = 1_000_000  # of a file: nine years of 5-minute bars
MOST_MB: Final = 128  # of a file, unpacked


class Kind(StrEnum):
    """What a recorded file holds."""

    CANDLES = "candles"
    FUNDING = "funding"
    OPEN_INTEREST = "open_interest"


HEADERS: Final[dict[Kind, tuple[str, ...]]] = {
    Kind.CANDLES: ("ts", "open", "high", "low", "close", "volume"),
    Kind.FUNDING: ("ts", "symbol", "funding_rate"),
    Kind.OPEN_INTEREST: ("ts", "symbol", "sum_open_interest", "sum_open_interest_value"),
}
_NUMBERS: Final[dict[Kind, tuple[str, ...]]] = {
    Kind.CANDLES: HEADERS[Kind.CANDLES],
    Kind.FUNDING: ("ts", "funding_rate"),
    Kind.OPEN_INTEREST: ("ts", "sum_open_interest_value"),
}


class UnreadableFileError(Exception):
    """A file cannot be opened, unpacked or decoded; its text says why in a few words."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one file whose every number could be read.

    Args:
        t: times in ms as they stand in the file, in file order.
        values: the other columns, shape (n, columns).
        dropped: rows that were no numbers or had no possible time.
    """

    t: IntArray
    values: FloatArray
    dropped: int


class _Bounded(io.RawIOBase):
    """A file that ends with an error after `MOST_MB`: a packed one can grow a thousandfold."""

    def __init__(self, path: Path, source: io.BufferedIOBase) -> None:
        self._path = path
        self._source = source
        self._left = MOST_MB * 1_000_000

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._source.read(len(buffer))
        self._left -= len(data)
        if self._left < 0:
            raise SourceError(f"{self._path} holds more than {MOST_MB} MB unpacked; split the recording")
        buffer[: len(data)] = data
        return len(data)


@contextmanager
def _opened(path: Path) -> Iterator[IO[str]]:
    opener = gzip.open if path.name.endswith(".gz") else open
    try:
        with opener(path, "rb") as packed, io.BufferedReader(_Bounded(path, packed), io.DEFAULT_BUFFER_SIZE) as raw:
            yield io.TextIOWrapper(raw, encoding="utf-8", errors="replace", newline="")
    except (OSError, EOFError, zlib.error, csv.Error) as error:
        raise UnreadableFileError(str(getattr(error, "strerror", None) or error)) from error


def kind_of(path: Path) -> Kind:
    """Tell by its header what a file holds.

    Raises:
        UnreadableFileError: the header cannot be read or is not a known one.
    """
    with _opened(path) as text:
        header = _header(next(csv.reader(text), []))
    for kind, wanted in HEADERS.items():
        if set(wanted) <= set(header):
            return kind
    raise UnreadableFileError("its header is not a known one")


def _header(fields: list[str]) -> list[str]:
    return [field.strip().lstrip("\ufeff").lower() for field in fields]


def read_rows(path: Path, kind: Kind, most_rows: int = MOST_ROWS) -> Rows:
    """Read a file's rows; columns are found by name, others ignored.

    Raises:
        UnreadableFileError: the file cannot be read to its end.
        SourceError: it holds more than a recording may; the text names it.
    """
    known, rows = array("d"), 0
    with _opened(path) as text:
        lines = csv.reader(text)
        header = _header(next(lines, []))
        columns = [header.index(name) for name in _NUMBERS[kind]]
        for line in filter(None, lines):
            rows += 1
            if rows > most_rows:
                raise SourceError(f"{path} holds more than {most_rows} rows; split the recording")
            known.extend(_numbers(line, columns) or ())
    table = np.array(known, dtype=np.float64).reshape(-1, len(columns))
    return Rows(table[:, 0].astype(np.int64), table[:, 1:], rows - len(table))


def _numbers(line: list[str], columns: list[int]) -> list[float] | None:
    try:
        numbers = [float(line[column]) for column in columns]
    except (ValueError, IndexError):
        return None
    possible = _FIRST_MS <= numbers[0] <= _LAST_MS and numbers[0].is_integer()
    return numbers if possible else None


def ascending(t: IntArray) -> IntArray:
    """Return the rows to keep so that times strictly ascend and as few rows as possible are dropped.

    The first of rows with one time is kept. One row with a wild time costs that row, not those after it.
    """
    _, first = np.unique(t, return_index=True)
    rows: IntArray = np.sort(first).astype(np.int64)
    if (np.diff(t[rows]) > 0).all():
        return rows
    return rows[_longest_ascending(t[rows].tolist())]


def _longest_ascending(times: list[int]) -> list[int]:
    """Longest ascending subsequence by patience sorting: positions, O(n log n)."""
    tops: list[int] = []
    at: list[int] = []
    before: list[int] = []
    for position, time in enumerate(times):
        pile = bisect_left(tops, time)
        before.append(at[pile - 1] if pile else -1)
        if pile == len(tops):
            tops.append(time)
            at.append(position)
        else:
            tops[pile], at[pile] = time, position
    kept, position = [], at[-1] if at else -1
    while position >= 0:
        kept.append(position)
        position = before[position]
    return kept[::-1]
