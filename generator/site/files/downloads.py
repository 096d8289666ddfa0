"""The record as files: CSV and JSON Lines with their digests; files of months that are over are immutable.

A month that is over never changes, so its files carry the first digits of their digest in their names: should the
record of a month ever be another one (a memory that was lost and begun again), it gets other names and nothing breaks.
Which files hold a month is noted in the memory once they are published.
"""

import hashlib
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, Final

from gateway.wire.foreign import read_json
from generator.arena.practice.hours import JUDGED, STARTED, logged_hours
from generator.arena.practice.items import HOURS_SHOWN, month_of_practice
from generator.arena.published import called
from generator.catalog.downloads import (
    FORMATS,
    MONTHS,
    OF_RANGE,
    PRACTICE_ITEMS,
    PRACTICE_TRUTHS,
    SERIES,
    SUMS,
    Field,
    RecordFile,
)
from generator.catalog.durations import HOUR_MS
from generator.catalog.formats import iso, iso_or_none
from generator.catalog.links import TRACK_RECORD, VOTERS_JSON
from generator.catalog.words import Call, SourceMode
from generator.compose.body import encode
from generator.errors import PublishError
from generator.record.memory.exports import Exports, Span
from generator.release.check import MAX_FILE_BYTES
from generator.release.values import NOTHING
from generator.release.variants import WORTH, pack
from generator.site.files.csv_file import csv_file
from generator.site.files.voters import running_voters, voters_of_month
from generator.values.hours import Move, PredictionMade

Rows = Sequence[Mapping[str, Any]]
_SIDES: Final = ("down", "neutral", "up")  # in the order of a forecast's probabilities
DIGITS: Final = 12  # of the digest, in a name
_OF_MOVE: Final = tuple(each.name for each in fields(Move))
# What the release holds of the record apart from packed variants.
RUNNING: Final = (
    *(f"{TRACK_RECORD}{series.name}.{ending}" for series in SERIES for ending, _, _ in FORMATS),
    SUMS,
    VOTERS_JSON,
)


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


def downloads(
    exports: Exports, mode: SourceMode, at: datetime, max_bytes: int = MAX_FILE_BYTES, *, closes: bool = True
) -> Downloads:
    """Read the record and make its files. At most one month that is over is closed at a time.

    The running month is in the release; the one before too until it is closed, which waits for its last round.

    Args:
        exports: read from this thread.
        at: aware time; its month is the running one.
        max_bytes: of a file: a larger one would fail every tick that has it in hand.
        closes: whether a month is closed at all; where the caller has no time for it, it is not.

    Raises:
        MemoryUnreadable: the record cannot be read.
        PublishError: a file would be larger than `max_bytes`.
    """
    noted = _noted(exports)
    current = month_of(at)
    months_over = _months_until(exports.first_ms(), current)
    unfinished = [month for month in months_over if not _is_complete(exports, noted, month)]

    once: dict[str, bytes] = {}
    notes: dict[str, str] = {}
    for month in unfinished if closes else ():
        closed = _close(exports, month, mode)
        if closed is not None:
            once, notes = closed
            break

    since = current
    if unfinished and _after(unfinished[-1]) == current:
        since = unfinished[-1]
    running = exports.span(_begin(since), _begin(_after(current)))
    votes = exports.voters(_begin(since), _begin(_after(current)))
    months = tuple(file for files in noted.values() for file in files)
    files = _running_files(running, months, mode)
    for path, data in running_voters(votes, current, str(mode), months).items():
        files |= _with_packed(path, data)

    for path, data in (*files.items(), *once.items()):
        if len(data) > max_bytes:
            raise PublishError(f"{path} is larger than {max_bytes} bytes")
    return Downloads(files, once, notes, months)


def published_downloads(
    exports: Exports, mode: SourceMode, shown: Callable[[Collection[str]], Mapping[str, bytes]]
) -> Downloads | None:
    """Return what readers have of the record; None where a file is missing or empty, and the record has to be read.

    Those of the bootstrap release are empty, whatever the record holds.

    Args:
        exports: asked for the months that are over alone.
        shown: gives those of some paths that are published.
    """
    # With the packed forms, which no tick makes of them.
    files = shown([path + ending for path in RUNNING for ending in ("", ".gz", ".br")])
    if not files.keys() >= set(RUNNING) or files[SUMS] == no_downloads(mode).files[SUMS]:
        return None
    return Downloads(files, months=tuple(file for files_of in _noted(exports).values() for file in files_of))


