"""What a minute without a new bar leaves as it was is not made again, and what changed is."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from generator.brain.engine import Engine
from generator.brain.usual_hours import pairs, usual_hours
from generator.catalog.assets import ASSETS
from generator.market.bars import BAR_MS
from generator.runtime.app import App
from generator.runtime.market import to_ms
from generator.runtime.tick import tick
from tests.support.builders import files_of_tick
from tests.support.clock import ManualClock
from tests.support.page_view import rounds
from tests.support.services import MINUTE, opened, run

HOUR = timedelta(hours=1)
AT = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


async def until_a_bar(app: App, clock: ManualClock) -> None:
    """Tick up to the first minute in which the market has a new bar."""
    newest = app.market.history.last_t_ms
    while app.market.history.last_t_ms == newest:
        await tick(app, clock.step(MINUTE))


def test_what_is_read_of_the_bars_is_made_once_a_bar(tmp_path: Path) -> None:
    async def work() -> None:
        clock = ManualClock()
        async with opened(tmp_path, clock) as app:
            await until_a_bar(app, clock)
            frame = app.market.history.frame()
            month = app.market.month()
            hours, moved = usual_hours(frame, to_ms(clock.now())), pairs(frame)
            await tick(app, clock.step(MINUTE))
            same = app.market.history.frame()

            assert month is not None
            assert app.market.month() is month
            assert pairs(same) is moved
            assert usual_hours(same, to_ms(clock.now())) is hours

            await until_a_bar(app, clock)
            later = app.market.month()
            assert later is not None
            assert later.now_ms == month.now_ms + BAR_MS
            assert pairs(app.market.history.frame()) is not moved

    run(work)


def test_the_brains_state_is_stored_with_each_bar_and_after_a_tick_that_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work() -> None:
        clock = ManualClock()
        async with opened(tmp_path, clock) as app:
            await until_a_bar(app, clock)
            assert app.record.memory.brain_state() == app.market.engine.dump()
            assert app.market.state_to_store() is None

            with monkeypatch.context() as patch:
                patch.setattr("generator.runtime.tick.play_tick", broken)
                while app.market.state_to_store() is None:
                    with pytest.raises(OSError, match="the disk is full"):
                        await tick(app, clock.step(MINUTE))
            assert app.record.memory.brain_state() != app.market.engine.dump()

            await tick(app, clock.step(MINUTE))
            assert app.record.memory.brain_state() == app.market.engine.dump()

    run(work)


def test_bars_read_together_give_each_step_what_they_give_one_by_one(tmp_path: Path) -> None:
    async def work() -> None:
        clock = ManualClock()
        async with opened(tmp_path, clock, hours=0) as app:
            market = app.market
            before = market.engine.dump()
            seen = [await market.observe(clock.step(step)) for step in (MINUTE, 9 * MINUTE, HOUR, timedelta(0), HOUR)]

            together = [(reading, market.engine.dump()) for reading in market.read_each(seen)]
            market.engine = Engine.load(market.weights, ASSETS, before)
            one_by_one = [(market.read(observation), market.engine.dump()) for observation in seen]

            assert together == one_by_one
            assert len({state for _, state in together}) == 4  # one step has no bar of its own

    run(work)


def test_what_is_over_is_not_read(tmp_path: Path) -> None:
    async def work() -> None:
        clock = ManualClock()
        async with opened(tmp_path, clock, hours=0) as app:
            observation = await app.market.observe(clock.step(HOUR))
            before = app.market.engine.dump()

            assert list(app.market.read_each([replace(observation, ended=True)])) == [None]
            assert app.market.engine.dump() == before

    run(work)


def broken(*_: object) -> None:
    raise OSError("the disk is full")


def test_the_feeds_are_made_again_with_news_or_a_new_day_alone() -> None:
    first = files_of_tick(at=AT, rounds=rounds(3))
    minute_later = replace(first, at=AT + timedelta(minutes=1), rounds=rounds(3))

    kept = first.news
    assert minute_later.news is kept
    assert replace(first, rounds=rounds(4)).news != kept
    assert replace(first, at=AT + timedelta(days=1)).news is not first.news
