"""Side, volatility, label and the chance that it holds, from prices: rules by hand, and plain loops."""

from dataclasses import dataclass

import numpy as np
import pytest

from generator.brain import label, side, swings
from generator.brain.holds import HOURS as AHEAD
from generator.brain.holds import Holds, chances_by_state
from generator.brain.label import LABELS, Label
from generator.brain.moves import DAY, HOUR, SIX_HOURS, SPANS, WEEK, Moves
from generator.brain.part import Times
from generator.brain.record import DAY_MOVE, EXPECTED, HOUR_MOVE, REALISED, Record
from generator.brain.side import BOTH_WAYS, FALLING, FLAT, RISING, Side
from generator.brain.smoothing import DAY_BARS, HOUR_BARS
from generator.brain.swings import CALM, NORMAL, ROUGH, WILD, Swings
from generator.catalog.words import RegimeLabel, Trend
from generator.market.bars import BAR_MS, FloatArray

ASSETS = 4
DAYS = 12
USUAL_DAY = 0.02
ALWAYS = np.full((1, 1), USUAL_DAY)


def times(bars: int, first: int = 0) -> Times:
    return (first + np.arange(bars, dtype=np.int64)) * BAR_MS


def walk(seed: int, days: int = DAYS) -> tuple[Times, FloatArray, FloatArray]:
    """Return times, log closes with holes, and an expected volatility, of a market that is rough every third day."""
    rng = np.random.default_rng(seed)
    bars = days * DAY_BARS
    rough = 1.0 + 2.0 * (np.arange(bars) // DAY_BARS % 3 == 2)
    shared = rng.standard_normal((bars, 1))
    own = rng.standard_normal((bars, ASSETS))
    steps = 0.001 * rough[:, None] * (shared + own)
    closes = 4.0 + np.add.accumulate(steps)
    closes[1000:1003, 1] = np.nan  # one coin, a quarter of an hour
    closes[1500:1520, 2] = np.nan  # longer
    kept = np.ones(bars, dtype=bool)
    kept[2000:2009] = False  # bars that never came
    expected = 0.004 * rough * np.exp(0.1 * rng.standard_normal(bars))
    every = np.repeat(expected[:, None], ASSETS + 1, axis=1)
    return times(bars)[kept], closes[kept], every[kept]


@dataclass
class State:
    """All parts, fed together."""

    moves: Moves
    record: Record
    swings: Swings
    side: Side
    label: Label
    holds: Holds

    @classmethod
    def new(cls) -> "State":
        columns = ASSETS + 1
        return cls(Moves(ASSETS), Record(columns), Swings(columns), Side(columns), Label(columns), Holds(columns))

    @property
    def parts(self) -> tuple[Moves, Record, Swings, Side, Label, Holds]:
        return self.moves, self.record, self.swings, self.side, self.label, self.holds

    def feed(self, t_ms: Times, closes: FloatArray, expected: FloatArray, before_ms: int) -> None:
        steps = np.diff(t_ms, prepend=before_ms) / BAR_MS
        self.moves.update(t_ms, closes)
        self.record.update(t_ms, self.moves, expected)
        self.swings.update(self.moves, self.record, steps)
        self.side.update(self.moves, self.record.usual[DAY_MOVE])
        self.label.update(t_ms, self.side.side, self.swings.word, self.record.count[EXPECTED])
        self.holds.update(t_ms, self.label.label, self.label.ages(t_ms))
        for part in self.parts:
            part.keep()

    def seen(self) -> list[FloatArray]:
        """Return copies of everything that a restart keeps."""
        return [getattr(part, name).copy() for part in self.parts for name in part.STATE]

    def restarted(self) -> "State":
        again = State.new()
        for part, other in zip(self.parts, again.parts, strict=True):
            for name in part.STATE:
                setattr(other, name, getattr(part, name).copy())
        return again


def states(block: int, *, restart: bool = False, upto: int | None = None) -> list[list[FloatArray]]:
    """Return the state after each hundredth bar, fed so many bars at a time."""
    market = walk(7)
    t_ms = market[0][:upto]
    closes = market[1][:upto]
    expected = market[2][:upto]
    state = State.new()
    out = []
    for begin in range(0, len(t_ms), block):
        rows = slice(begin, begin + block)
        state.feed(t_ms[rows], closes[rows], expected[rows], int(t_ms[max(begin - 1, 0)]) - (begin == 0) * BAR_MS)
        for bar in range(len(t_ms[rows])):
            if (begin + bar) % 100 == 99:
                for part in state.parts:
                    part.at(bar)
                out.append(state.seen())
        for part in state.parts:
            part.at(-1)
        if restart:
            state = state.restarted()
    return out


def test_a_block_a_stream_and_a_restart_are_equal_to_the_bit() -> None:
    whole = states(2016)

    for other in (states(1, upto=1200), states(613), states(700, restart=True)):
        for now, then in zip(other, whole, strict=False):
            assert all(np.array_equal(one, two, equal_nan=True) for one, two in zip(now, then, strict=True))
        assert len(other) >= 12


def test_no_bar_is_read_with_what_came_after_it() -> None:
    t_ms, closes, expected = walk(7)
    altered = closes.copy()
    altered[2400:] += 0.3
    wilder = expected.copy()
    wilder[2400:] *= 5.0
    one, other = State.new(), State.new()
    one.feed(t_ms, closes, expected, -BAR_MS)
    other.feed(t_ms, altered, wilder, -BAR_MS)

    for bar in (2000, 2399):
        for part in (*one.parts, *other.parts):
            part.at(bar)
        assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(one.seen(), other.seen(), strict=True))
    for part in (*one.parts, *other.parts):
        part.at(2400)
    assert not np.array_equal(one.moves.moves, other.moves.moves, equal_nan=True)


