"""Which of eleven situations the market is in: the first rule that holds, each with a limit to enter and one to stay.

The first three take over at once; the others wait two hours of bars, unless the one shown no longer holds. All sizes
are against the record: an hour, a day and a week in usual ones (U1, U24, U7, see `record`). The market is the average
coin.
"""

from typing import ClassVar, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from generator.brain import side as sides
from generator.brain import swings
from generator.brain.highlights import Highlights
from generator.brain.moves import DAY, HOUR, WEEK, Moves, with_market
from generator.brain.part import Part
from generator.brain.record import HOUR_MOVE, Record
from generator.brain.smoothing import Flags
from generator.catalog.durations import HOUR_MS
from generator.catalog.text.happened import Situation
from generator.catalog.thresholds import BROAD_SHARE, FLAT_PERCENT
from generator.market.bars import BAR_MS, FloatArray

_AT_ONCE: Final = (Situation.SHOCK, Situation.GREAT_DAY, Situation.AFTERMATH)
_WAIT_HOURS: Final = 2
YOUNG_DAYS: Final = 3.0  # on record, below which only prices are given
_FLAT: Final = FLAT_PERCENT / 100
_ROW_DAYS: Final = 7  # windows of 24 hours looked back at for days in a row
_OF_ROW: Final = 0.2  # usual days that each of them moved at least
FEWEST_IN_A_ROW: Final = 3


def _limits(enter: float, stay: float) -> FloatArray:
    """Return what a bar must reach to enter and to stay, as a column."""
    return np.array([[enter], [stay]])


# To enter, to stay; sizes in usual hours, days and weeks unless a percentage.
_SHOCK_HOURS: Final = _limits(8.0, 6.0)
_SHOCK_SIZE: Final = _limits(0.015, 0.011)
_SHOCK_OF_LARGEST: Final = _limits(0.75, 0.7)
_SHOCK_OF_DAY: Final = _limits(0.5, 0.4)
_LATE_HOURS: Final = 3.0  # a largest hour that old no longer makes a new one small
_GREAT_DAYS: Final = _limits(2.5, 2.0)
_GREAT_MEDIAN: Final = _limits(1.5, 1.2)
_AFTER_HOURS: Final = 8.0
_AFTER_SIZE: Final = 0.015
_LONG_AFTER_HOURS: Final = 12.0
_SOON_AFTER_HOURS: Final = 0.95
_AFTER_OF_LARGEST: Final = _limits(0.75, 0.8)
_ALONE_SIZE: Final = 0.06
_ALONE_DAYS: Final = 4.0
_ALONE_SPREAD: Final = 1.5  # of the others, from lowest to highest
_ALONE_OTHERS: Final = _limits(2.0, 2.3)
_FRESH_LEG: Final = 1 / 32  # of a day, three quarters of an hour, from which on a leg counts
LEG_DAYS: Final = (0.75, 0.5)
_IN_A_ROW: Final = _limits(1.4, 1.0)  # times the root of the days
_WEEKS: Final = _limits(1.75, 1.4)
_WEEK_DAYS: Final = _limits(0.7, 1.0)
_SPLIT_DAYS: Final = _limits(3.5, 2.8)
_MOVE_DAYS: Final = _limits(1.3, 0.9)
_CALM_DAYS: Final = _limits(0.7, 1.0)
_CALM_FIRST: Final = _limits(0.5, 0.7)
_CALM_RANGE: Final = _limits(0.35, 0.5)
_FEWEST_OF_SPLIT: Final = 2
_MANY: Final = 0.5
_FEWEST_OF_SPREAD: Final = 2
_ENTER, _STAY = range(2)


class LegBars(NamedTuple):
    """A day in two legs: their moves as fractions, and how many bars ago the first ended."""

    first: float
    second: float
    turned_ago: int
    is_over: bool  # a third leg has followed, and counts


