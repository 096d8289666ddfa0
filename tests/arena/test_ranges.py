"""Ranges: stored before the hour, measured by the price rule of the outcomes, scored against slow oracles."""

from dataclasses import replace
from fractions import Fraction
from math import log
from statistics import NormalDist, fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.arena.hourly import judge, predict, void_unresolved
from generator.arena.outcome import PricePoint
from generator.arena.play import PlayState, play
from generator.arena.ranges import (
    NOTHING,
    Counts,
    RangeSums,
    Spread,
    block_of,
    counts_of,
    due_ms,
    new_cases,
    range_by,
    ranges_of,
    together,
)
from generator.arena.scores import Sums
from generator.arena.scoring import ENOUGH_BLOCKS, NORMAL, Ratio
from generator.arena.teacher import RunningTotals, Scored
from generator.catalog.horizons import HORIZONS
from generator.values.hours import Move, PredictionMade
from generator.values.ranges import RangeForecast
from generator.values.scores import RangeForecastScore
from tests.support import builders
from tests.support.arena_inputs import HOUR, MINUTE, NOON, forecast_at, inputs_at, ranges_at
from tests.support.known import known
from tests.support.ranges import range_of

MOVES = st.lists(st.tuples(st.floats(0.02, 2), st.floats(-3, 3)), min_size=1, max_size=30)


def test_a_block_counts_once_and_only_while_it_has_a_move() -> None:
    with_moves = (3, 1, *range(1, len(NOTHING) - 1))
    void_alone = (0, 2, *NOTHING[2:])

    first = Spread().changed(NOTHING, with_moves)
    again = first.changed(with_moves, (4, *with_moves[1:]))

    assert (first.blocks, again.blocks) == (1, 1)
    assert [Spread().changed(NOTHING, counts).blocks for counts in (NOTHING, void_alone)] == [0, 0]
    assert first.changed(with_moves, void_alone) == Spread()


def started(at_ms: int = NOON) -> PredictionMade:
    forecast = forecast_at(NOON)("BTC", 60)
    assert forecast is not None
    made = predict(forecast, at_ms, at_ms - MINUTE, None, ranges_at(at_ms)["BTC"], warm_up=False)
    return judge(made, at_ms, {"BTC": PricePoint(100.0, 3)}, 2)


def at(made: PredictionMade, now_ms: int, price: float | None) -> PredictionMade:
    return judge(made, now_ms, {"BTC": PricePoint(price, 3)}, 2)


def test_every_hourly_prediction_is_stored_with_the_ranges_of_its_tick() -> None:
    made = [after for _, after in play(PlayState(), inputs_at(NOON - MINUTE)).hours.changes]

    assert {one.asset: one.ranges for one in made} == ranges_at(NOON - MINUTE)
    assert all(not one.moves for one in made)


def test_each_horizon_is_measured_in_the_minute_after_its_end() -> None:
    made = started()
    for minutes, *_ in HORIZONS.values():
        made = at(made, NOON + minutes * MINUTE + 59_999, 100 + minutes / 1000)

    assert [came.move for came in made.moves.values()] == [0.015, 0.06, 0.24, 1.44]
    assert due_ms(made) is None


def test_an_end_that_no_tick_saw_is_void_and_the_others_count() -> None:
    made = at(at(started(), NOON + 16 * MINUTE, 101.0), NOON + HOUR, 101.0)

    assert made.moves["15m"] == Move(void_reason="no tick in the minute after the end")
    assert (made.moves["1h"].move, made.change_bps) == (1.0, 100.0)
    assert due_ms(made) == NOON + 4 * HOUR


def test_without_a_start_price_every_horizon_is_void_and_none_is_due() -> None:
    made = at(replace(started(), start_price=None), NOON + MINUTE, 100.0)

    assert {came.void_reason for came in made.moves.values()} == {"no tick in the minute after the start"}
    assert set(made.moves) == set(HORIZONS)


