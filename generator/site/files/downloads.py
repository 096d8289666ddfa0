"""The record as files: CSV and JSON Lines with their digests; files of months that are over are immutable.

A month that is over never changes, so its files carry the first digits of their digest in their names: should the
record of a month ever be another one (a memory that was lost and begun again), it gets other names and nothing breaks.
Which files hold a month is noted in the memory once they are published.
"""

import csv
import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from generator.arena.values import Move, PredictionMade
from generator.catalog.downloads import FORMATS, MONTHS, SERIES, SUMS, Field, RecordFile
from generator.catalog.formats import iso, iso_or_none
from generator.catalog.links import TRACK_RECORD
from generator.catalog.words import SourceMode
from generator.compose.body import encode
from generator.errors import PublishError
from generator.record.memory.exports import Exports, Span
from generator.release.check import MAX_FILE_BYTES
from generator.release.values import NOTHING
from generator.release.variants import WORTH, pack

Rows = Sequence[Mapping[str, Any]]
DIGITS: Final = 12  # of the digest, in a name
# What the release holds of the record apart from packed variants.
RUNNING: Final = (*(f"{TRACK_RECORD}{series.name}.{ending}" for series in SERIES for ending, _, _ in FORMATS), SUMS)
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet takes a text that begins like this for a formula


@dataclass(frozen=True, slots=True)
class Downloads:
    """What is published of the record.

    Args:
        once: files of a month that just ended, written once.
        notes: to be noted in the memory once all of it is published.
        months: every file of the months that were noted before, oldest first.
    """

    files: Mapping[str, bytes] = field(default_factory=dict)
    once: Mapping[str, bytes] = field(default_factory=lambda: NOTHING)
    notes: Mapping[str, str] = field(default_factory=dict)
    months: tuple[RecordFile, ...] = ()


def downloads(exports: Exports, mode: SourceMode, at: datetime, max_bytes: int = MAX_FILE_BYTES) -> Downloads:
    """Read the record and make its files. At most one month that is over is closed at a time.

    The running month is in the release; the one before too until it is closed, which waits for its last round.

    Args:
        exports: read from this thread.
        at: aware time; its month is the running one.
        max_bytes: of a file: a larger one would fail every tick that has it in hand.

    Raises:
        MemoryUnreadable: the record cannot be read.
        PublishError: a file would be larger than `max_bytes`.
    """
    noted = {month: [RecordFile(**row) for row in json.loads(text)] for month, text in sorted(exports.notes().items())}
    current = month_of(at)
    over = [month for month in _months_until(exports.first_ms(), current) if not _is_complete(exports, noted, month)]
    since = over[-1] if over and _after(over[-1]) == current else current
    running = exports.span(_begin(since), _begin(_after(current)))
    once, notes = next(filter(None, (_close(exports, month, mode) for month in over)), ({}, {}))
    months = tuple(file for files in noted.values() for file in files)
    made = Downloads(_files(running, months, mode), once, notes, months)
    for path, data in (*made.files.items(), *once.items()):
        if len(data) > max_bytes:
            raise PublishError(f"{path} is larger than {max_bytes} bytes")
    return made


def no_downloads(mode: SourceMode) -> Downloads:
    """Return the files of a record that has nothing in it yet."""
    return Downloads(_files(Span((), (), 0), (), mode))


def month_of(at: datetime) -> str:
    """Return the month of a time in UTC, e.g. `2026-11`."""
    return at.astimezone(UTC).strftime("%Y-%m")


def _files(span: Span, months: Sequence[RecordFile], mode: SourceMode) -> dict[str, bytes]:
    made = _made(span, mode, None)
    files = {row.path: data for row, data in made}
    for path, data in list(files.items()):
        packed = zip((".gz", ".br"), pack(data), strict=True)
        files |= {path + ending: small for ending, small in packed if len(small) < WORTH * len(data)}
    files[SUMS] = "".join(f"{row.sha256}  {row.name}\n" for row in (*(row for row, _ in made), *months)).encode()
    return files


def _close(exports: Exports, month: str, mode: SourceMode) -> tuple[dict[str, bytes], dict[str, str]] | None:
    """Return the files of a month that is over, and its note; None while something in it has not ended."""
    span = exports.span(_begin(month), _begin(_after(month)))
    if span.waiting:
        return None
    made = _made(span, mode, month)
    note = json.dumps([asdict(row) for row, _ in made], separators=(",", ":"))
    return {row.path: data for row, data in made}, {month: note}