def legs_of(line: FloatArray, least: float) -> LegBars | None:
    """Split a day's line into two legs of at least `least`, as fractions; None where it has none.

    Either the first ends at the later of the line's two extremes and the second lasts until now, or the second ends
    there.

    >>> rise_and_fall = np.concatenate((np.linspace(0.0, 0.04, 150), np.linspace(0.04, 0.01, 139)))
    >>> legs = legs_of(rise_and_fall, least=0.02)
    >>> round(legs.first, 3), round(legs.second, 3), legs.turned_ago, legs.is_over
    (0.04, -0.029, 139, False)
    """
    if not np.isfinite(line).all():
        return None
    top = int(line.argmax())
    bottom = int(line.argmin())
    later = max(top, bottom)
    now = len(line) - 1
    second = (1.0 + line[now]) / (1.0 + line[later]) - 1.0
    if abs(second) >= least and now - later >= _FRESH_LEG * now:
        until = line[: later + 1]
        start = until.min() if top > bottom else until.max()
        first = (1.0 + line[later]) / (1.0 + start) - 1.0
        if abs(first) >= least:
            return LegBars(float(first), float(second), now - later, is_over=False)

    earlier = min(top, bottom)
    first = line[earlier]
    second = (1.0 + line[later]) / (1.0 + line[earlier]) - 1.0
    if abs(first) >= least and abs(second) >= least:
        return LegBars(float(first), float(second), now - earlier, is_over=True)
    return None


class _Rules(NamedTuple):
    """Which situations bars may enter, enter from a great day, and stay in, (11, n) each."""

    enters: Flags
    from_great: Flags
    stays: Flags