def _noted(exports: Exports) -> dict[str, list[RecordFile]]:
    """Return the files of each month that is over, oldest first."""
    notes = sorted(exports.notes().items())
    return {month: [RecordFile(**row) for row in read_json(text)] for month, text in notes}


def no_downloads(mode: SourceMode) -> Downloads:
    """Return the files of a record that has nothing in it yet."""
    return Downloads(_running_files(Span((), (), 0), (), mode) | running_voters((), "", str(mode), ()))


def month_of(at: datetime) -> str:
    """Return the month of a time in UTC, e.g. `2026-11`."""
    return at.astimezone(UTC).strftime("%Y-%m")


def _running_files(span: Span, months: Sequence[RecordFile], mode: SourceMode) -> dict[str, bytes]:
    """Return the files of the running month, packed where that is worth it, and the digests of all months."""
    listed_rows = _record_files(span, mode, None)
    files: dict[str, bytes] = {}
    for row, data in listed_rows:
        files |= _with_packed(row.path, data)

    listed = (*(row for row, _ in listed_rows), *months)
    files[SUMS] = "".join(f"{row.sha256}  {row.name}\n" for row in listed).encode()
    return files


def _with_packed(path: str, data: bytes) -> dict[str, bytes]:
    """Return a file with its packed forms where they are worth it; made here, so that no tick packs it."""
    files = {path: data}
    for ending, packed in zip((".gz", ".br"), pack(data), strict=True):
        if len(packed) < WORTH * len(data):
            files[path + ending] = packed
    return files


def _close(exports: Exports, month: str, mode: SourceMode) -> tuple[dict[str, bytes], dict[str, str]] | None:
    """Return the files of a month that is over, and its note; None while something in it has not ended."""
    span = exports.span(_begin(month), _begin(_after(month)))
    if span.waiting:
        return None

    voters = voters_of_month(exports.voters(_begin(month), _begin(_after(month))), month, str(mode))
    record_rows = [*_record_files(span, mode, month), *_practice_files(exports, month, mode), *voters.listed]
    files = {**voters.files, **{row.path: data for row, data in record_rows}}
    note = json.dumps([asdict(row) for row, _ in record_rows], separators=(",", ":"))
    return files, {month: note}


def _practice_files(exports: Exports, month: str, mode: SourceMode) -> list[tuple[RecordFile, bytes]]:
    """Make items of practice of a month that is over, from its signed log; none where it has too few hours."""
    since_ms = _begin(month) - HOURS_SHOWN * HOUR_MS
    origin, entries = exports.logged_hours(since_ms, _begin(_after(month)), (STARTED, JUDGED))
    practice = month_of_practice(logged_hours(entries), month, origin, str(mode))
    if practice is None:
        return []

    files = []
    for path, data in practice.files.items():
        file = RecordFile(
            path=path,
            series=PRACTICE_TRUTHS if path == practice.truths_path else PRACTICE_ITEMS,
            ending="json",
            rows=practice.number,
            bytes=len(data),
            sha256=hashlib.sha256(data).hexdigest(),
            month=month,
        )
        files.append((file, data))
    return files


def _record_files(span: Span, mode: SourceMode, month: str | None) -> list[tuple[RecordFile, bytes]]:
    """Make the files of a month that is over, or (None) of the running one."""
    rows_of: dict[str, Rows] = {
        "ranges": [ranges_row(prediction, mode) for prediction in span.hourly if prediction.ranges],
        "hourly": [hourly_row(prediction, mode) for prediction in span.hourly],
        "rounds": [{**row, "source_mode": str(mode)} for row in span.rounds],
    }
    files = []
    for series in SERIES:
        rows = rows_of[series.name]
        for ending, data in (("csv", series_csv(series.fields, rows)), ("jsonl", json_lines(rows))):
            digest = hashlib.sha256(data).hexdigest()
            if month is None:
                path = f"{TRACK_RECORD}{series.name}.{ending}"
            else:
                path = f"{MONTHS}{month}/{series.name}-{month}-{digest[:DIGITS]}.{ending}"

            file = RecordFile(
                path=path,
                series=series.name,
                ending=ending,
                rows=len(rows),
                bytes=len(data),
                sha256=digest,
                month=month,
            )
            files.append((file, data))
    return files


