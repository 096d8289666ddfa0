"""The games of a tick, over which memory and log loop: a new sealed game is a row of SEALED, and nothing else."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from generator.arena import holds, joint
from generator.arena.daily import DailyState, play_daily
from generator.arena.hourly import HourState, play_hours
from generator.arena.ladders.play import LadderState, play_ladders
from generator.arena.rounds import RoundState, play_rounds
from generator.arena.sealed import Sealed, SealedState

ROUNDS: Final = "rounds"
HOURS: Final = "hours"

SEALED: Final[tuple[Sealed, ...]] = (holds.GAME, joint.GAME)
"""Games of one life and one store: what they seal are claims."""


class Game(NamedTuple):
    """A game as a tick plays it: what the memory holds of it goes in, what changes comes out."""

    kind: str
    nothing: Any
    """What goes in where nothing is stored."""
    play: Callable[..., Any]
    """Takes that, the tick's inputs, and the wall time of the last release, None where nothing is published."""
    reads: tuple[str, ...] = ()
    """The games whose results it takes too, which are played before it."""


GAMES: Final = (
    Game(HOURS, HourState(), play_hours),
    Game(ROUNDS, RoundState(), play_rounds, reads=(HOURS,)),
    Game("ladders", LadderState(), play_ladders),
    Game("daily", DailyState(), play_daily),
    *(Game(game.kind, SealedState(), game.play) for game in SEALED),
)
"""In the order in which they are played."""
