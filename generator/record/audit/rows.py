"""Published rounds: all of them compared with the log, those from before it recomputed by themselves."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from generator.arena.published import complaint_of
from generator.catalog.links import ROUNDS_PUBLISHED
from generator.record.audit.audit import Audit

Row = Mapping[str, Any]
FIELDS_NAMED: Final = 3
LONGEST: Final = 100  # characters of a value in a complaint: a published value may be anything
MISSING: Final = object()


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
            stated = {name: value for name, value in logged.items() if name != "ballots_sha256"}
            found = row_differences(row, {**stated, "log_entries": audit.entries.get(logged["round_id"], [])})
            complaint = f"round {logged['round_id']}: {found}" if found else None
        if complaint is not None:
            return complaint
    return _left_out(rows, names, audit)


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


def _left_out(rows: Sequence[Row], names: set[str], audit: Audit) -> str | None:
    """Check that every logged round that ended within the published window is published: no loss is left out."""
    oldest = min((str(row.get("start")) for row in rows), default="")
    whole = len(rows) < ROUNDS_PUBLISHED
    for name, logged in audit.rounds.items():
        if name not in names and (whole or logged["start"] >= oldest):
            return f"round {name} ended {logged['phase']} in the log and is not published"
    return None
