"""One tick of the Arena as a pure function: what the memory holds and what the tick brings in, what changes out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from operator import attrgetter
from typing import Any, Final, NamedTuple

from generator.arena.games import GAMES
from generator.arena.hourly import HORIZON_MINUTES, judge, predict, upcoming_hour, void_unresolved
from generator.arena.inputs import PlayInputs
from generator.arena.lessons import lesson_of
from generator.arena.life import (
    advance,
    event_of,
    open_round,
    regime_event,
    schedule_round,
    state_event,
    void,
)
from generator.arena.sealed import Life
from generator.arena.state import KnownState
from generator.arena.tally import simulated_tally
from generator.arena.teacher import PredictionChange, RoundChange
from generator.arena.timetable import Slot, Timetable, revise
from generator.brain.forecast import Forecast
from generator.catalog.assets import ASSETS
from generator.catalog.durations import HOUR_MS, MINUTE_MS
from generator.catalog.text.lessons import HoursOnRecord
from generator.catalog.words import Concept, Prediction, RoundPhase
from generator.values.hours import PredictionMade
from generator.values.rounds import Event, Lesson, Round
from generator.values.votes import Tally

LastOutcome = Callable[[str, str], Prediction | None]  # (kind: arena | hourly, asset)


@dataclass(frozen=True, slots=True)
class PlayState:
    """What the memory holds before the tick."""

    timetable: Timetable | None = None  # None before the very first tick
    last_start_ms: int | None = None  # latest start of any stored round
    taken: frozenset[int] = frozenset()  # starts of stored rounds that lie in the future
    active: tuple[Round, ...] = ()  # rounds scheduled, open or live
    # hourly predictions without an outcome, or with a horizon of theirs that has ended by now
    pending: tuple[PredictionMade, ...] = ()
    # (asset, start) of hourly predictions that must not be made again although their start lies in the future:
    # the clock went back after their hour had begun
    begun: frozenset[tuple[str, int]] = frozenset()
    # real and simulated: counted ballots by round: of open rounds so far, of live rounds as locked
    real: Mapping[str, Tally] = field(default_factory=dict)
    simulated: Mapping[str, Tally] = field(default_factory=dict)
    last_outcome: LastOutcome = lambda _kind, _asset: None  # the last outcome known by kind and asset
    last_regime: str | None = None  # label of the tick before
    last_state: KnownState = field(default_factory=KnownState)
    concepts: tuple[Concept, ...] = ()  # ideas of earlier lessons, each once, that of the newest first
    games: Mapping[str, Any] = field(default_factory=lambda: {game.kind: game.nothing for game in GAMES})
    published_ms: int | None = None  # wall time of the last published tick; None: this play is not published


class Lock(NamedTuple):
    """The votes of a round at its close."""

    round_id: str
    real: Tally
    simulated: Tally


class PlayResult(NamedTuple):
    """What the tick changes."""

    timetable: Timetable
    rounds: tuple[RoundChange, ...]
    predictions: tuple[PredictionChange, ...]
    lessons: tuple[Lesson, ...]
    locks: tuple[Lock, ...]
    events: tuple[Event, ...]
    games: Mapping[str, Any]  # by kind, what each of GAMES gave


def play(state: PlayState, inputs: PlayInputs) -> PlayResult:
    """Move every round, prediction and game on by one tick. The same tick again changes nothing."""
    timetable = revise(state.timetable, inputs.config.round_minutes, inputs.now_ms, state.last_start_ms)
    judged = [(made, HOURS.moved(made, inputs, state.published_ms)) for made in state.pending]

    active = sorted(state.active, key=lambda item: item.start_ms)
    rounds: list[RoundChange] = [(item, ROUNDS.moved(item, inputs, state.published_ms)) for item in active]
    resolved = [after for _, after in rounds if after.phase is RoundPhase.RESOLVED]
    lessons = _lessons(state, inputs, resolved, [after for _, after in judged])

    # What resolves in this tick is the last outcome of what opens in it.
    last = _last_outcomes(state, [after for _, after in rounds], [after for _, after in judged])
    rounds = _open_rounds(state, inputs, timetable, rounds, last)
    changed = tuple((before, after) for before, after in rounds if before != after)

    return PlayResult(
        timetable=timetable,
        rounds=changed,
        predictions=_predictions(inputs, judged, state.begun, last),
        lessons=lessons,
        locks=_locks(state, inputs, changed),
        events=_events(state, inputs, changed),
        games={game.kind: game.play(state.games[game.kind], inputs, state.published_ms) for game in GAMES},
    )


def _lessons(
    state: PlayState, inputs: PlayInputs, resolved: Sequence[Round], hourly: Sequence[PredictionMade]
) -> tuple[Lesson, ...]:
    """Draw the lessons of the rounds that were resolved in this tick; their ideas take turns."""
    used = list(state.concepts)
    lessons = []
    for played in resolved:
        lesson = lesson_of(
            played,
            state.real.get(played.round_id, Tally()),
            inputs.now_ms,
            simulated=state.simulated.get(played.round_id, Tally()),
            others=_moves_of_others(played, hourly),
            record=_hours_before(played, inputs),
            used=used,
        )
        lessons.append(lesson)
        if lesson.concept is not None:
            used = [lesson.concept, *(concept for concept in used if concept is not lesson.concept)]
    return tuple(lessons)


def _moves_of_others(played: Round, hourly: Sequence[PredictionMade]) -> tuple[float, ...]:
    """Return how the other assets moved over the hour of a round, where this tick knows it."""
    span = (played.start_ms, played.end_ms)
    return tuple(
        made.change_bps
        for made in hourly
        if made.asset != played.asset and (made.start_ms, made.end_ms) == span and made.change_bps is not None
    )


def _hours_before(played: Round, inputs: PlayInputs) -> HoursOnRecord | None:
    """Return how a round's move compares with the hours before it; None for one of another length."""
    if played.end_ms - played.start_ms != HOUR_MS or played.change_bps is None:
        return None
    return inputs.hours_before(played.asset, played.start_ms, played.change_bps / 10_000)


