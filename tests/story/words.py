"""How figures are written in the report, each in every way that its rounding allows."""

import math
from datetime import UTC, datetime
from typing import Final

HOUR: Final = 3_600_000


def chance(percent: float) -> frozenset[str]:
    """Return how a chance is written."""
    if percent < 1:
        return frozenset({"under 1%"})
    return frozenset({"over 99%"} if percent > 99 else {f"{percent + by:.0f}%" for by in (-0.001, 0.0, 0.001)})


def dollars(value: float) -> frozenset[str]:
    """Return an amount in words, rounded to four digits before that, or at once."""
    return frozenset(_in_words(amount) for amount in (value, float(f"{value:.4g}")))


def _in_words(value: float) -> str:
    if value >= 1e9:
        return f"${value / 1e9:.3g} billion"
    return f"${value / 1e6:.3g} million" if value >= 1e6 else f"${value:,.0f}"


def span(hours: float) -> frozenset[str]:
    """Return how a length of time may be written."""
    if hours < 1:
        return frozenset({counted(round(60 * hours), "minute")})
    if hours < 36:
        return frozenset({counted(math.floor(hours + 0.5), "hour"), counted(round(hours), "hour")})
    return frozenset(f"{days:.1f}".removesuffix(".0") + " days" for days in (hours / 24 - 0.001, hours / 24 + 0.001))


def article(state: str) -> str:
    """Write a state within a sentence."""
    if state.endswith("volatility"):
        return state
    return f"a {state}"


def counted(count: int, unit: str) -> str:
    """Write a count with its unit."""
    return f"{count} {unit}" if count == 1 else f"{count} {unit}s"


def place(number: int) -> str:
    """Write a place by size."""
    if number == 1:
        return "largest"
    teen = 10 <= number % 100 < 20
    ending = "th" if teen else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending} largest"


def clock(at_ms: int) -> str:
    """Write the time of day."""
    return f"{at_ms // HOUR % 24:02d}:{at_ms // 60_000 % 60:02d}"


def with_date(at_ms: int) -> str:
    """Write a time with its day."""
    day = datetime.fromtimestamp(at_ms / 1000, UTC)
    return f"{day.day} {day.strftime('%b %H:%M')}"
