"""Events in the paid answers: live and backtest apart, each figure counted a second time."""

from dataclasses import replace

import numpy as np
import pytest

from generator.brain.events import AFTER, KINDS, EventRecord, events_of, moves_after
from generator.catalog.durations import HOUR_MS
from generator.catalog.formats import iso
from generator.catalog.text import events as texts
from generator.compose.events import MarketEvents, events_block, events_of_report
from generator.compose.market_regime import paid_market_regime
from generator.compose.paid_human_report import paid_human_report
from generator.compose.tick import Tick
from tests.support.builders import NOW_MS, full_context
from tests.support.ten_moments import ten_moments

ROWS = 6000
LAST_MS = NOW_MS // HOUR_MS * HOUR_MS


def hours() -> np.ndarray:
    """Return moves by the hour; a large hour every four days is followed by a rise, and the last is two hours old."""
    moves = np.random.default_rng(3).uniform(-0.004, 0.004, ROWS)
    moves[ROWS - 3 :: -96] = -0.03
    moves[ROWS - 2 :: -96] = 0.01
    moves[-1] = 0.0
    return moves


def record() -> EventRecord:
    moves = hours()
    days = np.full(ROWS, np.nan)
    return EventRecord(events_of(moves, days), moves_after(moves, days), LAST_MS // HOUR_MS - ROWS + 1, ROWS)


def tick(live_hours: int | None) -> Tick:
    """Return a tick whose live record began so many hours ago; None: it has none."""
    moment = next(iter(ten_moments().values())).ctx
    assert moment.month is not None
    arena = moment.arena
    since_ms = None if live_hours is None else LAST_MS - live_hours * HOUR_MS
    holds = replace(arena.holds, live=replace(arena.holds.live, since_ms=since_ms))
    return replace(moment, month=replace(moment.month, events=record()), arena=replace(arena, holds=holds))


def composed(live_hours: int | None) -> MarketEvents:
    made = events_block(tick(live_hours))
    assert made is not None
    return made


def test_a_fresh_service_has_a_backtest_alone_and_an_old_one_both_apart() -> None:
    fresh, old = composed(None), composed(4000)

    assert not fresh.live
    every = fresh.backtest["large_hour"].at
    assert (*old.backtest["large_hour"].at, *old.live["large_hour"].at) == every
    begin = iso(LAST_MS - 4000 * HOUR_MS)
    assert old.backtest["large_hour"].at[-1] < begin <= old.live["large_hour"].at[0]
    assert fresh.last is not None
    assert old.last is not None
    assert (fresh.last.backtest, old.last.backtest) == (True, False)


def test_few_live_events_leave_the_word_to_the_backtest() -> None:
    last = composed(20 * 96).last

    assert last is not None
    assert last.backtest
    begin = iso(LAST_MS - 20 * 96 * HOUR_MS)
    before = [at for at in composed(None).backtest["large_hour"].at if at < begin]
    assert last.after["1h"].up.n == len(before)


def test_what_followed_is_listed_and_said_with_its_interval() -> None:
    made = composed(None)
    last = made.last
    assert last is not None

    # After each of these hours the price rose by one percent.
    up = last.after["1h"].up
    assert (last.kind, last.hours_ago, last.size_percent) == ("large_hour", 2, -3.0)
    assert (up.percent, up.high_percent) == (100.0, 100.0)
    assert up.low_percent is not None
    assert 50 < up.low_percent < 95
    assert f"rose 100 times in 100 ({up.low_percent:.0f} to 100)" in made.statement
    listed = made.backtest["large_hour"]
    assert listed.after_1h_percent[-2:] == (1.0, 1.0)
    assert listed.after_4h_percent[-1] is None
    assert set(listed.after_24h_percent) == {None}


def test_the_ten_most_alike_are_of_the_list() -> None:
    made = composed(None)
    assert made.last is not None
    alike = made.last.alike
    listed = made.backtest["large_hour"]

    assert len(alike.at) == len(alike.volatility_rank_percent) == 10
    assert set(alike.at) < set(listed.at)
    assert made.last.at not in alike.at
    for at, size in zip(alike.at, alike.size_percent, strict=True):
        assert listed.size_percent[listed.at.index(at)] == size


def test_an_event_of_more_than_a_week_ago_is_not_the_last() -> None:
    quiet = tick(None)
    assert quiet.month is not None
    long_ago = replace(quiet, month=replace(quiet.month, events=later(record(), 200)))
    made = events_block(long_ago)

    assert made is not None
    assert made.last is None
    assert made.statement == texts.NONE
    assert made.backtest


def later(before: EventRecord, hours_more: int) -> EventRecord:
    """Return the record some hours later, of which none is an event."""
    more = np.full((hours_more, len(AFTER)), np.nan)
    return before._replace(moves=np.concatenate((before.moves, more)))


def test_each_moment_of_a_market_counts_what_is_listed() -> None:
    seen = set()
    for moment in ten_moments().values():
        made = events_block(moment.ctx)
        assert made is not None
        for name, listed in (*made.backtest.items(), *made.live.items()):
            seen.add(name)
            columns = {len(column) for column in listed.model_dump().values()}
            assert columns == {len(listed.at)}
            assert list(listed.at) == sorted(listed.at)
        assert made.last is None or made.last.kind in KINDS
        # A month of hours has too few events for a share.
        assert "too few for a share" in made.statement or made.last is None
    assert seen == set(KINDS)


def test_the_regime_has_the_list_and_the_report_the_last_event_alone() -> None:
    now = tick(None)
    regime = paid_market_regime(now).events
    short = paid_human_report(now).report.events

    assert regime is not None
    assert short is not None
    assert short == events_of_report(now)
    assert short.last == regime.last
    assert "backtest" not in short.model_dump()


def test_without_a_kept_month_there_are_no_events() -> None:
    assert events_block(replace(full_context(), month=None)) is None
    assert events_of_report(replace(full_context(), reading=None)) is None


@pytest.mark.parametrize("hours_ago", [0, 1, 5])
def test_the_last_event_is_said_in_words(hours_ago: int) -> None:
    said = texts.statement("rough_start", hours_ago, 12, backtest=True, enough=False, differing=[])

    ago = {0: "in the last hour", 1: "1 hour ago", 5: "5 hours ago"}[hours_ago]
    assert said == (
        f"The last event is the start of a rough spell, {ago}. The backtest has 12 such events of which it is known "
        "what followed: too few for a share."
    )
