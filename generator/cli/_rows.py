"""Published rounds against the log's: which row was altered, in which field, and which row is missing or made up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from generator.arena.sealing import digest_of
from generator.catalog.links import ROUNDS_PUBLISHED
from generator.record.audit.auditing import Audit

Row = Mapping[str, Any]
FIELDS_NAMED: Final = 3
LONGEST: Final = 100  # characters of a value in a complaint: what is published may be anything
MISSING: Final = object()


def complaint_of_rows(rows: Sequence[Row], audit: Audit) -> str | None:
    """Compare all published rounds with the log.

    Args:
        rows: of `/arena/rounds.json`, as they were found.
        audit: of the whole log.

    Returns:
        The first that does not hold, with its round and fields, or None.
    """
    names = {str(row.get("round_id")) for row in rows}
    traces = _traces(names, audit)
    for row in rows:
        renamed = next((traces[trace] for trace in _traces_of(row) if trace in traces), None)
        logged = audit.rounds.get(str(row.get("round_id")), renamed)
        if logged is None:
            complaint = _unlogged(row, audit)
        else:
            complaint = complaint_of_row(row, {**logged, "log_entries": audit.entries.get(logged["round_id"], [])})
        if complaint is not None:
            return complaint
    return _left_out(rows, names, audit)


def complaint_of_row(row: Row, logged: Row) -> str | None:
    """Name the fields of one published round that are not the log's, whatever the row says of itself."""
    found = [
        told
        for name, value in logged.items()
        if name != "ballots_sha256"
        for told in _differences(name, row.get(name, MISSING), value)
    ]
    if not found:
        return None
    more = f"; and {len(found) - FIELDS_NAMED} fields more" if len(found) > FIELDS_NAMED else ""
    return f"round {logged['round_id']}: {'; '.join(found[:FIELDS_NAMED])}{more}"


def _differences(name: str, published: Any, logged: Any) -> Iterator[str]:
    if isinstance(published, Mapping) and isinstance(logged, Mapping):
        for key in dict.fromkeys((*logged, *published)):
            yield from _differences(f"{name}.{key}", published.get(key, MISSING), logged.get(key, MISSING))
    elif published != logged:
        yield f"{name} is {_told(published)}, the log says {'nothing of it' if logged is MISSING else _short(logged)}"


def _told(published: Any) -> str:
    return "not published" if published is MISSING else f"published as {_short(published)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def _traces(names: set[str], audit: Audit) -> dict[tuple[str, ...], Row]:
    """Return what the log's rounds that are not published can be known by if only their name was altered."""
    found: dict[tuple[str, ...], Row] = {}
    for name, logged in audit.rounds.items():
        if name not in names:
            found |= dict.fromkeys(_traces_of(logged), logged)
    return found


def _traces_of(row: Row) -> tuple[tuple[str, ...], ...]:
    """Return a round's slot and its seal."""
    slot = (str(row.get("asset")), str(row.get("start")))
    return (slot, (str(row["commitment"]),)) if row.get("commitment") else (slot,)


def _unlogged(row: Row, audit: Audit) -> str | None:
    """Judge a row that has no end in the log: of the log's time there is none, but for what was rehearsed."""
    name = str(row.get("round_id"))
    sealed = audit.open.get(name)
    if sealed is not None:
        return f"round {name}: {_unended(row, sealed)}"
    if not row.get("warm_up") and audit.first_at is not None and str(row.get("opened")) >= audit.first_at:
        return f"round {name} is published and not in the log"
    return None


def _unended(row: Row, sealed: Row) -> str:
    told = f"it is published as {_short(row.get('phase'))} and has not ended in the log"
    forecast, salt = row.get("forecast"), row.get("salt")
    if not isinstance(forecast, dict) or not isinstance(salt, str):
        return told
    try:
        opens = digest_of(forecast, salt) == sealed["commitment"]
    except (TypeError, ValueError):
        opens = False
    return told if opens else f"its forecast does not match the sealed digest {sealed['commitment']}; {told}"


def _left_out(rows: Sequence[Row], names: set[str], audit: Audit) -> str | None:
    """Every logged round that ended within the published window is published: losses are not left out."""
    oldest = min((str(row.get("start")) for row in rows), default="")
    whole = len(rows) < ROUNDS_PUBLISHED
    for name, logged in audit.rounds.items():
        if name not in names and (whole or logged["start"] >= oldest):
            return f"round {name} ended {logged['phase']} in the log and is not published"
    return None
