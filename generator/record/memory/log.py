"""The transparency log as it is stored: entries are only ever added, in the transaction of the tick that made them.

What is published of it is derived from here, so a crash between the transaction and the release loses nothing: the
next release catches up. Every function takes the connection of the transaction.
"""

import hashlib
import hmac
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

from sqlalchemy import Connection, func, insert, select

from gateway.wire.foreign import read_json
from generator.arena.ballots import FIRST_FORM, digest_of_ballots
from generator.arena.scores import track_record
from generator.arena.teacher import RunningTotals
from generator.catalog.formats import iso, ms_of
from generator.record.audit.entries import Entry, entry
from generator.record.audit.scores import crowd_scores_of, far_scores_of, scores_of
from generator.record.log.tiles import LARGEST_ENTRY, WIDTH, Edge, Tile, bundle, leaf_hash
from generator.record.memory import tables as t
from generator.record.memory.rows import get_meta, put_meta, where_in

SECRET_KEY: Final = "log.secret"  # noqa: S105  the name of a note


@dataclass(frozen=True, slots=True)
class LogState:
    """What a tick needs to know of the log. Its size does not grow with the log."""

    edge: Edge = field(default_factory=Edge)
    last_ms: int = 0  # of the last entry
    scored_day: str = ""  # the last day whose scores are in the log
    secret: str = ""  # of the salts; never leaves the memory

    def salt(self, content: bytes) -> str:
        """Return the salt of what is sealed: always the same, and not computable by anyone else."""
        return hmac.new(self.secret.encode(), content, hashlib.sha256).hexdigest()


def load(connection: Connection) -> LogState:
    """Read the state of the log, at the start of a process or after a failure; ValueError where entries are missing."""
    last = newest(connection)
    scored = newest(connection, "scores")
    return LogState(
        edge=load_edge(connection),
        last_ms=0 if last is None else ms_of(last["at"]),
        scored_day="" if scored is None else scored["at"][:10],
        secret=get_meta(connection, SECRET_KEY) or "",
    )


def begin(  # noqa: PLR0917
    connection: Connection, now_ms: int, origin: str, source_mode: str, key: str, secret: str
) -> LogState:
    """Write the log's first entry: who keeps it, of which market, under which key; `secret` makes the salts."""
    state = load(connection)
    if state.edge.size:
        raise ValueError("the log was begun before")

    first = entry("log.opened", now_ms, origin=origin, source_mode=source_mode, key=key)
    put_meta(connection, SECRET_KEY, secret)
    return LogState(append(connection, state.edge, [first]), now_ms, secret=secret)


def note_key(connection: Connection, state: LogState, now_ms: int, key: str) -> LogState:
    """Write that another key signs from now on."""
    return _written(connection, state, now_ms, [entry("log.key", now_ms, key=key)])


def record_tick(
    connection: Connection, state: LogState, of_games: Sequence[Entry], totals: RunningTotals, now_ms: int
) -> LogState:
    """Add what one tick changed of the games, and once a UTC day the scores; a log that was not begun stays empty."""
    if not state.edge.size:
        return state

    entries = list(of_games)
    today = iso(now_ms)[:10]
    if today > state.scored_day:
        entries.append(_scores(totals, now_ms))
        state = replace(state, scored_day=today)
    return _written(connection, state, now_ms, entries)


def _written(connection: Connection, state: LogState, now_ms: int, entries: list[Entry]) -> LogState:
    """Append; where the clock went back since the last entry, say so first."""
    if not entries:
        return state
    if now_ms // 1000 < state.last_ms // 1000:
        entries = [entry("clock.stepped", now_ms, before=iso(state.last_ms)), *entries]
    return replace(state, edge=append(connection, state.edge, entries), last_ms=now_ms)


def _scores(totals: RunningTotals, now_ms: int) -> Entry:
    return entry(
        "scores",
        now_ms,
        arena=scores_of(track_record("arena", totals.live.arena.scored())),
        hourly=scores_of(track_record("hourly", totals.live.hourly.scored())),
        how_far=far_scores_of(totals.live.ranges.scores()),
        crowd=crowd_scores_of(totals.live.crowd.scores()),
        simulated_crowd=crowd_scores_of(totals.live.simulated_crowd.scores()),
    )


def load_edge(connection: Connection, size: int | None = None) -> Edge:
    """Read the right edge of the log, or of its first `size` entries; ValueError where entries or nodes are missing."""
    if size is None:
        size = int(connection.execute(select(func.max(t.log_entries.c.id))).scalar() or 0)

    levels: list[tuple[bytes, ...]] = []
    scale = 1  # entries below one hash of the level
    while size >= scale:
        count = size // scale
        first = count - count % WIDTH
        levels.append(tuple(_hashes(connection, len(levels), first, count)))
        scale *= WIDTH
    return Edge(size, tuple(levels))