class Situations(Part):
    """The situation shown, and what of it must be counted day by day."""

    STATE: ClassVar[tuple[str, ...]] = ("shown", "waited", "in_a_row", "row_moved", "row_first", "alone")

    def __init__(self, bar_ms: int = BAR_MS) -> None:
        """Start knowing none; bars are so long."""
        super().__init__()
        self._hour = HOUR_MS // bar_ms  # bars
        self.shown = np.full(1, float(Situation.UNKNOWN))
        self.waited = np.zeros(1)  # bars for which another one has been the candidate
        self.in_a_row = np.zeros(1)  # windows of 24 hours back from now that moved to one side
        self.row_moved = np.full(1, np.nan)  # what the market moved over them
        self.row_first = np.full(1, np.nan)  # and Bitcoin
        self.alone = np.full(1, -1.0)  # the coin that stands out, as a column; -1: none

    def update(self, moves: Moves, record: Record, highlights: Highlights, side: FloatArray, word: FloatArray) -> None:
        """Take a block of bars that all the others have taken.

        Args:
            side: the market's, as indices of `side.SIDES`, (n,).
            word: the market's volatility, as indices of `swings.WORDS`, (n,).
        """
        with np.errstate(invalid="ignore", divide="ignore"):
            self._count_days(moves, record)
            spread = _spread_of(moves.moves[DAY][:, :-1])
            self._find_alone(moves, record, spread)
            bars = _bars(moves, record, highlights, side, spread, self._hour)
            rules = self._rules(moves, record, highlights, side, word, bars)
        known = np.isfinite(moves.moves[HOUR][:, -1] + moves.moves[DAY][:, -1])
        self._follow(rules, known & (record.count[HOUR_MOVE][:, -1] >= 24 * YOUNG_DAYS))

    def _count_days(self, moves: Moves, record: Record) -> None:
        """Count the windows of 24 hours, back from now, that moved one way, each a fifth of a usual day or more."""
        marks = moves.days_ago(_ROW_DAYS)
        of_coins = marks[:-1] / marks[1:] - 1.0  # (7, n, assets), the newest first
        bars, assets = of_coins.shape[1:]
        market = with_market(of_coins.reshape(-1, assets))[:, -1].reshape(_ROW_DAYS, bars)

        same = (np.sign(market) == np.sign(market[0])) & (np.abs(market) >= _OF_ROW * record.usual[1][:, -1])
        in_a_row = np.logical_and.accumulate(same, axis=0).sum(axis=0)
        over = marks[0] / marks[in_a_row, np.arange(bars)] - 1.0
        over_all = with_market(over)
        self.in_a_row = in_a_row.astype(np.float64)[:, None]
        self.row_moved = over_all[:, -1:]
        self.row_first = over_all[:, :1]

    def _find_alone(self, moves: Moves, record: Record, spread: "_Spread") -> None:
        """Find the coin that is farther from the others' median than they are from each other."""
        day = moves.moves[DAY][:, :-1]
        limit = np.maximum(_ALONE_SIZE, _ALONE_DAYS * record.usual[1][:, -1])
        self.alone = np.full((len(day), 1), -1.0)

        # None is farther from the others' median than the highest is from the lowest.
        rows = np.flatnonzero(spread.highest - spread.lowest > limit)
        if not len(rows):
            return
        low, middle, high = _of_others(day[rows])
        off = np.abs(day[rows] - middle)
        is_alone = (off > limit[rows, None]) & (off > _ALONE_SPREAD * (high - low))
        farthest = np.where(is_alone, off, -1.0).argmax(axis=1)
        self.alone[rows, 0] = np.where(is_alone.any(axis=1), farthest, -1.0)

    def _rules(  # noqa: PLR0917
        self,
        moves: Moves,
        record: Record,
        highlights: Highlights,
        side: FloatArray,
        word: FloatArray,
        bars: "_Bars",
    ) -> _Rules:
        """Say which situations each bar may enter and which it may stay in."""
        others = _middle_of_others(moves.moves[DAY][:, :-1], self.alone[:, 0])
        in_a_row = self.in_a_row[:, 0]
        over_row = np.abs(self.row_moved[:, 0])
        is_row = (in_a_row >= FEWEST_IN_A_ROW) & (over_row > np.abs(bars.day)) & bars.is_many
        is_row &= (bars.day * bars.first > 0.0) & (bars.day * self.row_first[:, 0] > 0.0) & (side != sides.BOTH_WAYS)
        row_usual = bars.usual_day * np.sqrt(in_a_row)

        legs = self._have_legs(moves, record, side)

        # Each to enter, then to stay, (2, n).
        great = _great_day(bars)
        shock = _shock(bars, great)
        calm = (word == swings.CALM) & bars.is_flat & (bars.days < _CALM_DAYS)
        calm &= np.abs(bars.first) < _CALM_FIRST * bars.usual_day
        at = np.flatnonzero(calm.any(axis=0))
        calm[:, at] &= highlights.range_ranks(at) < _CALM_RANGE
        rules = np.array(
            (
                shock,
                great,
                _aftermath(bars),
                (self.alone[:, 0] >= 0.0) & (np.abs(others) < _ALONE_OTHERS * bars.usual_day),
                legs,
                is_row & (over_row >= _IN_A_ROW * row_usual),
                (bars.weeks >= _WEEKS) & (bars.days < _WEEK_DAYS) & bars.is_flat,
                _split(bars),
                bars.has_side & (bars.days >= _MOVE_DAYS) & bars.is_many,
                calm,
                np.ones_like(calm),
            )
        )
        enters, stays = rules.swapaxes(0, 1)
        # A shock takes the headline from a great day only where it stands out of that day.
        from_great = enters.copy()
        from_great[Situation.SHOCK] = _shock(bars, great[[_STAY, _STAY]])[_ENTER]
        return _Rules(enters, from_great, stays)

    def _have_legs(self, moves: Moves, record: Record, side: FloatArray) -> Flags:
        """Say where the day went both ways in two legs large enough to enter, and to stay, (2, n)."""
        out = np.zeros((len(LEG_DAYS), len(side)), dtype=np.bool_)
        for bar in np.flatnonzero(side == sides.BOTH_WAYS).tolist():
            usual_day = float(record.usual[1][bar, -1])
            # Legs that are too small to stay are too small to enter.
            for level in (_STAY, _ENTER):
                out[level, bar] = legs_of(moves.lines[bar], LEG_DAYS[level] * usual_day) is not None
                if not out[level, bar]:
                    break
        return out

    def _follow(self, rules: _Rules, known: Flags) -> None:
        """Move from one situation to the next."""
        shown = int(self.shown[0])
        waited = int(self.waited[0])
        first = rules.enters.argmax(axis=0).tolist()
        first_from_great = rules.from_great.argmax(axis=0).tolist()
        may_stay = rules.stays.T.tolist()
        situations = np.empty(len(known))
        waits = np.empty(len(known))
        for bar, is_known in enumerate(known.tolist()):
            if not is_known:
                shown = int(Situation.UNKNOWN)
                waited = 0
            elif shown == Situation.UNKNOWN:
                shown = first[bar]
                waited = 0
            else:
                is_great = shown == Situation.GREAT_DAY and may_stay[bar][shown]
                other = first_from_great[bar] if is_great else first[bar]
                if may_stay[bar][shown]:
                    other = min(other, shown)
                if other == shown:
                    waited = 0
                else:
                    waited += 1
                    if (
                        (other < shown and other in _AT_ONCE)
                        or not may_stay[bar][shown]
                        or waited >= _WAIT_HOURS * self._hour
                    ):
                        shown = other
                        waited = 0
            situations[bar] = shown
            waits[bar] = waited
        self.shown = situations[:, None]
        self.waited = waits[:, None]


