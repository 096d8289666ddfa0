"""What happened, in numbers that sentences are made of: no model, only the candles of the last week."""

import math
from bisect import bisect_left, insort
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from generator.brain.closes import Closes, mean_of_assets
from generator.brain.columns import Columns
from generator.brain.part import Times
from generator.brain.smoothing import totals
from generator.brain.week import BARS, CLOSE, DAY, HIGH, LOW, QUARTER_MS, VARIANCE, VOLUME, WEEK, Week, last_closed
from generator.catalog.durations import HOUR_MS
from generator.market.bars import FloatArray

BASELINES: Final = ("last_hour", "last_day", "ewma")
HOUR: Final = 4  # quarter hours
_FEWEST_DAYS: Final = 3  # of history before a day or an hour is compared with it
_RECENT_HOURS: Final = 8  # in which most of a day's move may have come
_MOST: Final = 0.6  # of the day's move
BAND: Final = 0.4307 * 1.4826  # a third of a normal distribution, from the median size of its moves
_FEWEST_MOVES: Final = DAY // 2 - 8
_FEW_ENDS: Final = 4  # up to which each week is sorted for itself
_TIE: Final = 1e-5  # what the kept week, in single precision, may be off by: no hour is larger than itself
_WHOLE: Final = 0.9  # of the quarter hours of a day or a week, from which on it is called one
_LATELY: Final = 3  # hours


@dataclass(frozen=True, slots=True)
class AssetWeek:
    """One asset; None where unknown, moves as fractions."""

    usual_day: float | None = None  # median size of the moves of the kept days, up to 30
    usual_days: int = 0  # how many days that is
    place_in_week: float | None = None  # of the last close between the week's low, 0, and its high, 1
    volume_ratio: float | None = None  # the last 24 hours' volume over the week's mean day
    hour: float | None = None  # move over the last hour
    hour_rank: float | None = None  # share of the week's hours with a smaller move, 0..1
    last_3h: float | None = None  # move up to now, over three hours or up to ten minutes more
    broke_high_ms: int | None = None  # close of the first bar of this hour above the 24 hours before the hour
    below_high: float | None = None  # how far the last close is below the new high
    broke_low_ms: int | None = None
    above_low: float | None = None


@dataclass(frozen=True, slots=True)
class MarketWeek:
    """All assets together, each counted alike; None where unknown, moves as fractions."""

    usual_day: float | None = None  # median size of the mean moves of the kept days, up to 30
    since_ms: int | None = None  # most of the day's mean move came since this full hour
    since_share: float | None = None  # how much of it
    volume_ratio: float | None = None  # median over the assets
    correlation: float | None = None  # mean over the pairs, of hourly moves over the last day
    hour_rank: float | None = None  # share of the week's hours in which prices moved less than in the last one, 0..1
    usual_days: int = 0  # how many days the usual one is the median of
    move_rank: float | None = None  # share of the week's hours with a smaller mean move than the last hour's, 0..1
    largest_of: str | None = None  # week or day, where no hour of it had a larger mean move to the same side


