"""One recorded CSV file: what it holds by its header, and its rows as numbers."""

from __future__ import annotations

import csv
import gzip
import zlib
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import IO, Final

import numpy as np

from generator.market.values import FloatArray, IntArray

_FIRST_MS: Final = 1_230_768_000_000  # 2009: older times are not milliseconds
_LAST_MS: Final = 4_102_444_800_000  # 2100


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


@contextmanager
def _opened(path: Path) -> Iterator[IO[str]]:
    opener = gzip.open if path.name.endswith(".gz") else open
    try:
        with opener(path, "rt", encoding="utf-8", errors="replace", newline="") as text:
            yield text
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


def read_rows(path: Path, kind: Kind) -> Rows:
    """Read a file's rows; columns are found by name, others ignored.

    Raises:
        UnreadableFileError: the file cannot be read to its end.
    """
    with _opened(path) as text:
        lines = csv.reader(text)
        header = _header(next(lines, []))
        columns = [header.index(name) for name in _NUMBERS[kind]]
        read = [_numbers(line, columns) for line in lines if line]
    known = [numbers for numbers in read if numbers is not None]
    table = np.array(known, dtype=np.float64).reshape(-1, len(columns))
    return Rows(table[:, 0].astype(np.int64), table[:, 1:], len(read) - len(known))


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