def _last_outcomes(state: PlayState, rounds: list[Round], predictions: list[PredictionMade]) -> LastOutcome:
    """Return how to find the last outcome known by kind and asset, this tick's included."""
    new = {
        (kind, item.asset): item.outcome
        for kind, judged in (("arena", rounds), ("hourly", predictions))
        for item in judged
        if item.outcome is not None
    }
    return lambda kind, asset: new.get((kind, asset)) or state.last_outcome(kind, asset)


def _judge_hour(made: PredictionMade, inputs: PlayInputs) -> PredictionMade:
    return judge(made, inputs.now_ms, inputs.prices, inputs.venues_needed)


def _hour_opens_ms(made: PredictionMade) -> int | None:
    return made.start_ms if made.start_price is None and not made.warm_up else None


def _advance_round(item: Round, inputs: PlayInputs) -> Round:
    return advance(item, inputs.now_ms, inputs.prices, inputs.venues_needed, inputs.price_basis)


def _round_opens_ms(item: Round) -> int | None:
    return item.start_ms if item.phase is RoundPhase.OPEN and not item.warm_up else None


HOURS: Final[Life[PredictionMade]] = Life(attrgetter("made_ms"), _hour_opens_ms, _judge_hour, void_unresolved)
ROUNDS: Final[Life[Round]] = Life(attrgetter("opens_ms"), _round_opens_ms, _advance_round, void)


def _open_rounds(
    state: PlayState, inputs: PlayInputs, timetable: Timetable, rounds: list[RoundChange], last: LastOutcome
) -> list[RoundChange]:
    """Schedule the next slot's round if it is new, and open what is scheduled as soon as the brain has a forecast."""
    slot = timetable.next_slot(inputs.now_ms)
    opened = list(rounds)
    if slot.start_ms not in state.taken:
        fresh = schedule_round(slot, inputs.config.assets, opens_ms=inputs.now_ms, warm_up=inputs.warm_up)
        opened.append((None, fresh))
    return [(before, _try_open(_reopened(after, inputs), inputs, last)) for before, after in opened]


