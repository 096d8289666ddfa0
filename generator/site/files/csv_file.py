"""One writer for every CSV file that is published."""

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any, Final

# A spreadsheet takes a text that begins like this for a formula.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


def csv_file(columns: Sequence[str], rows: Iterable[Iterable[Any]]) -> bytes:
    """Write RFC 4180: a header, lines that end in CRLF, quotes where they are needed; no text begins a formula.

    Args:
        rows: one value a column; None is an empty field, a bool `true` or `false`.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(columns)
    writer.writerows(map(_cell, row) for row in rows)
    return text.getvalue().encode()


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"

    # Numbers stay as they are: a minus sign before digits begins no formula.
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return value
