"""What can be asked of raw closes, highs and lows up to one bar: the ground that texts are held against.

All is worked out here from prices, apart from the product: moves, the day's line, what is usual on the record kept, and
ranks in it. Series are worked out once a market; none looks ahead.
"""

import math
from bisect import bisect_left, insort
from collections import deque
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

NAMES: Final = {
    "Bitcoin": "BTC",
    "Ether": "ETH",
    "XRP": "XRP",
    "Solana": "SOL",
    "Algorand": "ALGO",
    "Stellar Lumens": "XLM",
    "Hedera": "HBAR",
}
MINUTE_MS: Final = 60_000
HOUR_MS: Final = 60 * MINUTE_MS
BAR_MS: Final = 5 * MINUTE_MS
HOUR: Final = 12  # bars of five minutes
DAY: Final = 288
YEAR_HOURS: Final = 365 * 24
FEWEST_COINS: Final = 3  # of which there is an average
_CARRIED_MS: Final = 15 * MINUTE_MS
_KEPT_OF_BAR: Final = 0.5 ** (1 / (30 * DAY))  # of what was counted of still bars
_RARE_ROW: Final = 1e-6
# Moves that ended on full hours, below which none is called usual: those of a record of 14, 14 and 30 days.
_YOUNG_HOURS: Final = {1: 14 * 24, 24: 13 * 24, 168: 23 * 24}
_USUAL_PERCENT: Final = {1: 0.27, 24: 1.5, 168: 4.4}  # until then
Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]


