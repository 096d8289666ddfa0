"""What happened, in numbers that sentences are made of: no model, only the candles of the last week."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from generator.brain.week import CLOSE, DAY, HIGH, LOW, QUARTER_MS, VARIANCE, VOLUME, WEEK, Week, last_closed
from generator.catalog.durations import HOUR_MS
from generator.market.bars import BAR_MS, FloatArray

BASELINES: Final = ("last_hour", "last_day", "ewma")
HOUR: Final = 4  # quarter hours
BARS: Final = QUARTER_MS // BAR_MS
_FEWEST_DAYS: Final = 3  # of history before a day is called usual or not
_RECENT_HOURS: Final = 8  # in which most of a day's move may have come
_MOST: Final = 0.6  # of the day's move
BAND: Final = 0.4307 * 1.4826  # a third of a normal distribution, from the median size of its moves
_FEWEST_MOVES: Final = DAY // 2 - 8


@dataclass(frozen=True, slots=True)
class AssetWeek:
    """One asset; None where unknown."""

    usual_day: float | None = None  # root mean square of a day's move over the days before the last, as a fraction
    place_in_week: float | None = None  # of the last close between the week's low, 0, and its high, 1
    volume_ratio: float | None = None  # the last 24 hours' volume over the week's mean day


@dataclass(frozen=True, slots=True)
class MarketWeek:
    """All assets together, each counted alike; None where unknown."""

    usual_day: float | None = None  # root mean square of a day's mean move over the days before the last, as a fraction
    since_hour: int | None = None  # most of the day's mean move came since this full hour (UTC)
    since_share: float | None = None  # how much of it
    volume_ratio: float | None = None  # median over the assets
    correlation: float | None = None  # mean over the pairs, of hourly moves over the last day
    hour_rank: float | None = None  # share of the week's hours in which prices moved less than in the last one, 0..1


class Past:
    """The week up to a quarter hour that is over; each fact is worked out once for it, when first asked for."""

    def __init__(self, week: Week, t_ms: int) -> None:
        """Look back from the bar opened at `t_ms`."""
        self._week = week
        self.closed = last_closed(t_ms)
        self._bands: dict[int, FloatArray] = {}

    @cached_property
    def usual(self) -> FloatArray:
        """Root mean square of a day's move of each asset and, last, of their mean, (assets + 1,), NaN where unknown."""
        return _usual_day(np.column_stack((self._moves, _mean(self._moves))))

    @cached_property
    def market(self) -> MarketWeek:
        """The market's facts."""
        since_hour, since_share = _since(self._closes, (self.closed + 1) * QUARTER_MS)
        return MarketWeek(
            usual_day=_known(self.usual[-1]),
            since_hour=since_hour,
            since_share=since_share,
            volume_ratio=_known(_median(self._volume)),
            correlation=_correlation(self._moves[-24:]),
            hour_rank=_hour_rank(self._variance),
        )

    def assets(self, t_ms: int) -> list[AssetWeek]:
        """Return the facts of each asset after the bar opened at `t_ms`."""
        places = _place(self._week, t_ms).tolist()
        columns = zip(self.usual[:-1].tolist(), places, self._volume.tolist(), strict=True)
        return [
            AssetWeek(usual_day=_known(usual), place_in_week=_known(place), volume_ratio=_known(ratio))
            for usual, place, ratio in columns
        ]

    def day_change(self, log_close: FloatArray) -> FloatArray:
        """Return the log change over 24 hours (up to ten minutes more), NaN where unknown, (assets,)."""
        out: FloatArray = log_close - self._week.last(self.closed - DAY, 1, CLOSE)[0]
        return out

    def day_edges(self, t_ms: int) -> tuple[FloatArray, FloatArray]:
        """Return the log of the highest and lowest price of the 24 hours before the present hour, (assets,).

        NaN where less than half of them is known.
        """
        end = t_ms // HOUR_MS * HOUR - 1
        high = self._week.last(end, DAY, HIGH)
        low = self._week.last(end, DAY, LOW)
        enough = np.isfinite(high).sum(axis=0) >= DAY // 2
        return (
            np.where(enough, np.fmax.reduce(high, axis=0), np.nan),
            np.where(enough, np.fmin.reduce(low, axis=0), np.nan),
        )

    def band(self, minutes: int) -> FloatArray:
        """Return 0.4307 x 1.4826 x the median size of a week's log moves over so many minutes, NaN where unknown.

        Between multiples of a quarter hour it lies on the square root of time.
        """
        quarters, rest = divmod(minutes, 15)
        low = self._band(quarters)
        if not rest:
            return low

        low_root = math.sqrt(15 * quarters)
        high_root = math.sqrt(15 * quarters + 15)
        share = (math.sqrt(minutes) - low_root) / (high_root - low_root)
        out: FloatArray = (1.0 - share) * low + share * self._band(quarters + 1)
        return out

    def baselines(self, ewma: FloatArray) -> list[dict[str, float] | None]:
        """Return the sigmas that an outlook must beat, of a 5-minute bar, as a fraction; None where one is unknown.

        Args:
            ewma: variance of a bar with a half-life of two hours, (assets,).
        """
        baselines: list[dict[str, float] | None] = []
        for sigmas in np.sqrt(np.array((*self._realised, ewma))).T.tolist():
            known = all(0.0 < sigma < math.inf for sigma in sigmas)
            baselines.append(dict(zip(BASELINES, sigmas, strict=True)) if known else None)
        return baselines

    @cached_property
    def _closes(self) -> FloatArray:
        return _filled(self._last(CLOSE))

    @cached_property
    def _moves(self) -> FloatArray:
        """The log moves of each hour up to now, oldest first, (167, assets)."""
        hourly = self._closes[::-HOUR][::-1]
        return np.diff(hourly, axis=0)

    @cached_property
    def _volume(self) -> FloatArray:
        return _ratios(self._last(VOLUME))

    @cached_property
    def _variance(self) -> FloatArray:
        return self._last(VARIANCE)

    @cached_property
    def _realised(self) -> tuple[FloatArray, FloatArray]:
        """Mean variance of a bar over the last hour and the last day."""
        variance = self._variance[-DAY:] / BARS
        last_hour = variance[-HOUR:].mean(axis=0)
        last_day = _mean(variance.T)
        return last_hour, last_day

    def _band(self, quarters: int) -> FloatArray:
        """Return the band over so many quarter hours, remembered for this quarter hour."""
        if quarters not in self._bands:
            self._bands[quarters] = self._median_band(quarters)
        return self._bands[quarters]

    def _median_band(self, quarters: int) -> FloatArray:
        """Work out a band: the lower median of the moves that are known, without sorting all of them."""
        closes = self._last(CLOSE)
        moves = np.abs(closes[quarters:] - closes[:-quarters])
        known = np.isfinite(moves)
        seen = np.count_nonzero(known, axis=0)

        half = np.maximum(seen - 1, 0) // 2
        sizes = np.partition(np.where(known, moves, np.inf), np.unique(half), axis=0)
        middle = sizes[half, np.arange(len(half))]
        return np.where((seen >= _FEWEST_MOVES) & (middle > 0.0), BAND * middle, np.nan)

    def _last(self, field: int) -> FloatArray:
        return self._week.last(self.closed, WEEK, field)


