"""The scheduler: deadlines, clocks that are set, missed and failed minutes."""

import asyncio
import time
import tracemalloc
import urllib.request
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from generator.clock import JumpWatch
from generator.errors import GeneratorError, MemoryUnreadable, SourceError
from generator.runtime.app import App
from generator.runtime.market import to_ms
from generator.runtime.metrics import GeneratorMetrics
from generator.runtime.publication import Report
from generator.runtime.scheduler import Scheduler
from generator.runtime.tick import tick
from tests.support.clock import NOON, ManualClock
from tests.support.ports import free_port
from tests.support.services import MINUTE, SourceWith, body, opened, run


def count(metrics: GeneratorMetrics, name: str, **labels: str) -> float:
    return metrics.registry.get_sample_value(name, labels) or 0.0


def ticks(metrics: GeneratorMetrics, outcome: str) -> float:
    return count(metrics, "emi_ticks_total", outcome=outcome)


async def waits(seconds: float = 30) -> None:
    await asyncio.sleep(seconds)


async def blocks() -> None:
    time.sleep(0.6)  # noqa: ASYNC251  this is the fault


def fault_in(app: App, first: Callable[[], Awaitable[None]]) -> None:
    app.market.source = SourceWith(app.market.source, first)  # type: ignore[assignment]


@pytest.mark.parametrize("fault", [waits, blocks])
def test_a_tick_past_its_deadline_is_ended_recorded_and_not_published(
    tmp_path: Path, fault: Callable[[], Awaitable[None]]
) -> None:
    reports: list[Report] = []

    async def work() -> None:
        async with opened(tmp_path, ManualClock()) as app:
            fault_in(app, fault)
            scheduler = Scheduler(app, lambda report, _: reports.append(report), deadline_s=0.3)
            await scheduler.fire()
            assert ticks(scheduler.metrics, "failed") == 1
            assert app.record.memory.ticks(to_ms(NOON)).failed_24h == 1
            assert app.publisher.releases.generation() == 0

    run(work)

    assert not reports


def test_a_source_that_hangs_ends_before_the_tick_does(tmp_path: Path) -> None:
    async def work() -> None:
        async with opened(tmp_path, ManualClock()) as app:
            fault_in(app, waits)
            with pytest.raises(SourceError, match="did not respond within"):
                await tick(app, NOON, sources_s=0.05)

    run(work)


def test_a_tick_that_blocks_its_thread_is_reported_as_stuck(tmp_path: Path) -> None:
    seen: list[tuple[bool, float]] = []

    async def work() -> None:
        clock = ManualClock()
        async with opened(tmp_path, clock) as app:
            scheduler = Scheduler(app)

            def look() -> None:
                seen.append((scheduler.is_stuck(), count(scheduler.metrics, "emi_tick_running_seconds")))

            async def hangs() -> None:
                look()
                clock.step(80)
                look()

            fault_in(app, hangs)
            await scheduler.fire()
            look()

    run(work)

    assert seen == [(False, 0.0), (True, 80.0), (False, 0.0)]


@pytest.mark.parametrize("fault", [None, waits])
def test_a_watchdog_is_fed_as_a_tick_begins_and_as_it_ends(
    tmp_path: Path, fault: Callable[[], Awaitable[None]] | None
) -> None:
    fed: list[float] = []

    async def work() -> None:
        async with opened(tmp_path, ManualClock()) as app:
            if fault is not None:
                fault_in(app, fault)
            scheduler = Scheduler(app, deadline_s=0.3 if fault else 20, on_alive=lambda: fed.append(seconds()))
            seconds = scheduler.running_s
            await scheduler.fire()

    run(work)

    assert fed == [0.0, 0.0]


@pytest.mark.parametrize("jump", [timedelta(hours=1), -timedelta(hours=1), timedelta(seconds=3)])
def test_a_clock_that_is_set_is_reported_once(jump: timedelta) -> None:
    clock = ManualClock()
    watch = JumpWatch(clock)
    clock.step(1)
    assert watch.jump_s() == 0.0

    clock.set_wall(jump)

    assert watch.jump_s() == jump.total_seconds()
    assert watch.jump_s() == 0.0


def test_a_slewed_clock_and_a_slow_process_do_not_count_as_a_jump() -> None:
    clock = ManualClock()
    watch = JumpWatch(clock)
    jumps = []

    for _ in range(600):
        clock.step(1)
        clock.set_wall(timedelta(milliseconds=1))
        jumps.append(watch.jump_s())
    clock.step(90)

    assert [*jumps, watch.jump_s()] == [0.0] * 601