class Ordered:
    """Values of the last year's full hours in order."""

    def __init__(self, most: int = YEAR_HOURS) -> None:
        """Start without any; the oldest of `most` leaves."""
        self._most = most
        self._came: deque[float] = deque()
        self._kept: list[float] = []

    def __len__(self) -> int:
        """How many are known."""
        return len(self._kept)

    def add(self, value: float) -> None:
        """Take the value of one more hour, NaN where unknown."""
        self._came.append(value)
        if value == value:  # noqa: PLR0124 -- not NaN
            insort(self._kept, value)
        if len(self._came) > self._most:
            old = self._came.popleft()
            if old == old:  # noqa: PLR0124 -- not NaN
                del self._kept[bisect_left(self._kept, old)]

    def rank(self, value: float) -> float:
        """Return the share of them that is smaller, NaN where there is none."""
        if not self._kept or value != value:  # noqa: PLR0124 -- NaN
            return float("nan")
        return bisect_left(self._kept, value) / len(self._kept)

    def near(self, value: float, grain: float) -> float:
        """Return the share of them that are no farther from a value, 0 where there is none."""
        return (self.rank(value + grain) - self.rank(value - grain)) if self._kept else 0.0

    def median(self) -> float:
        """Return the middle one, NaN where there is none."""
        return self._kept[len(self._kept) // 2] if self._kept else float("nan")


class History:
    """A market on a grid of bars, and series of it."""

    def __init__(
        self,
        assets: tuple[str, ...],
        closes: Floats,
        high: Floats,
        low: Floats,
        *,
        t_ms: Places | None = None,
        bar_ms: int = BAR_MS,
    ) -> None:
        """Take all bars, (bars, assets) each, that opened at `t_ms`; without it one after the other."""
        if t_ms is None:
            t_ms = np.arange(len(closes), dtype=np.int64) * bar_ms
        self.assets = assets
        self.bar_ms = bar_ms
        self.hour = HOUR_MS // bar_ms  # bars
        self.day = 24 * self.hour
        self.places: Places = (t_ms - t_ms[0]) // bar_ms  # row of the grid of each bar
        size = int(self.places[-1]) + 1
        self.seen = self._on_grid(closes, size)
        self.high = self._on_grid(high, size)
        self.low = self._on_grid(low, size)
        believed = np.where(stuck(closes, high, low), np.nan, closes) if bar_ms == BAR_MS else closes
        self.believed = self._on_grid(believed, size)
        self.closes = carried(self.believed, _CARRIED_MS // bar_ms)
        ends = int(t_ms[0]) + bar_ms * np.arange(1, size + 1)
        self.is_full = ends % HOUR_MS == 0
        self._of_coins: dict[int, Floats] = {}
        self._of_market: dict[int, Floats] = {}
        self._usual: dict[int, Floats] = {}

    def _on_grid(self, values: Floats, size: int) -> Floats:
        out = np.full((size, values.shape[1]), np.nan)
        out[self.places] = values
        return out

    def of_coins(self, bars: int) -> Floats:
        """Return each coin's moves over some bars, percent, at each bar; NaN where unknown."""
        if bars not in self._of_coins:
            out = np.full(self.closes.shape, np.nan)
            closes = self.seen if bars == self.day else self.closes
            out[bars:] = 100 * (closes[bars:] / closes[:-bars] - 1)
            if bars == self.day:
                # The day is that of the last price, as sources give it, which may be a bar old.
                before = np.vstack((np.full((1, len(self.assets)), np.nan), out[:-1]))
                out = np.where(np.isnan(self.seen), before, out)
            self._of_coins[bars] = out
        return self._of_coins[bars]

    def moves(self, bars: int) -> Floats:
        """Return the average coin's moves over some bars, percent, at each bar; NaN where unknown."""
        if bars not in self._of_market:
            self._of_market[bars] = average(self.of_coins(bars))
        return self._of_market[bars]

    def usual(self, bars: int) -> Floats:
        """Return the median size of such moves before each bar, of windows that end on a full hour, percent."""
        if bars not in self._usual:
            hours = bars // self.hour
            sizes = np.abs(self.moves(bars)).tolist()
            kept = Ordered()
            now = _USUAL_PERCENT[hours]
            out = np.empty(len(sizes))
            for bar, is_full in enumerate(self.is_full.tolist()):
                out[bar] = now
                if is_full:
                    kept.add(sizes[bar])
                    now = kept.median() if len(kept) >= _YOUNG_HOURS[hours] else _USUAL_PERCENT[hours]
            self._usual[bars] = out
        return self._usual[bars]

    @cached_property
    def sizes(self) -> Floats:
        """The mean size of the coins' moves of each bar, 0 where unknown."""
        with np.errstate(invalid="ignore"):
            logs = np.abs(np.diff(np.log(self.closes), axis=0, prepend=np.nan))
        known = np.isfinite(logs)
        out: Floats = np.where(known, logs, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
        return out

    def roughness(self, bars: int) -> Floats:
        """Return the mean of these sizes over some bars, at each bar; NaN before there are as many."""
        total = np.concatenate(([0.0], np.cumsum(self.sizes)))
        out = np.full(len(self.sizes), np.nan)
        out[bars:] = (total[bars + 1 :] - total[1:-bars]) / bars
        return out

    @cached_property
    def day_ranks(self) -> Floats:
        """The share of full hours on record with a day before them that was less rough, at each bar."""
        return self._ranks(self.roughness(self.day))

    @cached_property
    def near_ranks(self) -> Floats:
        """Likewise with four hours before them."""
        return self._ranks(self.roughness(4 * self.hour))

    @cached_property
    def hour_ranks(self) -> Floats:
        """Likewise with one hour before them."""
        return self._ranks(self.roughness(self.hour))

    def _ranks(self, values: Floats) -> Floats:
        kept = Ordered()
        out = np.empty(len(values))
        for bar, value in enumerate(values.tolist()):
            out[bar] = kept.rank(value)
            if self.is_full[bar]:
                kept.add(value)
        return out

    @cached_property
    def tops(self) -> Floats:
        """Each coin's highest price of the day, at each bar, (bars, assets)."""
        return rolling(self.high, self.day, np.fmax)

    @cached_property
    def bottoms(self) -> Floats:
        """Likewise the lowest."""
        return rolling(self.low, self.day, np.fmin)

    @cached_property
    def wide(self) -> Floats:
        """From the first coin's low of the day to its high, percent, at each bar that has a day before it."""
        out = 100 * (self.tops[:, 0] / self.bottoms[:, 0] - 1)
        out[: self.day - 1] = np.nan
        return out

    def is_calmest(self, place: int) -> bool:
        """Say whether no day on record that was over before this one had so narrow a range of the first coin."""
        first = max(0, place - YEAR_HOURS * self.hour)
        before = self.wide[first : place - self.day + 1]
        return bool(np.nanmin(before, initial=np.inf) > self.wide[place] + 1e-6)


class Raw:
    """What can be asked of a history up to one bar."""

    def __init__(self, history: History, bar: int) -> None:
        """Stand at a bar."""
        self.history = history
        self.assets = history.assets
        self.hour, self.day = history.hour, history.day
        self.now = int(history.places[bar])
        self.closes = history.closes[: self.now + 1]

    @property
    def record_days(self) -> float:
        """How long the record is."""
        return (self.now + 1) / self.day

    def moves(self, bars: int, until: int | None = None) -> Floats:
        """Return each coin's move over some bars, percent."""
        end = self.now if until is None else until
        if end - bars < 0:
            return np.full(len(self.assets), np.nan)
        if bars in {self.hour, 3 * self.hour, 6 * self.hour, self.day, 7 * self.day}:
            of_bar: Floats = self.history.of_coins(bars)[end]
            return of_bar
        out: Floats = 100 * (self.closes[end] / self.closes[end - bars] - 1)
        return out

    def market(self, bars: int, until: int | None = None) -> float:
        """Return the average coin's move."""
        return float(average(self.moves(bars, until)[None])[0])

    @cached_property
    def is_average(self) -> bool:
        """Whether three coins have a day: else the market is Bitcoin alone."""
        return int(np.isfinite(self.moves(self.day)).sum()) >= FEWEST_COINS

    def coin(self, name: str, bars: int) -> float:
        """Return a coin's move by its name, NaN of one that is not on record."""
        asset = NAMES[name]
        return float(self.moves(bars)[self.assets.index(asset)]) if asset in self.assets else float("nan")

    def series(self, bars: int) -> Floats:
        """Return the average coin's moves over some bars up to now, percent, NaN where unknown."""
        return self.history.moves(bars)[: self.now + 1]

    def year(self, bars: int) -> Floats:
        """Return those of the last year alone."""
        return self.series(bars)[-YEAR_HOURS * self.hour :]

    def usual(self, bars: int) -> float:
        """Return the median size of such moves on record, or what stands in for it on a young one."""
        return float(self.history.usual(bars)[self.now])

    @cached_property
    def line_now(self) -> Floats:
        """The day's line, percent; NaN where one of its bars is missing."""
        day = self.closes[-self.day - 1 :]
        if len(day) <= self.day:
            return np.full(self.day + 1, np.nan)
        both = np.isfinite(day[0]) & np.isfinite(day[-1])
        if both.sum() < FEWEST_COINS:
            both = np.arange(len(self.assets)) == 0
        out: Floats = 100 * ((day[:, both] / day[0, both]).mean(axis=1) - 1)
        return out

    def line(self) -> Floats:
        """Return the day's line, percent."""
        return self.line_now

    @cached_property
    def largest(self) -> tuple[float, int]:
        """The largest hour that lies in the last day, percent, and how many bars ago it ended."""
        hours = self.series(self.hour)[-(self.day - self.hour + 1) :]
        at = int(np.nan_to_num(np.abs(hours), nan=-1.0).argmax())
        return float(hours[at]), len(hours) - 1 - at


def average(moves: Floats) -> Floats:
    """Return the mean of three coins or more at each bar, else the first coin's, (n,); NaN where unknown.

    >>> average(np.array([[1.0, 2.0, 6.0], [1.0, np.nan, 6.0]])).tolist()
    [3.0, 1.0]
    """
    known = np.isfinite(moves)
    count = known.sum(axis=1)
    mean = np.where(known, moves, 0.0).sum(axis=1) / np.maximum(count, 1)
    out: Floats = np.where(count >= FEWEST_COINS, mean, moves[:, 0])
    return out


def rolling(values: Floats, size: int, joined: np.ufunc) -> Floats:
    """Return `joined` over the last `size` rows at each row, of those that there are.

    >>> rolling(np.array([[1.0], [3.0], [2.0], [0.0]]), 2, np.fmax).ravel().tolist()
    [1.0, 3.0, 3.0, 2.0]
    """
    out = values.copy()
    width = 1
    while width < size:
        step = min(width, size - width)
        moved = out.copy()
        moved[step:] = joined(out[step:], out[:-step])
        out = moved
        width += step
    return out


def stuck(closes: Floats, high: Floats, low: Floats) -> npt.NDArray[np.bool_]:
    """Say which bars only repeat a price for longer than chance makes a coin stand still, (bars, coins): no prices.

    A row of n bars without any move is one where p^n is below one in a million, p the coin's share of such bars so far.
    Of what is long ago that share forgets half in 30 days, and a row counts once it is over, at its first that was
    too long at most.

    >>> still = np.repeat([[7.0]], 5, axis=0)
    >>> closes = np.concatenate((1.0 + np.arange(100.0)[:, None], still, [[8.0]]))
    >>> stuck(closes, closes, closes).ravel().nonzero()[0].tolist()
    [103, 104]
    """
    out = np.zeros(closes.shape, dtype=np.bool_)
    for coin in range(closes.shape[1]):
        still, every, row, last = 0.0, 0.0, 0, float("nan")
        bars = zip(closes[:, coin].tolist(), (high > low)[:, coin].tolist(), strict=True)
        for bar, (close, has_range) in enumerate(bars):
            still, every = still * _KEPT_OF_BAR, every * _KEPT_OF_BAR
            if math.isnan(close):
                continue
            if close == last and not has_range:
                row += 1
                out[bar, coin] = ((still + 1) / (every + 2)) ** row < _RARE_ROW
            else:
                longest = math.ceil(math.log(_RARE_ROW) / math.log((still + 1) / (every + 2)))
                counted = min(row, longest)
                still, every, row = still + counted, every + counted + 1, 0
            last = close
    return out


def carried(closes: Floats, most: int) -> Floats:
    """Let a close stand for so many missing ones after it."""
    out = closes.copy()
    for _ in range(most):
        before = np.vstack((out[:1], out[:-1]))
        out = np.where(np.isnan(out), before, out)
    return out