class Past:
    """The week up to a quarter hour that is over; each fact is worked out once for it, when first asked for."""

    def __init__(self, week: Week, t_ms: int) -> None:
        """Look back from the bar opened at `t_ms`."""
        self._week = week
        self.closed = last_closed(t_ms)
        self._bands: dict[int, FloatArray] = {}
        self._edges: dict[int, tuple[FloatArray, FloatArray]] = {}  # of the day before an hour, by its quarter hour
        self._closed_week: dict[int, tuple[npt.NDArray[np.int64], FloatArray, FloatArray]] = {}
        self._usual: tuple[FloatArray, Times] | None = None

    def know(self, bands: dict[int, FloatArray]) -> None:
        """Take bands that were worked out already, by quarter hours."""
        self._bands |= bands

    @cached_property
    def market(self) -> MarketWeek:
        """The market's facts of the quarter hours that are over."""
        since_ms, since_share = _since(self._closes, (self.closed + 1) * QUARTER_MS)
        return MarketWeek(
            since_ms=since_ms,
            since_share=since_share,
            volume_ratio=_known(_median(self.volume)),
            correlation=_correlation(self._moves[-24:]),
            hour_rank=_hour_rank(self._variance),
        )

    def facts(self, t_ms: int, log_close: FloatArray, closes: Closes) -> tuple[MarketWeek, Columns[AssetWeek]]:
        """Return what happened up to the close of the bar opened at `t_ms`: of the market, and of each asset.

        Args:
            log_close: last closes, NaN where they are stale, (assets,).
            closes: of the last month's days and of the last hour.
        """
        usual, counts = self._usual_day(t_ms, closes)
        hours = np.where(np.isfinite(log_close), closes.hour(), np.nan)
        mean_hour = _known(float(mean_of_assets(hours[None])[0]))
        ranks = self._ranks(np.append(hours, np.nan if mean_hour is None else mean_hour))

        market = replace(
            self.market,
            usual_day=_known(usual[-1]),
            usual_days=int(counts[-1]),
            move_rank=_known(ranks[-1]),
            largest_of=self._largest_of(mean_hour),
        )

        lately = self.lately(log_close)
        high, low = closes.broken(t_ms, *self.day_edges(t_ms))
        below_high = -np.expm1(log_close - high.edge)
        above_low = np.expm1(log_close - low.edge)
        known = (usual[:-1], self._places(t_ms), self.volume, hours, ranks[:-1], lately)
        rows = np.array((*known, high.at_ms, below_high, low.at_ms, above_low))

        def week(column: int) -> AssetWeek:
            usual_move, place, ratio, hour, rank, last_3h, high_ms, below, low_ms, above = _listed(rows[:, column])
            return AssetWeek(
                usual_day=usual_move,
                usual_days=int(counts[column]),
                place_in_week=place,
                volume_ratio=ratio,
                hour=hour,
                hour_rank=rank,
                last_3h=last_3h,
                broke_high_ms=None if high_ms is None else int(high_ms),
                below_high=below,
                broke_low_ms=None if low_ms is None else int(low_ms),
                above_low=above,
            )

        return market, Columns(len(hours), week)

    def lately(self, log_close: FloatArray) -> FloatArray:
        """Return the moves over three hours (up to ten minutes more) as fractions, NaN where unknown, (assets,)."""
        out: FloatArray = np.expm1(log_close - self._week.last(self.closed - HOUR * _LATELY, 1, CLOSE)[0])
        return out

    def day_change(self, log_close: FloatArray) -> FloatArray:
        """Return the log change over 24 hours (up to ten minutes more), NaN where unknown, (assets,)."""
        out: FloatArray = log_close - self._week.last(self.closed - DAY, 1, CLOSE)[0]
        return out

    def day_edges(self, t_ms: int) -> tuple[FloatArray, FloatArray]:
        """Return the log of the highest and lowest price of the 24 hours before the present hour, (assets,).

        NaN where less than half of them is known.
        """
        end = t_ms // HOUR_MS * HOUR - 1

        if end not in self._edges:
            high = self._week.last(end, DAY, HIGH)
            low = self._week.last(end, DAY, LOW)
            enough = np.isfinite(high).sum(axis=0) >= DAY // 2
            self._edges[end] = (
                np.where(enough, np.fmax.reduce(high, axis=0), np.nan),
                np.where(enough, np.fmin.reduce(low, axis=0), np.nan),
            )
        return self._edges[end]

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

    def baselines(self, ewma: FloatArray) -> Columns[dict[str, float] | None]:
        """Return the sigmas that an outlook must beat, of a 5-minute bar, as a fraction; None where one is unknown.

        Args:
            ewma: variance of a bar with a half-life of two hours, (assets,).
        """
        rows = np.sqrt(np.array((*self._realised, ewma)))

        def baselines(column: int) -> dict[str, float] | None:
            sigmas = rows[:, column].tolist()
            is_known = all(0.0 < sigma < math.inf for sigma in sigmas)
            return dict(zip(BASELINES, sigmas, strict=True)) if is_known else None

        return Columns(len(ewma), baselines)

    @cached_property
    def _closes(self) -> FloatArray:
        return _filled(self._last(CLOSE))

    @cached_property
    def _moves(self) -> FloatArray:
        """The log moves of each hour up to now, oldest first, (167, assets)."""
        hourly = self._closes[::-HOUR][::-1]
        return np.diff(hourly, axis=0)

    @cached_property
    def _hours(self) -> FloatArray:
        """The moves over an hour up to each quarter hour of the week, oldest first; the last column is their mean."""
        moves = np.expm1(self._closes[HOUR:] - self._closes[:-HOUR])
        return np.column_stack((moves, mean_of_assets(moves)))

    def _places(self, t_ms: int) -> FloatArray:
        """Return where the last close lies between the week's low, 0, and its high, 1, (assets,), NaN where unknown."""
        now = t_ms // QUARTER_MS
        if now not in self._closed_week:
            high = self._week.last(now - 1, WEEK - 1, HIGH)
            low = self._week.last(now - 1, WEEK - 1, LOW)
            known = np.isfinite(high).sum(axis=0)
            self._closed_week[now] = (known, np.fmax.reduce(high, axis=0), np.fmin.reduce(low, axis=0))

        # Of the present quarter hour the high and low still change.
        known, top, bottom = self._closed_week[now]
        present = self._week.last(now, 1, HIGH)[0]
        known = known + np.isfinite(present)
        top = np.fmax(top, present)
        bottom = np.fmin(bottom, self._week.last(now, 1, LOW)[0])

        room = top - bottom
        last = _filled(self._week.last(now, HOUR + 1, CLOSE))[-1]
        place = (last - bottom) / np.where(room > 0, room, 1.0)
        return np.where((known >= _FEWEST_DAYS * DAY) & (room > 0), place, np.nan)

    def _usual_day(self, t_ms: int, closes: Closes) -> tuple[FloatArray, Times]:
        """Return what `Closes.usual_day` does; it changes with a day, which ends with a quarter hour."""
        if self._usual is None:
            self._usual = closes.usual_day(t_ms)
        return self._usual

    @cached_property
    def _sizes_before(self) -> tuple[FloatArray, FloatArray]:
        """Sizes of the moves of the hours that ended before the last one began, and how many are known, by column."""
        before = np.abs(self._hours[:-HOUR])
        return before, np.isfinite(before).sum(axis=0).astype(np.float64)

    def _ranks(self, moves: FloatArray) -> FloatArray:
        """Return the share of the hours that ended before the last one began with a smaller move; NaN of too few.

        Args:
            moves: of the assets and, last, of their mean, NaN where unknown, (assets + 1,).
        """
        before, known = self._sizes_before
        smaller = totals(before < np.abs(moves))
        is_known = np.isfinite(moves) & (known >= _WHOLE * WEEK)
        return np.where(is_known, smaller / np.maximum(known, 1.0), np.nan)

    def _largest_of(self, move: float | None) -> str | None:
        """Say of which time no hour had a larger mean move to the side of `move`: week, day or None."""
        if not move:
            return None
        signed = math.copysign(1.0, move) * self._hours[:, -1]
        for name, quarters in (("week", WEEK), ("day", DAY)):
            span = signed[-quarters:]
            known = span[np.isfinite(span)]
            if len(known) >= _WHOLE * quarters and known.max() <= abs(move) + _TIE:
                return name
        return None

    @cached_property
    def volume(self) -> FloatArray:
        """The last day's volume over the week's mean day, (assets,), NaN where unknown."""
        return _ratios(self._last(VOLUME))

    @cached_property
    def _variance(self) -> FloatArray:
        return self._last(VARIANCE)

    @cached_property
    def _realised(self) -> tuple[FloatArray, FloatArray]:
        """Mean variance of a bar over the last hour and the last day."""
        variance = self._variance[-DAY:] / BARS
        last_hour = variance[-HOUR:].mean(axis=0)
        last_day = mean_of_assets(variance.T)
        return last_hour, last_day

    def _band(self, quarters: int) -> FloatArray:
        """Return the band over so many quarter hours, remembered for this quarter hour."""
        if quarters not in self._bands:
            closes = self._last(CLOSE)
            self._bands[quarters] = median_bands(closes, np.array([len(closes) - 1]), quarters)[0]
        return self._bands[quarters]

    def _last(self, field: int) -> FloatArray:
        return self._week.last(self.closed, WEEK, field)