class Idle(Scheduler):
    """A scheduler whose ticks are only listed."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__(cast("App", SimpleNamespace(clock=clock)))
        self.made: list[str] = []

    async def _make(self, at: datetime, began_s: float) -> None:
        self.made.append(f"{at:%H:%M:%S}")


def test_minutes_without_a_tick_are_counted() -> None:
    async def work() -> None:
        clock = ManualClock()
        scheduler = Idle(clock)
        for seconds in (60, 60, 240, 61):
            await scheduler.fire()
            clock.step(seconds)
        await scheduler.fire()
        assert ticks(scheduler.metrics, "missed") == 3
        assert len(scheduler.made) == 5

    run(work)


def test_a_jump_forward_makes_a_tick_at_once_and_none_is_missed() -> None:
    async def work() -> None:
        clock = ManualClock()
        scheduler = Idle(clock)
        scheduler.start()
        await scheduler.fire()
        clock.step(10)
        clock.set_wall(timedelta(hours=3))
        await scheduler.check_clock()
        assert scheduler.made == ["12:00:00", "15:00:10"]
        assert count(scheduler.metrics, "emi_clock_jumps_total", direction="forward") == 1
        assert ticks(scheduler.metrics, "missed") == 0
        await scheduler.drain()

    run(work)


def test_after_a_jump_back_the_scheduler_keeps_full_minutes() -> None:
    async def work() -> None:
        clock = ManualClock()
        scheduler = Idle(clock)
        scheduler.start()
        # What APScheduler is left with after the machine's clock was set back by an hour.
        scheduler.job.modify(next_run_time=datetime.now(UTC) + timedelta(hours=1))
        clock.set_wall(-timedelta(hours=1))
        await scheduler.check_clock()
        assert scheduler.job.next_run_time - datetime.now(UTC) <= MINUTE
        assert count(scheduler.metrics, "emi_clock_jumps_total", direction="back") == 1
        await scheduler.drain()

    run(work)


def test_every_job_keeps_time_after_a_jump_back() -> None:
    async def work() -> None:
        clock = ManualClock()
        scheduler = Idle(clock)
        second = scheduler.every_minute(25, scheduler.fire)
        scheduler.start()
        second.modify(next_run_time=datetime.now(UTC) + timedelta(hours=1))
        clock.set_wall(-timedelta(hours=1))
        await scheduler.check_clock()
        assert second.next_run_time - datetime.now(UTC) <= MINUTE
        assert second.next_run_time.second == 25
        await scheduler.drain()

    run(work)


def test_a_clock_set_far_ahead_costs_one_step_of_the_timer_and_no_memory() -> None:
    async def work() -> int:
        scheduler = Idle(ManualClock())
        scheduler.start()
        await asyncio.sleep(0)
        tracemalloc.start()
        # What APScheduler is left with after the machine's clock was set ahead by a month.
        scheduler.job.modify(next_run_time=datetime.now(UTC) - timedelta(days=30))
        await asyncio.sleep(0.05)
        assert scheduler.job.next_run_time > datetime.now(UTC)
        await scheduler.drain()
        assert scheduler.made == []  # it was missed: the jump itself makes the tick
        return tracemalloc.get_traced_memory()[1]

    try:
        assert asyncio.run(work()) < 1_000_000
    finally:
        tracemalloc.stop()


def test_the_job_keeps_full_minutes_one_at_a_time_and_forgives_half_a_minute() -> None:
    async def work() -> None:
        job = Idle(ManualClock()).job
        assert (job.max_instances, job.coalesce, job.misfire_grace_time) == (1, True, 30)
        at = datetime(2026, 11, 20, 12, 0, 0, 1, tzinfo=UTC)
        assert job.trigger.get_next_fire_time(None, at) == NOON + MINUTE

    run(work)


def test_a_full_minute_during_a_tick_makes_no_second_one() -> None:
    async def work() -> None:
        scheduler = Idle(ManualClock())
        async with scheduler.one:
            await scheduler.on_minute()
        assert not scheduler.made
        await scheduler.on_minute()
        assert len(scheduler.made) == 1

    run(work)


def test_a_stop_waits_for_the_running_tick(tmp_path: Path) -> None:
    reports: list[str] = []

    async def work() -> None:
        async with opened(tmp_path, ManualClock()) as app:
            fault_in(app, lambda: waits(0.3))
            scheduler = Scheduler(app, lambda report, _: reports.append(report.tick_id))
            scheduler.start()
            running = asyncio.create_task(scheduler.fire())
            await asyncio.sleep(0.05)
            await scheduler.drain()
            await running

    run(work)

    assert reports == ["20261120T120000Z"]


def test_metrics_are_served_on_loopback_and_a_taken_port_is_refused() -> None:
    port = free_port()
    metrics = GeneratorMetrics()

    end = metrics.serve(port)
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as answer:
            text = answer.read().decode()
        with pytest.raises(GeneratorError, match=f"metrics port {port}"):
            GeneratorMetrics().serve(port)
    finally:
        end()

    assert 'emi_ticks_total{outcome="missed"} 0.0' in text


def test_a_tick_that_fails_is_recorded_where_possible_and_the_next_is_made(tmp_path: Path) -> None:
    reports: list[str] = []
    faults: list[Exception] = []

    async def breaks() -> None:
        if faults:
            raise faults.pop()

    def full(*_: Any, **__: Any) -> None:
        raise MemoryUnreadable("database or disk is full")

    async def work() -> None:
        clock = ManualClock()
        async with opened(tmp_path, clock) as app:
            fault_in(app, breaks)
            scheduler = Scheduler(app, lambda report, _seconds: reports.append(report.tick_id))
            for fault in (None, RuntimeError("the venue sent nonsense"), SourceError("no room"), None):
                faults[:] = [fault] if fault else []
                with pytest.MonkeyPatch.context() as patch:
                    if isinstance(fault, SourceError):
                        patch.setattr(app.record.memory, "tick_done", full)
                    await scheduler.fire()
                clock.step(MINUTE)
            assert ticks(scheduler.metrics, "failed") == 2

    run(work)

    assert reports == ["20261120T120000Z", "20261120T120300Z"]
    assert body(tmp_path, "/status.json")["ticks"]["failed_24h"] == 1
