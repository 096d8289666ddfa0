"""Published rounds, ranges and daily questions compared with the log; rounds from before it are recomputed alone."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from gateway.wire.foreign import read_json
from generator.arena import daily
from generator.arena.published import complaint_of
from generator.arena.ranges import move_percent
from generator.arena.values import ChanceSums, Move
from generator.catalog.formats import iso, ms_of
from generator.catalog.horizons import HORIZONS, HOUR
from generator.catalog.links import DAILY_JSON, DAILY_PUBLISHED, ROUNDS_PUBLISHED
from generator.record.audit.audit import UNPUBLISHED, Audit, Ranges
from generator.record.audit.daily import KEPT, LIVE, OPEN, RESOLVED, VOID, DailyLog
from generator.record.audit.entries import ASKED, SUMS

Row = Mapping[str, Any]
FIELDS_NAMED: Final = 3
LONGEST: Final = 100  # characters of a value in a complaint: a published value may be anything
MISSING: Final = object()
NO_CHANCES: Final = asdict(ChanceSums())
DAILY_ORDER: Final = (OPEN, LIVE, RESOLVED, VOID)


def rows_of(body: Any) -> Sequence[Row]:
    """Return the rows of a published `/arena/rounds.json`; raise ValueError where it has none."""
    rows = body.get("rounds") if isinstance(body, Mapping) else None
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        raise ValueError("this is not a published record: it has no list `rounds`")
    return rows


def rows_complaint(rows: Sequence[Row], audit: Audit) -> str | None:
    """Compare all published rounds with the log; return the first that does not hold, with its fields, or None."""
    names = {str(row.get("round_id")) for row in rows}
    if len(names) < len(rows):
        return "a round is published twice"

    for row in rows:
        logged = audit.rounds.get(str(row.get("round_id")))
        if logged is None:
            complaint = _unlogged(row, audit)
        else:
            stated = {name: value for name, value in logged.items() if name not in UNPUBLISHED}
            # The log says nothing of chances where no vote could give any: then the row may not either.
            stated |= {name: NO_CHANCES for name in SUMS if name in row and name not in logged}
            found = row_differences(row, {**stated, "log_entries": audit.entries.get(logged["round_id"], [])})
            complaint = f"round {logged['round_id']}: {found}" if found else None
        if complaint is not None:
            return complaint

    return _rounds_left_out(rows, names, audit)


def row_differences(row: Row, logged: Row) -> str | None:
    """Name the fields of a published row that differ from the log; None where there are none."""
    found = [text for name, value in logged.items() for text in _differences(name, row.get(name, MISSING), value)]
    more = f"; and {len(found) - FIELDS_NAMED} fields more" if len(found) > FIELDS_NAMED else ""
    return f"{'; '.join(found[:FIELDS_NAMED])}{more}" if found else None


def _differences(name: str, published: Any, logged: Any) -> Iterator[str]:
    if isinstance(published, Mapping) and isinstance(logged, Mapping):
        for key in dict.fromkeys((*logged, *published)):
            yield from _differences(f"{name}.{key}", published.get(key, MISSING), logged.get(key, MISSING))
    elif published != logged:
        shown = "not published" if published is MISSING else f"published as {_short(published)}"
        yield f"{name} is {shown}, the log says {'nothing of it' if logged is MISSING else _short(logged)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def _unlogged(row: Row, audit: Audit) -> str | None:
    """Judge a row without an end in the log: only rounds from before the log may have none, and these must add up."""
    name = str(row.get("round_id"))
    if name in audit.open:
        return f"round {name}: it is published as {_short(row.get('phase'))} and has not ended in the log"
    if not row.get("warm_up") and audit.first_at is not None and str(row.get("opened")) >= audit.first_at:
        return f"round {name} is published and not in the log"
    complaint = complaint_of(row)
    return f"round {name}: {complaint}" if complaint else None


def _rounds_left_out(rows: Sequence[Row], names: set[str], audit: Audit) -> str | None:
    """Check that every logged round that ended within the published window is published: no loss is left out."""
    oldest = min((str(row.get("start")) for row in rows), default="")
    whole = len(rows) < ROUNDS_PUBLISHED
    for name, logged in audit.rounds.items():
        if name not in names and (whole or logged["start"] >= oldest):
            return f"round {name} ended {logged['phase']} in the log and is not published"
    return None


def ranges_complaint(data: bytes | None, audit: Audit) -> str | None:
    """Compare the published `ranges.jsonl` with the log; return the first thing that does not hold, or None.

    The file may be a few ticks older than the log: what ended after the newest move in it is not missed.
    """
    if data is None:
        return "the log has ranges and /track-record/ranges.jsonl is not published" if audit.ranges else None
    try:
        rows: list[Row] = [read_json(line) for line in data.splitlines() if line.strip()]
        until = max((end for row in rows for end in _ends(row, known=True)), default="")
        found = (_range_complaint(row, until, audit) for row in rows)
        return next((said for said in found if said), None) or _ranges_left_out(rows, until, audit)
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
        return f"/track-record/ranges.jsonl is not of the published form ({type(error).__name__}: {error})"


def _ends(row: Row, *, known: bool) -> Iterable[str]:
    start = ms_of(row["start"])
    for horizon, one in row["ranges"].items():
        if (one["end_price"] is not None) == known:
            yield iso(start + HORIZONS[horizon].length_ms)


def _range_complaint(row: Row, until: str, audit: Audit) -> str | None:
    name = f"ranges of {row['asset']} {row['start']}"
    for horizon, one in row["ranges"].items():
        if one["end_price"] is not None and one["move"] != move_percent(row["start_price"], one["end_price"]):
            return f"{name}: the move over {horizon} is {one['move']}, the prices give another"
    logged = audit.ranges.get(row["start"], {}).get(row["asset"])
    if logged is None:
        return None if row["warm_up"] else f"{name} are published and not in the log"
    found = row_differences(_shown(row), _logged(logged, row, until))
    return f"{name}: {found}" if found else None


def _shown(row: Row) -> dict[str, Any]:
    return {name: row[name] for name in ("warm_up", "start_price", "ranges")}


def _logged(logged: Ranges, row: Row, until: str) -> dict[str, Any]:
    """Return a row as the log has it, without the moves that the file is too old for."""
    newer = {end for end in _ends(row, known=False) if end > until}
    start = ms_of(row["start"])
    ranges = {}
    for horizon, said in logged.forecasts.items():
        came = logged.moves.get(horizon)
        if came is None or (came.void_reason is None and iso(start + HORIZONS[horizon].length_ms) in newer):
            came = Move()
        ranges[horizon] = {**asdict(said), **asdict(came)}
    return {"warm_up": False, "start_price": logged.start_price, "ranges": ranges}


def _ranges_left_out(rows: list[Row], until: str, audit: Audit) -> str | None:
    """Check that every logged row of the file's time whose first hour has ended is in the file."""
    there = {(row["asset"], row["start"]) for row in rows}
    first = min((row["start"] for row in rows), default="")
    for start, assets in audit.ranges.items():
        ended = iso(ms_of(start) + HORIZONS[HOUR].length_ms)
        for asset in assets if first <= start and ended <= until else ():
            if (asset, start) not in there:
                return f"ranges of {asset} {start} are in the log and not published"
    return None


