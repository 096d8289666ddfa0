"""Ladders judged and scored: every sum against a count of each case, every void where something is missing."""

import math
from collections import defaultdict
from dataclasses import replace
from typing import Any

import pytest

from generator.arena.inputs import SET_BACK, UNSEEN, PlayInputs
from generator.arena.ladders.cells import Cell, losses_of, pool
from generator.arena.ladders.hour import KINDS, WAIT_MS, LadderHour, day_is_over, newly_done, part_of
from generator.arena.ladders.play import LIFE, LaddersPlayed, LadderState, judge, make, play_ladders
from generator.arena.ladders.scores import scores_of
from generator.arena.ladders.sums import NO_BINS, LadderTotals, _binned, key
from generator.brain.forecast import UNITS
from generator.catalog.durations import DAY_MS, HOUR_MS
from generator.catalog.horizons import HORIZONS
from generator.values.ladders import MeanInterval
from tests.support.arena_inputs import MINUTE, NOON, inputs_at, price_at
from tests.support.ladders import ASSETS, hour_at, reached_at, said_at

PASSED = (0.25, 0.5, 1.0, 2.0)


def at(now_ms: int, **changes: Any) -> PlayInputs:
    """Return the inputs of a tick at which every bar is known."""
    return replace(inputs_at(now_ms), **{"reached": reached_at, **changes})


def no_bars(*_: object) -> None:
    """Stand for bars that are not there yet."""


def ended(start_ms: int, *, warm_up: bool = False) -> LadderHour:
    """Return an hour judged at its start and at the end of each horizon."""
    hour = hour_at(start_ms, warm_up=warm_up)
    for late in (0, *(horizon.length_ms for horizon in HORIZONS.values())):
        hour = judge(hour, at(start_ms + late))
    return hour


def totals_of(hours: list[LadderHour]) -> LadderTotals:
    totals = LadderTotals()
    for horizon in HORIZONS:
        for hour in hours:
            totals = totals.plus(hour, horizon)
    return totals


def percent(start: float, end: float) -> float:
    return round(100 * (end / start - 1), 4)


def test_what_came_is_read_from_the_prices_at_both_ends_and_from_the_bars_between() -> None:
    hour = ended(NOON)

    assert hour.due_ms is None
    for asset in ASSETS:
        start = float(f"{price_at(asset, NOON):.6g}")
        for name, horizon in HORIZONS.items():
            end = float(f"{price_at(asset, NOON + horizon.length_ms):.6g}")
            high, low = reached_at(asset, NOON, NOON + horizon.length_ms)
            came = {"move": percent(start, end), "high": percent(start, high), "low": percent(start, low)}
            assert hour.came[name][asset] == came


