"""One tick of the Arena as a pure function: what the memory holds and what the tick brings in, what changes out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from generator.arena.games import GAMES, HOURS, ROUNDS
from generator.arena.hourly import HoursPlayed
from generator.arena.inputs import PlayInputs
from generator.arena.life import event_of, regime_event, state_event
from generator.arena.rounds import RoundsPlayed
from generator.arena.state import KnownState
from generator.arena.teacher import RoundChange
from generator.values.rounds import Event


@dataclass(frozen=True, slots=True)
class PlayState:
    """What the memory holds before the tick."""

    games: Mapping[str, Any] = field(default_factory=lambda: {game.kind: game.nothing for game in GAMES})
    last_regime: str | None = None  # label of the tick before
    last_state: KnownState = field(default_factory=KnownState)
    published_ms: int | None = None  # wall time of the last published tick; None: this play is not published


class PlayResult(NamedTuple):
    """What the tick changes."""

    games: Mapping[str, Any]  # by kind, what each of GAMES gave
    events: tuple[Event, ...]

    @property
    def rounds(self) -> RoundsPlayed:
        """What it changes of rounds."""
        played: RoundsPlayed = self.games[ROUNDS]
        return played

    @property
    def hours(self) -> HoursPlayed:
        """What it changes of hourly predictions."""
        played: HoursPlayed = self.games[HOURS]
        return played


def play(state: PlayState, inputs: PlayInputs) -> PlayResult:
    """Move every game on by one tick. The same tick again changes nothing."""
    games: dict[str, Any] = {}
    for game in GAMES:
        others = [games[kind] for kind in game.reads]
        games[game.kind] = game.play(state.games[game.kind], inputs, state.published_ms, *others)

    rounds: RoundsPlayed = games[ROUNDS]
    return PlayResult(games, _events(state, inputs, rounds.changes))


def _events(state: PlayState, inputs: PlayInputs, changed: Sequence[RoundChange]) -> tuple[Event, ...]:
    # A round that is only sealed again is where it was.
    came = [after for before, after in changed if before is None or before.phase is not after.phase or before.warm_up]
    events = [event_of(after, inputs.now_ms) for after in came]

    if inputs.regime is not None:
        label = inputs.regime.label
        if state.last_regime is not None and label != state.last_regime:
            events.append(regime_event(state.last_regime, label, inputs.now_ms))

        # Of two events of one tick the last is listed first: the axes lead.
        known = state.last_state.followed_by(inputs.regime.volatility, inputs.regime.side)
        if state.last_state.is_known and known != state.last_state:
            events.append(state_event(state.last_state, known, inputs.now_ms))

    return tuple(event for event in events if event is not None)
