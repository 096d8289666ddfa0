"""What was published hour by hour and every five minutes, as it is kept for the series of ATLAS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from generator.catalog.durations import HOUR_MS, MINUTE_MS
from generator.catalog.words import MarketSide, VolatilityWord


class KeptWords(NamedTuple):
    """The two words of the market at one moment; None where they were not known."""

    trend: MarketSide | None
    volatility: VolatilityWord | None


class KeptRange(NamedTuple):
    """One asset's 90% range over the hour that begins then, percent, and whether it held what came."""

    low_90: float
    high_90: float
    held: bool | None  # None while the move is not known, and where the hour was void


@dataclass(frozen=True, slots=True)
class KeptSpans:
    """What was seen in the first tick of each span, by the wall time at which the span begins."""

    step_ms: int
    venues: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)  # by asset, as `of_venues` has it
    words: Mapping[int, KeptWords] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class KeptSeries:
    """What the memory holds for the series; nothing of a backtest. Two are equal only if they are one."""

    hours: KeptSpans = field(default_factory=lambda: KeptSpans(HOUR_MS))
    bars: KeptSpans = field(default_factory=lambda: KeptSpans(5 * MINUTE_MS))
    ranges: Mapping[str, Mapping[int, KeptRange]] = field(default_factory=dict)  # by asset and start of the hour
