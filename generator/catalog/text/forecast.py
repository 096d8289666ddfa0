"""What is said of a called side."""

from typing import Final

from generator.catalog.words import Call

DRIFTING: Final = "this simulated market, whose record says nothing of real ones"
SIDES: Final = (Call.UP, Call.DOWN)


def drift_note(call: Call | None, *, simulated: bool) -> str:
    """Say where a called side comes from in a simulated market; empty of any other call, and of a real market.

    >>> drift_note(Call.UP, simulated=True)
    'A side is called only in this simulated market, whose record says nothing of real ones.'
    """
    if not simulated or call not in SIDES:
        return ""
    return f"A side is called only in {DRIFTING}."
