"""Published ranges: each row compared with the log, and no row that ended left out."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from generator.arena.ranges import HORIZONS, move_percent
from generator.arena.values import Move
from generator.catalog.formats import iso, ms_of
from generator.record.audit.audit import Audit, Ranges
from generator.record.audit.rows import row_differences

Row = Mapping[str, Any]


def ranges_complaint(data: bytes | None, audit: Audit) -> str | None:
    """Compare the published `ranges.jsonl` with the log; return the first thing that does not hold, or None.

    The file may be a few ticks older than the log: what ended after the newest move in it is not missed.
    """
    if data is None:
        return "the log has ranges and /track-record/ranges.jsonl is not published" if audit.ranges else None
    try:
        rows: list[Row] = [json.loads(line) for line in data.splitlines() if line.strip()]
        until = max((end for row in rows for end in _ends(row, known=True)), default="")
        found = (_complaint(row, until, audit) for row in rows)
        return next((said for said in found if said), None) or _left_out(rows, until, audit)
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
        return f"/track-record/ranges.jsonl is not of the published form ({type(error).__name__}: {error})"


def _ends(row: Row, *, known: bool) -> Iterable[str]:
    start = ms_of(row["start"])
    for horizon, one in row["ranges"].items():
        if (one["end_price"] is not None) == known:
            yield iso(start + 60_000 * HORIZONS[horizon])


def _complaint(row: Row, until: str, audit: Audit) -> str | None:
    name = f"ranges of {row['asset']} {row['start']}"
    for horizon, one in row["ranges"].items():
        if one["end_price"] is not None and one["move"] != move_percent(row["start_price"], one["end_price"]):
            return f"{name}: the move over {horizon} is {one['move']}, the prices give another"
    logged = audit.ranges.get(row["start"], {}).get(row["asset"])
    if logged is None:
        return None if row["warm_up"] else f"{name} are published and not in the log"
    found = row_differences(_published(row), _logged(logged, row, until))
    return f"{name}: {found}" if found else None


def _published(row: Row) -> dict[str, Any]:
    return {name: row[name] for name in ("warm_up", "start_price", "ranges")}


def _logged(logged: Ranges, row: Row, until: str) -> dict[str, Any]:
    """Return a row as the log has it, without the moves that the file is too old for."""
    newer = {end for end in _ends(row, known=False) if end > until}
    start = ms_of(row["start"])
    ranges = {}
    for horizon, said in logged.forecasts.items():
        came = logged.moves.get(horizon)
        if came is None or (came.void_reason is None and iso(start + 60_000 * HORIZONS[horizon]) in newer):
            came = Move()
        ranges[horizon] = {**asdict(said), **asdict(came)}
    return {"warm_up": False, "start_price": logged.start_price, "ranges": ranges}


def _left_out(rows: list[Row], until: str, audit: Audit) -> str | None:
    """Check that every logged row of the file's time whose first hour has ended is in the file."""
    there = {(row["asset"], row["start"]) for row in rows}
    first = min((row["start"] for row in rows), default="")
    for start, assets in audit.ranges.items():
        ended = iso(ms_of(start) + 60_000 * HORIZONS["1h"])
        for asset in assets if first <= start and ended <= until else ():
            if (asset, start) not in there:
                return f"ranges of {asset} {start} are in the log and not published"
    return None
