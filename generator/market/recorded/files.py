"""Recorded CSV files: which folder holds what, which file is which asset, and its rows as numbers."""

import csv
import gzip
import re
import zlib
from array import array
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

import numpy as np

from generator.errors import SourceError
from generator.market.bars import FloatArray, IntArray

_FIRST_MS: Final = 1_230_768_000_000  # 2009: older times are not milliseconds
_LAST_MS: Final = 4_102_444_800_000  # 2100
_QUOTES: Final = frozenset({"", "USD", "USDT", "USDC", "BUSD", "FDUSD", "USDTPERP", "USDPERP", "PERP"})
# A venue's name precedes the cadence: binance-spot-5m-2022-10 -> binance-spot.
_VENUE: Final = re.compile(r"([a-z][a-z0-9]*(?:-[a-z][a-z0-9]*)*)-\d+[mhd](?:-|$)")


class RecordedKind(StrEnum):
    """What a recorded file holds."""

    CANDLES = "candles"
    FUNDING = "funding"
    OPEN_INTEREST = "open_interest"


HEADERS: Final[dict[RecordedKind, tuple[str, ...]]] = {
    RecordedKind.CANDLES: ("ts", "open", "high", "low", "close", "volume"),
    RecordedKind.FUNDING: ("ts", "symbol", "funding_rate"),
    RecordedKind.OPEN_INTEREST: ("ts", "symbol", "sum_open_interest", "sum_open_interest_value"),
}
_COLUMNS: Final = {kind: ",".join(header) for kind, header in HEADERS.items()}
_EXPECTED: Final = f"expected files like BTCUSDT.csv or BTCUSDT.csv.gz that begin with {' or '.join(_COLUMNS.values())}"


class UnreadableFileError(Exception):
    """A file cannot be opened, unpacked or decoded; its text says why in a few words."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one file whose every number could be read."""

    path: Path
    t: IntArray  # times in ms, in file order
    values: FloatArray  # the other columns but the symbol, shape (n, columns)
    dropped: int  # rows that were not numbers or had an impossible time


def read_rows(path: Path) -> tuple[RecordedKind, Rows]:
    """Read a file, recognised by its header; columns are found by name, others ignored.

    Raises:
        UnreadableFileError: the file cannot be read to its end, or its header is not a known one.
    """
    known = array("d")
    count = 0
    with _opened(path) as (kind, header, lines):
        columns = [header.index(name) for name in HEADERS[kind] if name != "symbol"]
        for line in filter(None, lines):
            count += 1
            known.extend(_numbers(line, columns) or ())

    table = np.array(known, dtype=np.float64).reshape(-1, len(columns))
    return kind, Rows(path, table[:, 0].astype(np.int64), table[:, 1:], count - len(table))


@contextmanager
def _opened(path: Path) -> Iterator[tuple[RecordedKind, list[str], Iterator[list[str]]]]:
    """Open a file and give its kind, header and lines; UnreadableFileError also while the lines are read."""
    opener = gzip.open if path.name.endswith(".gz") else open
    try:
        with opener(path, "rt", encoding="utf-8", errors="replace", newline="") as text:
            lines = csv.reader(text)
            header = [field.strip().lstrip("\ufeff").lower() for field in next(lines, [])]
            kind = next((kind for kind, wanted in HEADERS.items() if set(wanted) <= set(header)), None)
            if kind is None:
                raise UnreadableFileError("its header is not a known one")

            yield kind, header, lines
    except (OSError, EOFError, zlib.error, csv.Error) as error:
        raise UnreadableFileError(str(getattr(error, "strerror", None) or error)) from error


def _numbers(line: list[str], columns: list[int]) -> list[float] | None:
    try:
        numbers = [float(line[column]) for column in columns]
    except (ValueError, IndexError):
        return None
    possible = _FIRST_MS <= numbers[0] <= _LAST_MS and numbers[0].is_integer()
    return numbers if possible else None


