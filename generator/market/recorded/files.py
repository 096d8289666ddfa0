"""Recorded files: which folder holds what, which file is which pair, and its rows as numbers."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Final

import numpy as np

from generator.catalog.assets import ASSETS
from generator.errors import SourceError
from generator.market.bars import BAR_FIELDS, FloatArray, IntArray
from generator.market.recorded.cells import numbers, times
from generator.market.recorded.layouts import (
    CLOCK,
    EXPECTED,
    FIELDS,
    OURS,
    TIME,
    Columns,
    Layout,
    RecordedKind,
    columns_of,
)
from generator.market.recorded.sheets import Cell, Row, Sheet, UnreadableFileError, is_known, opened

MOST_ROWS: Final = 1_000_000  # of a file; of a longer one the newest are kept
_CHUNK: Final = 50_000
_FIRST_ROWS: Final = 206
_DOLLARS: Final = frozenset({"USD", "USDT", "USDC", "BUSD", "FDUSD", "TUSD", "DAI", "USDTPERP", "USDPERP"})
_OTHER_QUOTES: Final = frozenset({*ASSETS, "XBT", "EUR", "GBP", "JPY", "TRY", "BRL", "AUD", "CAD", "CHF", "KRW", "BNB"})
_OTHER_NAMES: Final = {
    "XBT": "BTC",
    "BITCOIN": "BTC",
    "ETHEREUM": "ETH",
    "RIPPLE": "XRP",
    "SOLANA": "SOL",
    "ALGORAND": "ALGO",
    "STELLAR": "XLM",
    "HEDERA": "HBAR",
}
_VENUES_OF_BITCOIN: Final = frozenset({"BITSTAMPUSD", "COINBASEUSD"})  # bitstampUSD_1-min_data.csv, of years ago
# A venue's name precedes the cadence: binance-spot-5m-2022-10 -> binance-spot.
_VENUE: Final = re.compile(r"([a-z][a-z0-9]*(?:-[a-z][a-z0-9]*)*)-\d+[mhd](?:-|$)")

# Why a row is left out
BAD_TIME: Final = "no time from 2009 to 2100"
NO_NUMBER: Final = "no number where a number belongs"
SHORT: Final = "fewer columns than the others"
HEADER_AGAIN: Final = "the header again"
UNFINISHED: Final = "an unfinished bar"
TOO_OLD: Final = f"older than the newest {MOST_ROWS:,}"


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one table of a file whose every number could be read, in the order of the file."""

    path: Path
    name: str  # of the file, or of the file inside a zip
    pair: str
    layout: Layout
    t: IntArray  # times in ms as the file gives them
    values: FloatArray  # shape (n, len(fields)); NaN where unknown
    fields: tuple[str, ...]
    left_out: Counter[str] = field(default_factory=Counter)  # rows that are not here, by reason

    @property
    def kind(self) -> RecordedKind:
        """What the rows are."""
        return self.layout.kind


@dataclass(frozen=True, slots=True)
class Unread:
    """A file that is not read, and why."""

    path: Path
    asset: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class RecordingFolder:
    """The files of one kind, by asset; `unread` are the files of its folder that cannot be."""

    path: Path
    kind: RecordedKind
    files: dict[str, list[Rows]]
    unread: list[Unread]

    @property
    def venue(self) -> str:
        """The venue by the folder's name, `recording` where the name does not give it."""
        match = _VENUE.match(self.path.name.lower())
        return match.group(1) if match else "recording"


def read_file(path: Path, asset: str) -> list[Rows]:
    """Read a file of one pair: one table, or those of a zip.

    Raises:
        UnreadableFileError: the file cannot be read to its end, or its columns are those of no layout.
    """
    with opened(path) as sheets:
        return [_read_sheet(path, sheet, asset) for sheet in sheets if _inside_is(sheet.name, path, asset)]


def _inside_is(name: str, path: Path, asset: str) -> bool:
    """Return whether a table inside a zip is of the asset, or does not say."""
    return name == path.name or pair_of(name)[0] in {asset, None}


def _read_sheet(path: Path, sheet: Sheet, asset: str) -> Rows:
    first = list(islice(sheet.rows, _FIRST_ROWS))
    columns = columns_of(first, asset)
    is_ours = columns.layout.publisher == OURS and columns.layout.kind is RecordedKind.CANDLES
    wanted = BAR_FIELDS if is_ours else FIELDS[columns.layout.kind]
    fields = tuple(name for name in wanted if name in columns.at)

    left_out: Counter[str] = Counter()
    chunks: list[FloatArray] = []
    rows = chain(first[columns.skip :], sheet.rows)
    while part := list(islice(rows, _CHUNK)):
        chunks.append(_table(part, columns, fields, left_out))
        _keep_newest(chunks, left_out)

    table = np.concatenate(chunks) if chunks else np.empty((0, len(fields) + 1))
    values = table[:, 1:]
    if columns.layout.kind is RecordedKind.CANDLES and "volume" not in fields:
        values = np.column_stack((values, np.full(len(values), np.nan)))
        fields = (*fields, "volume")
    return Rows(
        path, sheet.name, pair_of(path)[1], columns.layout, table[:, 0].astype(np.int64), values, fields, left_out
    )