def append(connection: Connection, edge: Edge, entries: Sequence[Entry]) -> Edge:
    """Add entries and return the edge after them."""
    if not entries:
        return edge
    if any(len(item.data) > LARGEST_ENTRY for item in entries):
        raise ValueError(f"an entry of the log is larger than {LARGEST_ENTRY} bytes")

    rows = [
        {"id": edge.size + number, "kind": item.step, "subject": item.subject, "data": item.data}
        for number, item in enumerate(entries, 1)
    ]
    connection.execute(insert(t.log_entries), rows)

    after, nodes = edge.append(leaf_hash(item.data) for item in entries)
    if nodes:
        connection.execute(insert(t.log_nodes), [asdict(node) for node in nodes])
    return after


def content(connection: Connection, tile: Tile) -> bytes:
    """Return the bytes of a published tile."""
    first = tile.index * WIDTH
    if tile.level is None:
        return bundle(_entries(connection, first, first + tile.width))
    return b"".join(_hashes(connection, tile.level, first, first + tile.width))


def indices(connection: Connection, subjects: Iterable[str]) -> dict[str, list[int]]:
    """Return the numbers of the entries about each subject, in order."""
    numbers: dict[str, list[int]] = {}
    e = t.log_entries.c
    for subject, row_id in where_in(connection, select(e.subject, e.id).order_by(e.id), e.subject, subjects):
        numbers.setdefault(subject, []).append(row_id - 1)
    return numbers


def keys(connection: Connection) -> tuple[str, list[str]]:
    """Return the log's origin and the keys noted in it, oldest first."""
    e = t.log_entries.c
    query = select(e.data).where(e.kind.in_(("log.opened", "log.key"))).order_by(e.id)
    named = [read_json(data) for data in connection.execute(query).scalars()]
    origin = named[0]["origin"] if named else ""
    return origin, [item["key"] for item in named]


def about_hours(connection: Connection, since_ms: int, until_ms: int, kinds: Sequence[str]) -> list[bytes]:
    """Return the entries of some kinds about the hours that began in [since, until), in the log's order."""
    e = t.log_entries.c
    query = select(e.data).where(e.kind.in_(kinds), e.subject >= iso(since_ms), e.subject < iso(until_ms))
    return list(connection.execute(query.order_by(e.id)).scalars())


def newest(connection: Connection, kind: str | None = None) -> dict[str, Any] | None:
    """Return the last entry, or the last of a kind."""
    e = t.log_entries.c
    query = select(e.data).order_by(e.id.desc()).limit(1)
    data = connection.execute(query if kind is None else query.where(e.kind == kind)).scalar()
    return None if data is None else dict(read_json(data))


def ballots_sha256(connection: Connection, round_id: str) -> str:
    """Return the digest of the counted ballots of a round."""
    b = t.ballots.c
    return digest_of_ballots(
        connection.execute(select(b.txid).where(b.round_id == round_id, b.counts.is_(True))).scalars()
    )


def ballot_forms(connection: Connection, round_ids: Iterable[str]) -> dict[str, int]:
    """Return which form of ballots was named when each of these rounds was sealed; of others nothing."""
    e = t.log_entries.c
    query = select(e.subject, e.data).where(e.kind == "round.sealed")
    rows = where_in(connection, query, e.subject, round_ids)
    return {subject: read_json(data).get("ballot_form", FIRST_FORM) for subject, data in rows}


def _hashes(connection: Connection, level: int, begin: int, end: int) -> list[bytes]:
    if level == 0:
        return [leaf_hash(data) for data in _entries(connection, begin, end)]
    n = t.log_nodes.c
    query = select(n.value).where(n.level == level - 1, n.index >= begin, n.index < end).order_by(n.index)
    return _all(connection.execute(query).scalars().all(), end - begin)


def _entries(connection: Connection, begin: int, end: int) -> list[bytes]:
    e = t.log_entries.c
    query = select(e.data).where(e.id > begin, e.id <= end).order_by(e.id)
    return _all(connection.execute(query).scalars().all(), end - begin)


def _all(rows: Sequence[bytes], count: int) -> list[bytes]:
    if len(rows) != count:
        raise ValueError(f"the log in the memory has {len(rows)} of {count} rows: it was changed by someone else")
    return list(rows)
