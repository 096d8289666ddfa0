"""One tick of the rounds: those under way moved on, the next one opened, votes locked and lessons drawn."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Final, NamedTuple

from generator.arena.closing import closed, sealed_again
from generator.arena.hourly import HoursPlayed
from generator.arena.inputs import PlayInputs
from generator.arena.lessons import lesson_of
from generator.arena.life import advance, open_round, schedule_round, void
from generator.arena.sealed import Life
from generator.arena.tally import simulated_tally
from generator.arena.teacher import RoundChange
from generator.arena.timetable import Slot, Timetable, revise
from generator.catalog.durations import HOUR_MS, MINUTE_MS
from generator.catalog.text.lessons import HoursOnRecord
from generator.catalog.words import Concept, Prediction, RoundPhase
from generator.values.hours import PredictionMade
from generator.values.rounds import Lesson, Round
from generator.values.votes import Tally

LastOutcome = Callable[[str], Prediction | None]  # of an asset


@dataclass(frozen=True, slots=True)
class RoundState:
    """What the memory holds of rounds before a tick."""

    timetable: Timetable | None = None  # None before the very first tick
    last_start_ms: int | None = None  # latest start of any stored round
    taken: frozenset[int] = frozenset()  # starts of stored rounds that lie in the future
    active: tuple[Round, ...] = ()  # rounds scheduled, open or live
    # real and simulated: counted ballots by round: of open rounds so far, of live rounds as locked
    real: Mapping[str, Tally] = field(default_factory=dict)
    simulated: Mapping[str, Tally] = field(default_factory=dict)
    last_outcome: LastOutcome = lambda _asset: None  # the last outcome known of an asset
    concepts: tuple[Concept, ...] = ()  # ideas of earlier lessons, each once, that of the newest first


class Lock(NamedTuple):
    """The votes of a round at its close."""

    round_id: str
    real: Tally
    simulated: Tally


class RoundsPlayed(NamedTuple):
    """What a tick changes of rounds."""

    timetable: Timetable
    changes: tuple[RoundChange, ...]
    lessons: tuple[Lesson, ...]
    locks: tuple[Lock, ...]


def play_rounds(state: RoundState, inputs: PlayInputs, published_ms: int | None, hours: HoursPlayed) -> RoundsPlayed:
    """Move every round on by one tick, and open the next one. The same tick again changes nothing.

    Args:
        state: what is stored of them.
        inputs: of the tick.
        published_ms: wall time of the last release; None where nothing is published.
        hours: what the same tick made of the hourly predictions: a lesson compares a round with the other assets.
    """
    timetable = revise(state.timetable, inputs.config.round_minutes, inputs.now_ms, state.last_start_ms)

    active = sorted(state.active, key=lambda item: item.start_ms)
    moved: list[RoundChange] = [(item, _moved(item, inputs, published_ms)) for item in active]
    resolved = [after for _, after in moved if after.phase is RoundPhase.RESOLVED]
    lessons = _lessons(state, inputs, resolved, hours.looked_at)

    opened = _open_rounds(state, inputs, timetable, moved)
    sealed = [(before, sealed_again(after, inputs)) for before, after in opened]
    changes = tuple((before, after) for before, after in sealed if before != after)
    return RoundsPlayed(timetable, changes, lessons, _locks(state, inputs, changes))


def _lessons(
    state: RoundState, inputs: PlayInputs, resolved: Sequence[Round], hourly: Sequence[PredictionMade]
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

        # The idea that was just explained is the last to come again.
        if lesson.concept is not None:
            used = [lesson.concept, *(concept for concept in used if concept is not lesson.concept)]

    return tuple(lessons)


def _moves_of_others(played: Round, hourly: Sequence[PredictionMade]) -> tuple[float, ...]:
    """Return how the other assets moved over the hour of a round, where this tick knows it."""
    span = (played.start_ms, played.end_ms)
    return tuple(
        prediction.change_bps
        for prediction in hourly
        if prediction.asset != played.asset
        and (prediction.start_ms, prediction.end_ms) == span
        and prediction.change_bps is not None
    )


def _hours_before(played: Round, inputs: PlayInputs) -> HoursOnRecord | None:
    """Return how a round's move compares with the hours before it; None for one of another length."""
    if played.end_ms - played.start_ms != HOUR_MS or played.change_bps is None:
        return None
    return inputs.hours_before(played.asset, played.start_ms, played.change_bps / 10_000)


def _advance(item: Round, inputs: PlayInputs) -> Round:
    return advance(item, inputs.now_ms, inputs.prices, inputs.venues_needed, inputs.price_basis)


def _moved(item: Round, inputs: PlayInputs, published_ms: int | None) -> Round:
    after = LIFE.moved(item, inputs, published_ms)
    has_begun = item.phase is RoundPhase.OPEN and after.phase is RoundPhase.LIVE
    return closed(after, inputs, published_ms) if has_begun else after


def _opens_ms(item: Round) -> int | None:
    return item.start_ms if item.phase is RoundPhase.OPEN and not item.warm_up else None


LIFE: Final[Life[Round]] = Life(attrgetter("opens_ms"), _opens_ms, _advance, void)


def _open_rounds(
    state: RoundState, inputs: PlayInputs, timetable: Timetable, moved: list[RoundChange]
) -> list[RoundChange]:
    """Schedule the next slot's round if it is new, and open what is scheduled as soon as the brain has a forecast.

    What resolves in this tick is the last outcome of what opens in it.
    """
    resolved = {after.asset: after.outcome for _, after in moved if after.outcome is not None}

    def last(asset: str) -> Prediction | None:
        return resolved.get(asset) or state.last_outcome(asset)

    slot = timetable.next_slot(inputs.now_ms)
    opened = list(moved)
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
    forecast = inputs.sound_forecast(item.asset, minutes)
    if forecast is None:
        return item

    return open_round(
        item,
        forecast,
        inputs.now_ms,
        salt=inputs.salt(),
        regime_mode=inputs.regime.mode if inputs.regime else None,
        previous=last(item.asset),
        simulated_crowd=inputs.config.simulated_crowd,
    )


def _locks(state: RoundState, inputs: PlayInputs, changed: Sequence[RoundChange]) -> tuple[Lock, ...]:
    locks = []
    for _, after in changed:
        if after.phase is not RoundPhase.LIVE:
            continue
        real = state.real.get(after.round_id, Tally())
        simulated = simulated_tally(inputs.config.seed, after.round_id) if after.simulated_crowd else Tally()
        locks.append(Lock(after.round_id, real, simulated))
    return tuple(locks)