def _table(rows: list[Row], columns: Columns, fields: tuple[str, ...], left_out: Counter[str]) -> FloatArray:
    """Return times and fields of some rows; what is not numbers is left out and counted."""
    places = [columns.at[TIME], *(columns.at[name] for name in fields)]
    last = max(places)
    long_enough = [row for row in rows if len(row) > last]
    left_out[SHORT] += len(rows) - len(long_enough)

    found = np.empty((len(long_enough), len(places)))
    found[:, 0] = times([_time_of(row, columns) for row in long_enough])
    bad: set[int] = set()
    for column, place in enumerate(places[1:], start=1):
        found[:, column], wrong = numbers([row[place] for row in long_enough])
        bad.update(wrong)

    reasons = dict.fromkeys(bad, NO_NUMBER) | dict.fromkeys(np.flatnonzero(np.isnan(found[:, 0])).tolist(), BAD_TIME)
    for number in reasons:
        if all(str(long_enough[number][place])[:1].isalpha() for place in places):
            reasons[number] = HEADER_AGAIN
    if confirm := columns.at.get("confirm"):
        unfinished = (number for number, row in enumerate(long_enough) if row[confirm : confirm + 1] in (["0"], [0.0]))
        reasons |= dict.fromkeys(unfinished, UNFINISHED)

    left_out.update(reasons.values())
    keep = np.ones(len(found), dtype=bool)
    keep[list(reasons)] = False
    return found[keep]


def _time_of(row: Row, columns: Columns) -> Cell:
    """Return a row's time, joined from its day and its time of day where these are two columns."""
    day = row[columns.at[TIME]]
    clock = row[columns.at[CLOCK]] if CLOCK in columns.at and columns.at[CLOCK] < len(row) else None
    if clock is None:
        return day
    return f"{day} {clock}" if ":" in str(clock) else clock


def _keep_newest(chunks: list[FloatArray], left_out: Counter[str]) -> None:
    """Drop the oldest chunks that the newest million rows do without."""
    while len(chunks) > 1:
        oldest = min(range(len(chunks)), key=lambda number: chunks[number][:, 0].max(initial=0.0))
        if sum(map(len, chunks)) - len(chunks[oldest]) < MOST_ROWS:
            return
        left_out[TOO_OLD] += len(chunks.pop(oldest))


def check_candles(roots: Sequence[Path], assets: tuple[str, ...]) -> None:
    """Refuse, by names and first rows alone, folders that hold no candles, so that nothing is started for them.

    Raises:
        SourceError: a root is not a folder or cannot be read, or none has a file that begins as candles of an asset.
    """
    why = ""
    for root in roots:
        for file, asset in _files_of(root, assets):
            try:
                with opened(file) as sheets:
                    for sheet in sheets:
                        if columns_of(list(islice(sheet.rows, _FIRST_ROWS)), asset).layout.kind is RecordedKind.CANDLES:
                            return
            except UnreadableFileError as error:
                why = why or f" ({file.name}: {error})"

    named = ", ".join(str(root) for root in roots)
    raise SourceError(f"no candles of {', '.join(assets)} in {named}{why}; {EXPECTED}")


def _files_of(root: Path, assets: tuple[str, ...]) -> Iterator[tuple[Path, str]]:
    """Yield the files of the assets in a root and one level below, with their assets."""
    try:
        files = [file for folder in _folders_of(root) for file in sorted(folder.iterdir()) if is_known(file)]
    except OSError as error:
        raise SourceError(f"{root} cannot be read ({error.strerror}); {EXPECTED}") from error
    for file in files:
        asset, _ = pair_of(file)
        if asset in assets:
            yield file, asset


def _folders_of(root: Path) -> list[Path]:
    """Return a root and the folders right below it."""
    return [root, *sorted(path for path in root.iterdir() if path.is_dir() and not path.name.startswith("."))]


