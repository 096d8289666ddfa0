"""Events in words. Nothing of a sealed forecast is told."""

from __future__ import annotations

from typing import Final

from generator.arena.values import Event, Round
from generator.catalog.formats import iso
from generator.catalog.words import RoundPhase

ROUND_OPENED: Final = "round_opened"


def event_of(changed: Round, now_ms: int) -> Event | None:
    """Tell what became of a round in this tick; None while it only waits."""
    name = changed.round_id
    texts = {
        RoundPhase.OPEN: (ROUND_OPENED, f"Round {name} takes votes until {iso(changed.start_ms)}; forecast sealed."),
        RoundPhase.LIVE: ("round_live", f"Round {name} is live; the brain's sealed forecast was {changed.prediction}."),
        RoundPhase.RESOLVED: ("round_resolved", f"Round {name} ended {changed.outcome}."),
        RoundPhase.VOID: ("round_void", f"Round {name} is void: {changed.void_reason}."),
    }
    told = texts.get(changed.phase)
    return None if told is None else Event(now_ms, *told)


def regime_event(before: str, after: str, now_ms: int) -> Event:
    """Tell that the regime's label changed."""
    words = [word.replace("_", " ") for word in (before, after)]
    return Event(now_ms, "regime_changed", f"The market regime changed from {words[0]} to {words[1]}.")
