"""A month of what the service recorded, as files that it reads again: prices, funding, depth and open interest."""

import calendar
import csv
import gzip
import hashlib
import io
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from typing import Final

import numpy as np

from gateway.wire.durable import replace_file
from generator.catalog.durations import DAY_MS
from generator.errors import SourceError
from generator.market.bars import BAR_FIELDS, BarFrame

DIGESTS: Final = "SHA256SUMS"
_MONTH: Final = re.compile(r"(\d{4})-(\d{2})")


def month_span(month: str) -> tuple[int, int]:
    """Return where a month such as 2026-11 begins and ends, in ms, UTC; raise SourceError on another text."""
    found = _MONTH.fullmatch(month)
    if found is None or not 1 <= int(found[2]) <= 12:
        raise SourceError(f"{month!r} is not a month; write e.g. 2026-11")
    year = int(found[1])
    number = int(found[2])
    days = calendar.monthrange(year, number)[1]
    begin_ms = round(datetime(year, number, 1, tzinfo=UTC).timestamp() * 1000)
    return begin_ms, begin_ms + days * DAY_MS


def write_month(bars: BarFrame, folder: Path) -> dict[str, int]:
    """Write a CSV file of each asset that has a bar, and their digests; return how many bars each has.

    The files are those that `--source recorded` reads: a price is in US dollars, a volume in base units, depth in US
    dollars within 1% of the mid price, funding a fraction per 8 hours, open interest in coins; empty where unknown.

    Raises:
        SourceError: the folder holds something, or there is no bar.
    """
    if folder.exists() and any(folder.iterdir()):
        raise SourceError(f"{folder} is not empty; name a new folder")
    if not len(bars):
        raise SourceError("no bar of this month is kept; the memory keeps those of two months that its ticks saw")

    folder.mkdir(parents=True, exist_ok=True)
    counts = {}
    digests = []
    for column, asset in enumerate(bars.assets):
        rows = list(_rows(bars, column))
        if not rows:
            continue
        counts[asset] = len(rows)
        name = f"{asset}USD.csv.gz"
        content = gzip.compress(_csv(rows), mtime=0)
        digests.append(f"{hashlib.sha256(content).hexdigest()}  {name}\n")
        replace_file(folder / name, content, 0o644)
    replace_file(folder / DIGESTS, "".join(digests).encode(), 0o644)
    return counts


def _rows(bars: BarFrame, column: int) -> Iterator[list[int | float | str]]:
    """Yield the bars of an asset of which anything is known."""
    table = np.column_stack([bars.fields[name][:, column] for name in BAR_FIELDS])
    for opens_ms, values in zip(bars.t.tolist(), table.tolist(), strict=True):
        if any(isfinite(value) for value in values):
            yield [opens_ms, *(value if isfinite(value) else "" for value in values)]


def _csv(rows: Sequence[Sequence[int | float | str]]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["ts", *BAR_FIELDS])
    writer.writerows(rows)
    return text.getvalue().encode()