def find_folders(roots: Sequence[Path], assets: tuple[str, ...]) -> dict[RecordedKind, RecordingFolder]:
    """Find and read the one folder of each kind under `roots`, themselves and one level below.

    Folders of one root that hold different assets count as one.

    Raises:
        SourceError: a root is not a folder or holds no market data, two folders hold the same kind, or none has
            candles.
    """
    if not roots:
        raise SourceError(f"a recording needs a folder of candles; {EXPECTED}")

    by_kind: dict[RecordedKind, RecordingFolder] = {}
    for root in dict.fromkeys(path.resolve() for path in roots):
        for folder in _in_root(root, assets):
            other = by_kind.setdefault(folder.kind, folder)
            if other is folder or other.path == folder.path:
                continue
            if other.path.parent != folder.path.parent or set(other.files) & set(folder.files):
                raise SourceError(f"two folders of {folder.kind.value}: {other.path} and {folder.path}; give one")
            by_kind[folder.kind] = RecordingFolder(
                folder.path.parent, folder.kind, other.files | folder.files, [*other.unread, *folder.unread]
            )

    if RecordedKind.CANDLES not in by_kind:
        named = ", ".join(str(root) for root in roots)
        raise SourceError(f"no candles in {named}; {EXPECTED}")
    return by_kind


def _in_root(root: Path, assets: tuple[str, ...]) -> list[RecordingFolder]:
    if not root.is_dir():
        raise SourceError(f"{root} is not a folder; {EXPECTED}")
    try:
        read = [(path, *_in_folder(path, assets)) for path in _folders_of(root)]
    except OSError as error:
        raise SourceError(f"{root} cannot be read ({error.strerror}); {EXPECTED}") from error

    folders = [
        RecordingFolder(path, kind, files, unread) for path, by_kind, unread in read for kind, files in by_kind.items()
    ]
    if not folders:
        reasons = (f" ({file.path.name}: {file.reason})" for *_, unread in read for file in unread)
        raise SourceError(f"{root} holds no market data of {', '.join(assets)}{next(reasons, '')}; {EXPECTED}")
    return folders


def _in_folder(path: Path, assets: tuple[str, ...]) -> tuple[dict[RecordedKind, dict[str, list[Rows]]], list[Unread]]:
    """Read a folder's files by what they hold, and say of each that is not read why."""
    by_kind: dict[RecordedKind, dict[str, list[Rows]]] = defaultdict(lambda: defaultdict(list))
    unread: list[Unread] = []
    for file in sorted(path.iterdir()):
        if not is_known(file) or not file.is_file() or file.name.startswith("."):
            continue

        asset, pair = pair_of(file)
        if asset is None or asset not in assets:
            unread.append(Unread(file, None, pair or "its name names no pair that is read"))
            continue
        try:
            for rows in read_file(file, asset):
                by_kind[rows.kind][asset].append(rows)
        except UnreadableFileError as error:
            unread.append(Unread(file, asset, str(error)))

    for files in by_kind.values():
        for asset, tables in files.items():
            other = next((rows for rows in tables if rows.pair != tables[0].pair), None)
            if other is not None:
                raise SourceError(f"two pairs of {asset}: {tables[0].path} and {other.path}; keep one of them")
    return by_kind, unread


def pair_of(file: Path | str) -> tuple[str | None, str]:
    """Return the asset and the pair that a file's name, else its folder's, names; without an asset, why there is none.

    >>> pair_of("Binance_BTCUSDT_1h.csv"), pair_of("XBTUSD_5.csv"), pair_of("ETH_BTC-5m.json")
    (('BTC', 'BTCUSDT'), ('BTC', 'BTCUSD'), (None, 'ETH in BTC: no pair in dollars'))
    """
    path = Path(file)
    for name in (path.name.split(".")[0], path.parent.name):
        tokens = [token for token in re.split(r"[^A-Z0-9]+", name.upper()) if token]
        for number, token in enumerate(tokens):
            asset, quote = _split(token)
            following = tokens[number + 1] if number + 1 < len(tokens) else ""
            if asset is None:
                continue
            quote = quote or (following if following in _DOLLARS | _OTHER_QUOTES else "")
            if quote in _OTHER_QUOTES:
                return None, f"{asset} in {quote}: no pair in dollars"
            return asset, asset + quote
    return None, ""


def _split(token: str) -> tuple[str | None, str]:
    """Return asset and quote of a word such as BTCUSDT, XBT or BITCOIN; (None, "") where it names none."""
    if token in _VENUES_OF_BITCOIN:
        return "BTC", "USD"
    for name, asset in [*_OTHER_NAMES.items(), *((asset, asset) for asset in ASSETS)]:
        quote = token.removeprefix(name)
        if token.startswith(name) and (not quote or quote in _DOLLARS | _OTHER_QUOTES):
            return asset, quote
    return None, ""
