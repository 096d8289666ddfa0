"""The kept record, hour by hour for up to a year: what is usual of a move, and where now ranks among all that was.

A usual hour, day and week (U1, U24, U7) is the median size of all moves over that time that ended on a full hour. A
rank is the share of the record's hours with a smaller value. Both are of the hours before the bar alone.
"""

from typing import ClassVar, Final

import numpy as np
import numpy.typing as npt

from generator.brain.moves import DAY, HOUR, WEEK, Moves
from generator.brain.part import Part, Times
from generator.catalog.durations import HOUR_MS
from generator.catalog.text.lessons import HoursOnRecord
from generator.market.bars import BAR_MS, FloatArray

HOURS: Final = 365 * 24
HOUR_MOVE, DAY_MOVE, WEEK_MOVE, EXPECTED, REALISED = range(5)
MEASURES: Final = 5
_SPANS: Final = (HOUR, DAY, WEEK)
# Of which a usual hour, day and week is the median: those of a record of 14, 14 and 30 days.
_FEWEST_HOURS: Final = (14 * 24, 13 * 24, 23 * 24)
_BOOK_MARKET: Final = (0.0027, 0.015, 0.044)  # before that: medians of the coins' mean, 2022-08 to 2023-09
_BOOK_COIN: Final = (0.0031, 0.016, 0.045)  # likewise, the median over the coins of their own
_LARGEST_HALF: Final = float(np.finfo(np.float16).max)

