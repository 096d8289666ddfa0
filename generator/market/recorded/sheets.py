"""Files as publishers pack them: text, JSON, Parquet and Feather, alone, in gzip or in zip, as rows of cells."""

import codecs
import csv
import gzip
import io
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, Final, cast

from gateway.wire.extras import missing
from gateway.wire.foreign import read_json

Cell = str | float | None
Row = Sequence[Cell]

SUFFIXES: Final = (".csv", ".txt", ".json", ".zip", ".parquet", ".feather")
_ARROW: Final = (".parquet", ".feather")
_LONGEST_LINE: Final = 65_536  # characters; what is longer falls into several, none of which is a row
LARGEST_WHOLE: Final = 128 * 2**20  # bytes of a file that is read whole: JSON, Parquet, Feather
_MOST_MEMBERS: Final = 10_000  # files in a zip
_SEPARATORS: Final = ";\t|,"  # a comma may be a decimal sign between the others, so it comes last
_DEEPEST: Final = 3  # levels of JSON above the rows


class UnreadableFileError(Exception):
    """A file cannot be opened, unpacked, decoded or understood; its text says why in a few words."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """One table of a file; its rows are read as they are asked for."""

    name: str  # of the file, or of the file inside a zip
    rows: Iterator[Row]  # those of a header included
    separator: str | None = None  # between cells; None where cells are not text


def is_known(path: Path) -> bool:
    """Return whether a file's name ends as a table's does, packed or not."""
    return _unpacked(path.name).endswith(SUFFIXES)


@contextmanager
def opened(path: Path) -> Iterator[Iterator[Sheet]]:
    """Open a file and give its tables, one after the other; a zip has several.

    Raises:
        UnreadableFileError: also while the rows are read: it is broken, locked, too large, or needs pypa.
    """
    try:
        with ExitStack() as stack:
            yield _sheets(path, stack)
    except zipfile.BadZipFile as error:
        raise UnreadableFileError("not a zip, or a broken one") from error
    except NotImplementedError as error:
        raise UnreadableFileError("packed in a way that Python's zipfile does not know") from error
    except (OSError, EOFError, zlib.error, csv.Error, RuntimeError) as error:
        raise UnreadableFileError(str(getattr(error, "strerror", None) or error)) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise UnreadableFileError(f"not {path.suffix[1:] or 'a table'}: {error}"[:200]) from error


def _unpacked(name: str) -> str:
    return name.lower().removesuffix(".gz")


def _sheets(path: Path, stack: ExitStack) -> Iterator[Sheet]:
    if not path.name.lower().endswith(".zip"):
        opener = gzip.open if path.name.lower().endswith(".gz") else open
        yield _sheet(path.name, stack.enter_context(cast("IO[bytes]", opener(path, "rb"))), stack)
        return

    archive = stack.enter_context(zipfile.ZipFile(path))
    members = [item for item in archive.infolist() if not item.is_dir() and _unpacked(item.filename).endswith(SUFFIXES)]
    if not members:
        raise UnreadableFileError("a zip without a table in it")
    if len(members) > _MOST_MEMBERS:
        raise UnreadableFileError(f"a zip of more than {_MOST_MEMBERS:,} files")
    for item in members:
        yield _sheet(Path(item.filename).name, stack.enter_context(archive.open(item)), stack)


def _sheet(name: str, file: IO[bytes], stack: ExitStack) -> Sheet:
    form = _unpacked(name)
    if form.endswith(".json"):
        return Sheet(name, _json_rows(read_json(_whole(file), LARGEST_WHOLE)))
    if form.endswith(_ARROW):
        return Sheet(name, _arrow_rows(_whole(file), form))
    return _text(name, file, stack)


def _whole(file: IO[bytes]) -> bytes:
    content = file.read(LARGEST_WHOLE + 1)
    if len(content) > LARGEST_WHOLE:
        raise UnreadableFileError(f"larger than {LARGEST_WHOLE >> 20} MB; split it, or write it as CSV")
    return content


def _text(name: str, file: IO[bytes], stack: ExitStack) -> Sheet:
    """Read text of UTF-8 or, by its mark, UTF-16; the separator is the one of the first lines."""
    buffered = io.BufferedReader(file)  # type: ignore[type-var]
    mark = buffered.peek(2)[:2]
    encoding = "utf-16" if mark in {codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE} else "utf-8-sig"
    text = stack.enter_context(io.TextIOWrapper(buffered, encoding=encoding, errors="replace", newline=""))
    lines = iter(partial(text.readline, _LONGEST_LINE), "")

    first = list(islice(lines, 8))
    last = next((line for line in reversed(first) if line.strip()), "")
    separator = next((mark for mark in _SEPARATORS if last.count(mark) >= 2), ",")
    rows = csv.reader(chain(first, lines), delimiter=separator, skipinitialspace=True)
    return Sheet(name, filter(None, rows), separator)


def _json_rows(data: Any) -> Iterator[Row]:
    """Find the rows of a JSON body: a list of lists or of objects, or the columns of a pandas frame."""
    rows = _listed(data, _DEEPEST)
    if rows is None:
        raise UnreadableFileError("no list of rows in it")
    if isinstance(rows[0], Mapping):
        header = list(rows[0])
        yield header
        yield from ([_cell(row.get(name)) for name in header] for row in rows if isinstance(row, Mapping))
    else:
        yield from ([_cell(cell) for cell in row] for row in rows if isinstance(row, list))


def _listed(data: Any, deep: int) -> list[Any] | None:
    """Return the first list of lists or objects, None without one."""
    if isinstance(data, list):
        return data if data and isinstance(data[0], list | Mapping) else None
    if not isinstance(data, Mapping) or not data:
        return None

    columns = [column for column in data.values() if isinstance(column, Mapping)]
    if len(columns) == len(data) >= 5 and len({tuple(column) for column in columns}) == 1:  # pandas' to_json
        index = list(columns[0])
        return [["", *data], *([key, *(column[key] for column in columns)] for key in index)]
    if isinstance(data.get("columns"), list) and isinstance(data.get("data"), list):  # its orient="split"
        index = data.get("index") or [None] * len(data["data"])
        return [["", *data["columns"]], *([key, *row] for key, row in zip(index, data["data"], strict=False))]

    inside = (_listed(value, deep - 1) for value in data.values()) if deep else iter(())
    return next((rows for rows in inside if rows is not None), None)


def _cell(value: Any) -> Cell:
    if isinstance(value, int):
        return float(value)
    return value if isinstance(value, str | float) else None


def _arrow_rows(content: bytes, form: str) -> Iterator[Row]:
    """Read Parquet or Feather by pyarrow; times become milliseconds."""
    try:
        import pyarrow as pa  # noqa: PLC0415  an extra
        from pyarrow import feather, parquet  # noqa: PLC0415
    except ImportError:
        raise UnreadableFileError(missing("a file of Parquet or Feather", "frames")) from None

    read = parquet.read_table if form.endswith(".parquet") else feather.read_table
    table = read(pa.BufferReader(content))
    columns = []
    for column in table.columns:
        if pa.types.is_timestamp(column.type):
            column = column.cast(pa.timestamp("ms", column.type.tz), safe=False).cast(pa.int64())  # noqa: PLW2901
        columns.append([_cell(value) for value in column.to_pylist()])
    return chain([list(table.column_names)], zip(*columns, strict=True))