def _filled(closes: FloatArray) -> FloatArray:
    """Carry a close over at most an hour in which nothing was traded."""
    out = closes.copy()
    for _ in range(HOUR):
        missing = np.isnan(out[1:])
        out[1:] = np.where(missing, out[:-1], out[1:])
    return out


def median_bands(closes: FloatArray, ends: Times, quarters: int) -> FloatArray:
    """Return the bands of moves over so many quarter hours, see `Past.band`, from the lower median of those known.

    Args:
        closes: log of the last close of quarter hours, oldest first, (rows, assets), NaN where nothing was traded.
        ends: rows at which a week ends, (n,).

    Returns:
        NaN where too few are known, (n, assets).
    """
    sizes = np.abs(closes[quarters:] - closes[:-quarters])
    if len(ends) <= _FEW_ENDS:
        middle = np.stack([_lower_median(sizes[end + 1 - WEEK : end + 1 - quarters]) for end in ends.tolist()])
    else:
        middle = _running_medians(sizes, ends, quarters)
    return np.where(middle > 0.0, BAND * middle, np.nan)


def _lower_median(sizes: FloatArray) -> FloatArray:
    """Return the lower median of each column's known sizes, (assets,), NaN where too few are known."""
    by_column = sizes.T.copy()
    known = np.add.reduce(np.isfinite(by_column), axis=1)
    place = np.maximum(known - 1, 0) // 2
    by_column.partition(np.unique(place), axis=1)  # what is unknown comes last
    out: FloatArray = np.where(known >= _FEWEST_MOVES, by_column[np.arange(len(place)), place], np.nan)
    return out