_BITS: Final = np.uint32(16)  # of a number of half precision
_VALUE: Final = np.uint32(0xFFFF)

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
        self._order: tuple[int, _Order | None] = (-1, None)  # of which hour's end
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
        rows, places = self.slid("hours", int(self.hour[0]), numbers)
        sizes = np.abs(moves.moves[list(_SPANS)])
        values = np.concatenate((sizes, [expected, np.sqrt(moves.realised)])).swapaxes(0, 1)
        # Half precision is what is kept: three digits are more than a median or a rank of a year can show.
        rows[places[full]] = in_half(values[full])

        order = self._in_order()
        self._follow(order, rows, places, full, values[:, EXPECTED:])
        self._windows = {"hours": (rows, places + 1)}
        self.hour = numbers.astype(np.float64)[:, None]
        self._order = (int(numbers[-1]), order)

    def _in_order(self) -> "_Order":
        """Return the record before the block in order."""
        number, order = self._order
        if order is not None and number == int(self.hour[0]):
            return order
        return _Order(self.hours)

    def _follow(self, order: "_Order", rows: Half, places: Times, full: Times, now: FloatArray) -> None:
        """Rank each bar among the hours before it, and put those in that end with a bar of the block.

        Args:
            order: the record before the block, changed in place.
            rows: of the table, those that leave it first.
            places: of each bar's hour among them, (n,).
            full: bars that end an hour.
            now: expected and realised volatility, (n, 2, columns).
        """
        bars, _, columns = now.shape
        self.usual = np.empty((len(_SPANS), bars, columns))
        self.rank = np.empty((2, bars, columns))
        self.count = np.empty((MEASURES, bars, columns))
        begins = [0, *(full + 1).tolist()]
        ends = [*(full + 1).tolist(), bars]
        # Rows that leave the table as time moves from one stretch to the next.
        tops = places[np.minimum(begins, bars - 1)] + 1
        gone = [0, *(tops - HOURS).tolist()]

        for stretch, (begin, end) in enumerate(zip(begins, ends, strict=True)):
            if stretch:
                order.put(rows[places[full[stretch - 1]]])
            order.take(rows[gone[stretch] : gone[stretch + 1]])
            if begin == end:
                continue
            medians, counts = order.usual
            # Nothing is measured in moves of a market that stood still.
            self.usual[:, begin:end] = np.where(medians > 0.0, medians, self._book)[:, None]
            self.count[:, begin:end] = counts[:, None]
            self.rank[:, begin:end] = order.ranks(now[begin:end]).swapaxes(0, 1)

    def hours_before(self, column: int, at_ms: int, move: float) -> HoursOnRecord | None:
        """Compare a move with those of the hours on record that ended by some time; None where none did.

        Args:
            move: of the column over an hour, a fraction.
        """
        later = max(0, int(self.hour[0]) - at_ms // HOUR_MS)
        sizes = self.hours[: max(0, HOURS - later), HOUR_MOVE, column].astype(np.float64)
        sizes = sizes[np.isfinite(sizes)]
        if not len(sizes):
            return None
        as_large = np.count_nonzero(sizes >= abs(move))
        return HoursOnRecord(len(sizes), int(as_large), 100.0 * float(np.median(sizes)))

    def days(self) -> float:
        """Return how many days of the market are on record."""
        return float(self.count[EXPECTED, -1]) / 24.0


def in_half(values: FloatArray) -> Half:
    """Return the values in half precision, the largest it has for those beyond.

    >>> in_half(np.array([0.5, 1e9, -1e9, np.nan])).tolist()
    [0.5, 65504.0, -65504.0, nan]
    """
    return np.clip(values, -_LARGEST_HALF, _LARGEST_HALF).astype(np.float16)


class _Order:
    """All that is on record in order, in one array: the row, a measure of a column, then the bits of the value.

    The bits of numbers from 0 on are in the order of the numbers. So every row is looked up in one search.
    """

    def __init__(self, table: Half) -> None:
        """Sort what is known of a table, (hours, measures, columns), from 0 on."""
        self._shape = table.shape[1:]
        self._row = np.arange(table[0].size, dtype=np.uint32).reshape(self._shape) << _BITS
        self._keys = np.sort(self._keys_of(table))
        self._count()

    def put(self, values: Half) -> None:
        """Put an hour's values in, (measures, columns)."""
        keys = self._keys_of(values[None])
        self._keys = np.insert(self._keys, np.searchsorted(self._keys, keys), keys)
        self._count()

    def take(self, values: Half) -> None:
        """Take out what was put in, (hours, measures, columns)."""
        keys = np.sort(self._keys_of(values))
        if not len(keys):
            return
        again = np.arange(len(keys)) - np.searchsorted(keys, keys)  # of equal ones each takes out another
        self._keys = np.delete(self._keys, np.searchsorted(self._keys, keys) + again)
        self._count()

    def ranks(self, values: FloatArray) -> FloatArray:
        """Return the share of the hours with a smaller value of the last two measures, (n, 2, columns).

        Args:
            values: likewise; NaN where one is unknown, as is its rank.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            halves = values.astype(np.float16)
            is_less = halves.astype(np.float64) < values
        # What is smaller than a value is smaller than the next number of half precision from there on.
        keys = self._row[EXPECTED:] + halves.view(np.uint16) + is_less
        smaller = np.searchsorted(self._keys, keys) - self._first[EXPECTED:]
        many = self._many[EXPECTED:]
        known = np.isfinite(values) & (many > 0)
        return np.where(known, smaller / np.maximum(many, 1), np.nan)

    def _keys_of(self, values: Half) -> npt.NDArray[np.uint32]:
        keys = self._row + values.view(np.uint16)
        return np.asarray(keys[np.isfinite(values)], dtype=np.uint32)

    def _count(self) -> None:
        """Find where each row begins, and its middle."""
        self._first = np.searchsorted(self._keys, self._row)
        firsts = self._first.ravel()
        self._many = np.append(firsts[1:] - firsts[:-1], len(self._keys) - firsts[-1]).reshape(self._shape)

        spans = len(_SPANS)
        many = self._many[:spans]
        enough = many >= np.array(_FEWEST_HOURS)[:, None]
        medians = np.zeros(many.shape)
        if enough.any():
            middle = self._first[:spans][enough] + many[enough] // 2
            even = many[enough] % 2 == 0
            upper = self._value(middle)
            medians[enough] = np.where(even, 0.5 * (self._value(middle - even) + upper), upper)
        self.usual = (medians, self._many.astype(np.float64))
        """Medians of the first three measures, 0 of too few hours, (3, columns), and hours, (measures, columns)."""

    def _value(self, places: Times) -> FloatArray:
        return (self._keys[places] & _VALUE).astype(np.uint16).view(np.float16).astype(np.float64)
