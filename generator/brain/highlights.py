"""The largest hour of the day, Bitcoin's range of it, and what no earlier hour or day on record has beaten.

The market is "the average coin", see `moves`; Bitcoin is the first asset. A record is compared with windows that ended
before the present one began, for up to a year, at every bar: a superlative that one earlier window beats is not one.
"""

from typing import ClassVar, Final

import numpy as np

from generator.brain.moves import DAY, HOUR, Moves, over_last
from generator.brain.part import Part, Times, windows
from generator.brain.record import HOURS, in_half
from generator.catalog.durations import HOUR_MS
from generator.market.bars import BAR_MS, FloatArray

_DAY_MS: Final = 24 * HOUR_MS
_DAYS: Final = 365
HOUR_MOVED, DAY_MOVED, RANGE = range(3)
_FIELDS: Final = 3
WIDE, SIGMA, HOUR_MARK, DAY_MARK, WORD = range(5)  # of the record by the hour
FALL_OF_HOUR, RISE_OF_HOUR, FALL_OF_DAY, RISE_OF_DAY, NARROWEST_DAY = range(5)
_OF_FIELD: Final = (HOUR_MOVED, HOUR_MOVED, DAY_MOVED, DAY_MOVED, RANGE)
_SIGN: Final = np.array([1.0, -1.0, 1.0, -1.0, 1.0])  # a record is the smallest of these
_NONE: Final = np.inf


