"""Ticks, the regime by tick, and the market by hour."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from sqlalchemy import Column, Connection, Select, bindparam, distinct, func, select

from gateway.wire.foreign import read_json
from generator.arena.holds import KIND
from generator.arena.state import KnownState, RegimeRow
from generator.catalog.durations import DAY_MS, HOUR_MS, MINUTE_MS
from generator.catalog.words import MarketSide, VolatilityWord
from generator.record.memory import tables as t
from generator.record.memory.rows import forget, insert_all, upsert
from generator.values.hours import Hour
from generator.values.ticks import TicksBlock

KEPT_TICKS = 130_000  # 90 days
READ_HOURS_MS = 31 * DAY_MS  # by pages; all are kept
KEPT_REGIMES = 20_000  # 14 days; rows where the label or the state changed are kept for good
DAY_TOLERANCE_MS = 30 * MINUTE_MS

_OF_HOUR = tuple(field.name for field in fields(Hour))


@dataclass(frozen=True, slots=True)
class RegimeChange:
    """The regime at a tick where its label or the state by the two axes changed."""

    at_ms: int
    label: str
    mode: str
    confidence: float | None
    risk_score: float | None
    warm_up: bool
    volatility: VolatilityWord | None = None  # None: of a tick from before the axes were kept
    side: MarketSide | None = None
    confidence_kind: str | None = None  # None: without a confidence, or of a tick from before kinds existed


def store_tick(connection: Connection, tick_id: str, **values: Any) -> None:
    """Log one tick, never one of a backtest; the same id again replaces it."""
    upsert(connection, t.ticks, {"tick_id": tick_id}, {**values, "warm_up": False})
    forget(connection, t.ticks, KEPT_TICKS)


def count_ticks(connection: Connection, now_ms: int) -> TicksBlock:
    """Count the ticks of the 24 hours before a time."""
    c = t.ticks.c
    recent = select(c.ok, func.count()).where(c.at_ms > now_ms - DAY_MS, c.at_ms <= now_ms)
    counts: dict[bool, int] = {bool(ok): n for ok, n in connection.execute(recent.group_by(c.ok))}
    return TicksBlock(counts.get(True, 0), counts.get(False, 0), _missed(connection, now_ms))


def last_tick(connection: Connection) -> str | None:
    """Return the id of the newest tick that was published; None before the first."""
    c = t.ticks.c
    newest = select(c.tick_id).where(c.ok.is_(True)).order_by(c.id.desc()).limit(1)
    tick_id: str | None = connection.execute(newest).scalar()
    return tick_id


def _missed(connection: Connection, now_ms: int) -> int:
    """Count the minutes before this one, of 24 hours and since the first tick, in which no tick began."""
    c = t.ticks.c
    minute = now_ms // MINUTE_MS
    first_ms = connection.execute(select(func.min(c.at_ms))).scalar()
    if first_ms is None:
        return 0

    since = max(first_ms // MINUTE_MS, minute - DAY_MS // MINUTE_MS)
    within = (c.at_ms >= since * MINUTE_MS, c.at_ms < minute * MINUTE_MS)
    had: int = connection.execute(select(func.count(distinct(c.at_ms // MINUTE_MS))).where(*within)).scalar_one()
    missed: int = minute - since - had
    return max(missed, 0)


_H = t.regime_history.c
_LAST_LABEL = select(_H.label).order_by(_H.id.desc()).limit(1)


def _known(column: Column[str | None], unknown: str) -> Select[str | None]:
    """Return the query for the newest word of an axis."""
    return select(column).where(column != unknown).order_by(_H.id.desc()).limit(1)


_KNOWN_VOLATILITY = _known(_H.volatility, VolatilityWord.UNKNOWN)
_KNOWN_SIDE = _known(_H.side, MarketSide.UNKNOWN)
_REGIME_AT = select(_H.id).where(_H.at_ms == bindparam("at_ms"))


def last_regime(connection: Connection) -> str | None:
    """Return the label of the newest row."""
    label: str | None = connection.execute(_LAST_LABEL).scalar()
    return label


def last_state(connection: Connection) -> KnownState:
    """Return the last that was known of each axis; of rows from before the axes were kept there is none."""
    volatility = connection.execute(_KNOWN_VOLATILITY).scalar() or VolatilityWord.UNKNOWN
    side = connection.execute(_KNOWN_SIDE).scalar() or MarketSide.UNKNOWN
    return KnownState().followed_by(VolatilityWord(volatility), MarketSide(side))


def store_regime(connection: Connection, at_ms: int, regime: RegimeRow, *, warm_up: bool) -> None:
    """Log the regime of one tick; the same time again keeps what was first."""
    if connection.execute(_REGIME_AT, {"at_ms": at_ms}).scalar() is not None:
        return

    state = last_state(connection)
    is_other_state = state.followed_by(regime.volatility, regime.side) != state
    row = {
        "at_ms": at_ms,
        "label": str(regime.label),
        "mode": str(regime.mode),
        "confidence": regime.confidence,
        "risk_score": regime.risk_score,
        "volatility": str(regime.volatility),
        "side": str(regime.side),
        "confidence_kind": regime.confidence_kind,
        "changed": regime.label != last_regime(connection) or is_other_state,
        "warm_up": warm_up,
    }
    insert_all(connection, t.regime_history, [row])
    forget(connection, t.regime_history, KEPT_REGIMES, _H.changed.is_(False))


def day_before(connection: Connection, now_ms: int) -> tuple[str | None, float | None, float | None]:
    """Return label, confidence and risk score of the tick nearest to 24 hours ago, within 30 minutes.

    A confidence of another kind than today's is none: the two cannot be compared.
    """
    c = t.regime_history.c
    then = now_ms - DAY_MS
    query = select(c.label, c.confidence, c.risk_score, c.confidence_kind).where(
        c.at_ms >= then - DAY_TOLERANCE_MS, c.at_ms <= then + DAY_TOLERANCE_MS
    )
    row = connection.execute(query.order_by(func.abs(c.at_ms - then), c.id).limit(1)).one_or_none()
    if row is None:
        return None, None, None
    return row.label, row.confidence if row.confidence_kind == KIND else None, row.risk_score


def regime_changes(connection: Connection, limit: int) -> tuple[RegimeChange, ...]:
    """Return the ticks where the label or the state changed, newest first."""
    c = t.regime_history.c
    words = (c.label, c.mode, c.volatility, c.side, c.confidence_kind)
    query = select(c.at_ms, c.confidence, c.risk_score, c.warm_up, *words)
    newest = query.where(c.changed.is_(True)).order_by(c.id.desc()).limit(limit)
    return tuple(_regime_change(row) for row in connection.execute(newest).mappings())


def _regime_change(row: Mapping[Any, Any]) -> RegimeChange:
    axes = {
        "volatility": None if row["volatility"] is None else VolatilityWord(row["volatility"]),
        "side": None if row["side"] is None else MarketSide(row["side"]),
    }
    return RegimeChange(**{**row, **axes})


def newest_hour_ms(connection: Connection) -> int:
    """Return the time of the newest hour kept, -1 before the first."""
    return int(connection.execute(select(func.max(t.hours.c.at_ms))).scalar() or -1)


def store_hours(connection: Connection, hours: Iterable[Hour]) -> None:
    """Keep what was published first in each hour; an hour that is not later than all before it is left out."""
    newest = newest_hour_ms(connection) // HOUR_MS
    rows = []
    for hour in hours:
        number = hour.at_ms // HOUR_MS
        if number > newest:
            newest = number
            texts = {"chances": json.dumps(hour.chances), "prices": json.dumps(dict(hour.prices))}
            rows.append({name: getattr(hour, name) for name in _OF_HOUR} | texts)
    insert_all(connection, t.hours, rows)


def hours(connection: Connection, since_ms: int, until_ms: int) -> tuple[Hour, ...]:
    """Return the hours in [since, until), oldest first."""
    c = t.hours.c
    query = select(t.hours).where(c.at_ms >= since_ms, c.at_ms < until_ms).order_by(c.at_ms)
    return tuple(_hour(row) for row in connection.execute(query).mappings())


def _hour(row: Mapping[Any, Any]) -> Hour:
    chances = read_json(row["chances"])
    return Hour(**{**row, "chances": chances and tuple(chances), "prices": read_json(row["prices"])})


def last_published_ms(connection: Connection) -> int:
    """Return the wall time of the last tick that was published, -1 before the first."""
    k = t.ticks.c
    query = select(k.at_ms).where(k.ok.is_(True)).order_by(k.id.desc()).limit(1)
    return int(connection.execute(query).scalar() or -1)
