"""Kinds of log entries: what became of a sealed forecast, of which game, and what the log says of itself."""

from collections.abc import Mapping
from typing import Any, Final

STEPS: Final = ("sealed", "started", "judged", "void")
"""What becomes of whatever a game seals; `game` in an entry names the game."""
RESEALED: Final = "resealed"
"""Of rounds alone: sealed a second time, when votes are about to close."""
OF_THE_LOG: Final = ("log.opened", "log.key", "clock.stepped", "scores")
"""Of no game."""
WRITTEN: Final = (*STEPS, RESEALED, *OF_THE_LOG)

# Programs before 0.2.0 wrote game and step as one kind, and named some steps otherwise: a log keeps them for good.
EARLIER: Final[Mapping[str, str]] = {
    "round.locked": "round.started",
    "round.resolved": "round.judged",
    "predictions.made": "predictions.sealed",
    "ladder.made": "ladder.sealed",
    "ladders.revealed": "ladder.judged",
    "daily.asked": "daily.sealed",
    "daily.closed": "daily.started",
    "daily.measured": "daily.judged",
}


def step_of(entry: Mapping[str, Any]) -> str:
    """Return game and step of an entry of any version, or the kind of one that is of no game.

    >>> step_of({"kind": "started", "game": "round"}), step_of({"kind": "round.locked"}), step_of({"kind": "scores"})
    ('round.started', 'round.started', 'scores')
    """
    kind = str(entry["kind"])
    if "game" in entry:
        return f"{entry['game']}.{kind}"
    return EARLIER.get(kind, kind)


def kind_and_game(step: str) -> dict[str, str]:
    """Return the fields of an entry that name its step.

    >>> kind_and_game("round.started"), kind_and_game("log.key")
    ({'kind': 'started', 'game': 'round'}, {'kind': 'log.key'})
    """
    if step in OF_THE_LOG:
        return {"kind": step}
    game, _, kind = step.rpartition(".")
    return {"kind": kind, "game": game}
