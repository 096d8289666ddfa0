"""The log's part of `emi verify`: signature, consistency with the last visit, every entry or one round."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from generator.arena.auditing import Audit
from generator.arena.values import TrackRecord
from generator.catalog.links import ROUNDS_PUBLISHED
from generator.cli._published import Published, PublishedError
from generator.cli._seen import Seen, SeenFile
from generator.logbook import CHECKPOINT, KEYS, PREFIX, read_verifiers
from generator.market.source import Progress
from generator.transparency.note import Checkpoint, NoteError, Verifier
from generator.transparency.reader import LogError, LogReader

NO_LOG = "this site publishes no transparency log"


class LogComplaint(ValueError):
    """What is published does not hold; the message names what."""


@dataclass(frozen=True, slots=True)
class Head:
    """A log's head whose signature holds."""

    reader: LogReader
    checkpoint: Checkpoint
    note: bytes
    keys: tuple[Verifier, ...]
    first_time: bool


def open_log(site: Published, seen: Seen | None, told_key: str | None) -> Head:
    """Read the head and check its signature.

    Args:
        site: what is published.
        seen: from the last visit.
        told_key: the key that the reader was told out of band.

    Raises:
        LogComplaint: no log where there was one, or no trusted key signed it.
        PublishedError: it cannot be read.
    """
    note, published = site.read(CHECKPOINT), site.read(KEYS)
    if note is None or published is None:
        raise LogComplaint(NO_LOG if seen is None else f"{NO_LOG}, and it had one when it was last seen")
    try:
        keys = read_verifiers(published.decode())
        trusted = (Verifier.parse(told_key),) if told_key else seen.keys if seen else keys
        checkpoint = Checkpoint.open(note, trusted)
    except (NoteError, UnicodeDecodeError) as error:
        hint = "" if seen is None or told_key else "; if its keeper announced a new key, tell it with --key"
        raise LogComplaint(f"the log's head: {error}{hint}") from None
    return Head(LogReader(lambda path: _tile(site, path), checkpoint), checkpoint, note, keys, seen is None)


def _tile(site: Published, path: str) -> bytes:
    data = site.read(PREFIX + path)
    if data is None and ".p/" in path:  # the full tile may have taken the partial one's place
        width = int(path.rpartition("/")[2])
        data = _beginning(site.read(PREFIX + path.partition(".p/")[0]), path, width)
    if data is None:
        raise LogError("nothing is published there")
    return data


def _beginning(full: bytes | None, path: str, width: int) -> bytes | None:
    from generator.transparency.tiles import bundle, unbundle

    if full is None:
        return None
    return bundle(unbundle(full)[:width]) if path.startswith("tile/entries/") else full[: 32 * width]


def audit_log(head: Head, seen: Seen | None, rows: list[Mapping[str, Any]], progress: Progress) -> Audit:
    """Read the whole log, check that nothing seen before was changed, and recompute what it says.

    Args:
        head: whose signature holds.
        seen: from the last visit.
        rows: of `/arena/rounds.json`, compared with the log's.
        progress: told about entries.

    Raises:
        LogComplaint: naming the first thing that does not hold.
    """
    audit = Audit()
    size = head.checkpoint.size
    try:
        for number, data in enumerate(head.reader.audit(seen.head if seen else None), 1):
            audit.take(data)
            if number % 2_000 == 0 or number == size:
                progress(number, size, "entries")
        audit.finish()
    except ValueError as error:
        raise LogComplaint(str(error)) from None
    if audit.origin is not None and audit.origin != head.checkpoint.origin:
        raise LogComplaint(f"the log was opened as {audit.origin}, its head says {head.checkpoint.origin}")
    for row in rows:
        _compare(row, audit)
    _miss_none(rows, audit)
    return audit


