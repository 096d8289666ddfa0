"""The kept record, hour by hour for up to a year: what is usual of a move, and where now ranks among all that was.

A usual hour, day and week (U1, U24, U7) is the median size of all moves over that time that ended on a full hour. A
rank is the share of the record's hours with a smaller value. Both are of the hours before the bar alone.
"""

from bisect import bisect_left, insort
from typing import ClassVar, Final

import numpy as np
import numpy.typing as npt

from generator.brain.moves import DAY, HOUR, WEEK, Moves
from generator.brain.part import Part, Times, slid
from generator.catalog.durations import HOUR_MS
from generator.market.bars import BAR_MS, FloatArray

HOURS: Final = 365 * 24
HOUR_MOVE, DAY_MOVE, WEEK_MOVE, EXPECTED, REALISED = range(5)
MEASURES: Final = 5
_SPANS: Final = (HOUR, DAY, WEEK)
_FEWEST_HOURS: Final = (14 * 24, 14 * 24, 30 * 24)  # of which a usual hour, day and week is the median
_BOOK_MARKET: Final = (0.0027, 0.015, 0.044)  # before that: medians of the coins' mean, 2022-08 to 2023-09
_BOOK_COIN: Final = (0.0031, 0.016, 0.045)  # likewise, the median over the coins of their own
_LARGEST_HALF: Final = float(np.finfo(np.float16).max)

Half = npt.NDArray[np.float16]


class Record(Part):
    """Moves and volatilities at each full hour; the last column is the market."""

    STATE: ClassVar[tuple[str, ...]] = ("hours", "hour", "usual", "rank", "count")

    def __init__(self, columns: int, bar_ms: int = BAR_MS) -> None:
        """Start empty; bars are so long."""
        super().__init__()
        self._bar_ms = bar_ms
        self.hours = np.full((HOURS, MEASURES, columns), np.nan, dtype=np.float16)  # oldest first
        self.hour = np.full(1, -1.0)  # number of the last, since 1970
        self.usual: FloatArray = np.full((len(_SPANS), columns), np.nan)  # U1, U24, U7 as fractions
        self.rank: FloatArray = np.full(
            (2, columns), np.nan
        )  # of the next four hours' expected volatility, of the day's realised
        self.count: FloatArray = np.zeros((MEASURES, columns))  # hours on record, by measure
        self._sorted: tuple[int, list[list[list[float]]]] = (-1, [])
        self._book = np.full((len(_SPANS), columns), np.array(_BOOK_COIN)[:, None])
        self._book[:, -1] = _BOOK_MARKET

    def update(self, t_ms: Times, moves: Moves, expected: FloatArray) -> None:
        """Take a block of bars that `moves` has taken.

        Args:
            t_ms: open times, (n,).
            expected: sigma of the next four hours of each asset and, last, of the market, NaN where unknown,
                (n, columns).
        """
        closes_ms = t_ms + self._bar_ms
        numbers = closes_ms // HOUR_MS
        full = np.flatnonzero(closes_ms % HOUR_MS == 0)
        if len(full) or numbers[0] != numbers[-1] or numbers[0] != self.hour[0]:
            rows, places = slid(self.hours, int(self.hour[0]), numbers)
        else:
            rows = self.hours
            places = np.full(len(numbers), HOURS - 1)
        sizes = np.abs(moves.moves[list(_SPANS)])
        values = np.concatenate((sizes, [expected, np.sqrt(moves.realised)])).swapaxes(0, 1)
        # Half precision is what is kept: three digits are more than a median or a rank of a year can show.
        rows[places[full]] = in_half(values[full])

        in_order = self._in_order()
        self._follow(rows, places, full, values[:, EXPECTED:], in_order)
        self._windows = {"hours": (rows, places + 1)}
        self.hour = numbers.astype(np.float64)[:, None]
        self._sorted = (int(numbers[-1]), in_order)

    def _in_order(self) -> list[list[list[float]]]:
        """Return the record before the block in order, by column and measure."""
        number, in_order = self._sorted
        if number >= 0 and number == int(self.hour[0]):
            return in_order
        by_column = self.hours.transpose(2, 1, 0).astype(np.float64)
        return [[np.sort(kept[np.isfinite(kept)]).tolist() for kept in measures] for measures in by_column]

    def _follow(
        self, rows: Half, places: Times, full: Times, now: FloatArray, in_order: list[list[list[float]]]
    ) -> None:
        """Rank each bar among the hours before it, and put those in that end with a bar of the block.

        Args:
            rows: of the table, those that leave it first.
            places: of each bar's hour among them, (n,).
            full: bars that end an hour.
            now: expected and realised volatility, (n, 2, columns).
            in_order: the record before the block, changed in place.
        """
        bars, _, columns = now.shape
        usual = np.empty((len(_SPANS), bars, columns))
        rank = np.empty((2, bars, columns))
        count = np.empty((MEASURES, bars, columns))
        begins = [0, *(full + 1).tolist()]
        ends = [*(full + 1).tolist(), bars]
        # Rows that leave the table as time moves from one stretch to the next.
        tops = places[np.minimum(begins, bars - 1)] + 1
        gone = [0, *(tops - HOURS).tolist()]

        for column in range(columns):
            measures = in_order[column]
            for stretch, (begin, end) in enumerate(zip(begins, ends, strict=True)):
                leaving = rows[gone[stretch] : gone[stretch + 1], :, column]
                if stretch:
                    _put(measures, rows[places[full[stretch - 1]], :, column].tolist())
                for old in leaving.tolist():
                    _take(measures, old)
                if begin == end:
                    continue
                span = slice(begin, end)
                for measure, kept in enumerate(measures):
                    count[measure, span, column] = len(kept)
                for place in range(len(_SPANS)):
                    kept = measures[place]
                    enough = len(kept) >= _FEWEST_HOURS[place]
                    # Nothing is measured in moves of a market that stood still.
                    median = _median(kept) if enough else 0.0
                    usual[place, span, column] = median or self._book[place, column]
                for place, kept in enumerate(measures[EXPECTED:]):
                    rank[place, span, column] = [_rank(kept, value) for value in now[span, place, column].tolist()]
        self.usual = usual
        self.rank = rank
        self.count = count

    def days(self) -> float:
        """Return how many days of the market are on record."""
        return float(self.count[EXPECTED, -1]) / 24.0


def in_half(values: FloatArray) -> Half:
    """Return the values in half precision, the largest it has for those beyond.

    >>> in_half(np.array([0.5, 1e9, -1e9, np.nan])).tolist()
    [0.5, 65504.0, -65504.0, nan]
    """
    return np.clip(values, -_LARGEST_HALF, _LARGEST_HALF).astype(np.float16)


def _put(measures: list[list[float]], values: list[float]) -> None:
    for kept, value in zip(measures, values, strict=True):
        if value == value:  # noqa: PLR0124 -- not NaN
            insort(kept, value)


def _take(measures: list[list[float]], values: list[float]) -> None:
    for kept, value in zip(measures, values, strict=True):
        if value == value:  # noqa: PLR0124 -- not NaN
            del kept[bisect_left(kept, value)]


def _median(kept: list[float]) -> float:
    """Return the middle value, the mean of the two middle ones of an even number."""
    middle = len(kept) // 2
    return kept[middle] if len(kept) % 2 else 0.5 * (kept[middle - 1] + kept[middle])


def _rank(kept: list[float], value: float) -> float:
    """Return the share of what is kept that is smaller, NaN where that or the value is unknown."""
    if not kept or value != value:  # noqa: PLR0124 -- NaN
        return float("nan")
    return bisect_left(kept, value) / len(kept)
