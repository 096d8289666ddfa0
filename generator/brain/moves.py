"""How far prices moved: over an hour to a week, the day's line, and how rough the day was.

Of closed bars; a close stands for missing ones after it for 15 minutes. The market is "the average coin": the mean over
the coins with both ends of a move, at least three; with fewer it is the first coin alone. Unknown is NaN.
"""

from typing import ClassVar, Final

import numpy as np

from generator.brain.part import Part, Rows, Times, windows
from generator.catalog.durations import HOUR_MS, MINUTE_MS
from generator.market.bars import BAR_MS, FloatArray

SPANS: Final = (1, 3, 6, 24, 7 * 24)  # hours of each move
HOUR, THREE_HOURS, SIX_HOURS, DAY, WEEK = range(len(SPANS))
CARRIED_MS: Final = 15 * MINUTE_MS  # for which a close stands for those missing after it
CARRIED: Final = CARRIED_MS // BAR_MS
FEWEST_COINS: Final = 3  # of which there is a mean
_LARGEST_LOG: Final = 80.0  # of a price, either way: single precision holds no more
_LARGEST_PIECE: Final = 1 << 21  # numbers that are worked on together, which bounds the memory
_FEWEST_RETURNS: Final = 0.75  # of a day's bars, from which on its realised volatility is known
_OF_MEAN_SIZE: Final = float(np.pi / 2.0)  # variance of a normal distribution over its squared mean size