class _Bars(NamedTuple):
    """What the rules ask of each bar, (n,); sizes in usual hours, days and weeks are without sign."""

    hour: FloatArray  # moves of the market, fractions
    day: FloatArray
    first: FloatArray  # Bitcoin's day
    middle: FloatArray  # the median coin's day
    apart: FloatArray  # from the lowest coin's day to the highest
    hours: FloatArray
    days: FloatArray
    weeks: FloatArray
    usual_hour: FloatArray
    usual_day: FloatArray
    largest: FloatArray  # hour of the day
    largest_ago: FloatArray  # hours since it ended
    fewer: FloatArray  # how many coins are on the side of the fewer, up or down
    is_broad: Flags
    is_many: Flags
    is_flat: Flags
    has_side: Flags


def _bars(  # noqa: PLR0917
    moves: Moves, record: Record, highlights: Highlights, side: FloatArray, spread: "_Spread", hour_bars: int
) -> _Bars:
    """Return what the rules ask, from what the parts say of bars of which so many make an hour."""
    hour = moves.moves[HOUR][:, -1]
    day = moves.moves[DAY][:, -1]
    week = moves.moves[WEEK][:, -1]
    usual_hour = record.usual[0][:, -1]
    usual_day = record.usual[1][:, -1]

    coins = moves.moves[DAY][:, :-1]
    known = np.add.reduce(np.isfinite(coins), axis=1)
    up = (coins > _FLAT).sum(axis=1)
    down = (coins < -_FLAT).sum(axis=1)
    most = np.maximum(up, down)

    return _Bars(
        hour=hour,
        day=day,
        first=moves.moves[DAY][:, 0],
        middle=spread.middle,
        apart=spread.highest - spread.lowest,
        hours=np.abs(hour) / usual_hour,
        days=np.abs(day) / usual_day,
        weeks=np.abs(week) / record.usual[2][:, -1],
        usual_hour=usual_hour,
        usual_day=usual_day,
        largest=highlights.largest[:, 0],
        largest_ago=highlights.largest_ago[:, 0] / hour_bars,
        fewer=np.minimum(up, down),
        is_broad=(most >= BROAD_SHARE * known) & ((up > down) == (day > 0.0)),
        is_many=np.where(day > 0.0, up, down) >= _MANY * known,
        is_flat=side == sides.FLAT,
        has_side=(side == sides.RISING) | (side == sides.FALLING),
    )


def _great_day(bars: _Bars) -> Flags:
    """Say where the day is far beyond a usual one, for most coins and for the one in the middle."""
    middle_too = (bars.middle * bars.day > 0.0) & (np.abs(bars.middle) >= _GREAT_MEDIAN * bars.usual_day)
    return (bars.days >= _GREAT_DAYS) & bars.is_broad & middle_too


def _shock(bars: _Bars, great: Flags) -> Flags:
    """Say where the hour is far beyond a usual one; in a great day only where it adds half of that or more."""
    size = np.abs(bars.hour)
    is_large = (bars.hours >= _SHOCK_HOURS) & (size >= _SHOCK_SIZE)
    of_largest = (size >= _SHOCK_OF_LARGEST * np.abs(bars.largest)) | (bars.largest_ago >= _LATE_HOURS)
    is_part = (bars.day * bars.hour < 0.0) | (size < _SHOCK_OF_DAY * np.abs(bars.day))
    return is_large & of_largest & ~(great & is_part)