def test_a_prediction_that_is_interrupted_keeps_the_moves_that_are_known() -> None:
    made = void_unresolved(at(started(), NOON + 15 * MINUTE, 101.0), "clock was set back")

    assert made.moves["15m"].move == 1.0
    assert {made.moves[horizon].void_reason for horizon in ("1h", "4h", "24h")} == {"clock was set back"}


def test_a_simple_rule_has_the_quantiles_of_a_normal_distribution() -> None:
    said = range_of(0.4)

    assert range_by(said, "last_hour").ends == tuple(
        round(0.6 * NormalDist().inv_cdf(p), 4) for p in (0.05, 0.25, 0.75, 0.95)
    )


def test_the_quantiles_of_a_rule_are_written_with_four_decimals() -> None:
    said = replace(range_of(0.4), last_hour=0.1234)

    assert range_by(said, "last_hour").ends == (-0.203, -0.0832, 0.0832, 0.203)


def test_the_ranges_of_a_reading_are_percents_and_a_rule_grows_with_the_root_of_time() -> None:
    read = builders.asset_reading("BTC")
    read = replace(read, baselines={"last_hour": 0.001, "last_day": 0.002, "ewma": 0.003})

    said = ranges_of(read)

    assert said is not None
    assert {name: row.sigma for name, row in said.items()} == {"15m": 0.2123, "1h": 0.4234, "4h": 0.8345, "24h": 1.9876}
    bars = {"15m": 3, "1h": 12, "4h": 48, "24h": 288}
    for name, row in said.items():
        assert (row.low_90, row.low_50, row.high_50, row.high_90) == (-1.2345, -0.3456, 0.3567, 1.2678)
        of_a_bar = [value / bars[name] ** 0.5 for value in (row.last_hour, row.last_day, row.ewma)]
        assert of_a_bar == pytest.approx([0.1, 0.2, 0.3], abs=6e-5)
        sigmas = (row.sigma, row.last_hour, row.last_day, row.ewma)
        assert sigmas == tuple(round(value, 4) for value in sigmas)


@pytest.mark.parametrize("name", ["last_hour", "last_day", "ewma"])
@pytest.mark.parametrize("value", [0.0, -0.001, float("nan"), float("inf")])
def test_without_a_sigma_of_every_rule_there_are_no_ranges(name: str, value: float) -> None:
    read = builders.asset_reading("BTC")
    assert read.baselines is not None

    assert ranges_of(replace(read, baselines={**read.baselines, name: value})) is None


def test_without_an_outlook_ranges_or_the_simple_rules_there_is_nothing_to_seal() -> None:
    read = builders.asset_reading("BTC")
    assert ranges_of(read) is not None

    for incomplete in (replace(read, outlook=None), replace(read, ranges=None), replace(read, baselines=None)):
        assert ranges_of(incomplete) is None


def slow_pinball(quantiles: tuple[float, ...], move: float) -> float:
    losses = ((p - (move < q)) * (move - q) for p, q in zip((0.05, 0.25, 0.75, 0.95), quantiles, strict=True))
    return fmean(losses)


def summed(cases: list[tuple[RangeForecast, float]], horizon: str = "1h") -> tuple[RangeForecastScore, ...]:
    counts = [
        (horizon, NOON + 4 * HOUR * place, counts_of(said, Move(1.0, move))) for place, (said, move) in enumerate(cases)
    ]
    return next(one for one in RangeSums().plus(counts).scores() if one.horizon == horizon).scores


