"""What the candles of a month say, worked out without the composer's or the brain's code; moves in percent."""

import itertools
import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from generator.market.bars import BarFrame, FloatArray

MINUTE: Final = 60_000
BAR: Final = 5 * MINUTE
QUARTER: Final = 15 * MINUTE
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR
_CARRIED: Final = 3  # bars for which a value stands for those that are missing after it
_MONTH: Final = 720  # hours
_WEEK: Final = 168
_USUAL: Final = 0.4307 * 1.4826  # of a median: a third of a normal distribution lies within


class Rank(NamedTuple):
    """A value among those of the hours of the month before; the rank of 100, ties half."""

    now: float
    rank: float | None  # None of less than a week of hours


class Hour(NamedTuple):
    """The hour of the day in which the mean price moved most."""

    at_ms: int
    move: float
    share: float | None  # of the day's move, percent
    in_week: int
    in_month: int
    is_last: bool


class Candles:
    """The bars up to now."""

    def __init__(self, frame: BarFrame) -> None:
        """Take at most a month of bars; the last one has just closed."""
        self._rows = {int(t) + BAR: row for row, t in enumerate(frame.t.tolist())}
        self._fields = frame.fields
        self.now_ms = int(frame.t[-1]) + BAR
        self.first_ms = int(frame.t[0])
        self.hours_ms = [self.now_ms - HOUR * ago for ago in range(_MONTH - 1, -1, -1)]
        self.closes = np.array([self.at("close", at_ms) for at_ms in self.hours_ms])
        self.hour_moves = self._mean_moves(1)
        self.day_moves = self._mean_moves(24)

    def at(self, field: str, at_ms: int, carried: int = _CARRIED) -> FloatArray:
        """Return the newest value of each asset at a time, NaN where it is too old."""
        values = self._fields[field]
        found = np.full(values.shape[1], np.nan)
        for ago in range(carried + 1):
            row = self._rows.get(at_ms - ago * BAR)
            if row is not None:
                found = np.where(np.isnan(found), values[row], found)
        return found

    def move(self, at_ms: int, span_ms: int) -> float:
        """Return the mean over the assets of their moves up to a time."""
        return _mean(100.0 * (self.at("close", at_ms) / self.at("close", at_ms - span_ms) - 1.0))

    def _mean_moves(self, hours: int) -> list[float]:
        """Return the mean move up to each hour of the month, NaN in its first hours."""
        moves = 100.0 * (self.closes[hours:] / self.closes[:-hours] - 1.0)
        return [math.nan] * hours + [_mean(row) for row in moves]

    def usual_days(self) -> tuple[list[float], int]:
        """Return the median size of the moves of the UTC days that are over, of each asset and last of their mean."""
        midnight = self.now_ms // DAY * DAY
        closes = np.array([self.at("close", midnight - DAY * ago, carried=11) for ago in range(30, -1, -1)])
        moves = 100.0 * np.abs(closes[1:] / closes[:-1] - 1.0)
        means = [abs(_mean(100.0 * (after / before - 1.0))) for before, after in itertools.pairwise(closes)]
        columns = [*moves.T.tolist(), means]
        known = [[value for value in column if math.isfinite(value)] for column in columns]
        return [float(np.median(column)) if len(column) >= 3 else math.nan for column in known], len(known[-1])

    def largest_hour(self) -> Hour | None:
        """Return the largest hour of the last 24; None where one is not known."""
        day = self.hour_moves[-24:]
        total = self.day_moves[-1]
        if not all(math.isfinite(move) for move in (*day, total)):
            return None
        at = max(range(24), key=lambda place: abs(day[place]))
        move = day[at]
        keeps = total * move > 0 and abs(total) >= abs(move)
        return Hour(
            at_ms=self.hours_ms[at - 24],
            move=move,
            share=100.0 * move / total if keeps else None,
            in_week=1 + sum(abs(other) > abs(move) for other in self.hour_moves[-_WEEK:]),
            in_month=1 + sum(abs(other) > abs(move) for other in self.hour_moves),
            is_last=at == 23,
        )

    def hour_rank(self) -> float | None:
        """Return the share of the week's hours, of 100, in which the mean price moved less than in the last one."""
        last = self.now_ms // QUARTER * QUARTER
        week = [self.move(last - QUARTER * ago, HOUR) for ago in range(4, 4 * _WEEK - 4)]
        known = [abs(move) for move in week if math.isfinite(move)]
        now = abs(self.move(self.now_ms, HOUR))
        if len(known) < 0.9 * 4 * _WEEK or not math.isfinite(now):
            return None
        return 100.0 * sum(size < now for size in known) / len(known)

    def correlation(self) -> float | None:
        """Return the mean correlation over the pairs of assets of the last day's hourly moves."""
        last = self.now_ms // QUARTER * QUARTER
        closes = [self.at("close", last - HOUR * ago, carried=14) for ago in range(24, -1, -1)]
        return mean_correlation(np.diff(np.log(np.array(closes)), axis=0))

    def ranks(self) -> dict[str, Rank]:
        """Return where each measure of now ranks in the month."""
        day = 100.0 * (self.closes[24:] / self.closes[:-24] - 1.0)
        spread = [math.nan] * 24 + [_spread(row) for row in day]
        moves = np.diff(np.log(self.closes), axis=0)
        days = [mean_correlation(moves[end - 24 : end]) for end in range(24, len(moves) + 1)]
        together = [math.nan] * 24 + [math.nan if value is None else value for value in days]
        series = {
            "dispersion": spread,
            "correlation": together,
            "volume": [self.traded(at_ms) for at_ms in self.hours_ms],
            "funding": self._of_books("funding"),
            "depth": self._of_books("depth_usd"),
            "day": [abs(move) for move in self.day_moves],
        }
        return {name: ranked(values) for name, values in series.items()}

    def traded(self, at_ms: int) -> float:
        """Return what was traded in the day before a time, US dollars; NaN before a day of bars."""
        if at_ms - DAY < self.first_ms:
            return math.nan
        rows = [row for row in map(self._rows.get, range(at_ms - DAY + BAR, at_ms + BAR, BAR)) if row is not None]
        return float(np.nansum(self._fields["volume"][rows] * self._fields["close"][rows]))

    def _of_books(self, field: str) -> list[float]:
        """Return the mean over the assets at each hour, of those that have it at all; NaN where one lacks it."""
        values = np.array([self.at(field, at_ms) for at_ms in self.hours_ms])
        whole = values[:, np.isfinite(values).any(axis=0)]
        if not whole.shape[1]:
            return [math.nan] * len(values)
        return [float(row.mean()) for row in whole]

    def usual(self, moves: Sequence[float]) -> float:
        """Return the half-width of the usual move, of some moves."""
        return _USUAL * float(np.median([abs(move) for move in moves if math.isfinite(move)]))

    def later(self, hours: int) -> list[float]:
        """Return the mean move over so many hours after each hour of the month, NaN where it is not over."""
        moves = 100.0 * (self.closes[hours:] / self.closes[:-hours] - 1.0)
        return [_mean(row) for row in moves] + [math.nan] * hours


def mean_correlation(moves: FloatArray) -> float | None:
    """Return the mean over the pairs of columns without a hole; None with fewer than three of them."""
    whole = moves[:, np.isfinite(moves).all(axis=0)]
    whole = whole[:, whole.std(axis=0) > 0]
    many = whole.shape[1]
    if many < 3:
        return None
    matrix = np.corrcoef(whole, rowvar=False)
    return float((matrix.sum() - many) / (many * (many - 1)))


def ranked(values: Sequence[float]) -> Rank:
    """Rank the last value among those before."""
    *before, now = values
    known = [value for value in before if math.isfinite(value)]
    if not math.isfinite(now) or len(known) < _WEEK:
        return Rank(now, None)
    below = sum(value < now for value in known)
    same = sum(value == now for value in known)
    return Rank(now, 100.0 * (below + 0.5 * same) / len(known))


def _mean(row: FloatArray) -> float:
    """Return the mean of a row of which at least half is known, else NaN."""
    known = row[np.isfinite(row)]
    return float(known.mean()) if 2 * len(known) >= len(row) else math.nan


def _spread(row: FloatArray) -> float:
    known = row[np.isfinite(row)]
    return float(known.std()) if 2 * len(known) >= len(row) else math.nan
