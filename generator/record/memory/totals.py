"""The running totals as they are kept: written in the transaction of the tick that changed them.

They are whole numbers, so that adding a tick's changes and counting the whole record again give the same. What is kept
counts only where it is of this program's rule, and holds the newest rows of the record it is stored with; otherwise
the record is counted again, some days at a time. Every function takes the connection of the transaction.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any, Final

from sqlalchemy import Connection, bindparam, func, select

from gateway.wire.foreign import read_json
from generator.arena.blocks import Cell
from generator.arena.crowd import CrowdSums
from generator.arena.moves import MoveSums
from generator.arena.ranges import Counts, RangeSums, Spread, block_ms, counts_of, together
from generator.arena.scores import HitSums, Sums
from generator.arena.scoring import Ratio
from generator.arena.teacher import COUNTING_RULE, LessonSums, PatternSums, RunningTotals, Scored
from generator.catalog.durations import DAY_MS, WEEK_MS
from generator.catalog.words import Call, PatternType, RoundPhase
from generator.record.memory import tables as t
from generator.record.memory.ballots import locked_votes
from generator.record.memory.rows import newest_id, upsert, values_in, within
from generator.values.hours import Move, PredictionMade
from generator.values.ranges import RangeForecast
from generator.values.rounds import Lesson, Round

ROW: Final = 1
CHUNK_MS: Final = WEEK_MS  # whole days, so that no block of ranges is cut
Span = tuple[int, int]  # since and until, UTC ms


def load(connection: Connection) -> RunningTotals | None:
    """Return what is kept; None where nothing is, it is of another rule, or it was made of another record."""
    row = connection.execute(select(t.totals).where(t.totals.c.id == ROW)).mappings().one_or_none()
    if row is None or row["rule"] != COUNTING_RULE:
        return None
    if any(row[name] != number for name, number in _newest(connection).items()):
        return None
    return from_text(row["sums"])


def store(connection: Connection, totals: RunningTotals) -> None:
    """Keep the totals of the record as it is now."""
    values = {"rule": COUNTING_RULE, "sums": to_text(totals), **_newest(connection)}
    upsert(connection, t.totals, {"id": ROW}, values)


def spans(connection: Connection) -> list[Span]:
    """Return the spans in which the record is counted, oldest first; none where it is empty."""
    columns = (t.rounds.c.start_ms, t.predictions.c.start_ms)
    ends = [connection.execute(select(func.min(column), func.max(column))).one() for column in columns]
    starts = [end for pair in ends for end in pair if end is not None]
    if not starts:
        return []

    first = min(starts) // DAY_MS * DAY_MS
    return [(since, since + CHUNK_MS) for since in range(first, max(starts) + 1, CHUNK_MS)]


def count_span(connection: Connection, totals: RunningTotals, span: Span) -> RunningTotals:
    """Add what began in a span. Each span is added once, so that no block of ranges was counted before it."""
    rounds = values_in(connection, Round, select(t.rounds).where(within(t.rounds.c.start_ms, *span)))
    hourly = select(t.predictions).where(within(t.predictions.c.start_ms, *span))
    taught = (
        select(t.lessons)
        .join(t.rounds, t.rounds.c.round_id == t.lessons.c.round_id)
        .where(within(t.rounds.c.start_ms, *span))
    )

    return totals.after(
        ((None, item) for item in rounds),
        ((None, prediction) for prediction in values_in(connection, PredictionMade, hourly)),
        values_in(connection, Lesson, taught),
        votes=locked_votes(connection, [item.round_id for item in rounds]),
    )


def count_all(connection: Connection) -> RunningTotals:
    """Count the whole record at once; a start does it in steps."""
    totals = RunningTotals()
    for span in spans(connection):
        totals = count_span(connection, totals, span)
    return totals


_P = t.predictions.c
_MOVED = select(_P.ranges, _P.moves).where(
    _P.start_ms >= bindparam("since"),
    _P.start_ms < bindparam("until"),
    _P.warm_up == bindparam("warm_up"),
    _P.moves.is_not(None),
)


def ranges_of_block(connection: Connection, warm_up: bool, horizon: str, block: int) -> Counts:  # noqa: FBT001
    """Count the moves that are known of one block of ranges."""
    since = block * block_ms(horizon)
    span = {"since": since, "until": since + block_ms(horizon), "warm_up": warm_up}
    return together(_counts(connection.execute(_MOVED, span), horizon))


def _counts(moved: Iterable[Any], horizon: str) -> Iterator[Counts]:
    """Count one horizon of forecasts, from their ranges and moves as they are stored; nothing else of them is read."""
    for forecasts, outcomes in moved:
        moves = read_json(outcomes)
        if forecasts is not None and horizon in moves:
            yield counts_of(RangeForecast(**read_json(forecasts)[horizon]), Move(**moves[horizon]))


def _newest(connection: Connection) -> dict[str, int]:
    """Return the highest number of each table that is counted, 0 for none."""
    tables = {"rounds": t.rounds, "predictions": t.predictions, "lessons": t.lessons}
    return {name: int(connection.execute(newest_id(table)).scalar() or 0) for name, table in tables.items()}


def to_text(totals: RunningTotals) -> str:
    """Write totals as JSON; equal totals are equal texts."""
    return json.dumps(totals, default=_fields_of, sort_keys=True, separators=(",", ":"))


def _fields_of(sums: Any) -> dict[str, Any]:
    """Return the fields of sums as they are: `asdict` copies each number in them, which was a quarter of a tick."""
    return {field.name: getattr(sums, field.name) for field in fields(sums)}


def from_text(text: str) -> RunningTotals:
    """Read totals, equal to those that were written."""
    stored = read_json(text)
    return RunningTotals(live=_scored(stored["live"]), backtest=_scored(stored["backtest"]))


def _lessons(stored: Mapping[str, Any]) -> LessonSums:
    patterns = {PatternType(pattern): n for pattern, n in stored["patterns"].items()}
    return LessonSums(**{**stored, "patterns": patterns})


def _scored(stored: Mapping[str, Any]) -> Scored:
    groups = stored["patterns"]["groups"]

    return Scored(
        phases={RoundPhase(phase): n for phase, n in stored["phases"].items()},
        arena=_sums(stored["arena"]),
        hourly=_sums(stored["hourly"]),
        ranges=_ranges(stored["ranges"]),
        lessons=_lessons(stored["lessons"]),
        patterns=PatternSums({name: _lessons(sums) for name, sums in groups.items()}),
        crowd=_crowd(stored["crowd"]),
        simulated_crowd=_crowd(stored["simulated_crowd"]),
    )


def _crowd(stored: Mapping[str, Any]) -> CrowdSums:
    return CrowdSums(**{**stored, "brier": Ratio(**stored["brier"]), "log": Ratio(**stored["log"])})


def _ranges(stored: Mapping[str, Any]) -> RangeSums:
    totals = {horizon: tuple(counts) for horizon, counts in stored["totals"].items()}
    spreads = {
        horizon: Spread(spread["blocks"], tuple(spread["products"])) for horizon, spread in stored["spreads"].items()
    }
    return RangeSums(totals, spreads)


def _sums(stored: Mapping[str, Any]) -> Sums:
    parts = {"calls": _hits(stored["calls"]), "before": _hits(stored["before"]), "move": _move(stored["move"])}
    earlier = stored["earlier"]
    return Sums(**{**stored, **parts, "earlier": None if earlier is None else _sums(earlier)})


def _hits(stored: Mapping[str, Any]) -> HitSums:
    return HitSums(
        total=Ratio(**stored["total"]),
        by_call={Call(call): Ratio(**ratio) for call, ratio in stored["by_call"].items()},
        base_hits=stored["base_hits"],
        bins=cells_of(stored["bins"]),
        last_ms=stored["last_ms"],
    )


def _move(stored: Mapping[str, Any]) -> MoveSums:
    return MoveSums(
        total=cell_of(stored["total"]),
        usual=stored["usual"],
        brier=Ratio(**stored["brier"]),
        log=Ratio(**stored["log"]),
        bins=cells_of(stored["bins"]),
        hours=cells_of(stored["hours"]),
    )


def cells_of(stored: Mapping[str, Any]) -> dict[int, Cell]:
    """Read cells by their bin or hour."""
    return {int(at): cell_of(cell) for at, cell in stored.items()}


def cell_of(stored: Mapping[str, Any]) -> Cell:
    """Read one cell."""
    return Cell(stored["said"], Ratio(**stored["came"]))
