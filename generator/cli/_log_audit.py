"""The log's part of `emi verify`: signature, consistency with the last visit, every entry or one round."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from generator.arena.values import TrackRecord
from generator.cli._published import Published, PublishedError
from generator.cli._rows import complaint_of_row, complaint_of_rows
from generator.cli._seen import Seen, SeenFile
from generator.market.source import Progress
from generator.record.audit.auditing import Audit
from generator.record.log.note import Checkpoint, NoteError, Verifier
from generator.record.log.reader import LogError, LogReader
from generator.record.logbook import CHECKPOINT, KEYS, PREFIX, head_of, read_verifiers

NO_LOG = "this site publishes no transparency log"


class LogComplaint(ValueError):
    """What is published does not hold; the message names what."""


@dataclass(frozen=True, slots=True)
class Head:
    """A log's head whose signature holds.

    Args:
        reader: of the log.
        checkpoint: the head.
        note: as it was signed.
        keys: as they are published.
        seen: what was seen of this log the last time, here or elsewhere; None the first time.
        others: what was seen of it at other places.
    """

    reader: LogReader
    checkpoint: Checkpoint
    note: bytes
    keys: tuple[Verifier, ...]
    seen: Seen | None
    others: tuple[Seen, ...] = ()


def open_log(site: Published, seen: Seen | None, told_key: str | None, elsewhere: Sequence[Seen] = ()) -> Head:
    """Read the head and check its signature.

    Args:
        site: what is published.
        seen: from the last visit to this place.
        told_key: the key that the reader was told out of band.
        elsewhere: from visits to other places.

    Raises:
        LogComplaint: no log where there was one, another one than there was, or no trusted key signed it.
        PublishedError: it cannot be read.
    """
    note, published = site.read(CHECKPOINT), site.read(KEYS)
    if note is None or published is None:
        raise LogComplaint(NO_LOG if seen is None else f"{NO_LOG}, and it had one when it was last seen")
    others = tuple(sorted((one for one in elsewhere if one.is_of(note)), key=lambda one: one.head.size))
    before = seen or (others[-1] if others else None)
    try:
        keys = read_verifiers(published.decode())
        trusted = (Verifier.parse(told_key),) if told_key else before.keys if before else keys
        checkpoint = Checkpoint.open(note, trusted)
    except (NoteError, UnicodeDecodeError) as error:
        hint = "; if its keeper announced a new key, tell it with --key"
        raise LogComplaint(
            f"the log's head: {error}" + ("" if seen is None else f"{_swapped(seen, note)}{'' if told_key else hint}")
        ) from None
    if seen is not None and seen.head.origin != checkpoint.origin:
        raise LogComplaint(f"the log's head is not of the log that was here{_swapped(seen, note)}")
    return Head(LogReader(lambda path: _tile(site, path), checkpoint), checkpoint, note, keys, before, others)


def _swapped(seen: Seen, note: bytes) -> str:
    """Name the log that a place had and the one that it has now, as far as that one can be read."""
    try:
        now = head_of(note)
        told = f"now the log {now.origin} of {now.size} entries is" if now.origin != seen.head.origin else ""
    except NoteError:
        told = ""
    was = f"at the last visit the log {seen.head.origin} of {seen.head.size} entries was here, signed by "
    return f"; {was}{seen.keys[0].text}; {told or 'this one bears its name and not its key, or not whole,'} here"


def _tile(site: Published, path: str) -> bytes:
    data = site.read(PREFIX + path)
    if data is None and ".p/" in path:  # the full tile may have taken the partial one's place
        width = int(path.rpartition("/")[2])
        data = _beginning(site.read(PREFIX + path.partition(".p/")[0]), path, width)
    if data is None:
        raise LogError("nothing is published there")
    return data


def _beginning(full: bytes | None, path: str, width: int) -> bytes | None:
    from generator.record.log.tiles import bundle, unbundle

    if full is None:
        return None
    return bundle(unbundle(full)[:width]) if path.startswith("tile/entries/") else full[: 32 * width]


def audit_log(head: Head, rows: Sequence[Mapping[str, Any]] | None, progress: Progress) -> Audit:
    """Read the whole log, check that nothing seen before was changed, and recompute what it says.

    Args:
        head: whose signature holds, with what was seen before.
        rows: of `/arena/rounds.json`, compared with the log's; None where it has none that can be read.
        progress: told about entries.

    Raises:
        LogComplaint: naming the first thing that does not hold.
    """
    audit = Audit()
    size = head.checkpoint.size
    try:
        _check_seen(head)
        for number, data in enumerate(head.reader.audit(head.seen.head if head.seen else None), 1):
            audit.take(data)
            if number % 2_000 == 0 or number == size:
                progress(number, size, "entries")
        audit.finish()
    except ValueError as error:
        raise LogComplaint(str(error)) from None
    if audit.origin is not None and audit.origin != head.checkpoint.origin:
        raise LogComplaint(f"the log was opened as {audit.origin}, its head says {head.checkpoint.origin}")
    complaint = None if rows is None else complaint_of_rows(rows, audit)
    if complaint is not None:
        raise LogComplaint(complaint)
    return audit


def _check_seen(head: Head) -> None:
    """Check that the log goes on from every head that was seen of it; a copy may be behind one seen elsewhere.

    Raises:
        LogComplaint: it does not, naming where it was seen.
    """
    for one in (*((head.seen,) if head.seen else ()), *head.others):
        if one.head.size > head.checkpoint.size and one is not head.seen:
            continue
        try:
            head.reader.check_extends(one.head)
        except ValueError as error:
            raise LogComplaint(f"{error} (seen at {one.where})") from None


def check_round(head: Head, row: Mapping[str, Any]) -> tuple[list[str], Mapping[str, Any]]:
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
    if not isinstance(numbers, list) or not numbers or not all(type(number) is int for number in numbers):
        raise LogComplaint(f"round {row.get('round_id')} names no entries of the log")
    audit = Audit()
    try:
        _check_seen(head)
        entries = [head.reader.entry(number) for number in numbers]
        for data in entries:
            audit.take(data)
    except ValueError as error:
        raise LogComplaint(str(error)) from None
    if str(row.get("round_id")) not in audit.rounds:
        raise LogComplaint(f"the entries {numbers} are not those of round {row.get('round_id')}")
    complaint = complaint_of_row(row, audit.rounds[str(row["round_id"])])
    if complaint is not None:
        raise LogComplaint(complaint)
    lines = [f"entry {number}: {json.loads(data)['kind']}" for number, data in zip(numbers, entries, strict=True)]
    return lines, audit.rounds[str(row["round_id"])]


def remember(file: SeenFile, head: Head, audit: Audit) -> None:
    """Keep the head, and of the published keys those that the log itself names."""
    keys = tuple(key for key in head.keys if key.text in audit.keys) or head.keys
    file.store(keys, head.note)


def lines_of(head: Head, audit: Audit, here: str) -> list[str]:
    """Tell what was checked.

    Args:
        head: whose signature holds.
        audit: of the whole log.
        here: the place that was read.
    """
    size, seen = head.checkpoint.size, head.seen
    since = (
        f"its first {seen.head.size} entries are those of the last visit{'' if seen.where == here else f' to {seen.where}'}"
        if seen
        else "the first visit: what it holds could have been written at once; the next visit will prove that none of it "
        "was changed"
    )
    steps = f"; the clock stepped {audit.clock_steps} times" if audit.clock_steps else ""
    return [
        f"log {head.checkpoint.origin} ({audit.mode} market): {size} entries, signed by {head.keys[0].name}; {since}",
        *(
            f"{one.where} had {one.head.size} entries of this log: this is a copy that is behind"
            for one in head.others
            if one.head.size > size
        ),
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