def plain(closes: FloatArray, bars: int, t_ms: Times) -> FloatArray:
    """Return the closes by bar number, each carried for 15 minutes, (bars, assets)."""
    out = np.full((bars, closes.shape[1]), np.nan)
    out[t_ms // BAR_MS] = np.exp(closes).astype(np.float32)
    for row in range(1, bars):
        for ago in (1, 2, 3):
            if row >= ago:
                raw = np.full(closes.shape[1], np.nan)
                at = np.flatnonzero(t_ms == (row - ago) * BAR_MS)
                if len(at):
                    raw = np.exp(closes[at[0]]).astype(np.float32)
                out[row] = np.where(np.isnan(out[row]), raw, out[row])
    return out


def test_moves_the_line_and_its_ends_are_those_of_a_plain_loop() -> None:
    t_ms, closes, expected = walk(3)
    state = State.new()
    state.feed(t_ms, closes, expected, -BAR_MS)
    whole = plain(closes, DAYS * DAY_BARS, t_ms)

    checked = 0
    for bar in range(300, len(t_ms), 97):
        at = int(t_ms[bar] // BAR_MS)
        for span, moved in zip(SPANS, state.moves.moves[:, bar], strict=True):
            bars = span * HOUR_BARS
            if at < bars:
                continue
            moves = whole[at] / whole[at - bars] - 1.0
            assert np.allclose(moved[:-1], moves, equal_nan=True)
            known = moves[np.isfinite(moves)]
            assert moved[-1] == pytest.approx(known.mean() if len(known) >= 3 else moves[0], nan_ok=True)

        start = whole[at - DAY_BARS]
        both = np.isfinite(start) & np.isfinite(whole[at])
        line = (whole[at - DAY_BARS : at + 1, both] / start[both]).mean(axis=1) - 1.0
        assert state.moves.high[bar, -1] == pytest.approx(np.nanmax(line))
        assert state.moves.low[bar, -1] == pytest.approx(np.nanmin(line))
        coin = whole[at - DAY_BARS : at + 1, 0] / start[0] - 1.0
        assert state.moves.high[bar, 0] == pytest.approx(np.nanmax(coin))
        checked += 1
    assert checked > 25

    for part in state.parts:
        part.at(-1)
    line = state.moves.line()
    assert line[0, -1] == pytest.approx(0.0)
    assert line[-1, -1] == pytest.approx(state.moves.moves[DAY, -1])
    assert np.nanmax(line[:, -1]) == pytest.approx(state.moves.high[-1])


def test_the_day_is_realised_over_its_own_bars_alone() -> None:
    t_ms, closes, expected = walk(3)
    state = State.new()
    state.feed(t_ms, closes, expected, -BAR_MS)
    bar = 1200
    day = np.diff(np.exp(closes[bar - DAY_BARS : bar + 1, 0]).astype(np.float32).astype(np.float64))
    prices = np.exp(closes[bar - DAY_BARS : bar, 0]).astype(np.float32)

    assert state.moves.realised[bar, 0] == pytest.approx(float((np.log1p(day / prices) ** 2).sum()))
    assert np.isnan(state.moves.realised[150, 0])  # half a day is not one


def test_usual_moves_and_ranks_are_those_of_every_full_hour_before_the_bar() -> None:
    t_ms, closes, expected = walk(5, days=40)
    state = State.new()
    state.feed(t_ms, closes, expected, -BAR_MS)
    record = state.record
    is_full = (t_ms + BAR_MS) % (HOUR_BARS * BAR_MS) == 0

    for bar in (4200, 6000, 9000, len(t_ms) - 1):
        before = np.flatnonzero(is_full[:bar])
        for measure, span in ((HOUR_MOVE, HOUR), (DAY_MOVE, DAY), (2, WEEK)):
            sizes = np.abs(state.moves.moves[span, before, -1]).astype(np.float16).astype(np.float64)
            sizes = sizes[np.isfinite(sizes)]
            enough = len(sizes) >= {HOUR: 336, DAY: 312, WEEK: 552}[span]  # of a record of 14, 14 and 30 days
            book = (0.0027, 0.015, 0.044)[measure]
            assert record.usual[measure, bar, -1] == pytest.approx(np.median(sizes) if enough else book)
        kept = expected[before, -1].astype(np.float16).astype(np.float64)
        assert record.rank[0, bar, -1] == pytest.approx((kept < expected[bar, -1]).mean())
        assert record.count[EXPECTED, bar, -1] == len(before)
        assert np.isfinite(record.rank[1, bar]).all()
    assert record.count[REALISED, 100, -1] == 0.0


def day(z: float, high: float, low: float, six: float = 0.0) -> Moves:
    """Return moves of one bar and one column, in usual days."""
    moves = Moves(0)
    moves.moves = np.full((len(SPANS), 1, 1), 0.0)
    moves.moves[DAY] = z * USUAL_DAY
    moves.moves[SIX_HOURS] = six * USUAL_DAY
    moves.high = np.full((1, 1), high * USUAL_DAY)
    moves.low = np.full((1, 1), low * USUAL_DAY)
    return moves


def taken_after(shown: int, moves: Moves, bars: int = 30) -> tuple[int, int | None]:
    """Return the side after some such bars, and after how many it was taken."""
    part = Side(1)
    part.side[:] = shown
    for bar in range(1, bars + 1):
        part.update(moves, ALWAYS)
        part.settle()
        if part.side[0] != shown:
            return int(part.side[0]), bar
    return shown, None


@pytest.mark.parametrize(
    ("shown", "moves", "came", "after"),
    [
        (FLAT, day(0.84, 0.9, -0.1), FLAT, None),
        (FLAT, day(0.86, 0.9, -0.1), RISING, 12),
        (FLAT, day(1.01, 1.1, -0.1), RISING, 1),
        (FLAT, day(-0.86, 0.1, -0.9), FALLING, 12),
        (side.UNKNOWN, day(0.86, 0.9, -0.1), RISING, 1),
        (side.UNKNOWN, day(0.5, 0.6, -0.1), FLAT, 1),
        (RISING, day(0.26, 0.5, -0.1), RISING, None),
        (RISING, day(0.24, 0.5, -0.1), FLAT, 12),
        (RISING, day(0.12, 0.5, -0.1), FLAT, 1),
        (RISING, day(0.9, 2.4, -0.1), BOTH_WAYS, 12),  # 62% of the rise came back, and a usual day
        (RISING, day(0.9, 1.8, -0.1), RISING, None),  # half came back
        (RISING, day(0.4, 2.0, -0.1), BOTH_WAYS, 1),  # four fifths
        (RISING, day(1.5, 1.6, -0.1, six=-1.1), BOTH_WAYS, 1),  # six hours of more than a usual day against it
        (FLAT, day(0.1, 1.4, -1.0), FLAT, None),
        (FLAT, day(0.1, 1.5, -1.1), BOTH_WAYS, 12),
        (BOTH_WAYS, day(0.1, 0.8, -0.7), BOTH_WAYS, None),
        (BOTH_WAYS, day(0.1, 0.6, -0.7), FLAT, 12),
        (BOTH_WAYS, day(1.5, 1.6, -0.1), RISING, 12),
        (RISING, day(-1.5, 0.1, -1.6), FALLING, 1),
    ],
)
def test_a_side_is_entered_kept_and_left_by_usual_days(shown: int, moves: Moves, came: int, after: int | None) -> None:
    assert taken_after(shown, moves) == (came, after)


def test_in_a_day_of_both_ways_only_a_large_move_is_a_trend() -> None:
    part = Side(1)
    part.side[:] = BOTH_WAYS
    trends = []
    for days in (0.9, 1.05, 0.75, 0.65, -1.05):
        part.update(day(days, 2.6, -2.6), ALWAYS)
        part.settle()
        part.side[:] = BOTH_WAYS
        part.waited[:] = 0
        trends.append(part.trends()[0])

    assert trends == [Trend.SIDEWAYS, Trend.UP, Trend.UP, Trend.SIDEWAYS, Trend.DOWN]


def ranked(coming: float, realised: float, hours: float = 500.0) -> Record:
    record = Record(1)
    record.rank = np.array([[[coming]], [[realised]]])
    record.count = np.full((5, 1, 1), hours)
    record.usual = np.full((3, 1, 1), 0.01)
    return record


def word_after(shown: int, record: Record, hour: float = 0.0, bars: int = 40) -> tuple[int, int | None]:
    part = Swings(1)
    part.word[:] = shown
    moves = day(0.0, 0.0, 0.0)
    moves.moves[HOUR] = hour
    for bar in range(1, bars + 1):
        part.update(moves, record, np.ones(1))
        part.settle()
        if part.word[0] != shown:
            return int(part.word[0]), bar
    return shown, None


@pytest.mark.parametrize(
    ("shown", "coming", "realised", "came", "after"),
    [
        (NORMAL, 0.97, 0.5, WILD, 1),
        (WILD, 0.91, 0.5, WILD, None),
        (WILD, 0.89, 0.5, ROUGH, 24),
        (WILD, 0.79, 0.5, ROUGH, 1),
        (NORMAL, 0.81, 0.5, ROUGH, 24),
        (NORMAL, 0.85, 0.5, ROUGH, 1),
        (ROUGH, 0.61, 0.5, ROUGH, None),
        (ROUGH, 0.59, 0.5, NORMAL, 24),
        (ROUGH, 0.44, 0.5, NORMAL, 1),
        (NORMAL, 0.24, 0.24, CALM, 24),
        (NORMAL, 0.24, 0.26, NORMAL, None),  # the day behind was not calm
        (CALM, 0.44, 0.44, CALM, None),
        (CALM, 0.46, 0.30, NORMAL, 24),
        (CALM, 0.20, 0.51, NORMAL, 1),
        (swings.UNKNOWN, 0.5, 0.5, NORMAL, 1),
    ],
)
def test_a_word_of_volatility_is_entered_kept_and_left_by_ranks(
    shown: int, coming: float, realised: float, came: int, after: int | None
) -> None:
    assert word_after(shown, ranked(coming, realised)) == (came, after)


def test_nothing_is_calm_within_twelve_hours_of_a_large_hour() -> None:
    quiet = ranked(0.1, 0.1)

    assert word_after(CALM, quiet, hour=-0.041) == (NORMAL, 1)
    part = Swings(1)
    part.word[:] = NORMAL
    words = []
    for bar in range(200):
        moves = day(0.0, 0.0, 0.0)
        moves.moves[HOUR] = 0.041 if bar == 0 else 0.0
        part.update(moves, quiet, np.ones(1))
        part.settle()
        words.append(int(part.word[0]))
    assert words.index(CALM) == 144 + 23  # twelve hours, then two hours in a row


def test_below_three_days_nothing_is_ranked() -> None:
    assert word_after(NORMAL, ranked(0.9, 0.9, hours=71.0)) == (swings.UNKNOWN, 1)
    assert LABELS[int(label.labels_of(np.ones(1), np.ones(1), np.full(1, 71.0))[0])] is RegimeLabel.UNKNOWN


def test_a_label_dates_from_its_first_bar_and_remembers_the_one_before() -> None:
    part = Label(1)
    sides = np.array([RISING, RISING, FALLING, FALLING], dtype=float)[:, None]
    words = np.array([NORMAL, NORMAL, NORMAL, WILD], dtype=float)[:, None]

    part.update(times(4, first=12), sides, words, np.full((4, 1), 100.0))

    assert part.label.ravel().tolist() == [label.RISK_ON, label.RISK_ON, label.RISK_OFF, label.HIGH_VOLATILITY]
    assert part.since.ravel().tolist() == [12 * BAR_MS, 12 * BAR_MS, 14 * BAR_MS, 15 * BAR_MS]
    assert part.previous.ravel().tolist()[2:] == [label.RISK_ON, label.RISK_OFF]
    assert part.ages(times(4, first=12)).ravel().tolist() == [5.0, 10.0, 5.0, 5.0]


def test_what_came_four_hours_later_is_counted_once_it_has_come() -> None:
    part = Holds(2)
    prior = part.counts.copy()
    hours = AHEAD + 3
    labels = np.repeat(np.array([[label.RANGE, label.RISK_ON]]), hours * HOUR_BARS, axis=0).astype(float)
    labels[-HOUR_BARS:, 1] = label.RISK_OFF
    part.update(times(len(labels)), labels, np.full(labels.shape, 90.0))
    added = (part.counts - prior).reshape(len(labels), 2, 4, 6, 4)

    # The first hour ends with bar 11; four hours later its outcome is known, and not a bar before.
    assert added[(AHEAD + 1) * HOUR_BARS - 2].sum() == 0.0
    assert added[(AHEAD + 1) * HOUR_BARS - 1, 0, label.RANGE, 1, label.RANGE] == 1.0
    assert added[-1, 1, label.RISK_ON, 1].tolist() == [2.0, 1.0, 0.0, 0.0]
    assert added[-1, 0].sum() == 3.0


def test_no_label_counts_where_none_of_the_four_stood() -> None:
    part = Holds(2)
    prior = part.counts.copy()
    labels = np.full((8 * HOUR_BARS, 2), float(label.TRANSITION))
    part.update(times(len(labels)), labels, np.full(labels.shape, 90.0))
    part.settle()

    assert np.array_equal(part.counts, prior)
    chances = part.chances(np.array([label.TRANSITION, label.UNKNOWN], dtype=float), np.zeros(2))
    assert np.allclose(chances.T, part.climate())


def test_few_cases_are_held_towards_the_label_at_any_age_by_sixty() -> None:
    table = np.ones((4, 6, 4))
    table[label.RISK_ON] = 0.0
    table[label.RISK_ON, 0] = [90.0, 0.0, 10.0, 0.0]
    table[label.RISK_ON, 5] = [10.0, 0.0, 10.0, 0.0]
    mean = np.array([100.0, 0.0, 20.0, 0.0]) / 120.0

    chances = chances_by_state(table)[5]

    assert chances.tolist() == pytest.approx(((table[label.RISK_ON, 5] + 60.0 * mean) / 80.0).tolist())
    assert chances.sum() == pytest.approx(1.0)


def test_a_fresh_record_begins_with_chances_that_a_year_has_shown() -> None:
    chances = Holds(1).chances(np.array([float(label.HIGH_VOLATILITY)]), np.array([2000.0]))

    assert chances.sum() == pytest.approx(1.0)
    assert 0.8 < chances[label.HIGH_VOLATILITY, 0] < 0.92  # an old rough market of 2022 and 2023: .90, held back