def daily_complaint(data: bytes | None, log: DailyLog, last_at: str | None) -> str | None:
    """Compare the published questions with the log; return the first thing that does not hold, or None.

    The file may be some ticks older or newer than the log: a question is compared in the phase that it is published in,
    and one that came to it after the log's last entry by itself.
    """
    if data is None:
        return f"the log has daily questions and {DAILY_JSON} is not published" if log.rows else None
    try:
        rows: list[Row] = read_json(data)["questions"]
        found = (_daily_row_complaint(row, log, last_at or "") for row in rows)
        if complaint := next((said for said in found if said), None):
            return complaint
        return _questions_left_out(rows, log)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        return f"{DAILY_JSON} is not of the published form ({type(error).__name__}: {error})"


def _daily_row_complaint(row: Row, log: DailyLog, last_at: str) -> str | None:
    name = str(row["question_id"])
    if complaint := daily.complaint_of(row):
        return f"daily question {name}: {complaint}"

    logged = log.rows.get(name)
    came_at = str({OPEN: row["asked"], LIVE: row["closes"]}.get(row["phase"], row["measured"]))
    if logged is None:
        oldest = min((one["asked"] for one in log.rows.values()), default="")
        is_out_of_reach = len(log.rows) >= KEPT and row["asked"] < oldest
        is_newer = came_at >= last_at
        return None if is_newer or is_out_of_reach else f"daily question {name} is published and not in the log"

    if DAILY_ORDER.index(row["phase"]) > DAILY_ORDER.index(logged["phase"]) and came_at < last_at:
        return f"daily question {name} is published as {row['phase']} and is {logged['phase']} in the log"
    common = logged if row["phase"] == logged["phase"] else {key: logged[key] for key in ASKED}
    found = row_differences(row, common)
    return f"daily question {name}: {found}" if found else None


def _questions_left_out(rows: Sequence[Row], log: DailyLog) -> str | None:
    """Check that no question of the published time is left out; one that is open may be newer than the file."""
    names = {row["question_id"] for row in rows}
    oldest = min((row["asked"] for row in rows), default="")
    whole = len(rows) < DAILY_PUBLISHED
    for name, logged in log.rows.items():
        is_of_the_time = whole or logged["asked"] >= oldest
        if name not in names and is_of_the_time and logged["phase"] != OPEN:
            return f"daily question {name} is in the log and not published"
    return None