def ascending(t: IntArray) -> IntArray:
    """Return the rows to keep so that times strictly ascend: the first of those with one time, and none out of order.

    One row with a wild time costs that row, not those after it.

    >>> ascending(np.array([1, 9, 2, 2, 3])).tolist()
    [0, 2, 4]
    """
    _, first = np.unique(t, return_index=True)
    rows: IntArray = np.sort(first).astype(np.int64)
    if (np.diff(t[rows]) > 0).all():
        return rows

    kept: list[int] = []
    for row in rows.tolist():
        if not kept or t[row] > t[kept[-1]]:
            kept.append(row)
        elif len(kept) == 1 or t[row] > t[kept[-2]]:
            kept[-1] = row  # the one before it was too far ahead

    return np.array(kept, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class RecordingFolder:
    """The files of one kind in one folder; `unreadable` says for an asset whose file cannot be read why."""

    path: Path
    kind: RecordedKind
    files: dict[str, Rows]
    unreadable: dict[str, str]

    @property
    def venue(self) -> str:
        """The venue by the folder's name, `recording` where the name does not give it."""
        match = _VENUE.match(self.path.name.lower())
        return match.group(1) if match else "recording"


def check_candles(roots: Sequence[Path], assets: tuple[str, ...]) -> None:
    """Refuse, by names and headers alone, folders that hold no candles, so that nothing is started for them.

    Raises:
        SourceError: a root is not a folder or cannot be read, or none has a file that begins as candles of an asset.
    """
    why = ""
    for root in roots:
        for file in _files_of(root, assets):
            try:
                with _opened(file) as (kind, *_):
                    if kind is RecordedKind.CANDLES:
                        return
            except UnreadableFileError as error:
                why = why or f" ({file.name}: {error})"

    named = ", ".join(str(root) for root in roots)
    raise SourceError(f"no candles of {', '.join(assets)} in {named}{why}; {_EXPECTED}")


def _files_of(root: Path, assets: tuple[str, ...]) -> list[Path]:
    """Return the files of the assets in a root and one level below."""
    try:
        files = [file for folder in _folders_of(root) for file in sorted(folder.iterdir())]
    except OSError as error:
        raise SourceError(f"{root} cannot be read ({error.strerror}); {_EXPECTED}") from error
    return [file for file in files if _asset_of(file, assets)]


def _folders_of(root: Path) -> list[Path]:
    """Return a root and the folders right below it."""
    return [root, *sorted(path for path in root.iterdir() if path.is_dir() and not path.name.startswith("."))]


def find_folders(roots: Sequence[Path], assets: tuple[str, ...]) -> dict[RecordedKind, RecordingFolder]:
    """Find and read the one folder of each kind under `roots`, themselves and one level below.

    Raises:
        SourceError: a root is not a folder or holds no market data, two folders hold the same kind, or none has
            candles.
    """
    if not roots:
        raise SourceError(f"a recording needs a folder of candles; {_EXPECTED}")

    by_kind: dict[RecordedKind, RecordingFolder] = {}
    for root in dict.fromkeys(path.resolve() for path in roots):
        for folder in _in_root(root, assets):
            other = by_kind.setdefault(folder.kind, folder)
            if other.path != folder.path:
                raise SourceError(f"two folders of {folder.kind.value}: {other.path} and {folder.path}; give one")

    if RecordedKind.CANDLES not in by_kind:
        named = ", ".join(str(root) for root in roots)
        raise SourceError(f"no candles in {named}; expected files that begin with {_COLUMNS[RecordedKind.CANDLES]}")
    return by_kind


def _in_root(root: Path, assets: tuple[str, ...]) -> list[RecordingFolder]:
    if not root.is_dir():
        raise SourceError(f"{root} is not a folder; {_EXPECTED}")
    try:
        read = [(path, *_in_folder(path, assets)) for path in _folders_of(root)]
    except OSError as error:
        raise SourceError(f"{root} cannot be read ({error.strerror}); {_EXPECTED}") from error

    folders = [
        RecordingFolder(path, kind, files, unreadable)
        for path, by_kind, unreadable in read
        for kind, files in by_kind.items()
    ]
    if not folders:
        reasons = (f" ({asset}: {reason})" for *_, unreadable in read for asset, reason in unreadable.items())
        why = next(reasons, "")
        raise SourceError(f"{root} holds no market data of {', '.join(assets)}{why}; {_EXPECTED}")
    return folders


def _in_folder(path: Path, assets: tuple[str, ...]) -> tuple[dict[RecordedKind, dict[str, Rows]], dict[str, str]]:
    """Read a folder's files by what they hold, and say why an asset's file cannot be read."""
    by_kind: dict[RecordedKind, dict[str, Rows]] = defaultdict(dict)
    unreadable: dict[str, str] = {}
    for file in sorted(path.iterdir()):
        asset = _asset_of(file, assets)
        if asset is None:
            continue

        try:
            kind, rows = read_rows(file)
        except UnreadableFileError as error:
            unreadable[asset] = str(error)
            continue

        other = by_kind[kind].setdefault(asset, rows)
        if other is not rows:
            raise SourceError(f"two files of {asset}: {other.path} and {file}; keep one of them")

    return by_kind, unreadable


def _asset_of(file: Path, assets: tuple[str, ...]) -> str | None:
    match = re.fullmatch(r"([^.].*)\.csv(?:\.gz)?", file.name, re.IGNORECASE)
    if match is None:
        return None
    pair = re.sub(r"[-_]", "", match.group(1).upper())
    return next((asset for asset in assets if pair.startswith(asset) and pair[len(asset) :] in _QUOTES), None)