def _running_medians(sizes: FloatArray, ends: Times, quarters: int) -> FloatArray:
    """Return the lower medians at many ends: sizes stay in order from one to the next."""
    first = int(ends[0])
    middle = np.full((len(ends), sizes.shape[1]), np.nan)
    for column in range(sizes.shape[1]):
        # The first week is sorted; of the next ones moves leave it and others are put where they belong.
        every = sizes[:, column].tolist()
        week = np.sort(sizes[first + 1 - WEEK : first + 1 - quarters, column])
        in_order = week[np.isfinite(week)].tolist()
        last = first
        for row, end in enumerate(ends.tolist()):
            for size in every[last + 1 - WEEK : end + 1 - WEEK]:
                if math.isfinite(size):
                    del in_order[bisect_left(in_order, size)]
            for size in every[last + 1 - quarters : end + 1 - quarters]:
                if math.isfinite(size):
                    insort(in_order, size)
            last = end
            if len(in_order) >= _FEWEST_MOVES:
                middle[row, column] = in_order[(len(in_order) - 1) // 2]
    return middle


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
    """Return the time of the latest full hour since which most of the day's mean move came, and the share of it."""
    last_hour = (close_ms % HOUR_MS) // QUARTER_MS  # quarter hours since the last full hour
    path = mean_of_assets(closes[-1] - closes[-DAY - HOUR - 1 :])  # mean move from each quarter hour until now
    day = path[-DAY - 1] if len(path) > DAY else math.nan
    if not math.isfinite(day) or day == 0.0:
        return None, None

    for hours in range(1, _RECENT_HOURS + 1):
        share = float(path[-1 - last_hour - HOUR * hours] / day)
        if share >= _MOST:
            return (close_ms // HOUR_MS - hours) * HOUR_MS, share
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
    quarters = mean_of_assets(np.log(np.maximum(variance, 1e-12)).reshape(-1, variance.shape[1]))
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


def _listed(values: FloatArray) -> list[float | None]:
    return [value if math.isfinite(value) else None for value in values.tolist()]
