"""How long states last: censored spells counted rightly, and the kept month worked out again from its candles."""

import math
import statistics
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.brain.engine import Engine
from generator.brain.label import LABELS
from generator.brain.month import HOURS, Month
from generator.brain.side import FLAT, RISING, SIDES, UNKNOWN
from generator.brain.smoothing import DAY_BARS
from generator.brain.spells import Spell, Spells, enough, spells_of, survival
from generator.brain.weights import Weights
from generator.catalog.durations import HOUR_MS
from generator.market.bars import BAR_MS, BarFrame
from tests.support.markets import market
from tests.support.ten_moments import ten_moments

DAY_MS = 24 * HOUR_MS
LENGTHS = st.lists(st.tuples(st.integers(1, 12), st.booleans()), min_size=1, max_size=25)


def redistributed(lengths: list[tuple[int, bool]], hours: int) -> float:
    """Return the share that lasts longer: the weight of each censored spell goes to those that outlast it."""
    order = sorted(lengths, key=lambda one: (one[0], not one[1]))
    weights = [1.0 / len(order)] * len(order)
    for place, (_, is_over) in enumerate(order):
        if not is_over and place + 1 < len(order):
            for later in range(place + 1, len(order)):
                weights[later] += weights[place] / (len(order) - place - 1)
            weights[place] = 0.0
    return sum(
        weight for weight, (length, is_over) in zip(weights, order, strict=True) if length > hours or not is_over
    )


@given(LENGTHS, st.integers(1, 12))
def test_survival_gives_the_weight_of_censored_spells_to_those_that_outlast_them(
    lengths: list[tuple[int, bool]], hours: int
) -> None:
    spells = [Spell(0, 0, length * HOUR_MS, 1 if is_over else None) for length, is_over in lengths]

    found = survival(spells, hours)

    if found is not None:
        assert found.value == pytest.approx(redistributed(lengths, hours))
        assert found.low is not None
        assert found.high is not None
        assert found.low <= found.value <= found.high


def test_no_share_is_given_beyond_what_was_watched() -> None:
    spells = [Spell(0, 0, 2 * HOUR_MS, 1), Spell(0, 0, 5 * HOUR_MS, None)]

    assert survival(spells, 5) is not None
    assert survival(spells, 6) is None
    assert survival([], 1) is None


def test_greenwoods_interval_is_the_published_one() -> None:
    # Kaplan and Meier for the 6-MP arm of Freireich's leukaemia trial: S(10) = 0.753, standard error 0.0963.
    over = [6, 6, 6, 7, 10, 13, 16, 22, 23]
    watched = [6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35]
    spells = [
        *(Spell(0, 0, weeks * HOUR_MS, 1) for weeks in over),
        *(Spell(0, 0, weeks * HOUR_MS, None) for weeks in watched),
    ]

    found = survival(spells, 10)

    assert found is not None
    width = 1.96 * 0.0963 / (0.753 * abs(math.log(0.753)))
    assert found.value == pytest.approx(0.753, abs=5e-4)
    assert found.low == pytest.approx(0.753 ** math.exp(width), abs=2e-3)
    assert found.high == pytest.approx(0.753 ** math.exp(-width), abs=2e-3)


def test_the_limits_are_exact_where_none_or_all_ended() -> None:
    ended = [Spell(0, 0, 5 * HOUR_MS, 1) for _ in range(30)]

    none, every = survival(ended, 4), survival(ended, 5)

    assert none is not None
    assert every is not None
    assert (none.value, none.high, every.value, every.low) == (1.0, 1.0, 0.0, 0.0)
    assert (none.low, every.high) == pytest.approx((0.884, 0.116), abs=5e-4)  # Clopper and Pearson, 30 of 30


def test_a_figure_needs_thirty_spells_on_seven_days() -> None:
    def begun(days: list[int]) -> list[Spell]:
        return [Spell(0, day * DAY_MS, day * DAY_MS + HOUR_MS, 1) for day in days]

    assert enough(begun([*range(7), *[0] * 23]))
    assert not enough(begun([*range(7), *[0] * 22]))
    assert not enough(begun([*range(6), *[0] * 24]))


def test_an_unseen_beginning_leaves_a_spell_out_and_an_unseen_end_censors_it() -> None:
    rows = np.array([[0, RISING], [9, FLAT], [20, UNKNOWN], [30, FLAT], [50, RISING]], dtype=float)

    assert spells_of(rows, 60, UNKNOWN) == [Spell(FLAT, 9, 20, None), Spell(RISING, 50, 60, None)]