def _made(span: Span, mode: SourceMode, month: str | None) -> list[tuple[RecordFile, bytes]]:
    """Make the files of a month that is over, or (None) of the running one."""
    rows: dict[str, Rows] = {
        "ranges": [ranges_row(made, mode) for made in span.hourly if made.ranges],
        "hourly": [hourly_row(made, mode) for made in span.hourly],
        "rounds": [{**row, "source_mode": str(mode)} for row in span.rounds],
    }
    made = []
    for series in SERIES:
        mine = rows[series.name]
        for ending, data in (("csv", csv_file(series.fields, mine)), ("jsonl", json_lines(mine))):
            digest = hashlib.sha256(data).hexdigest()
            folder, tag = (f"{MONTHS}{month}/", f"-{month}-{digest[:DIGITS]}") if month else (TRACK_RECORD, "")
            path = f"{folder}{series.name}{tag}.{ending}"
            made.append((RecordFile(path, series.name, ending, len(mine), len(data), digest, month), data))
    return made


def _is_complete(exports: Exports, noted: Mapping[str, Sequence[RecordFile]], month: str) -> bool:
    """Return whether the files noted for a month hold all of it (a clock set back may have added to it)."""
    rows = {row.series: row.rows for row in noted.get(month, ())}
    return bool(rows) and exports.ended(_begin(month), _begin(_after(month))) == (rows["hourly"], rows["rounds"])


def hourly_row(made: PredictionMade, mode: SourceMode) -> dict[str, Any]:
    """Return an hourly forecast as it is given away; the numbers are those that it was scored with."""
    return {
        "asset": made.asset,
        "start": iso(made.start_ms),
        "end": iso(made.end_ms),
        "made": iso_or_none(made.made_ms),
        "source_mode": str(mode),
        "warm_up": made.warm_up,
        "prediction": str(made.prediction),
        "probabilities": dict(zip(("down", "neutral", "up"), made.probabilities, strict=True)),
        "base_rate": dict(zip(("down", "neutral", "up"), made.base_rate, strict=True)),
        "previous_outcome": None if made.previous is None else str(made.previous),
        "band_bps": made.band_bps,
        "start_price": made.start_price,
        "end_price": made.end_price,
        "change_bps": made.change_bps,
        "outcome": None if made.outcome is None else str(made.outcome),
        "correct": None if made.outcome is None else made.outcome == made.prediction,
        "void_reason": made.void_reason,
    }


def ranges_row(made: PredictionMade, mode: SourceMode) -> dict[str, Any]:
    """Return the ranges of one asset and hour, in percent, with the moves that came; null where one is still open."""
    forecasts = made.ranges or {}
    return {
        "asset": made.asset,
        "start": iso(made.start_ms),
        "made": iso_or_none(made.made_ms),
        "source_mode": str(mode),
        "warm_up": made.warm_up,
        "start_price": made.start_price,
        "ranges": {
            name: {**asdict(said), **asdict(made.moves.get(name) or Move())} for name, said in forecasts.items()
        },
    }


def csv_file(fields: Sequence[Field], rows: Rows) -> bytes:
    """Write RFC 4180: a header, lines that end in CRLF, quotes where they are needed; no text begins a formula."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow([column.name for column in fields])
    places = [column.keys for column in fields]
    writer.writerows([_cell(_value(row, keys)) for keys in places] for row in rows)
    return text.getvalue().encode()


def json_lines(rows: Rows) -> bytes:
    """Write one JSON object a line; a file without any is a single line feed, because no published file is empty."""
    return b"".join(encode(row) + b"\n" for row in rows) or b"\n"


def _value(row: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    value: Any = row
    for key in keys:
        if value is None:
            return None
        value = value[key]
    return value


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    # Numbers stay: a minus sign before digits begins no formula.
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _months_until(first_ms: int | None, current: str) -> list[str]:
    """Return the months from that of a time up to the one before the current, oldest first."""
    month = current if first_ms is None else month_of(datetime.fromtimestamp(first_ms / 1000, UTC))
    found = []
    while month < current:
        found.append(month)
        month = _after(month)
    return found


def _begin(month: str) -> int:
    """Return the first UTC millisecond of a month."""
    year, number = map(int, month.split("-"))
    return round(datetime(year, number, 1, tzinfo=UTC).timestamp() * 1000)


def _after(month: str) -> str:
    year, number = map(int, month.split("-"))
    return f"{year + number // 12:04d}-{number % 12 + 1:02d}"
