"""Rows of the record, as CSV and as JSON Lines: the same values in both."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from generator.arena.values import PredictionMade
from generator.catalog.downloads import SERIES, Field, Series
from generator.catalog.formats import iso, iso_or_none
from generator.catalog.words import SourceMode
from generator.contract.encode import encode
from generator.record.memory.exports import Span

Rows = Sequence[Mapping[str, Any]]
_RISKY: Final = ("=", "+", "-", "@", "\t", "\r")


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
    # A spreadsheet takes such a text for a formula. Numbers stay: a minus sign before digits begins none.
    return f"'{value}" if isinstance(value, str) and value.startswith(_RISKY) else value


def _rows_of(span: Span, mode: SourceMode) -> dict[str, Rows]:
    return {
        "hourly": [hourly_row(made, mode) for made in span.hourly],
        "rounds": [{**row, "source_mode": str(mode)} for row in span.rounds],
    }


def contents(span: Span, mode: SourceMode) -> Iterator[tuple[Series, str, int, bytes]]:
    """Return series, ending, rows and content of each file."""
    rows = _rows_of(span, mode)
    for series in SERIES:
        mine = rows[series.name]
        yield series, "csv", len(mine), csv_file(series.fields, mine)
        yield series, "jsonl", len(mine), json_lines(mine)
