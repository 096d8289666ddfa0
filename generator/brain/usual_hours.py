"""What the kept month says of prices without any model: usual moves by hour of the day, and how pairs move together."""

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Final, NamedTuple, Self

import numpy as np

from generator.brain.part import Times
from generator.brain.smoothing import Flags
from generator.catalog.durations import DAY_MS, HOUR_MS
from generator.market.bars import BAR_MS, BarFrame, FloatArray
from generator.values.scores import Z_95

HOURS: Final = 24
FEWEST_DAYS: Final = 10
"""Days from which on a figure is given."""
SURE: Final = 3.0  # standard errors: there are twenty-one pairs, and one of them must not lead by luck


@dataclass(frozen=True, slots=True)
class UsualHour:
    """How far the price of an asset moved in one hour of the day, of those kept; fractions, None of too few days."""

    days: int
    median: float | None  # of the size of the move
    low: float | None  # of the 95% interval of the median
    high: float | None


@dataclass(frozen=True, slots=True)
class Pair:
    """How two assets moved together over the kept month; None of too few days."""

    first: str
    second: str
    days: int
    correlation: float | None  # of hourly moves
    low: float | None  # of its 95% interval, by leaving days out
    high: float | None
    leader: str | None  # whose 5-minute moves come first, where that is sure
    ahead: float | None  # correlation of the leader's move with the other's next one


