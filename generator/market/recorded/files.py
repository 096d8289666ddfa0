"""Recorded CSV files: which folder holds what, which file is which asset, and its rows as numbers."""

import csv
import gzip
import re
import zlib
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import IO, Final

import numpy as np

from generator.errors import SourceError
from generator.market.bars import FloatArray, IntArray

_FIRST_MS: Final = 1_230_768_000_000  # 2009: older times are not milliseconds
_LAST_MS: Final = 4_102_444_800_000  # 2100
_QUOTES: Final = frozenset({"", "USD", "USDT", "USDC", "BUSD", "FDUSD", "USDTPERP", "USDPERP", "PERP"})
_SUFFIXES: Final = (".csv", ".csv.gz")
# A venue's name precedes the cadence: binance-spot-5m-2022-10 -> binance-spot.
_VENUE: Final = re.compile(r"([a-z][a-z0-9]*(?:-[a-z][a-z0-9]*)*)-\d+[mhd](?:-|$)")
UNNAMED_VENUE: Final = "recording"


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
    Kind.OPEN_INTEREST: ("ts", "sum_open_interest", "sum_open_interest_value"),
}
_EXPECTED: Final = "expected files like BTCUSDT.csv or BTCUSDT.csv.gz that begin with " + " or ".join(
    ",".join(header) for header in HEADERS.values()
)


class UnreadableFileError(Exception):
    """A file cannot be opened, unpacked or decoded; its text says why in a few words."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one file whose every number could be read.

    Args:
        t: times in ms, in file order.
        values: the other columns, shape (n, columns).
        dropped: rows that were not numbers or had an impossible time.
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
    known, rows = array("d"), 0
    with _opened(path) as text:
        lines = csv.reader(text)
        header = _header(next(lines, []))
        columns = [header.index(name) for name in _NUMBERS[kind]]
        for line in filter(None, lines):
            rows += 1
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


@dataclass(frozen=True, slots=True)
class Folder:
    """The files of one kind in one folder; `unreadable` names assets whose file cannot be opened."""

    path: Path
    kind: Kind
    files: dict[str, Path]
    unreadable: dict[str, str] = field(default_factory=dict)

    @property
    def venue(self) -> str:
        """The venue by the folder's name, `recording` where the name does not give it."""
        match = _VENUE.match(self.path.name.lower())
        return match.group(1) if match else UNNAMED_VENUE


def find_folders(roots: Sequence[Path], assets: tuple[str, ...]) -> dict[Kind, Folder]:
    """Find the one folder of each kind under `roots`, themselves and one level below.

    Raises:
        SourceError: a root is not a folder or holds no market data, two folders hold the same kind, or none has candles.
    """
    if not roots:
        raise SourceError(f"a recording needs a folder of candles; {_EXPECTED}")
    found: dict[Kind, Folder] = {}
    for root in dict.fromkeys(path.resolve() for path in roots):
        for folder in _in_root(root, assets):
            other = found.setdefault(folder.kind, folder)
            if other.path != folder.path:
                raise SourceError(f"two folders of {folder.kind.value}: {other.path} and {folder.path}; give one")
    if Kind.CANDLES not in found:
        named = ", ".join(str(root) for root in roots)
        raise SourceError(f"no candles in {named}; expected files that begin with {_columns(Kind.CANDLES)}")
    return found


def _columns(kind: Kind) -> str:
    return ",".join(HEADERS[kind])


def _in_root(root: Path, assets: tuple[str, ...]) -> list[Folder]:
    if not root.is_dir():
        raise SourceError(f"{root} is not a folder; {_EXPECTED}")
    unreadable: dict[str, str] = {}
    try:
        below = sorted(path for path in root.iterdir() if path.is_dir() and not path.name.startswith("."))
        folders = [folder for path in (root, *below) for folder in _in_folder(path, assets, unreadable)]
    except OSError as error:
        raise SourceError(f"{root} cannot be read ({error.strerror}); {_EXPECTED}") from error
    if not folders:
        why = "".join(f" ({asset}: {reason})" for asset, reason in list(unreadable.items())[:1])
        raise SourceError(f"{root} holds no market data of {', '.join(assets)}{why}; {_EXPECTED}")
    return folders


def _in_folder(path: Path, assets: tuple[str, ...], failures: dict[str, str]) -> list[Folder]:
    """Sort a folder's files by what they hold; a file of unknown content is a problem of its neighbours' kind.

    Args:
        path: the folder.
        assets: whose files are looked for.
        failures: collects why a file of an asset cannot be read.
    """
    by_kind: dict[Kind, dict[str, Path]] = defaultdict(dict)
    unreadable: dict[str, str] = {}
    for file in sorted(path.iterdir()):
        asset = _asset_of(file, assets)
        if asset is None:
            continue
        try:
            _add(by_kind[kind_of(file)], asset, file)
        except UnreadableFileError as error:
            unreadable[asset] = str(error)
    failures.update(unreadable)
    return [Folder(path, kind, files, unreadable) for kind, files in by_kind.items()]


def _add(files: dict[str, Path], asset: str, file: Path) -> None:
    other = files.setdefault(asset, file)
    if other != file:
        raise SourceError(f"two files of {asset}: {other} and {file}; keep one of them")


def _asset_of(file: Path, assets: tuple[str, ...]) -> str | None:
    suffix = next((suffix for suffix in reversed(_SUFFIXES) if file.name.lower().endswith(suffix)), None)
    if suffix is None or file.name.startswith("."):
        return None
    pair = re.sub(r"[-_]", "", file.name[: -len(suffix)].upper())
    return next((asset for asset in assets if pair.startswith(asset) and pair[len(asset) :] in _QUOTES), None)
