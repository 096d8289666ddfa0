"""Hourly predictions as they are stored, with the ranges of their horizons.

Every function takes the connection of the transaction.
"""

from collections.abc import Sequence
from functools import partial

from sqlalchemy import BindParameter, Connection, and_, bindparam, case, func, or_, select, union

from gateway.wire.foreign import read_json
from generator.arena.earned import KIND, LEAST_LEAD, PER_CHANCE, LeadDay
from generator.arena.games import HOURS
from generator.arena.hourly import HoursPlayed, HourState
from generator.arena.inputs import PlayInputs
from generator.arena.sealed import SaltOf
from generator.catalog.assets import DEFAULT_ASSET
from generator.catalog.durations import DAY_MS, HOUR_MS, WEEK_MS
from generator.catalog.formats import rounded
from generator.catalog.horizons import DAY, HOUR
from generator.catalog.words import Prediction
from generator.record.audit.entries import Entry, hour_entries
from generator.record.memory import tables as t
from generator.record.memory.game import Change, GameStore, last_outcome
from generator.record.memory.rows import values_in
from generator.values.hours import Move, PredictionMade, RangeDay
from generator.values.ranges import RangeForecast, RangesOfWeek

_P = t.predictions.c
_NOW: BindParameter[int] = bindparam("now_ms")
_BEGUN = select(_P.asset, _P.start_ms).where(_P.start_ms > _NOW, or_(_P.settled, _P.start_price.is_not(None)))
# The two conditions are named one by one: asked for either at once, SQLite reads the whole table.
_UNSETTLED = select(_P.id).where(_P.settled.is_(False))
_DUE = select(_P.id).where(_P.due_ms <= _NOW)
_DUE_EVER = select(_P.id).where(_P.due_ms.is_not(None))
_PENDING = select(t.predictions).where(_P.id.in_(union(_UNSETTLED, _DUE))).order_by(_P.id)
_EVER_PENDING = select(t.predictions).where(_P.id.in_(union(_UNSETTLED, _DUE_EVER))).order_by(_P.id)
_LAST_OUTCOME = (
    select(_P.outcome)
    .where(_P.asset == bindparam("asset"), _P.outcome.is_not(None), _P.end_ms <= _NOW)
    .order_by(_P.start_ms.desc())
    .limit(1)
)


class HourStore(GameStore[HourState, HoursPlayed]):
    """The store of hourly predictions."""

    kind = HOURS
    table = t.predictions
    key = ("asset", "start_ms")

    def load(self, connection: Connection, inputs: PlayInputs) -> HourState:
        """Load what the pure rules need of hourly predictions."""
        now = {"now_ms": inputs.now_ms}
        pending = _PENDING if inputs.interrupted is None else _EVER_PENDING
        return HourState(
            pending=values_in(connection, PredictionMade, pending, now),
            begun=frozenset((row[0], row[1]) for row in connection.execute(_BEGUN, now)),
            last_outcome=partial(last_outcome, connection, _LAST_OUTCOME, inputs.now_ms),
        )

    def changes(self, played: HoursPlayed) -> Sequence[Change]:
        """Return the predictions that a tick changed."""
        return played.changes

    def entries(self, connection: Connection, played: HoursPlayed, now_ms: int, salt: SaltOf) -> list[Entry]:
        """Return what the log holds of them."""
        return hour_entries(played.changes, now_ms, salt)


def settled_predictions(connection: Connection, limit: int) -> tuple[PredictionMade, ...]:
    """Return the last hourly predictions that came due or were void, newest first, the assets in their order."""
    c = t.predictions.c
    query = select(t.predictions).where(c.settled.is_(True)).order_by(c.start_ms.desc(), c.id).limit(limit)
    return values_in(connection, PredictionMade, query)