def test_scores_are_those_of_the_cases_counted_one_by_one() -> None:
    hours = [ended(NOON + number * HOUR_MS) for number in range(40)]
    counted: dict[str, list[tuple[float, float, bool, int]]] = defaultdict(list)
    for hour in hours:
        for name, horizon in HORIZONS.items():
            for asset in ASSETS:
                came = hour.came[name][asset]
                for place, level in enumerate(horizon.levels):
                    row = hour.said[asset]["ladder"][name][place]
                    ends = abs(came["move"]) > level
                    touched = came["high"] > level or came["low"] < -level
                    for kind, said, event in (("end", row[3], ends), ("touch", row[6], touched)):
                        base = hour.base[name][place][KINDS.index(kind)]
                        counted[key(name, level, kind)].append((said, base, event, hour.start_ms // DAY_MS))

    scores = scores_of(totals_of(hours).live, frozenset())

    assert len(scores.levels) == 32
    for score in scores.levels:
        cases = counted[key(score.horizon, score.level, score.kind)]
        assert score.n == len(cases) == 40 * len(ASSETS)
        assert score.events == sum(event for *_, event, _ in cases)
        assert score.days == len({day for *_, event, day in cases if event})
        assert score.brier == pytest.approx(
            sum((said - event) ** 2 for said, _, event, _ in cases) / len(cases), abs=6e-5
        )
        losses = [-math.log(base if event else 1 - base) for _, base, event, _ in cases]
        assert score.base_rate_log_score == pytest.approx(sum(losses) / len(cases), abs=6e-5)
        assert score.said_percent == pytest.approx(100 * sum(said for said, *_ in cases) / len(cases), abs=6e-3)


def test_bins_hold_every_side_of_every_level_and_what_came_of_it() -> None:
    hours = [ended(NOON + number * HOUR_MS) for number in range(12)]

    bins = scores_of(totals_of(hours).live, frozenset()).bins["1h touch"]

    said: dict[int, list[tuple[float, bool]]] = defaultdict(list)
    for hour in hours:
        for asset in ASSETS:
            came = hour.came["1h"][asset]
            for place, level in enumerate(PASSED):
                events = (came["high"] > level, came["low"] < -level)
                row = hour.said[asset]["ladder"]["1h"][place][4:7]
                for chance, event in zip(row, (*events, any(events)), strict=True):
                    said[round(10_000 * chance) // 1000].append((chance, event))
    assert [one.n for one in bins] == [len(said[at]) for at in sorted(said)]
    shares = [100 * sum(event for _, event in said[at]) / len(said[at]) for at in sorted(said)]
    assert [one.came_percent for one in bins] == pytest.approx(shares, abs=0.06)


def test_the_partition_is_scored_against_its_base_rates_over_three_parts() -> None:
    hours = [ended(NOON + number * HOUR_MS) for number in range(30)]

    score = scores_of(totals_of(hours).live, frozenset()).partition

    brier = base_brier = 0.0
    for hour in hours:
        for asset in ASSETS:
            part = hour.said[asset]["partition"]
            place = part_of(part, hour.came["4h"][asset]["move"])
            for at in range(3):
                brier += (part["chances"][at] - (at == place)) ** 2
                base_brier += (part["base_rates"][at] - (at == place)) ** 2
    assert score is not None
    assert (score.n, score.void) == (30 * len(ASSETS), 0)
    assert score.brier == pytest.approx(brier / score.n, abs=6e-5)
    assert score.base_rate_brier == pytest.approx(base_brier / score.n, abs=6e-5)
    assert part_of({"band_percent": 1.0}, 1.0) == 1
    assert [part_of({"band_percent": 1.0}, move) for move in (-1.01, 1.01, None)] == [0, 2, None]


def test_a_missing_bar_voids_the_touch_alone_and_is_waited_for_a_quarter_of_an_hour() -> None:
    hour = judge(hour_at(NOON), at(NOON))
    end_ms = NOON + 15 * MINUTE

    waiting = judge(hour, at(end_ms, reached=no_bars))
    late = judge(waiting, at(end_ms + MINUTE))
    void = judge(waiting, at(end_ms + WAIT_MS, reached=no_bars))

    assert waiting.due_ms == end_ms
    assert newly_done(hour, waiting) == []
    assert newly_done(waiting, late) == newly_done(waiting, void) == ["15m"]
    assert late.came["15m"]["BTC"]["move"] == void.came["15m"]["BTC"]["move"] is not None
    assert void.came["15m"]["BTC"] == {**late.came["15m"]["BTC"], "high": None, "low": None}
    cells = LadderTotals().plus(void, "15m").live.cells
    assert (cells["15m 0.5 end"].n, cells["15m 0.5 end"].void) == (len(ASSETS), 0)
    assert (cells["15m 0.5 touch"].n, cells["15m 0.5 touch"].void) == (0, len(ASSETS))


def test_an_hour_without_its_start_or_its_release_is_void_for_a_reason() -> None:
    hour = hour_at(NOON)

    missed = judge(hour, at(NOON + 2 * MINUTE))
    unseen = LIFE.moved(hour, at(NOON), hour.made_ms - 1)
    set_back = LIFE.moved(hour, at(NOON - 2 * MINUTE, next_close_ms=hour.made_ms), None)
    moved = LIFE.moved(hour, at(NOON, interrupted="the replay was moved"), None)

    assert missed.void_reason == "no tick in the minute after the start"
    assert (unseen.void_reason, set_back.void_reason) == (UNSEEN, SET_BACK)
    assert moved.void_reason == "the replay was moved"
    assert {one.due_ms for one in (missed, unseen, set_back, moved)} == {None}


def test_an_end_that_no_tick_saw_is_unknown_and_the_touch_is_still_read() -> None:
    hour = judge(hour_at(NOON), at(NOON))

    late = judge(hour, at(NOON + 75 * MINUTE))

    assert late.came["1h"]["BTC"]["move"] is None
    assert late.came["1h"]["BTC"]["high"] is not None
    assert newly_done(hour, late) == ["15m", "1h"]


def test_a_ladder_is_made_in_the_ten_minutes_before_the_hour_with_the_rates_so_far() -> None:
    totals = totals_of([ended(NOON - number * HOUR_MS) for number in range(1, 20)])

    made = make(inputs_at(NOON - 5 * MINUTE), said_at(NOON), totals)

    assert made is not None
    assert (made.start_ms, made.made_ms) == (NOON, NOON - 5 * MINUTE)
    cell = totals.live.cells["1h 0.5 end"]
    assert made.base["1h"][1][0] == round((cell.events + 0.5) / (cell.n + 1), 4)
    assert make(inputs_at(NOON - 11 * MINUTE), said_at(NOON), totals) is None
    assert make(inputs_at(NOON - 5 * MINUTE), None, totals) is None


def test_a_level_is_rare_below_thirty_days_and_pooled_with_the_lower_one() -> None:
    often = [ended(NOON + number * DAY_MS) for number in range(31)]
    totals = totals_of(often)

    rare = totals.rare()
    scores = {(one.horizon, one.level, one.kind): one for one in scores_of(totals.live, rare).levels}

    days = {level: totals.live.cells[key("24h", level, "end")].days for level in HORIZONS["24h"].levels}
    assert rare >= {("24h", level) for level, many in days.items() if many < 30}
    assert scores["24h", 10.0, "end"].rare
    lower = totals.live.cells["24h 5 end"].closed()
    own = totals.live.cells["24h 10 end"].closed()
    both = lower.base_brier + own.base_brier
    assert pool(own, lower).base_brier == both
    assert scores["24h", 10.0, "end"].skill_percent == pool(own, lower).skill


def test_an_interval_of_the_skill_comes_from_how_days_differ() -> None:
    cell = Cell()
    days = 33
    for day in range(days):
        good = day % 3 > 0
        cell = cell.counted(
            day, losses_of((6000, 4000), (5000, 5000), outcome=0 if good else 1), event=good, stated=6000
        )

    closed = cell.closed(days)
    assert (closed.block, closed.saved, closed.lost, closed.blocks) == (days, 0, 0, days)

    saved = [25 - 16 if day % 3 else 25 - 36 for day in range(days)]
    value = sum(saved) / (days * 25)
    spread = math.sqrt(sum((one - value * 25) ** 2 for one in saved) * days / (days - 1)) / (days * 25)
    skill = cell.skill
    assert skill.value == pytest.approx(100 * value, abs=0.06)
    assert skill.low is not None
    assert skill.high is not None
    assert (skill.high - skill.low) / 2 == pytest.approx(100 * 2.037 * spread, rel=0.02)


@pytest.mark.parametrize(("days", "events"), [(9, 20), (308, 0), (308, 9), (308, 308)])
def test_no_skill_of_a_level_is_shown_below_ten_days_or_ten_events(days: int, events: int) -> None:
    cell = Cell()
    for case in range(308):
        losses = losses_of((1, 9999), (26, 9974), outcome=int(case >= events))
        cell = cell.counted(case * days // 308, losses, event=case < events, stated=1)

    assert cell.skill == MeanInterval()


def test_totals_survive_being_written_and_backtests_are_kept_apart() -> None:
    totals = totals_of([ended(NOON), ended(NOON + HOUR_MS, warm_up=True)])
    stored: dict[str, Any] = totals.as_json()

    assert LadderTotals.of_json(stored) == totals
    assert totals.live.cells["1h 1 end"].n == totals.backtest.cells["1h 1 end"].n == len(ASSETS)
    assert [day_is_over(5, 7 * DAY_MS - HOUR_MS + WAIT_MS + late) for late in (-1, 0)] == [False, True]


def played(now_ms: int, state: LadderState, **changes: Any) -> LaddersPlayed:
    return play_ladders(state, at(now_ms, ladders=said_at(now_ms), **changes), now_ms - MINUTE)


def test_a_ladder_is_made_again_only_where_it_says_something_else() -> None:
    [(_, first)] = played(NOON - 5 * MINUTE, LadderState()).changes
    differs = replace(first, base={})

    again = played(NOON - 5 * MINUTE, LadderState(upcoming=first))
    another = played(NOON - 4 * MINUTE, LadderState(upcoming=differs))

    assert first.is_closed
    assert again.changes == ()
    assert [(before, after.made_ms) for before, after in another.changes] == [(differs, NOON - 4 * MINUTE)]
    assert played(NOON - 11 * MINUTE, LadderState()).changes == ()


def test_an_hour_that_was_voided_or_has_begun_is_not_sealed_again() -> None:
    hour = hour_at(NOON)

    moved = played(NOON - 5 * MINUTE, LadderState(due=(hour,), upcoming=hour), interrupted="moved")
    begun = played(NOON - 5 * MINUTE, LadderState(upcoming=replace(hour, prices={"BTC": 1.0})))

    assert moved.changes == ((hour, replace(hour, void_reason="moved")),)
    assert not moved.changes[0][1].is_closed
    assert begun.changes == ()


def test_a_horizon_is_counted_in_the_tick_in_which_it_came_and_never_again() -> None:
    hour = hour_at(NOON)
    began = played(NOON, LadderState(due=(hour,)))
    [(_, started)] = began.changes
    ended = played(NOON + 15 * MINUTE, LadderState(due=(started,), totals=began.totals))
    [(_, judged)] = ended.changes

    again = played(NOON + 15 * MINUTE, LadderState(due=(judged,), totals=ended.totals))

    assert ended.totals == began.totals.plus(judged, "15m")
    assert again.changes == ()
    assert again.totals is ended.totals


def test_a_chance_of_one_is_in_the_last_bin() -> None:
    bins = _binned(NO_BINS, (UNITS, 0, 0), (True, False, True))

    assert [tenth[0] for tenth in bins] == [2, *[0] * (len(bins) - 2), 1]
    assert bins[-1] == (1, UNITS, 1)