def _filled(closes: FloatArray) -> FloatArray:
    """Carry a close over at most an hour in which nothing was traded."""
    out = closes.copy()
    for _ in range(HOUR):
        missing = np.isnan(out[1:])
        out[1:] = np.where(missing, out[:-1], out[1:])
    return out


def _mean(values: FloatArray) -> FloatArray:
    """Return the mean over the assets of each row, NaN where fewer than half are known."""
    known = np.isfinite(values)
    count = known.sum(axis=1)
    total = np.where(known, values, 0.0).sum(axis=1)
    return np.where(2 * count >= values.shape[1], total / np.maximum(count, 1), np.nan)


def _usual_day(moves: FloatArray) -> FloatArray:
    """Return the root mean square of a day's move from the hourly moves before the last day, (columns,)."""
    before = moves[:-24]
    known = np.isfinite(before)
    seen = known.sum(axis=0)
    square = np.where(known, before**2, 0.0).sum(axis=0)

    enough = seen >= 24 * (_FEWEST_DAYS - 1)
    return np.where(enough, np.sqrt(24.0 * square / np.maximum(seen, 1)), np.nan)


def _place(week: Week, t_ms: int) -> FloatArray:
    """Return where the last close lies between the week's low, 0, and its high, 1, (assets,), NaN where unknown."""
    now = t_ms // QUARTER_MS
    high = week.last(now, WEEK, HIGH)
    known = np.isfinite(high).sum(axis=0) >= _FEWEST_DAYS * DAY
    top = np.fmax.reduce(high, axis=0)
    bottom = np.fmin.reduce(week.last(now, WEEK, LOW), axis=0)

    room = top - bottom
    last = _filled(week.last(now, HOUR + 1, CLOSE))[-1]
    place = (last - bottom) / np.where(room > 0, room, 1.0)
    return np.where(known & (room > 0), place, np.nan)