@given(MOVES)
def test_the_scores_are_those_of_their_definitions(drawn: list[tuple[float, float]]) -> None:
    cases = [(range_of(round(sigma, 4)), round(move, 4)) for sigma, move in drawn]

    brain, *others = summed(cases)

    assert (brain.pinball_saved, brain.qlike_saved) == (None, None)
    assert [score.name for score in others] == ["last_hour", "last_day", "ewma"]
    assert brain.inside_90.percent == pytest.approx(
        100 * fmean(said.low_90 <= move <= said.high_90 for said, move in cases), abs=0.051
    )
    own = [slow_pinball(range_by(said, None).ends, move) for said, move in cases]
    own_qlikes = [log(said.sigma**2) + (move / said.sigma) ** 2 for said, move in cases]
    assert brain.pinball == pytest.approx(fmean(own), abs=6e-5)
    assert brain.qlike == pytest.approx(fmean(own_qlikes), abs=6e-5)
    for score in others:
        losses = [slow_pinball(range_by(said, score.name).ends, move) for said, move in cases]
        sigmas = [getattr(said, score.name) for said, _ in cases]
        qlikes = [log(sigma**2) + (move / sigma) ** 2 for sigma, (_, move) in zip(sigmas, cases, strict=True)]
        assert score.pinball == pytest.approx(fmean(losses), abs=6e-5)
        assert score.qlike == pytest.approx(fmean(qlikes), abs=6e-5)
        assert known(score.pinball_saved).value == pytest.approx(100 * (1 - fmean(own) / fmean(losses)), abs=0.051)
        assert known(score.qlike_saved).value == pytest.approx(fmean(qlikes) - fmean(own_qlikes), abs=6e-5)


@given(MOVES, st.randoms(use_true_random=False))
def test_the_order_of_the_moves_does_not_change_the_sums(drawn: list[tuple[float, float]], order: object) -> None:
    cases = [
        ("4h", NOON + HOUR * place, counts_of(range_of(round(s, 4)), Move(1.0, round(m, 4))))
        for place, (s, m) in enumerate(drawn)
    ]
    mixed = list(cases)
    order.shuffle(mixed)  # type: ignore[attr-defined]

    assert RangeSums().plus(mixed) == RangeSums().plus(cases)


def test_no_interval_is_shown_below_ten_blocks() -> None:
    cases = [(range_of(0.4), 0.1 * place) for place in range(ENOUGH_BLOCKS)]

    few, enough = summed(cases[1:])[0], summed(cases)[0]

    assert (few.inside_50.low_percent, few.inside_50.high_percent) == (None, None)
    assert enough.inside_50.low_percent is not None


def test_a_block_is_at_least_as_long_as_the_horizon() -> None:
    for horizon, (minutes, *_) in HORIZONS.items():
        starts = range(0, 48 * HOUR, HOUR)
        first = [start for start in starts if block_of(start, horizon) == 0]
        assert len(first) * 60 >= minutes