def _compare(row: Mapping[str, Any], audit: Audit) -> None:
    """A published row that is of the log's time is the log's row, whatever the row says of itself."""
    name = row.get("round_id")
    logged = audit.rounds.get(str(name))
    if logged is None:
        if not row.get("warm_up") and audit.first_at is not None and str(row.get("opened")) >= audit.first_at:
            raise LogComplaint(f"round {name} is published and not in the log")
        return
    for key, value in logged.items():
        if key != "ballots_sha256" and row.get(key) != value:
            raise LogComplaint(f"round {name}: {key} is published as {row.get(key)!r}, the log says {value!r}")


def _miss_none(rows: list[Mapping[str, Any]], audit: Audit) -> None:
    """Every logged round that ended within the published window is published: losses are not left out."""
    published = {str(row.get("round_id")) for row in rows}
    oldest = min((str(row.get("start")) for row in rows), default="")
    whole = len(rows) < ROUNDS_PUBLISHED
    for name, logged in audit.rounds.items():
        if name not in published and (whole or logged["start"] >= oldest):
            raise LogComplaint(f"round {name} ended {logged['phase']} in the log and is not published")


def check_round(head: Head, seen: Seen | None, row: Mapping[str, Any]) -> tuple[list[str], Mapping[str, Any]]:
    """Prove the entries of one round to be in the log and compare them with the published row.

    Returns:
        What was checked, in lines, and the round as the log has it.

    Raises:
        LogComplaint: naming what does not hold.
    """
    numbers = row.get("log_entries")
    if row.get("warm_up") and not numbers:
        raise LogComplaint(
            f"round {row.get('round_id')} was made by a stepped clock before the start, and is not in the log"
        )
    if not isinstance(numbers, list) or not numbers:
        raise LogComplaint(f"round {row.get('round_id')} names no entries of the log")
    audit = Audit()
    try:
        if seen is not None:
            head.reader.check_extends(seen.head)
        entries = [head.reader.entry(int(number)) for number in numbers]
        for data in entries:
            audit.take(data)
    except ValueError as error:
        raise LogComplaint(str(error)) from None
    if str(row.get("round_id")) not in audit.rounds:
        raise LogComplaint(f"the entries {numbers} are not those of round {row.get('round_id')}")
    _compare({**row, "warm_up": False}, audit)
    lines = [f"entry {number}: {json.loads(data)['kind']}" for number, data in zip(numbers, entries, strict=True)]
    return lines, audit.rounds[str(row["round_id"])]


def remember(file: SeenFile, head: Head, audit: Audit) -> None:
    """Keep the head, and of the published keys those that the log itself names."""
    keys = tuple(key for key in head.keys if key.text in audit.keys) or head.keys
    file.store(keys, head.note)


def lines_of(head: Head, seen: Seen | None, audit: Audit) -> list[str]:
    """Tell what was checked."""
    size = head.checkpoint.size
    since = (
        f"its first {seen.head.size} entries are those of the last visit"
        if seen
        else "the first visit: what it holds could have been written at once; the next visit will prove that none of it "
        "was changed"
    )
    steps = f"; the clock stepped {audit.clock_steps} times" if audit.clock_steps else ""
    return [
        f"log {head.checkpoint.origin} ({audit.mode} market): {size} entries, signed by {head.keys[0].name}; {since}",
        f"from {audit.first_at} to {audit.last_at}: {len(audit.rounds)} rounds ended{steps}",
        *(
            _scores(name, record)
            for name, record in (("rounds", audit.arena_record()), ("hourly", audit.hourly_record()))
            if record.resolved
        ),
    ]


def _scores(name: str, record: TrackRecord) -> str:
    hit = record.hit
    return (
        f"brain, {name} in the log: hit rate {hit.percent} % ({hit.low_percent} to {hit.high_percent}, n={hit.n}), "
        f"Brier {record.brier} (base rate {record.baselines['base_rate']}, even chances 0.6667)"
    )


__all__ = ["Head", "LogComplaint", "PublishedError", "audit_log", "check_round", "lines_of", "open_log", "remember"]
