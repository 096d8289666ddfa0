"""Values to rows and back, which are equal, and the few statements that every table needs."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from enum import StrEnum
from functools import cache
from typing import Any, Final, TypeVar

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Insert,
    Select,
    Table,
    Update,
    bindparam,
    delete,
    func,
    insert,
    select,
    update,
)

from gateway.wire.foreign import read_json
from generator.arena.ladders.hour import LadderHour
from generator.arena.ranges import due_ms
from generator.arena.sealed import Claim
from generator.catalog.formats import iso
from generator.catalog.text.concepts import chapter_of
from generator.catalog.words import Call, Concept, Consensus, PatternType, Prediction, RoundPhase
from generator.record.memory import tables as t
from generator.values.hours import Move, PredictionMade
from generator.values.questions import DailyQuestion
from generator.values.ranges import RangeForecast
from generator.values.rounds import Closing, Event, Lesson, Round

KINDS: Final = (Round, PredictionMade, LadderHour, DailyQuestion, Claim, Lesson, Event)
Stored = TypeVar("Stored", Round, PredictionMade, LadderHour, DailyQuestion, Claim, Lesson, Event)
CHUNK: Final = 500  # SQLite allows 32,766 variables in a statement, older builds 999
DERIVED: Final = ("chapter", "created_at")  # of a lesson: they follow from what is kept of it
NAMES: Final = {kind: tuple(field.name for field in fields(kind) if field.name not in DERIVED) for kind in KINDS}
TRIPLES: Final = {
    "probabilities": ("p_down", "p_neutral", "p_up"),
    "base_rate": ("base_down", "base_neutral", "base_up"),
}
BY_HORIZON: Final[Mapping[str, type[RangeForecast | Move]]] = {"ranges": RangeForecast, "moves": Move}
JSON: Final[Mapping[str, Callable[[Any], Any]]] = {
    **dict.fromkeys(("said", "base", "prices", "came"), dict),  # of an hour's ladders
    **dict.fromkeys(("content", "at_start", "at_end", "scores"), dict),  # of a claim
    **dict.fromkeys(("brain", "usual", "closing_brain", "closing_usual"), tuple),  # of a daily question
    "closing": lambda parts: _closing(*parts),  # of a round
}
"""What is plain and has parts is JSON; what it is read as."""
PARTS: Final = {kind: tuple(field.name for field in fields(kind)) for kind in BY_HORIZON.values()}
WORDS: Final[Mapping[str, type[StrEnum]]] = {
    "phase": RoundPhase,
    "call": Call,
    "concept": Concept,
    "human_consensus": Consensus,
    "pattern_type": PatternType,
    **dict.fromkeys(("prediction", "previous", "outcome", "brain_prediction", "actual_outcome"), Prediction),
}


def row_of(value: Stored) -> dict[str, Any]:
    """Write a value as columns: three chances are three columns, words are text, what has parts is JSON."""
    row: dict[str, Any] = {}
    for name in NAMES[type(value)]:
        item = getattr(value, name)
        if name in TRIPLES:
            row |= zip(TRIPLES[name], item or (None, None, None), strict=True)
        elif name in BY_HORIZON:
            by_horizon = {horizon: _flat(part) for horizon, part in item.items()} if item else None
            row[name] = None if by_horizon is None else json.dumps(by_horizon)
        elif name in JSON:
            row[name] = None if item is None else json.dumps(item, separators=(",", ":"))
        else:
            row[name] = str(item) if isinstance(item, StrEnum) else item

    if isinstance(value, PredictionMade):
        row["settled"] = value.outcome is not None or value.void_reason is not None
        row["due_ms"] = due_ms(value) if value.start_price is not None else None
    if isinstance(value, LadderHour):
        row["due_ms"] = value.due_ms
    return row


def _flat(part: RangeForecast | Move) -> dict[str, Any]:
    """Return the fields as they are: they are plain, and `asdict`, which looks into each, was a tenth of a start."""
    return {name: getattr(part, name) for name in PARTS[type(part)]}


def value_of(kind: type[Stored], row: Mapping[Any, Any]) -> Stored:
    """Read a value from columns."""
    values: dict[str, Any] = {}

    for name in NAMES[kind]:
        if name in TRIPLES:
            triple = tuple(row[column] for column in TRIPLES[name])
            values[name] = None if triple[0] is None else triple
        elif name in BY_HORIZON:
            values[name] = _by_horizon(BY_HORIZON[name], row[name])
        elif name in JSON:
            values[name] = None if row[name] is None else JSON[name](read_json(row[name]))
        else:
            item = row[name]
            values[name] = WORDS[name](item) if item is not None and name in WORDS else item

    if kind is Lesson:
        values["chapter"] = None if values["concept"] is None else chapter_of(values["concept"])
        values["created_at"] = iso(values["created_ms"])
    return kind(**values)


def _closing(made_ms: int | None, chances: list[float] | None, commitment: str | None, void: str | None) -> Closing:
    return Closing(made_ms, None if chances is None else (chances[0], chances[1], chances[2]), commitment, void)


def _by_horizon(kind: type[RangeForecast | Move], text: str | None) -> dict[str, Any] | None:
    if text is None:
        return {} if kind is Move else None
    return {horizon: kind(**part) for horizon, part in read_json(text).items()}


def values_in(
    connection: Connection, kind: type[Stored], query: Select[Any], parameters: Mapping[str, Any] | None = None
) -> tuple[Stored, ...]:
    """Return what a query of whole rows finds."""
    return tuple(value_of(kind, row) for row in connection.execute(query, parameters).mappings())


def where_in(connection: Connection, query: Select[Any], column: Column[Any], values: Iterable[str]) -> Iterator[Any]:
    """Yield the rows of a query whose column is one of the values, however many they are."""
    ordered = sorted(values)
    for begin in range(0, len(ordered), CHUNK):
        yield from connection.execute(query.where(column.in_(ordered[begin : begin + CHUNK])))


def within(column: Column[Any], since_ms: int, until_ms: int) -> ColumnElement[bool]:
    """Return the condition that a time lies in [since, until)."""
    return (column >= since_ms) & (column < until_ms)


# A statement that every tick asks is built once: SQLAlchemy takes longer to build one than SQLite to answer it.
_META = select(t.meta.c.value).where(t.meta.c.key == bindparam("key"))


@cache
def insert_into(table: Table) -> Insert:
    """Return the statement that inserts rows."""
    return insert(table)


@cache
def update_of(table: Table, *key: str) -> Update:
    """Return the statement that changes the row whose key is given as `old_` and each name of it."""
    return update(table).where(*(table.c[name] == bindparam(f"old_{name}") for name in key))


@cache
def newest_id(table: Table) -> Select[int | None]:
    """Return the query for the highest number of a table."""
    return select(func.max(table.c.id))


def get_meta(connection: Connection, key: str) -> str | None:
    """Return one noted value."""
    value: str | None = connection.execute(_META, {"key": key}).scalar()
    return value


def put_meta(connection: Connection, key: str, value: str) -> None:
    """Note one value."""
    upsert(connection, t.meta, {"key": key}, {"value": value})


def upsert(connection: Connection, table: Table, key: dict[str, Any], values: dict[str, Any]) -> None:
    """Update the row with this key, or insert it; there is one writer, so nothing comes in between."""
    old = {f"old_{name}": value for name, value in key.items()}
    if not connection.execute(update_of(table, *key), values | old).rowcount:
        connection.execute(insert_into(table), key | values)


def insert_all(connection: Connection, table: Table, rows: list[dict[str, Any]]) -> None:
    """Insert rows, if there are any."""
    if rows:
        connection.execute(insert_into(table), rows)


def forget(connection: Connection, table: Table, keep: int, *where: Any) -> None:
    """Delete all but the newest rows of a log, by number and never by clock, which may jump."""
    newest = connection.execute(newest_id(table)).scalar()
    if newest is not None and newest > keep:
        connection.execute(delete(table).where(table.c.id <= newest - keep, *where))