def test_the_interval_is_wider_where_moves_of_a_block_come_together() -> None:
    said = range_of(0.4)
    alone, bursts = [], []
    for place in range(120):
        outside = Move(1.0, 2.0 if place % 10 == 0 else 0.1)
        alone.append(("1h", NOON + 4 * HOUR * place, counts_of(said, outside)))
        burst = Move(1.0, 2.0 if place < 12 else 0.1)
        bursts.append(("1h", NOON + HOUR * (place // 2), counts_of(said, burst)))

    wide, narrow = (RangeSums().plus(cases).scores()[1].scores[0].inside_90 for cases in (bursts, alone))

    assert wide.percent == narrow.percent == 90.0
    assert (wide.high_percent or 0) - (wide.low_percent or 0) > 2 * (
        (narrow.high_percent or 0) - (narrow.low_percent or 0)
    )


def test_the_interval_of_a_share_is_the_textbook_one() -> None:
    moves = [0.1, 2.0, 0.1, 0.1, 0.1, 2.0, 0.1, 0.1, 0.1, 0.1, 0.1, 2.0]  # 9 of 12 inside

    inside = summed([(range_of(0.4), move) for move in moves])[0].inside_90

    error = 100 * (0.75 * 0.25 / 11) ** 0.5
    assert inside.percent == 75.0
    assert inside.low_percent == pytest.approx(75 - 2.201 * error, abs=0.4)  # Student's t with 11 degrees of freedom


PARTS = st.lists(st.tuples(st.integers(0, 10**6), st.integers(1, 10**6)), min_size=ENOUGH_BLOCKS, max_size=40)


@given(PARTS)
def test_an_interval_is_that_of_the_blocks_one_by_one(blocks: list[tuple[int, int]]) -> None:
    above, below = (sum(parts) for parts in zip(*blocks, strict=True))
    products = [sum(y * y for y, _ in blocks), sum(y * x for y, x in blocks), sum(x * x for _, x in blocks)]
    n, share = len(blocks), Fraction(above, below)

    half = Ratio(n, above, below, *products).half_width()

    residuals = sum((y - share * x) ** 2 for y, x in blocks)
    t = 1.959964 + (1.959964**3 + 1.959964) / (4 * (n - 1))
    assert half == pytest.approx(t * float(residuals * n / (n - 1)) ** 0.5 / below, rel=1e-9)


def test_leaving_out_one_block_at_a_time_gives_the_same_interval() -> None:
    blocks = [(40 + place % 7, 80 + place % 3) for place in range(600)]
    above, below = (sum(parts) for parts in zip(*blocks, strict=True))
    products = [sum(y * y for y, _ in blocks), sum(y * x for y, x in blocks), sum(x * x for _, x in blocks)]

    half = Ratio(len(blocks), above, below, *products).half_width()

    without = [(above - y) / (below - x) for y, x in blocks]
    jackknife = (599 / 600 * sum((one - fmean(without)) ** 2 for one in without)) ** 0.5
    assert half == pytest.approx(1.964 * jackknife, rel=1e-3)


def test_sums_do_not_grow_with_the_record() -> None:
    case = counts_of(range_of(0.4), Move(1.0, 0.1))

    day, decade = (RangeSums().plus(("1h", 4 * HOUR * place, case) for place in range(n)) for n in (6, 21_900))

    sizes = [(len(sums.totals["1h"]), len(sums.spreads["1h"].products)) for sums in (day, decade)]
    assert sizes[0] == sizes[1]
    assert decade.spreads["1h"].blocks == 21_900


@given(MOVES, st.integers(1, 29))
def test_a_block_that_comes_in_parts_counts_as_one(drawn: list[tuple[float, float]], cut: int) -> None:
    cases = [
        ("24h", NOON + HOUR * place, counts_of(range_of(round(s, 4)), Move(1.0, round(m, 4))))
        for place, (s, m) in enumerate(drawn)
    ]

    def counted(_horizon: str, block: int) -> Counts:
        return together(case[2] for case in cases[:cut] if block_of(case[1], "24h") == block)

    assert RangeSums().plus(cases[:cut]).plus(cases[cut:], counted) == RangeSums().plus(cases)


def test_a_quiet_hour_of_a_simple_rule_does_not_decide_its_qlike() -> None:
    assert tuple(sorted(NORMAL)) == NORMAL
    still = replace(range_of(0.4), last_hour=0.0001)

    _, hour, *_ = summed([(still, 0.01)])

    assert hour.qlike == pytest.approx(log(0.01**2) + 1, abs=1e-4)


def test_a_move_is_counted_in_the_change_in_which_it_came_and_never_again() -> None:
    first = at(started(), NOON + 15 * MINUTE, 101.0)
    second = at(first, NOON + HOUR, 101.0)
    of_first = ("15m", NOON, counts_of(ranges_at(NOON)["BTC"]["15m"], first.moves["15m"]))
    of_second = ("1h", NOON, counts_of(ranges_at(NOON)["BTC"]["1h"], second.moves["1h"]))

    assert new_cases(None, first) == new_cases(started(), first) == [of_first]
    assert new_cases(first, second) == [of_second]
    assert new_cases(second, second) == []
    assert new_cases(None, second) == [of_first, of_second]
    assert new_cases(None, replace(second, ranges=None)) == []


def test_every_figure_of_a_backtest_is_marked_as_one() -> None:
    case = counts_of(range_of(0.4), Move(1.0, 0.1))
    backtest = Scored(hourly=Sums(resolved=40), ranges=RangeSums().plus([("1h", NOON, case)]))

    scores = RunningTotals(backtest=backtest).backtest_scores()

    assert scores is not None
    hour = next(row for row in scores.how_far if row.horizon == "1h")
    assert {score.inside_50.backtest for score in hour.scores} == {True}
    assert (scores.hourly.hit.backtest, scores.arena.hit.backtest, scores.hourly.move.moved.backtest) == (True,) * 3