def week_of_ranges(connection: Connection, now_ms: int) -> dict[tuple[str, str], RangesOfWeek]:
    """Return how the ranges that began in the last seven days held, by asset and horizon.

    It is asked again after each move, so it reads the columns that it needs and makes no prediction of each row.
    """
    c = t.predictions.c
    query = select(c.asset, c.warm_up, c.ranges, c.moves).where(
        c.start_ms > now_ms - WEEK_MS, c.start_ms <= now_ms, c.ranges.is_not(None), c.moves.is_not(None)
    )

    judged: dict[tuple[str, str], list[tuple[RangeForecast, float, bool]]] = {}
    for asset, warm_up, ranges, moves in connection.execute(query):
        forecasts = read_json(ranges)
        for horizon, outcome in read_json(moves).items():
            if outcome["move"] is not None:
                judged.setdefault((asset, horizon), []).append(
                    (RangeForecast(**forecasts[horizon]), outcome["move"], warm_up)
                )
    return {key: _held(cases) for key, cases in judged.items()}


def _held(cases: Sequence[tuple[RangeForecast, float, bool]]) -> RangesOfWeek:
    """Count how ranges held, from each with its move and whether the backtest made it."""
    width = sum(within.width_90 for within, _, _ in cases) / len(cases)
    return RangesOfWeek(
        moves=len(cases),
        held_50=sum(within.holds_50(move) for within, move, _ in cases),
        held_90=sum(within.holds_90(move) for within, move, _ in cases),
        mean_width_90_percent=rounded(width, 3),
        largest_move_percent=rounded(max(abs(move) for _, move, _ in cases), 3),
        of_backtest=sum(warm_up for _, _, warm_up in cases),
    )


def day_of_ranges(connection: Connection, now_ms: int) -> RangeDay | None:
    """Return the ranges of the default asset that came due within the last day; None without any."""
    c = t.predictions.c
    since = and_(c.asset == DEFAULT_ASSET, c.start_ms > now_ms - 2 * DAY_MS, c.start_ms <= now_ms)
    query = select(t.predictions).where(since, c.ranges.is_not(None)).order_by(c.start_ms)

    rows = values_in(connection, PredictionMade, query)
    hours = [
        (prediction, due)
        for prediction in rows
        if prediction.start_ms + HOUR_MS > now_ms - DAY_MS and (due := _due(prediction, HOUR)) is not None
    ]
    days = [(prediction, due) for prediction in rows if (due := _due(prediction, DAY)) is not None]
    if not hours and not days:
        return None

    held = sum(forecast.holds_90(outcome.move or 0.0) for _, (forecast, outcome) in hours)
    counted = RangeDay(None, 0.0, 0.0, 0.0, len(hours), held, any(prediction.warm_up for prediction, _ in hours))
    if not days:
        return counted
    prediction, (forecast, outcome) = days[-1]
    start = prediction.start_price or 0.0
    return counted._replace(
        due_ms=prediction.start_ms + DAY_MS,
        low=start * (1 + forecast.low_90 / 100),
        high=start * (1 + forecast.high_90 / 100),
        price=outcome.end_price or 0.0,
        warm_up=counted.warm_up or prediction.warm_up,
    )


def _due(prediction: PredictionMade, horizon: str) -> tuple[RangeForecast, Move] | None:
    """Return a range and the move that it was about; None where either is not known."""
    forecast = (prediction.ranges or {}).get(horizon)
    outcome = prediction.moves.get(horizon)
    if forecast is None or outcome is None or outcome.move is None:
        return None
    return forecast, outcome


def lead_days(connection: Connection) -> tuple[LeadDay, ...]:
    """Count by UTC day the live hourly forecasts in which a side led, and which side came; days without are left out.

    Only of today's kind of chances: what another kind earned says nothing of this one.

    Chances are compared as the whole ten-thousandths that they are published in.
    """
    c = t.predictions.c
    lead = func.round((c.p_up - c.p_down) * PER_CHANCE)
    up_leads = and_(c.p_up > c.p_neutral, lead >= LEAST_LEAD)
    down_leads = and_(c.p_down > c.p_neutral, lead <= -LEAST_LEAD)

    rose = case((c.outcome == str(Prediction.BULLISH), 1), (c.outcome == str(Prediction.BEARISH), -1), else_=0)
    query = (
        select(func.count(c.id), func.sum(case((up_leads, rose), else_=-rose)))
        .where(c.warm_up.is_(False), c.outcome.is_not(None), c.chances_kind == KIND, or_(up_leads, down_leads))
        .group_by(c.start_ms // DAY_MS)
        .order_by(c.start_ms // DAY_MS)
    )
    return tuple(LeadDay(int(cases), int(balance)) for cases, balance in connection.execute(query))
