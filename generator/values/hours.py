"""Hours: the market as published, predictions made before them, and how far prices moved.

Times are wall UTC ms; probabilities 0..1; unknown is None.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from generator.catalog.words import Call, Prediction
from generator.values.chances import MoveChance
from generator.values.ranges import RangeForecast
from generator.values.rounds import move_chance


@dataclass(frozen=True, slots=True)
class Hour:
    """The market as published first in an hour, or as a backtest read it at its beginning (`warm_up`).

    `chances` are those of the four regimes in the order of the bodies, None where none was known; `chances_kind` is
    what they are the chances of, None without any and where the hour was kept before kinds existed. `situation` is what
    the headline is about, None where it is unknown, of a backtest, and of an hour kept before it was.
    """

    at_ms: int
    market_ms: int
    label: str
    chances: tuple[float, ...] | None
    headline: str
    prices: Mapping[str, float]  # by asset; unknown ones are left out
    warm_up: bool = False
    chances_kind: str | None = None
    situation: str | None = None


@dataclass(frozen=True, slots=True)
class Move:
    """How far an asset moved over one horizon, from the hour's start price; in percent, as published (4 decimals)."""

    end_price: float | None = None
    move: float | None = None
    void_reason: str | None = None


@dataclass(frozen=True, slots=True)
class PredictionMade:
    """One hourly prediction, stored before its horizon starts."""

    asset: str
    start_ms: int
    end_ms: int
    probabilities: tuple[float, float, float]
    base_rate: tuple[float, float, float]
    prediction: Prediction
    band_bps: float
    start_price: float | None = None
    end_price: float | None = None
    outcome: Prediction | None = None
    void_reason: str | None = None
    warm_up: bool = False
    made_ms: int | None = None  # the tick that stored it, before `start_ms`
    change_bps: float | None = None
    previous: Prediction | None = None  # the asset's last hourly outcome known at `made_ms` (persistence)
    ranges: Mapping[str, RangeForecast] | None = None  # by horizon, from the same start price
    moves: Mapping[str, Move] = field(default_factory=dict)  # of the horizons that ended
    call: Call | None = None  # None where it was stored before calls existed
    chances_kind: str | None = None  # how its chances were made; None where it was stored before kinds existed

    @property
    def move(self) -> MoveChance | None:
        """The stored chance of a move beyond the band."""
        return move_chance(self.probabilities, self.base_rate)


class RangeDay(NamedTuple):
    """The ranges of the default asset that came due within the last day."""

    due_ms: int | None  # wall time for which one was given a day before; None where none came due
    low: float  # its ends, nine times in ten, as prices
    high: float
    price: float  # what came then
    hours: int  # ranges for an hour that ended within the day up to now
    held: int  # how many of them held
    warm_up: bool  # any of them made by the backtest
