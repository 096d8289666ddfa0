"""Values to rows and back, which are equal, and the few statements that every table needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from sqlalchemy import Connection, Table, delete, func, insert, select, update

from generator.arena.values import Event, Lesson, PredictionMade, Round
from generator.catalog.words import Consensus, PatternType, Prediction, RoundPhase
from generator.record.memory import tables as t

Triple = tuple[float, float, float]
_ROUND_PLAIN = tuple(
    field.name
    for field in fields(Round)
    if field.name not in {"probabilities", "base_rate", "phase", "prediction", "previous", "outcome"}
)
_PREDICTION_PLAIN = tuple(
    field.name
    for field in fields(PredictionMade)
    if field.name not in {"probabilities", "base_rate", "prediction", "previous", "outcome"}
)
_LESSON_PLAIN = tuple(
    field.name
    for field in fields(Lesson)
    if field.name not in {"brain_prediction", "human_consensus", "actual_outcome", "pattern_type"}
)


def row_of_round(value: Round) -> dict[str, Any]:
    """Write a round as columns."""
    return {
        **{name: getattr(value, name) for name in _ROUND_PLAIN},
        **_spread("p", value.probabilities),
        **_spread("base", value.base_rate),
        "phase": str(value.phase),
        "prediction": _text(value.prediction),
        "previous": _text(value.previous),
        "outcome": _text(value.outcome),
    }


def round_of(row: Mapping[Any, Any]) -> Round:
    """Read a round from columns."""
    return Round(
        **{name: row[name] for name in _ROUND_PLAIN},
        probabilities=_gather("p", row),
        base_rate=_gather("base", row),
        phase=RoundPhase(row["phase"]),
        prediction=_word(row["prediction"]),
        previous=_word(row["previous"]),
        outcome=_word(row["outcome"]),
    )


def row_of_prediction(value: PredictionMade) -> dict[str, Any]:
    """Write an hourly prediction as columns."""
    return {
        **{name: getattr(value, name) for name in _PREDICTION_PLAIN},
        **_spread("p", value.probabilities),
        **_spread("base", value.base_rate),
        "prediction": str(value.prediction),
        "previous": _text(value.previous),
        "outcome": _text(value.outcome),
        "settled": value.outcome is not None or value.void_reason is not None,
    }


def prediction_of(row: Mapping[Any, Any]) -> PredictionMade:
    """Read an hourly prediction from columns."""
    return PredictionMade(
        **{name: row[name] for name in _PREDICTION_PLAIN},
        probabilities=(row["p_down"], row["p_neutral"], row["p_up"]),
        base_rate=(row["base_down"], row["base_neutral"], row["base_up"]),
        prediction=Prediction(row["prediction"]),
        previous=_word(row["previous"]),
        outcome=_word(row["outcome"]),
    )


def row_of_lesson(value: Lesson) -> dict[str, Any]:
    """Write a lesson as columns."""
    return {
        **{name: getattr(value, name) for name in _LESSON_PLAIN},
        "brain_prediction": str(value.brain_prediction),
        "human_consensus": str(value.human_consensus),
        "actual_outcome": str(value.actual_outcome),
        "pattern_type": str(value.pattern_type),
    }


def lesson_from(row: Mapping[Any, Any]) -> Lesson:
    """Read a lesson from columns."""
    return Lesson(
        **{name: row[name] for name in _LESSON_PLAIN},
        brain_prediction=Prediction(row["brain_prediction"]),
        human_consensus=Consensus(row["human_consensus"]),
        actual_outcome=Prediction(row["actual_outcome"]),
        pattern_type=PatternType(row["pattern_type"]),
    )


def event_from(row: Mapping[Any, Any]) -> Event:
    """Read an event from columns."""
    return Event(row["at_ms"], row["kind"], row["text"])


def _spread(prefix: str, triple: Triple | None) -> dict[str, float | None]:
    down, neutral, up = triple or (None, None, None)
    return {f"{prefix}_down": down, f"{prefix}_neutral": neutral, f"{prefix}_up": up}


def _gather(prefix: str, row: Mapping[Any, Any]) -> Triple | None:
    if row[f"{prefix}_down"] is None:
        return None
    return (row[f"{prefix}_down"], row[f"{prefix}_neutral"], row[f"{prefix}_up"])


def _text(word: Prediction | None) -> str | None:
    return None if word is None else str(word)


def _word(text: str | None) -> Prediction | None:
    return None if text is None else Prediction(text)


def get_meta(connection: Connection, key: str) -> str | None:
    """Return one noted value."""
    found: str | None = connection.execute(select(t.meta.c.value).where(t.meta.c.key == key)).scalar()
    return found


def put_meta(connection: Connection, key: str, value: str) -> None:
    """Note one value."""
    upsert(connection, t.meta, {"key": key}, {"value": value})


def upsert(connection: Connection, table: Table, key: dict[str, Any], values: dict[str, Any]) -> None:
    """Update the row with this key, or insert it; there is one writer, so nothing comes in between."""
    where = [table.c[name] == value for name, value in key.items()]
    if not connection.execute(update(table).where(*where).values(**values)).rowcount:
        connection.execute(insert(table).values(**key, **values))


def insert_all(connection: Connection, table: Table, rows: list[dict[str, Any]]) -> None:
    """Insert rows, if there are any."""
    if rows:
        connection.execute(insert(table), rows)


def forget(connection: Connection, table: Table, keep: int, *where: Any) -> None:
    """Delete all but the newest rows of a log, by number and never by clock, which may jump."""
    newest = connection.execute(select(func.max(table.c.id))).scalar()
    if newest is not None and newest > keep:
        connection.execute(delete(table).where(table.c.id <= newest - keep, *where))