class Moves(Part):
    """Closes of the last week, and what they say after each bar; the last of `columns` is the market."""

    STATE: ClassVar[tuple[str, ...]] = ("closes", "bar", "moves", "high", "low", "realised")

    def __init__(self, assets: int, bar_ms: int = BAR_MS) -> None:
        """Start empty; bars are so long."""
        super().__init__()
        self.bar_ms = bar_ms
        self._spans = np.array(SPANS) * (HOUR_MS // bar_ms)
        self._day = int(self._spans[DAY])
        self._carried = CARRIED_MS // bar_ms
        kept = int(self._spans[WEEK]) + 1 + self._carried
        self.closes: Rows = np.full((kept, assets), np.nan, dtype=np.float32)  # one a bar, oldest first
        self.bar = np.full(1, -1.0)  # number of the last, since 1970
        self.moves = np.full((len(SPANS), assets + 1), np.nan)  # over `SPANS`, fractions
        self.high = np.full(assets + 1, np.nan)  # of the day's line, prices against a day ago, as a fraction
        self.low = np.full(assets + 1, np.nan)
        self.realised = np.full(assets + 1, np.nan)  # variance of the day's bars, summed
        self._known = self.closes  # each for those missing after it too
        self._is_known = False  # whether that has been worked out: not after a restart
        self.lines: FloatArray = np.full((1, self._day + 1), np.nan)  # the market's of each bar of a block

    def update(self, t_ms: Times, log_close: FloatArray) -> None:
        """Take a block of bars.

        Args:
            t_ms: open times, (n,).
            log_close: natural log of the closes, NaN where unknown, (n, assets).
        """
        numbers = t_ms // self.bar_ms
        rows, places = self.slid("closes", int(self.bar[0]), numbers)
        # Single precision is what is kept, so that a restart cannot differ.
        rows[places] = prices_of(log_close)
        kept = len(self._carried_closes())
        known, _ = self.slid("_known", int(self.bar[0]), numbers)
        known[kept:] = carried_over(rows[kept - self._carried :], self._carried)[self._carried :]

        starts = known[places - self._spans[:, None]].astype(np.float64)
        of_coins = known[places] / starts - 1.0
        every = with_market(of_coins.reshape(-1, known.shape[1]))
        self.moves = every.reshape(*of_coins.shape[:2], -1)
        # Of the day alone no more rows are read than it needs: a bar that comes alone has a week behind it.
        first = int(places[0]) - self._day
        lately = known[first:].astype(np.float64)
        self.high, self.low = self._line(lately, places - first)
        self.realised = _realised(lately, places - first, self._day)

        self._windows = {"closes": (rows, places + 1), "_known": (known, places + 1)}
        self._is_known = True
        self.bar = numbers.astype(np.float64)[:, None]

    def line(self) -> FloatArray:
        """Return the day's line of each coin and, last, of the market, oldest first, (a day's bars + 1, columns).

        The mean of p(s) / p(t - 24 h) - 1 over the coins with both ends; NaN where one of them is missing.
        """
        return line_of(self.day_closes())

    def day_closes(self) -> FloatArray:
        """Return the closes of the day up to the last bar, each for those missing after it too, (bars + 1, assets)."""
        return self._carried_closes()[-self._day - 1 :].astype(np.float64)

    def days_ago(self, days: int) -> FloatArray:
        """Return, while a block is read, the closes at each bar and up to so many days before, (days + 1, n, assets).

        Each stands for those missing after it for 15 minutes; NaN where unknown.
        """
        known, ends = self._windows["_known"]
        rows = ends - 1 - self._day * np.arange(days + 1)[:, None]
        closes: FloatArray = known[rows].astype(np.float64)
        return closes

    def _carried_closes(self) -> Rows:
        """Return the closes of the week after the last bar, each for those missing after it too, (bars, assets)."""
        if not self._is_known:
            self._known = carried_over(self.closes, self._carried)
            self._is_known = True
        return self._known

    def _line(self, known: FloatArray, places: Times) -> tuple[FloatArray, FloatArray]:
        """Return the highest and lowest points of the day's line at each place, (n, assets + 1), NaN where unknown."""
        start = known[places - self._day]
        now = known[places]
        top = over_last(known, self._day + 1, np.fmax, places) / start - 1.0
        bottom = over_last(known, self._day + 1, np.fmin, places) / start - 1.0
        whole = np.isfinite(now)
        edges = np.empty((2, len(now), now.shape[1] + 1))
        edges[:, :, :-1] = np.where(whole, (top, bottom), np.nan)

        # The market's line has other weights at each bar: coins count alike a day before it.
        weights = _weights(now, start)
        starts = places - self._day
        first = int(starts[0])
        days: FloatArray = windows(known, self._day + 1)
        # Without a hole they are views, which nothing copies.
        is_whole = int(starts[-1]) - first == len(starts) - 1
        days = days[first : first + len(starts)] if is_whole else days[starts]
        self.lines = market_lines(days, weights)
        np.fmax.reduce(self.lines, axis=1, out=edges[0, :, -1])
        np.fmin.reduce(self.lines, axis=1, out=edges[1, :, -1])
        return edges[0], edges[1]


def prices_of(logs: FloatArray) -> FloatArray:
    """Return prices from their natural logs, NaN where one is unknown or single precision cannot hold it.

    >>> prices_of(np.array([0.0, 400.0, -400.0, np.nan])).tolist()
    [1.0, nan, nan, nan]
    """
    is_held = np.abs(logs) <= _LARGEST_LOG
    return np.where(is_held, np.exp(np.where(is_held, logs, 0.0)), np.nan)


def line_of(known: FloatArray) -> FloatArray:
    """Return the line of each coin and, last, of the market from a day's closes, (289, columns); see `Moves.line`."""
    of_coins = known / known[0] - 1.0
    return np.column_stack((of_coins, market_line(known)))


def market_line(known: FloatArray) -> FloatArray:
    """Return the day's line of the market alone from a day's closes, (a day's bars + 1,)."""
    line: FloatArray = market_lines(known.T[None], _weights(known[-1:], known[:1]))[0]
    return line


def market_lines(days: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the market's line of each bar, (n, a day's bars + 1), NaN where no coin counts.

    Args:
        days: closes of the day up to each bar, (n, assets, a day's bars + 1).
        weights: see `_weights`, (n, assets).
    """
    out = np.empty((len(days), days.shape[2]))
    together = max(1, _LARGEST_PIECE // days[0].size)
    for begin in range(0, len(days), together):
        weight = weights[begin : begin + together, :, None]
        # Row by row in memory, so that coins are added in their order however many bars there are.
        parts = np.zeros((*weight.shape[:2], days.shape[2]))
        np.multiply(weight, days[begin : begin + together], out=parts, where=weight > 0.0)
        np.add.reduce(parts, axis=1, out=out[begin : begin + together])
    out -= 1.0
    out[~(weights > 0.0).any(axis=1)] = np.nan
    return out


def with_market(of_coins: FloatArray) -> FloatArray:
    """Return the coins' values and, last, the market's: the mean of at least three, else the first coin's, (n, k + 1).

    >>> with_market(np.array([[0.01, 0.02, 0.06], [0.01, np.nan, 0.06]])).round(3)[:, -1].tolist()
    [0.03, 0.01]
    """
    known = np.isfinite(of_coins)
    count = np.add.reduce(known, axis=1)
    total = np.add.reduce(np.where(known, of_coins, 0.0), axis=1)
    out = np.empty((len(of_coins), of_coins.shape[1] + 1))
    out[:, :-1] = of_coins
    out[:, -1] = np.where(count >= FEWEST_COINS, total / np.maximum(count, 1), of_coins[:, 0])
    return out


def carried_over(closes: Rows, most: int = CARRIED) -> Rows:
    """Return the closes with each standing for those that are missing after it, for so many bars at most.

    >>> carried_over(np.array([[5.0], [np.nan], [np.nan], [np.nan], [np.nan]]), most=3).ravel().tolist()
    [5.0, 5.0, 5.0, 5.0, nan]
    """
    out = closes.copy()
    if not np.isnan(out).any():
        return out
    for _ in range(most):
        out[1:] = np.where(np.isnan(out[1:]), out[:-1], out[1:])
    return out


def _weights(now: FloatArray, start: FloatArray) -> FloatArray:
    """Return by how much each coin's price counts in the mean of p(s) / p(start), (n, assets); 0 where it does not."""
    both = np.isfinite(now) & np.isfinite(start)
    enough = np.add.reduce(both, axis=1, keepdims=True) >= FEWEST_COINS
    both[:, 1:] &= enough
    count = np.add.reduce(both, axis=1, keepdims=True)
    return np.where(both, 1.0 / (np.where(both, start, 1.0) * np.maximum(count, 1)), 0.0)


def rolling(values: FloatArray, size: int, joined: np.ufunc) -> FloatArray:
    """Return `joined` over the last `size` rows at each row, by doubling: no row's result depends on later ones.

    Rows before `size` have what they can; `joined` is idempotent, as a maximum is.
    """
    out = values
    width = 1
    while width < size:
        step = min(width, size - width)
        shifted = np.concatenate((np.broadcast_to(out[:1], (step, *out.shape[1:])), out[:-step]))
        out = joined(out, shifted)
        width += step
    return out


def over_last(values: FloatArray, size: int, joined: np.ufunc, places: Times) -> FloatArray:
    """Return `joined` over the last `size` rows at some rows that have as many, (n, ...); see `rolling`."""
    if len(places) > 1:
        return rolling(values, size, joined)[places]
    end = int(places[0]) + 1
    return np.asarray(joined.reduce(values[end - size : end], axis=0)[None])


def _summed(values: FloatArray, size: int) -> FloatArray:
    """Return the sum of the last `size` rows at each row that has as many before it, by doubling."""
    total = np.zeros_like(values)
    ahead = 0  # rows already in `total`, the newest of all

    power, width = values, 1
    while width <= size:
        if size & width:
            total = total + _back(power, ahead)
            ahead += width
        power = power + _back(power, width)
        width *= 2

    return total


def _sum_of_last(values: FloatArray, size: int) -> FloatArray:
    """Return the sum of the last `size` rows, added up in the same order as by `_summed`.

    >>> rows = np.random.default_rng(1).random((40, 3))
    >>> bool((_sum_of_last(rows, 37) == _summed(rows, 37)[-1]).all())
    True
    """
    total: FloatArray = np.zeros_like(values[0])
    end = len(values)
    width = 1
    while width <= size:
        if size & width:
            part = values[end - width : end][::-1]
            while len(part) > 1:
                part = part[::2] + part[1::2]
            total = total + part[0]
            end -= width
        width *= 2
    return total


def _back(values: FloatArray, rows: int) -> FloatArray:
    """Return the values moved so many rows later, zeros before."""
    if not rows:
        return values
    return np.concatenate((np.zeros_like(values[:rows]), values[:-rows]))


def _realised(known: FloatArray, places: Times, day: int) -> FloatArray:
    """Return the variance of the day's bars of each coin and the market at each place, (n, assets + 1).

    Of a coin the sum of squared log returns; of the market pi / 2 times that of the coins' squared mean size, in which
    one coin's bad print or jump counts once and not squared. NaN with less than three quarters of the bars.
    """
    sizes = np.zeros_like(known)
    with np.errstate(invalid="ignore"):
        sizes[1:] = np.abs(np.log(known[1:] / known[:-1]))
    sizes[0] = np.nan
    every = with_market(sizes)
    variance = every**2
    variance[:, -1] *= _OF_MEAN_SIZE
    seen = np.isfinite(variance)
    variance = np.where(seen, variance, 0.0)
    if len(places) > 1:
        total = _summed(variance, day)[places]
        many = _summed(seen.astype(np.float64), day)[places]
    else:
        end = int(places[0]) + 1
        total = _sum_of_last(variance[:end], day)[None]
        many = np.add.reduce(seen[end - day : end], axis=0, dtype=np.float64)[None]
    return np.where(many >= _FEWEST_RETURNS * day, total, np.nan)