def test_what_becomes_unknown_in_a_hole_was_known_until_the_hole() -> None:
    spells = Spells()
    t_ms = np.array([0, 1, 2, 40]) * BAR_MS
    sides = np.array([FLAT, RISING, RISING, UNKNOWN], dtype=float)

    spells.update(t_ms, {"side": sides}, np.zeros(4), np.array([1, 1, 1, 38]))
    spells.at(3)

    assert spells.side[-3:].tolist() == [[BAR_MS, FLAT], [2 * BAR_MS, RISING], [3 * BAR_MS, UNKNOWN]]


def test_changes_are_those_of_the_readings_bar_by_bar() -> None:
    frame = market(6 * DAY_BARS, seed=5)
    engine = Engine(Weights.load(), frame.assets)
    sides: list[Any] = []
    labels: list[Any] = []
    for row in engine.replay(frame):
        side, label = SIDES[int(engine.side.side[-1])], LABELS[int(engine.label.label[-1])]
        closes_ms = int(frame.t[row]) + BAR_MS
        if not sides or sides[-1][1] is not side:
            sides.append((closes_ms, side))
        if not labels or labels[-1][1] is not label:
            labels.append((closes_ms, label))

    def kept(rows: np.ndarray, names: tuple[object, ...]) -> list[tuple[int, object]]:
        return [(int(at), names[int(state)]) for at, state in rows.tolist() if math.isfinite(at)]

    assert len(labels) > 3
    assert kept(engine.spells.side, SIDES)[1:] == sides[1:]  # the first was not known before either
    assert kept(engine.spells.label, LABELS)[1:] == labels[1:]


class Candles:
    """The kept month worked out in plain Python, an hour at a time."""

    def __init__(self, frame: BarFrame, now_ms: int) -> None:
        self.row = {int(t) + BAR_MS: row for row, t in enumerate(frame.t.tolist())}
        self.close = frame.fields["close"].tolist()
        self.traded = (frame.fields["close"] * frame.fields["volume"]).sum(axis=1).tolist()
        self.now_ms = now_ms
        self.hours = [now_ms - HOUR_MS * ago for ago in range(HOURS - 1, -1, -1)]

    def moves(self, at_ms: int, hours: int) -> list[float]:
        """Each asset's move over so many hours."""
        after, before = self.close[self.row[at_ms]], self.close[self.row[at_ms - hours * HOUR_MS]]
        return [now / then - 1.0 for now, then in zip(after, before, strict=True)]

    def mean(self, at_ms: int, hours: int) -> float:
        return statistics.fmean(self.moves(at_ms, hours))

    def correlation(self, at_ms: int) -> float:
        hourly = [self.moves(at_ms - ago * HOUR_MS, 1) for ago in range(24)]
        columns = [[math.log1p(move) for move in column] for column in zip(*hourly, strict=True)]
        pairs = [statistics.correlation(left, right) for n, left in enumerate(columns) for right in columns[n + 1 :]]
        return statistics.fmean(pairs)


@pytest.fixture(scope="module")
def kept() -> tuple[Month, Candles]:
    """One of the ten moments, and its candles."""
    moment = [*ten_moments().values()][3]
    month = moment.ctx.month
    assert month is not None
    return month, Candles(moment.bars, month.now_ms)


def test_today_is_ranked_among_the_hours_of_the_month(kept: tuple[Month, Candles]) -> None:
    month, candles = kept
    days = candles.hours[24:]
    series = {
        "dispersion": [statistics.pstdev(candles.moves(at, 24)) for at in days],
        "correlation": [candles.correlation(at) for at in days[-60:]],
        "volume": [sum(candles.traded[candles.row[at] - 287 : candles.row[at] + 1]) for at in candles.hours[23:]],
    }

    for name, values in series.items():
        *before, now = values
        found = month.ranks[name]
        assert found.now == pytest.approx(now)
        if name != "correlation":  # of which only the last were worked out again
            assert found.n == len(before)
            assert found.rank == pytest.approx(sum(value < now for value in before) / len(before))
            assert found.usual == pytest.approx(statistics.median(before))


def test_the_largest_hour_of_the_day_has_its_place_in_day_week_and_month(kept: tuple[Month, Candles]) -> None:
    month, candles = kept
    moves = {at: candles.mean(at, 1) for at in candles.hours[1:]}
    largest = max(candles.hours[-24:], key=lambda at: abs(moves[at]))

    def place(hours: int) -> int:
        return 1 + sum(abs(move) > abs(moves[largest]) for at, move in moves.items() if at in candles.hours[-hours:])

    found = month.largest_hour
    assert found is not None
    assert found.end_ms == largest
    assert found.move == pytest.approx(moves[largest])
    assert (found.place_in_day, found.place_in_week, found.place_in_month) == (place(24), place(168), place(HOURS))