def _is_complete(exports: Exports, noted: Mapping[str, Sequence[RecordFile]], month: str) -> bool:
    """Return whether the files noted for a month hold all of it (a clock set back may have added to it)."""
    rows = {file.series: file.rows for file in noted.get(month, ())}
    if not rows:
        return False
    return exports.ended(_begin(month), _begin(_after(month))) == (rows["hourly"], rows["rounds"])


def hourly_row(prediction: PredictionMade, mode: SourceMode) -> dict[str, Any]:
    """Return an hourly forecast as it is given away; the numbers are those that it was scored with."""
    resolved = prediction.outcome is not None
    return {
        "asset": prediction.asset,
        "start": iso(prediction.start_ms),
        "end": iso(prediction.end_ms),
        "made": iso_or_none(prediction.made_ms),
        "source_mode": str(mode),
        "warm_up": prediction.warm_up,
        "prediction": str(prediction.prediction),
        "call": None if prediction.call is None else str(prediction.call),
        "probabilities": dict(zip(_SIDES, prediction.probabilities, strict=True)),
        "base_rate": dict(zip(_SIDES, prediction.base_rate, strict=True)),
        "move": called(prediction).get("move"),
        "previous_outcome": None if prediction.previous is None else str(prediction.previous),
        "band_bps": prediction.band_bps,
        "start_price": prediction.start_price,
        "end_price": prediction.end_price,
        "change_bps": prediction.change_bps,
        "outcome": str(prediction.outcome) if resolved else None,
        "correct": prediction.outcome == prediction.prediction
        if resolved and prediction.call is not Call.NONE
        else None,
        "void_reason": prediction.void_reason,
        "chances_kind": prediction.chances_kind,
    }


def ranges_row(prediction: PredictionMade, mode: SourceMode) -> dict[str, Any]:
    """Return the ranges of one asset and hour, in percent, with the moves that came; null where one is still open."""
    # Field by field: `asdict` copies each value, and a month has tens of thousands of rows.
    ranges = {}
    for horizon, forecast in (prediction.ranges or {}).items():
        move = prediction.moves.get(horizon) or Move()
        ranges[horizon] = {name: getattr(forecast, name) for name in OF_RANGE}
        ranges[horizon] |= {name: getattr(move, name) for name in _OF_MOVE}

    return {
        "asset": prediction.asset,
        "start": iso(prediction.start_ms),
        "made": iso_or_none(prediction.made_ms),
        "source_mode": str(mode),
        "warm_up": prediction.warm_up,
        "start_price": prediction.start_price,
        "ranges": ranges,
    }


def series_csv(fields: Sequence[Field], rows: Rows) -> bytes:
    """Write a series as CSV; a field leads to its value in a row, and is empty where the way there ends."""
    columns = [field.name for field in fields]
    return csv_file(columns, ([_value(row, field.keys) for field in fields] for row in rows))


def json_lines(rows: Rows) -> bytes:
    """Write one JSON object a line; a file without any is a single line feed, because no published file is empty."""
    return b"".join(encode(row) + b"\n" for row in rows) or b"\n"


def _value(row: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    value: Any = row
    for key in keys:
        if value is None:
            return None
        value = value.get(key)
    return value


def _months_until(first_ms: int | None, current: str) -> list[str]:
    """Return the months from that of a time up to the one before the current, oldest first."""
    month = current if first_ms is None else month_of(datetime.fromtimestamp(first_ms / 1000, UTC))
    months = []
    while month < current:
        months.append(month)
        month = _after(month)
    return months


def _begin(month: str) -> int:
    """Return the first UTC millisecond of a month."""
    year, number = map(int, month.split("-"))
    return round(datetime(year, number, 1, tzinfo=UTC).timestamp() * 1000)


def _after(month: str) -> str:
    """Return the month after a month."""
    year, number = map(int, month.split("-"))
    return f"{year + number // 12:04d}-{number % 12 + 1:02d}"