def _ratios(volume: FloatArray) -> FloatArray:
    """Return the last day's volume over the week's mean day, (assets,)."""
    seen = np.isfinite(volume)
    quarters = seen.sum(axis=0)
    total = np.where(seen, volume, 0.0)
    mean = DAY * total.sum(axis=0) / np.maximum(quarters, 1)

    has_days = quarters >= _FEWEST_DAYS * DAY
    has_last_day = seen[-DAY:].sum(axis=0) >= 0.9 * DAY
    last_day = total[-DAY:].sum(axis=0)
    ratio = last_day / np.where(mean > 0, mean, 1.0)
    return np.where(has_days & has_last_day & (mean > 0), ratio, np.nan)


def _since(closes: FloatArray, close_ms: int) -> tuple[int | None, float | None]:
    """Return the latest full hour since which most of the day's mean move came, and the share of it."""
    last_hour = (close_ms % HOUR_MS) // QUARTER_MS  # quarter hours since the last full hour
    path = _mean(closes[-1] - closes[-DAY - HOUR - 1 :])  # mean move from each quarter hour until now
    day = path[-DAY - 1] if len(path) > DAY else math.nan
    if not math.isfinite(day) or day == 0.0:
        return None, None

    for hours in range(1, _RECENT_HOURS + 1):
        share = float(path[-1 - last_hour - HOUR * hours] / day)
        if share >= _MOST:
            return int(close_ms // HOUR_MS - hours) % 24, share
    return None, None


def _correlation(moves: FloatArray) -> float | None:
    """Return the mean correlation over the pairs of columns without a gap, None with fewer than three of them."""
    whole = moves[:, np.isfinite(moves).all(axis=0)]
    if len(whole) != 24:
        return None
    whole = whole[:, np.ptp(whole, axis=0) > 0]
    many = whole.shape[1]
    if many < 3:
        return None

    # The squared length of the sum of unit vectors is their number plus twice the correlations of all pairs.
    apart = whole - whole.mean(axis=0)
    total = (apart / np.sqrt((apart**2).sum(axis=0))).sum(axis=1)
    return float((total @ total - many) / (many * (many - 1)))


def _hour_rank(variance: FloatArray) -> float | None:
    """Return the share of the week's hours with less realised variance than the last, over all assets."""
    quarters = _mean(np.log(np.maximum(variance, 1e-12)).reshape(-1, variance.shape[1]))
    hours = quarters.reshape(-1, HOUR).mean(axis=1)
    known = hours[np.isfinite(hours)]
    if len(known) < 24 * _FEWEST_DAYS or not math.isfinite(float(hours[-1])):
        return None
    return float((known[:-1] < known[-1]).mean())


def _median(values: FloatArray) -> float:
    """Return the median of the known values, NaN where fewer than half are known."""
    known = values[np.isfinite(values)]
    if not known.size or 2 * known.size < values.size:
        return math.nan
    return float(np.median(known))


def _known(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