class Highlights(Part):
    """What stands out of the day and of the record, after each bar."""

    STATE: ClassVar[tuple[str, ...]] = (
        "recent",
        "edges",
        "bar",
        "days",
        "day",
        "today",
        "largest",
        "largest_ago",
        "records",
        "hours",
        "hour",
        "sigma",
    )

    def __init__(self, assets: int, bar_ms: int = BAR_MS) -> None:
        """Start empty; bars are so long."""
        super().__init__()
        self._bar_ms = bar_ms
        self._hour = HOUR_MS // bar_ms  # bars
        self._day = _DAY_MS // bar_ms
        self._inside = self._day - self._hour + 1  # hours, by the bar, that lie inside a day
        self.recent = np.full((self._day + self._hour, _FIELDS), np.nan)  # one a bar, oldest first
        self.edges = np.full((self._day, 2, assets), np.nan, dtype=np.float32)  # highs and lows, likewise
        self.bar = np.full(1, -1.0)  # number of the last, since 1970
        self.days = np.full((_DAYS, len(_SIGN)), _NONE)  # the smallest of each day that is over, signed
        self.day = np.full(1, -1.0)  # number of the present one, a day ago
        self.today = np.full(len(_SIGN), _NONE)  # of that one so far
        self.largest = np.full(1, np.nan)  # the market's largest hour of the day, a fraction
        self.largest_ago = np.full(1, np.nan)  # bars since it ended
        self.records = np.full(len(_SIGN), _NONE)  # the smallest before the present window, signed
        # At full hours, oldest first: Bitcoin's range of the day and sigma of the next hour; the market's moves over
        # an hour and a day, and its word of volatility.
        self.hours = np.full((HOURS, 5), np.nan, dtype=np.float16)
        self.hour = np.full(1, -1.0)  # number of the last, since 1970
        self.sigma = np.full(1, np.nan)  # of Bitcoin's next hour
        self._usual_sigma = (-1.0, np.nan)  # number of an hour, and the median of the record's sigmas up to it

    def update(self, t_ms: Times, moves: Moves, edges: FloatArray, sigma: FloatArray, word: FloatArray) -> None:
        """Take a block of bars that `moves` has taken.

        Args:
            t_ms: open times, (n,).
            edges: high and low prices, NaN where unknown, (n, 2, assets).
            sigma: expected of Bitcoin's next hour, NaN where unknown, (n,).
            word: the market's volatility, as indices of `swings.WORDS`, (n,).
        """
        self._windows = {}
        numbers = t_ms // self._bar_ms
        kept_edges, edge_places = self.slid("edges", int(self.bar[0]), numbers)
        kept_edges[edge_places] = edges
        first = kept_edges[:, :, 0].astype(np.float64)
        top = over_last(first[:, 0], self._day, np.fmax, edge_places)
        bottom = over_last(first[:, 1], self._day, np.fmin, edge_places)

        rows, places = self.slid("recent", int(self.bar[0]), numbers)
        market = moves.moves[:, :, -1]
        wide = np.where(np.isfinite(moves.moves[DAY][:, 0]), top / bottom - 1.0, np.nan)
        rows[places] = np.array((market[HOUR], market[DAY], wide)).T
        self._largest(rows, places)
        self._records(rows, places, t_ms)
        self._keep(t_ms, np.array((wide, sigma, market[HOUR], market[DAY], word)).T)
        self.sigma = sigma[:, None]

        self._windows["recent"] = (rows, places + 1)
        self._windows["edges"] = (kept_edges, edge_places + 1)
        self.bar = numbers.astype(np.float64)[:, None]

    def is_record(self, record: int) -> bool:
        """Say whether the last bar's window beats every earlier one on record."""
        now = float(self.recent[-1, _OF_FIELD[record]]) * float(_SIGN[record])
        return now < float(self.records[record])

    def edge(self, *, top: bool) -> tuple[FloatArray, FloatArray]:
        """Return each asset's highest, or lowest, price of the day, and how many bars ago it was, (assets,) each.

        NaN where no bar of the day is known.
        """
        prices = self.edges[::-1, 0 if top else 1]
        ordered = np.where(np.isfinite(prices), prices if top else -prices, -np.inf)
        at = ordered.argmax(axis=0)
        edge = prices[at, np.arange(len(at))].astype(np.float64)
        return edge, np.where(np.isfinite(edge), at.astype(np.float64), np.nan)

    def range_ranks(self, bars: Times) -> FloatArray:
        """Return, while a block is read, the share of full hours on record with a narrower day of Bitcoin, (m,)."""
        rows, ends = self._windows["hours"]
        recent, recent_ends = self._windows["recent"]
        out = np.full(len(bars), np.nan)
        for place, bar in enumerate(bars.tolist()):
            kept = rows[ends[bar] - HOURS : ends[bar], WIDE]
            known = kept[np.isfinite(kept)].astype(np.float64)
            if len(known):
                out[place] = np.count_nonzero(known < recent[recent_ends[bar] - 1, RANGE]) / len(known)
        return out

    def _largest(self, rows: FloatArray, places: Times) -> None:
        """Find the largest hour of each day, the first of equal ones."""
        moved = windows(rows[:, HOUR_MOVED], self._inside)[places - self._inside + 1]
        size = np.where(np.isfinite(moved), np.abs(moved), -1.0)
        at = size.argmax(axis=1)
        largest = moved[np.arange(len(at)), at]
        self.largest = largest[:, None]
        self.largest_ago = (self._inside - 1 - at).astype(np.float64)[:, None]

    def _records(self, rows: FloatArray, places: Times, t_ms: Times) -> None:
        """Find what no earlier window has beaten: values join the days on record when they are a day old."""
        signed = np.where(np.isfinite(rows[:, _OF_FIELD]), rows[:, _OF_FIELD] * _SIGN, _NONE)
        joining = signed[places - self._day]
        numbers = (t_ms - _DAY_MS) // _DAY_MS
        days, day_places = self.slid("days", int(self.day[0]), numbers, self.today, _NONE)

        records = np.empty_like(joining)
        today = np.empty_like(joining)
        so_far = self.today
        firsts = np.flatnonzero(numbers != np.concatenate((self.day, numbers[:-1])))
        for begin, end in zip(_begins(firsts), [*firsts[firsts > 0].tolist(), len(numbers)], strict=True):
            place = int(day_places[begin])
            if begin in firsts:
                # The day before is over: what was the smallest of it stays.
                before = place - int(numbers[begin] - (numbers[begin - 1] if begin else self.day[0]))
                if before >= 0:
                    days[before] = so_far
                so_far = np.full(len(_SIGN), _NONE)
            of_day = np.minimum.accumulate(np.vstack((so_far, joining[begin:end])))[1:]
            on_record = days[max(place - _DAYS + 1, 0) : place].min(axis=0, initial=_NONE)
            records[begin:end] = np.minimum(of_day, on_record)
            today[begin:end] = of_day
            so_far = of_day[-1]

        # Hours of the last day that ended before the present one began.
        hours = windows(signed[:, :2], self._day - self._hour)
        lately = hours[places - self._day + 1].min(axis=-1)
        records[:, :2] = np.minimum(records[:, :2], lately)

        self.records, self.today = records, today
        self._windows["days"] = (days, day_places)
        self.day = numbers.astype(np.float64)[:, None]

    def width(self, doubt: float = 0.0) -> float | None:
        """Return how wide Bitcoin's range of the next hour is over the median of the record's, None where unknown.

        Args:
            doubt: share of it in the data now, by which the range is wider.
        """
        now = float(self.sigma[0])
        if self._usual_sigma[0] != self.hour[0]:
            kept = self.hours[:, SIGMA]
            known = kept[np.isfinite(kept)].astype(np.float64)
            self._usual_sigma = (float(self.hour[0]), float(np.median(known)) if len(known) else np.nan)
        width = now * (1.0 + doubt) / self._usual_sigma[1]
        return width if np.isfinite(width) else None

    def _keep(self, t_ms: Times, marks: FloatArray) -> None:
        """Keep what is to be compared with later at full hours, (n, 5)."""
        closes_ms = t_ms + self._bar_ms
        numbers = closes_ms // HOUR_MS
        rows, places = self.slid("hours", int(self.hour[0]), numbers)
        full = np.flatnonzero(closes_ms % HOUR_MS == 0)
        rows[places[full]] = in_half(marks[full])
        self._windows["hours"] = (rows, places + 1)
        self.hour = numbers.astype(np.float64)[:, None]


def _begins(firsts: Times) -> list[int]:
    """Return where each stretch of one day begins in a block, the block's own start among them."""
    return sorted({0, *firsts.tolist()})