def _aftermath(bars: _Bars) -> Flags:
    """Say where an hour far beyond a usual one lies a short while back."""
    size = np.abs(bars.largest)
    was_large = (size >= _AFTER_HOURS * bars.usual_hour) & (size >= _AFTER_SIZE)
    is_over = (bars.largest_ago >= _SOON_AFTER_HOURS) | (np.abs(bars.hour) < _AFTER_OF_LARGEST * size)
    return was_large & is_over & (bars.largest_ago <= _LONG_AFTER_HOURS)


def _split(bars: _Bars) -> Flags:
    """Say where coins went far apart, at least two of them each way."""
    parted = ~bars.is_broad & (bars.fewer >= _FEWEST_OF_SPLIT)
    return parted & (bars.apart >= _SPLIT_DAYS * bars.usual_day)


class _Spread(NamedTuple):
    """Of the known values of each row, NaN where fewer than two are known, (n,)."""

    lowest: FloatArray
    middle: FloatArray  # the median
    highest: FloatArray


def _spread_of(coins: FloatArray) -> _Spread:
    """Return how far the values of each row, (n, coins), lie apart.

    >>> [values.tolist() for values in _spread_of(np.array([[3.0, np.nan, 1.0, 2.0]]))]
    [[1.0], [2.0], [3.0]]
    >>> [values.tolist() for values in _spread_of(np.empty((2, 0)))]
    [[nan, nan], [nan, nan], [nan, nan]]
    """
    if coins.shape[1] < _FEWEST_OF_SPREAD:
        unknown = np.full(len(coins), np.nan)
        return _Spread(unknown, unknown, unknown)

    in_order = np.sort(coins, axis=1)  # what is unknown comes last
    known = np.add.reduce(np.isfinite(in_order), axis=1)
    rows = np.arange(len(coins))
    last = np.maximum(known - 1, 0)
    lower_middle = in_order[rows, last // 2]
    upper_middle = in_order[rows, (last + 1) // 2]

    enough = known >= _FEWEST_OF_SPREAD
    return _Spread(
        np.where(enough, in_order[rows, 0], np.nan),
        np.where(enough, (lower_middle + upper_middle) / 2.0, np.nan),
        np.where(enough, in_order[rows, last], np.nan),
    )


def _of_others(coins: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the lowest, median and highest of all values of a row but one, for each of them, (n, coins).

    NaN where fewer than two others are known; what is said of an unknown one means nothing.

    >>> [values.tolist() for values in _of_others(np.array([[3.0, 9.0, 1.0, 2.0]]))]
    [[[1.0, 1.0, 2.0, 1.0]], [[2.0, 2.0, 3.0, 3.0]], [[9.0, 3.0, 9.0, 9.0]]]
    """
    order = np.argsort(coins, axis=1, kind="stable")
    place = np.argsort(order, axis=1, kind="stable")
    in_order = np.take_along_axis(coins, order, axis=1)
    last = np.add.reduce(np.isfinite(coins), axis=1, keepdims=True) - 2  # place of the highest of the others
    enough = last >= _FEWEST_OF_SPREAD - 1

    def at(rank: npt.NDArray[np.int64]) -> FloatArray:
        found = np.take_along_axis(in_order, np.maximum(rank, 0) + (rank >= place), axis=1)
        return np.where(enough, found, np.nan)

    nothing = np.zeros_like(place)
    middle = (at(nothing + last // 2) + at(nothing + (last + 1) // 2)) / 2.0
    return at(nothing), middle, at(nothing + last)


def _middle_of_others(coins: FloatArray, alone: FloatArray) -> FloatArray:
    """Return the median of all coins but one, (n,); the one of each bar as a column, -1: none, for which it is NaN."""
    out = np.full(len(coins), np.nan)
    rows = np.flatnonzero(alone >= 0.0)
    if len(rows):
        others = coins[rows]
        others[np.arange(len(rows)), alone[rows].astype(np.int64)] = np.nan
        out[rows] = _spread_of(others).middle
    return out
