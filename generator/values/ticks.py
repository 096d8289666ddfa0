"""Ticks of the last 24 hours."""

from dataclasses import dataclass

from generator.values.published import PUBLISHED


@dataclass(frozen=True, slots=True)
class TicksBlock:
    """Ticks of the last 24 hours, this one not counted."""

    __pydantic_config__ = PUBLISHED

    published_24h: int
    """Ticks published."""
    failed_24h: int
    """Ticks failed."""
    missed_24h: int
    """Full minutes since the first tick in which none began."""
