"""Cells as numbers: prices with thousands and other decimal signs, times in any unit or as text."""

import math
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

import numpy as np

from generator.market.bars import FloatArray
from generator.market.recorded.sheets import Cell

_FIRST_S: Final = 1_230_768_000  # 2009
_LAST_S: Final = 4_102_444_800  # 2100
_UNITS: Final = (1e3, 1.0, 1e-3, 1e-6)  # milliseconds in a second, a millisecond, a microsecond, a nanosecond
_THOUSANDS: Final = re.compile(r"-?\d{1,3}([, \u00a0\u202f'])\d{3}(?:\1\d{3})*(\.\d+)?")
_DECIMAL_COMMA: Final = re.compile(r"-?\d+,\d+")
_UNKNOWN: Final = frozenset({"", "-", "null", "none", "nan", "n/a", "na", "nat"})
_FORMS: Final = (
    "%m/%d/%Y",
    "%m/%d/%Y %H:%M",
    "%b %d, %Y",
    "%Y-%m-%d %I-%p",
    "%Y/%m/%d %H:%M:%S",
    "%Y/%m/%d",
    "%Y.%m.%d %H:%M:%S",
    "%Y.%m.%d %H:%M",
    "%d.%m.%Y %H:%M:%S.%f",
    "%d.%m.%Y %H:%M:%S",
    "%Y%m%d %H%M%S",
)


def number(cell: Cell) -> float | None:
    """Return a number, NaN where the cell says unknown, None where it cannot be read as one.

    >>> number("19,431.50"), number("19431,5"), number("NULL"), number("x")
    (19431.5, 19431.5, nan, None)
    """
    if cell is None:
        return math.nan
    if isinstance(cell, float):
        return cell
    text = cell.strip()
    if text.lower() in _UNKNOWN:
        return math.nan

    if _THOUSANDS.fullmatch(text):
        text = re.sub(r"[, \u00a0\u202f']", "", text)
    elif _DECIMAL_COMMA.fullmatch(text):
        text = text.replace(",", ".")
    try:
        return float(text)
    except ValueError:
        return None


def time_ms(cell: Cell) -> float | None:
    """Return a time in milliseconds, from seconds to nanoseconds or text; without an offset it is UTC.

    None where it is not between 2009 and 2100.

    >>> time_ms("1664582400"), time_ms("1664582400000000"), time_ms("2022-10-01 00:00:00+00:00")
    (1664582400000.0, 1664582400000.0, 1664582400000.0)
    """
    value = number(cell)
    if value is None and isinstance(cell, str):
        value = _of_text(cell.strip())
    if value is None:
        return None
    ms = float(times_ms(np.array([value]))[0])
    return None if math.isnan(ms) else ms


def times_ms(values: FloatArray) -> FloatArray:
    """Bring times of any unit to whole milliseconds, each by its size; NaN where it is none from 2009 to 2100."""
    ms = np.full(len(values), np.nan)
    for unit in _UNITS:
        scaled = values * unit
        inside = (scaled >= _FIRST_S * 1e3) & (scaled <= _LAST_S * 1e3)
        ms[inside] = np.round(scaled[inside])
    return ms


def numbers(cells: Sequence[Cell]) -> tuple[FloatArray, list[int]]:
    """Return a column as numbers, NaN where unknown, and the rows whose cell cannot be read as a number."""
    try:
        return np.array(cells, dtype=np.float64), []
    except (ValueError, TypeError):
        read = [number(cell) for cell in cells]
    return np.array([math.nan if value is None else value for value in read]), [
        row for row, value in enumerate(read) if value is None
    ]


def times(cells: Sequence[Cell]) -> FloatArray:
    """Return a column as times in milliseconds, NaN where a cell is none."""
    try:
        return times_ms(np.array(cells, dtype=np.float64))
    except (ValueError, TypeError):
        read = [time_ms(cell) for cell in cells]
    return np.array([math.nan if value is None else value for value in read])


def _of_text(text: str) -> float | None:
    """Read a date and time as text; without an offset it is UTC."""
    text = text.removesuffix("UTC").strip()
    try:
        return _stamp(datetime.fromisoformat(text))
    except ValueError:
        pass
    for form in _FORMS:
        try:
            return _stamp(datetime.strptime(text, form).replace(tzinfo=UTC))
        except ValueError:
            continue
    return None


def _stamp(time: datetime) -> float:
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp() * 1e3
