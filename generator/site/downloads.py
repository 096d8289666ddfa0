"""The record as files: CSV, JSON Lines, digests and a data package; months that are over are put once.

A month that is over never changes, so its files carry the first digits of their digest in their names: should the
record of a month ever be another one (a memory that was lost and begun again), it gets other names and nothing breaks.
Which files stand for a month is noted in the memory once they are published.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from generator.catalog.downloads import (
    DATA_PACKAGE,
    FORMATS,
    MONTHS,
    SERIES,
    SUMS,
    Series,
)
from generator.catalog.formats import iso
from generator.catalog.links import TRACK_RECORD
from generator.catalog.text.answers import DISCLAIMER
from generator.catalog.words import SourceMode
from generator.compose.context import Site
from generator.contract.encode import encode
from generator.errors import PublishError
from generator.record.memory.exports import Exports, Span
from generator.release.check import MAX_FILE_BYTES
from generator.release.values import NOTHING
from generator.release.variants import WORTH, pack
from generator.site.record_rows import contents

TABLE_PROFILE: Final = "https://datapackage.org/profiles/2.0/tableschema.json"
PROFILE: Final = "https://datapackage.org/profiles/2.0/datapackage.json"
DIGITS: Final = 12  # of the digest, in a name
_SCHEMAS: Final = tuple(series.schema for series in SERIES)
# What the release holds of the record beside its digests.
RUNNING: Final = (
    *(f"{TRACK_RECORD}{series.name}.{ending}" for series in SERIES for ending, _, _ in FORMATS),
    DATA_PACKAGE,
    *_SCHEMAS,
)


@dataclass(frozen=True, slots=True)
class Listed:
    """One file of the record: its path, the series and format, the month (None: the running one), and its content."""

    path: str
    series: str
    ending: str
    rows: int
    bytes: int
    sha256: str
    month: str | None = None

    @property
    def name(self) -> str:
        """The last part of its path; no two files share it."""
        return self.path.rsplit("/", 1)[-1]


@dataclass(frozen=True, slots=True)
class Downloads:
    """What is published of the record.

    Args:
        files: of the release, with their packed variants.
        once: files of a month that just ended, put once.
        notes: to be noted in the memory once all of it is published.
        months: every file of the months that were noted before, oldest first.
    """

    files: Mapping[str, bytes]
    once: Mapping[str, bytes] = field(default_factory=lambda: NOTHING)
    notes: Mapping[str, str] = field(default_factory=dict)
    months: tuple[Listed, ...] = ()


def downloads(
    exports: Exports, site: Site, mode: SourceMode, at: datetime, max_bytes: int = MAX_FILE_BYTES
) -> Downloads:
    """Read the record and make its files. At most one month that is over is closed at a time.

    The running month stands in the release; the one before too until it is closed, which waits for its last round.

    Args:
        exports: read from this thread.
        site: names and addresses.
        mode: where the prices come from.
        at: aware time; its month is the running one.
        max_bytes: of a file: a larger one would fail every tick that has it in hand.

    Raises:
        MemoryUnreadable: the record cannot be read.
        PublishError: a file would be larger than `max_bytes`.
    """
    notes = exports.notes()
    current = month_of(at)
    over = [month for month in _months_until(exports.first_ms(), current) if not _stands(exports, notes, month)]
    since = _begin(over[-1] if over and over[-1] == _before(current) else current)
    running = exports.span(since, _begin(_after(current)))
    closed = next((made for made in (_close(exports, month, mode) for month in over) if made), None)
    once, noted = closed or ({}, {})
    months = _listed(notes)
    made = Downloads(_files(running, months, site, mode, iso(since)), once, noted, months)
    for path, data in (*made.files.items(), *once.items()):
        if len(data) > max_bytes:
            raise PublishError(f"{path} is larger than {max_bytes} bytes")
    return made


def no_downloads(site: Site, mode: SourceMode, at: datetime) -> Downloads:
    """Return the files of a record that has nothing in it yet."""
    return Downloads(_files(Span((), (), 0), (), site, mode, iso(_begin(month_of(at)))))


def published_downloads(files: Mapping[str, bytes], notes: Mapping[str, str]) -> Downloads | None:
    """Return the record as it was published; None unless every file of it is there, as its digests say.

    Args:
        files: of a release, with others or without.
        notes: of the months that are over, from the memory.
    """
    told = files.get(SUMS, b"").decode(errors="replace").splitlines()
    sums = {name: digest for digest, _, name in (line.partition("  ") for line in told)}
    found = {SUMS: files[SUMS]} if told else {}
    for path in RUNNING:
        data = files.get(path)
        if data is None or sums.get(path.rsplit("/", 1)[-1]) != _sha256(data):
            return None
        found[path] = data
        if path not in {DATA_PACKAGE, *_SCHEMAS}:
            found |= _variants(path, data)
    return Downloads(found, months=_listed(notes))


def month_of(at: datetime) -> str:
    """Return the month of a time in UTC, e.g. `2026-11`."""
    return at.astimezone(UTC).strftime("%Y-%m")


def _files(span: Span, months: Sequence[Listed], site: Site, mode: SourceMode, since: str) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    listed = []
    for series, ending, rows, data in contents(span, mode):
        path = f"{TRACK_RECORD}{series.name}.{ending}"
        files |= {path: data, **_variants(path, data)}
        listed.append(Listed(path, series.name, ending, rows, len(data), _sha256(data)))
    files |= {series.schema: encode(table_schema(series)) for series in SERIES}
    files[DATA_PACKAGE] = encode(_package([*listed, *months], site, mode, since))
    digests = [(row.sha256, row.name) for row in listed]
    digests += [(_sha256(files[path]), path.rsplit("/", 1)[-1]) for path in (DATA_PACKAGE, *_SCHEMAS)]
    digests += [(row.sha256, row.name) for row in months]
    files[SUMS] = "".join(f"{digest}  {name}\n" for digest, name in digests).encode()
    return files


def _variants(path: str, data: bytes) -> dict[str, bytes]:
    packed = dict(zip((".gz", ".br"), pack(data), strict=True))
    return {path + ending: small for ending, small in packed.items() if len(small) < WORTH * len(data)}


def _close(exports: Exports, month: str, mode: SourceMode) -> tuple[dict[str, bytes], dict[str, str]] | None:
    """Return the files of a month that is over, and its note; None while something in it has not ended."""
    span = exports.span(_begin(month), _begin(_after(month)))
    if span.waiting:
        return None
    files: dict[str, bytes] = {}
    listed = []
    for series, ending, rows, data in contents(span, mode):
        digest = _sha256(data)
        path = f"{MONTHS}{month}/{series.name}-{month}-{digest[:DIGITS]}.{ending}"
        files[path] = data
        listed.append(Listed(path, series.name, ending, rows, len(data), digest, month))
    return files, {month: _note(listed)}


def _note(listed: Sequence[Listed]) -> str:
    names = ("path", "series", "ending", "rows", "bytes", "sha256", "month")
    return json.dumps([{name: getattr(row, name) for name in names} for row in listed], separators=(",", ":"))


def _listed(notes: Mapping[str, str]) -> tuple[Listed, ...]:
    return tuple(row for name in sorted(notes) for row in _read_note(notes[name]))


def _read_note(text: str) -> list[Listed]:
    return [Listed(**row) for row in json.loads(text)]


def _stands(exports: Exports, notes: Mapping[str, str], month: str) -> bool:
    """Return whether what was noted of a month is still all there is of it (a clock set back may have added to it)."""
    if month not in notes:
        return False
    rows = {row.series: row.rows for row in _read_note(notes[month])}
    return exports.ended(_begin(month), _begin(_after(month))) == (rows["hourly"], rows["rounds"])


def _package(listed: Sequence[Listed], site: Site, mode: SourceMode, since: str) -> dict[str, Any]:
    """Return a Data Package (datapackage.org, version 2) that names every file and describes every field."""
    series = {row.name: row for row in SERIES}
    return {
        "$schema": PROFILE,
        "name": "track-record",
        "title": f"{site.project}: forecasts and what came true",
        "description": (
            f"Forecasts stored before their time began, with prices and outcomes; misses and void ones are kept. Prices "
            f"are {mode}. The running files begin at {since}; a month that is over has files of its own. {DISCLAIMER}"
        ),
        "homepage": f"{site.base_url}{TRACK_RECORD}",
        "source_mode": str(mode),
        "resources": [_resource(row, series[row.series], site) for row in listed],
    }


def _resource(row: Listed, series: Series, site: Site) -> dict[str, Any]:
    media = {ending: (media_type, name) for ending, media_type, name in FORMATS}
    media_type, name = media[row.ending]
    said: dict[str, Any] = {
        "name": row.name.replace(".", "-"),
        "path": site.base_url + row.path,
        "title": f"{series.title}, {row.month or 'the running month'}, as {name}",
        "format": row.ending,
        "mediatype": media_type,
        "encoding": "utf-8",
        "bytes": row.bytes,
        "hash": f"sha256:{row.sha256}",
        "rows": row.rows,
    }
    if row.ending == "csv":
        said["schema"] = site.base_url + series.schema
    return said


def table_schema(series: Series) -> dict[str, Any]:
    """Return the Table Schema (datapackage.org, version 2) of a series."""
    return {
        "$schema": TABLE_PROFILE,
        "title": series.title,
        "fields": [{"name": one.name, "type": one.type, "description": one.meaning} for one in series.fields],
        "missingValues": [""],
    }


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


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


def _before(month: str) -> str:
    year, number = map(int, month.split("-"))
    return f"{year - (number == 1):04d}-{(number - 2) % 12 + 1:02d}"