def usual_hours(frame: BarFrame, now_ms: int) -> dict[str, list[UsualHour]]:
    """Return the hours of the next day from the next full hour on, by asset.

    Args:
        frame: 5-minute bars of the kept month.
        now_ms: market time.
    """
    return _usual_hours(frame, now_ms // HOUR_MS + 1)


@lru_cache(maxsize=1)  # five ticks in six have the bars of the one before
def _usual_hours(frame: BarFrame, first: int) -> dict[str, list[UsualHour]]:
    hours, moves = hourly_moves(frame)
    of_day = hours % HOURS
    sizes = np.abs(np.expm1(moves))
    return {
        asset: [_usual(sizes[of_day == (first + place) % HOURS, column]) for place in range(HOURS)]
        for column, asset in enumerate(frame.assets)
    }


def hourly_moves(frame: BarFrame) -> tuple[Times, FloatArray]:
    """Return the hours (number since 1970) that have both their ends, and the log moves in them, (n, assets)."""
    closes_ms = frame.t + BAR_MS
    at = np.flatnonzero(closes_ms % HOUR_MS == 0)
    ends = closes_ms[at] // HOUR_MS
    close = np.log(frame.fields["close"][at])
    has_start = np.diff(ends) == 1
    return ends[1:][has_start] - 1, np.diff(close, axis=0)[has_start]


def _usual(sizes: FloatArray) -> UsualHour:
    """Return the median of some sizes with the interval that order statistics give."""
    in_order = np.sort(sizes[np.isfinite(sizes)])
    days = len(in_order)
    if days < FEWEST_DAYS:
        return UsualHour(days, None, None, None)
    reach = Z_95 * math.sqrt(days) / 2.0
    low = max(0, math.floor(days / 2.0 - reach))
    high = min(days - 1, math.ceil(days / 2.0 + reach))
    return UsualHour(days, float(np.median(in_order)), float(in_order[low]), float(in_order[high]))


@lru_cache(maxsize=1)  # likewise
def pairs(frame: BarFrame) -> list[Pair]:
    """Return every pair of assets, from 5-minute bars of the kept month."""
    hours, hourly = hourly_moves(frame)
    day_of_hour = hours * HOUR_MS // DAY_MS
    close = np.log(frame.fields["close"])
    joined = np.diff(frame.t, prepend=frame.t[:1]) == BAR_MS
    returns = np.where(joined[:, None], np.diff(close, axis=0, prepend=np.nan), np.nan)
    series = [_Returns.of(column) for column in returns.T]
    _, place = np.unique(frame.t[1:] // DAY_MS, return_inverse=True)

    found = []
    for first, second in combinations(range(len(frame.assets)), 2):
        correlation, low, high, days = _correlation(hourly[:, first], hourly[:, second], day_of_hour)
        leader, ahead = _leader(series[first], series[second], place)
        names = (frame.assets[first], frame.assets[second])
        is_given = correlation is not None and leader is not None
        found.append(
            Pair(
                *names,
                days=days,
                correlation=correlation,
                low=low,
                high=high,
                leader=names[leader] if is_given and leader is not None else None,
                ahead=ahead if is_given else None,
            )
        )
    return found


class _Returns(NamedTuple):
    """The 5-minute moves of one asset, which each of its pairs looks at."""

    moves: FloatArray
    known: Flags
    spread: float  # standard deviation, 0.0 where nothing is known

    @classmethod
    def of(cls, moves: FloatArray) -> Self:
        """Look at the moves once, NaN where there is none."""
        known = np.isfinite(moves)
        return cls(moves, known, float(np.nanstd(moves)) if known.any() else 0.0)


def _correlation(
    first: FloatArray, second: FloatArray, day: Times
) -> tuple[float | None, float | None, float | None, int]:
    """Return the correlation of two series with its 95% interval by leaving days out, and how many days it is of."""
    known = np.isfinite(first) & np.isfinite(second)
    _, place = np.unique(day[known], return_inverse=True)
    a = first[known]
    b = second[known]
    days = int(place.max()) + 1 if len(place) else 0
    if days < FEWEST_DAYS or not a.std() or not b.std():
        return None, None, None, days

    ones = np.ones_like(a)
    by_day = np.array([np.bincount(place, part) for part in (ones, a, b, a * a, b * b, a * b)])
    total = by_day.sum(axis=1, keepdims=True)
    whole = float(_from_sums(total)[0])
    without = _from_sums(total - by_day)
    error = math.sqrt((days - 1) / days * float(((without - without.mean()) ** 2).sum()))
    low = max(-1.0, whole - Z_95 * error)
    high = min(1.0, whole + Z_95 * error)
    return whole, low, high, days


def _from_sums(sums: FloatArray) -> FloatArray:
    """Return correlations from counts and sums of x, y, xx, yy and xy, (6, k).

    >>> _from_sums(np.array([[3.0], [6.0], [9.0], [14.0], [29.0], [20.0]])).round(3).tolist()  # 1 2 3 and 2 3 4
    [1.0]
    """
    n, x, y, xx, yy, xy = sums
    out: FloatArray = (n * xy - x * y) / np.sqrt((n * xx - x * x) * (n * yy - y * y))
    return out


def _leader(first: _Returns, second: _Returns, day: Times) -> tuple[int | None, float | None]:
    """Return whether the first, 0, or the second, 1, moves ahead, and its correlation with the other's next move.

    None where neither is sure to, by how the days differ. `day` numbers those of all bars but the first.
    """
    known = first.known & second.known
    follows = known[1:] & known[:-1]
    scale = first.spread * second.spread if known.any() else 0.0
    if not scale:
        return None, None

    ahead = np.where(follows, first.moves[:-1] * second.moves[1:], 0.0) / scale
    behind = np.where(follows, second.moves[:-1] * first.moves[1:], 0.0) / scale
    cases = np.bincount(day, follows.astype(np.float64))
    has_cases = cases > 0
    by_day = np.bincount(day, ahead - behind)[has_cases] / cases[has_cases]
    if len(by_day) < FEWEST_DAYS:
        return None, None
    error = float(by_day.std(ddof=1)) / math.sqrt(len(by_day))
    lead = float(by_day.mean())
    if abs(lead) <= SURE * error:
        return None, None

    count = float(follows.sum())
    return (0, float(ahead.sum()) / count) if lead > 0.0 else (1, float(behind.sum()) / count)