def _reopened(item: Round, inputs: PlayInputs) -> Round:
    """Withdraw what a backtest sealed of a round that is still to come: it opens again, live, in this tick."""
    to_come = item.phase in {RoundPhase.SCHEDULED, RoundPhase.OPEN} and inputs.now_ms < item.start_ms
    if inputs.warm_up or not item.warm_up or not to_come:
        return item
    slot = Slot(item.start_ms, item.end_ms)
    return schedule_round(slot, (item.asset,), opens_ms=inputs.now_ms, warm_up=False)


def _try_open(item: Round, inputs: PlayInputs, last: LastOutcome) -> Round:
    if item.phase is not RoundPhase.SCHEDULED:
        return item

    minutes = (item.end_ms - item.start_ms) // MINUTE_MS
    forecast = sound(inputs.forecast(item.asset, minutes))
    if forecast is None:
        return item

    return open_round(
        item,
        forecast,
        inputs.now_ms,
        salt=inputs.salt(),
        regime_mode=inputs.regime.mode if inputs.regime else None,
        previous=last("arena", item.asset),
        simulated_crowd=inputs.config.simulated_crowd,
    )


def sound(forecast: Forecast | None) -> Forecast | None:
    """Return a forecast whose numbers can be published; anything else counts as no forecast."""
    if forecast is None:
        return None
    chances = forecast.probabilities
    base = forecast.base_rate
    numbers = (chances.down, chances.neutral, chances.up, base.down, base.neutral, base.up, forecast.band_bps)
    publishable = all(isfinite(number) and number >= 0 for number in numbers) and forecast.band_bps > 0
    return forecast if publishable else None


def _predictions(
    inputs: PlayInputs,
    judged: list[tuple[PredictionMade, PredictionMade]],
    begun: frozenset[tuple[str, int]],
    last: LastOutcome,
) -> tuple[PredictionChange, ...]:
    changes: list[PredictionChange] = [(before, after) for before, after in judged if before != after]
    hour = upcoming_hour(inputs.now_ms)
    if hour is None:
        return tuple(changes)

    earlier = {before.asset: before for before, _ in judged if before.start_ms == hour}
    for asset in ASSETS:
        forecast = sound(inputs.forecast(asset, HORIZON_MINUTES))
        if forecast is None or (asset, hour) in begun:
            continue
        made = predict(
            forecast,
            hour,
            inputs.now_ms,
            previous=last("hourly", asset),
            ranges=inputs.ranges.get(asset),
            warm_up=inputs.warm_up,
        )
        changes.append((earlier.get(asset), made))

    return tuple((before, after) for before, after in changes if before != after)


def _locks(state: PlayState, inputs: PlayInputs, changed: Sequence[RoundChange]) -> tuple[Lock, ...]:
    locks = []
    for _, after in changed:
        if after.phase is not RoundPhase.LIVE:
            continue
        real = state.real.get(after.round_id, Tally())
        simulated = simulated_tally(inputs.config.seed, after.round_id) if after.simulated_crowd else Tally()
        locks.append(Lock(after.round_id, real, simulated))
    return tuple(locks)


def _events(state: PlayState, inputs: PlayInputs, changed: Sequence[RoundChange]) -> tuple[Event, ...]:
    events = [event_of(after, inputs.now_ms) for _, after in changed]

    if inputs.regime is not None:
        label = inputs.regime.label
        if state.last_regime is not None and label != state.last_regime:
            events.append(regime_event(state.last_regime, label, inputs.now_ms))

        # Of two events of one tick the last is listed first: the axes lead.
        known = state.last_state.followed_by(inputs.regime.volatility, inputs.regime.side)
        if state.last_state.is_known and known != state.last_state:
            events.append(state_event(state.last_state, known, inputs.now_ms))

    return tuple(event for event in events if event is not None)
