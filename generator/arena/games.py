"""The games that a tick plays besides rounds and hours: a new sealed game is a row of SEALED, and nothing else."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from generator.arena import holds
from generator.arena.daily import DailyState, play_daily
from generator.arena.inputs import PlayInputs
from generator.arena.ladders.play import LadderState, play_ladders
from generator.arena.sealed import Sealed, SealedState

SEALED: Final[tuple[Sealed, ...]] = (holds.GAME,)
"""Games of one life and one store: what they seal are claims."""


class Game(NamedTuple):
    """A game as a tick plays it: what the memory holds of it goes in, what changes comes out."""

    kind: str
    nothing: Any
    """What goes in where nothing is stored."""
    play: Callable[[Any, PlayInputs, int | None], Any]
    """Takes the wall time of the last release too, None where nothing is published."""


GAMES: Final = (
    Game("ladders", LadderState(), play_ladders),
    Game("daily", DailyState(), play_daily),
    *(Game(game.kind, SealedState(), game.play) for game in SEALED),
)
"""In the order in which the log has their entries of one tick."""
