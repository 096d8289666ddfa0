"""The clockwork: deadlines, clocks that are set, missed minutes, leading and standing by."""

from __future__ import annotations

import asyncio
import shutil
import time
import urllib.request
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self, cast

import pytest

from generator.catalog.assets import ASSETS
from generator.catalog.words import SourceMode
from generator.clock import JumpWatch
from generator.errors import GeneratorError, LeadershipLost, SourceError
from generator.market.values import AssetObservation, BarFrame, Observation
from generator.record.memory.store import Memory
from generator.runtime import tick as pipeline
from generator.runtime.app import App, build
from generator.runtime.duty import Duty
from generator.runtime.lease.leadership import Leadership
from generator.runtime.metrics import Metrics
from generator.runtime.opening import adopt, fill_later, open_market
from generator.runtime.publication import Report
from generator.runtime.schedule import Clockwork
from generator.settings import GeneratorSettings
from tests.support.clock import NOON, ManualClock
from tests.support.leases import FakeLease
from tests.support.ports import free_port
from tests.support.services import DAYS, NoStanding, opened

MINUTE = timedelta(minutes=1)


class TwoClocks(ManualClock):
    """A wall clock that can be set, over a monotonic one that cannot."""

    def __init__(self, at: datetime = NOON) -> None:
        super().__init__(at)
        self.seconds = 0.0

    def monotonic(self) -> float:
        return self.seconds

    def live(self, seconds: float) -> None:
        self.seconds += seconds
        self.step(timedelta(seconds=seconds))


def run(work: Callable[[], Awaitable[None]], within_s: float = 100) -> None:
    async def inner() -> None:
        await asyncio.wait_for(work(), within_s)

    asyncio.run(inner())


def count(metrics: Metrics, name: str, **labels: str) -> float:
    return metrics.registry.get_sample_value(name, labels) or 0.0


def ticks(metrics: Metrics, outcome: str) -> float:
    return count(metrics, "emi_ticks_total", outcome=outcome)


class Slowed:
    """A source that takes its time, blocking the thread or not."""

    mode = SourceMode.SIMULATED

    def __init__(self, source: Any, block_s: float = 0.0, sleep_s: float = 0.0) -> None:
        self.source, self.block_s, self.sleep_s = source, block_s, sleep_s

    async def observe(self, now_ms: int, since_ms: int) -> Observation:
        time.sleep(self.block_s)  # noqa: ASYNC251  this is the fault
        await asyncio.sleep(self.sleep_s)
        found: Observation = await self.source.observe(now_ms, since_ms)
        return found

    async def aclose(self) -> None:
        await self.source.aclose()


@pytest.mark.parametrize("fault", [{"sleep_s": 30.0}, {"block_s": 0.6}], ids=["waits", "blocks the thread"])
def test_a_tick_past_its_deadline_is_ended_recorded_and_not_published(tmp_path: Path, fault: dict[str, float]) -> None:
    told: list[Report] = []

    async def work() -> None:
        async with opened(tmp_path, ManualClock()) as app:
            app.market.source = Slowed(app.market.source, **fault)  # type: ignore[assignment]
            clockwork = Clockwork(app, lambda report, _: told.append(report), deadline_s=0.3)
            await clockwork.fire()
            assert ticks(clockwork.metrics, "failed") == 1
            assert app.record.memory.ticks(pipeline.to_ms(NOON)).failed_24h == 1
            assert app.publisher.releases.generation() == 0

    run(work)

    assert not told


def test_a_source_that_hangs_ends_before_the_tick_does(tmp_path: Path) -> None:
    async def work() -> None:
        async with opened(tmp_path, ManualClock()) as app:
            app.market.source = Slowed(app.market.source, sleep_s=30)  # type: ignore[assignment]
            with pytest.raises(SourceError, match="did not come back within"):
                await pipeline.tick(app, NOON, sources_s=0.05)

    run(work)


def test_a_tick_that_blocks_its_thread_for_too_long_is_seen_from_other_threads(tmp_path: Path) -> None:
    seen: list[tuple[bool, float]] = []

    async def work() -> None:
        clock = TwoClocks()
        async with opened(tmp_path, clock) as app:
            clockwork = Clockwork(app)

            class Hung(Slowed):
                async def observe(self, now_ms: int, since_ms: int) -> Observation:
                    seen.append((clockwork.is_stuck(), count(clockwork.metrics, "emi_tick_running_seconds")))
                    clock.live(80)
                    seen.append((clockwork.is_stuck(), count(clockwork.metrics, "emi_tick_running_seconds")))
                    return await super().observe(now_ms, since_ms)

            app.market.source = Hung(app.market.source)  # type: ignore[assignment]
            await clockwork.fire()
            seen.append((clockwork.is_stuck(), count(clockwork.metrics, "emi_tick_running_seconds")))

    run(work)

    assert seen == [(False, 0.0), (True, 80.0), (False, 0.0)]


@pytest.mark.parametrize("jump", [timedelta(hours=1), -timedelta(hours=1), timedelta(seconds=3)])
def test_a_clock_that_is_set_is_seen_once(jump: timedelta) -> None:
    clock = TwoClocks()
    watch = JumpWatch(clock)
    clock.live(1)
    assert watch.look() == 0.0

    clock.step(jump)

    assert watch.look() == jump.total_seconds()
    assert watch.look() == 0.0


def test_a_slewed_clock_and_a_slow_process_are_no_jump() -> None:
    clock = TwoClocks()
    watch = JumpWatch(clock)
    looks = []

    for _ in range(600):
        clock.live(1)
        clock.step(timedelta(milliseconds=1))
        looks.append(watch.look())
    clock.live(90)

    assert [*looks, watch.look()] == [0.0] * 601


class Idle(Clockwork):
    """A clockwork whose ticks are only noted."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__(cast("App", SimpleNamespace(clock=clock)))
        self.made: list[str] = []

    async def _make(self, at: datetime, began_s: float) -> None:
        self.made.append(f"{at:%H:%M:%S}")


def test_minutes_without_a_tick_are_counted() -> None:
    async def work() -> None:
        clock = TwoClocks()
        clockwork = Idle(clock)
        for seconds in (60, 60, 240, 61):
            await clockwork.fire()
            clock.live(seconds)
        await clockwork.fire()
        assert ticks(clockwork.metrics, "missed") == 3
        assert len(clockwork.made) == 5

    run(work)


def test_a_jump_forward_makes_a_tick_at_once_and_none_is_missed() -> None:
    async def work() -> None:
        clock = TwoClocks()
        clockwork = Idle(clock)
        clockwork.start()
        await clockwork.fire()
        clock.live(10)
        clock.step(timedelta(hours=3))
        await clockwork.look()
        assert clockwork.made == ["12:00:00", "15:00:10"]
        assert count(clockwork.metrics, "emi_clock_jumps_total", direction="forward") == 1
        assert ticks(clockwork.metrics, "missed") == 0
        clockwork.stop()
        await clockwork.drain()

    run(work)


def test_a_jump_back_does_not_silence_the_clockwork() -> None:
    async def work() -> None:
        clock = TwoClocks()
        clockwork = Idle(clock)
        clockwork.start()
        # What APScheduler is left with after the machine's clock was set back by an hour.
        clockwork.job.modify(next_run_time=datetime.now(UTC) + timedelta(hours=1))
        clock.step(-timedelta(hours=1))
        await clockwork.look()
        assert clockwork.job.next_run_time - datetime.now(UTC) <= MINUTE
        assert count(clockwork.metrics, "emi_clock_jumps_total", direction="back") == 1
        clockwork.stop()
        await clockwork.drain()

    run(work)


def test_the_job_keeps_full_minutes_one_at_a_time_and_forgives_half_a_minute() -> None:
    async def work() -> None:
        job = Idle(ManualClock()).job
        assert (job.max_instances, job.coalesce, job.misfire_grace_time) == (1, True, 30)
        at = datetime(2026, 11, 20, 12, 0, 0, 1, tzinfo=UTC)
        assert job.trigger.get_next_fire_time(None, at) == NOON + MINUTE

    run(work)


def test_a_full_minute_during_a_tick_makes_no_second_one() -> None:
    async def work() -> None:
        clockwork = Idle(ManualClock())
        async with clockwork.one:
            await clockwork._on_time()
        assert not clockwork.made
        await clockwork._on_time()
        assert len(clockwork.made) == 1

    run(work)


def test_a_stop_waits_for_the_running_tick(tmp_path: Path) -> None:
    told: list[str] = []

    async def work() -> None:
        async with opened(tmp_path, ManualClock()) as app:
            app.market.source = Slowed(app.market.source, sleep_s=0.3)  # type: ignore[assignment]
            clockwork = Clockwork(app, lambda report, _: told.append(report.tick_id))
            clockwork.start()
            running = asyncio.create_task(clockwork.fire())
            await asyncio.sleep(0.05)
            clockwork.stop()
            await clockwork.drain()
            await running

    run(work)

    assert told == ["20261120T120000Z"]


class OnDuty:
    """A generator with a lease that the test hands out, running in this loop."""

    def __init__(self, state: Path, lease: FakeLease, **settings: Any) -> None:
        self.clock = ManualClock()
        self.lease = lease
        self.told: list[Report] = []
        self.leadership = Leadership(lease)
        made = GeneratorSettings(state_dir=state, **settings)
        self.app = build(made, self.clock, fence=self.leadership.fence)
        self.app.publisher.standing.close()
        self.app.publisher.standing = NoStanding()
        told = self.told.append
        self.duty = Duty(self.app, self.leadership, lambda report, _: told(report), days=DAYS, retry_s=0.05)
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self.duty.run())
        return self

    async def __aexit__(self, *_: object) -> None:
        self.duty.stop()
        if self._task is not None:
            with suppress(GeneratorError):
                await self._task
        await self.app.aclose()

    async def until(self, done: Callable[[], bool]) -> None:
        while not done():
            assert self._task is not None
            assert not self._task.done(), self._task
            await asyncio.sleep(0.01)


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A state folder with one tick in it, so that nobody plays 48 hours first."""
    folder = tmp_path_factory.mktemp("record") / "state"

    async def work() -> None:
        async with opened(folder, ManualClock(NOON - MINUTE)) as app:
            await pipeline.tick(app, NOON - MINUTE)

    run(work)
    return folder


@pytest.fixture
def state(record: Path, tmp_path: Path) -> Path:
    """A copy of it for one test."""
    shutil.copytree(record, tmp_path / "state", symlinks=True)
    return tmp_path / "state"


def test_a_standby_writes_nothing_and_goes_on_with_the_next_number_when_the_lease_comes(state: Path) -> None:
    async def work() -> None:
        lease = FakeLease()
        lease.free = False
        async with OnDuty(state, lease) as two:
            await two.until(lambda: len(two.app.market.history) > 0)
            two.clock.step(MINUTE)
            await two.duty.fire()
            assert not two.told
            assert two.app.record.memory.epoch() == 0
            lease.free = True
            await two.until(lambda: bool(two.told))
            assert two.told[0].generation == "000000000002"
            assert two.app.record.memory.epoch() == 1
        assert lease.calls[-2:] == ["release", "close"]

    run(work)


def test_a_lost_leader_stands_by_and_leads_again_without_a_restart(state: Path) -> None:
    async def work() -> None:
        lease = FakeLease(0.3)
        async with OnDuty(state, lease) as one:
            await one.until(lambda: len(one.told) == 1)
            lease.epoch += 5  # others led

            def lost_once() -> None:
                lease.free, lease.on_renew = True, lambda: None

            lease.on_renew = lost_once
            await one.until(lambda: len(one.told) == 2)
            assert count(one.duty.metrics, "emi_lease_lost") >= 1
            assert one.app.record.memory.epoch() == 7
        assert [report.generation for report in one.told] == ["000000000002", "000000000003"]

    run(work)


def test_a_tick_under_a_lost_lease_publishes_and_records_nothing(state: Path) -> None:
    async def work() -> None:
        lease = FakeLease(None)
        async with OnDuty(state, lease) as one:
            await one.until(lambda: len(one.told) == 1)
            other = build(GeneratorSettings(state_dir=state), one.clock, fence=lambda: 99)
            other.record.memory.claim()
            one.clock.step(MINUTE)
            await one.duty.fire()
            assert len(one.told) == 1
            assert other.record.memory.ticks(pipeline.to_ms(one.clock.now())).failed_24h == 0
            await one.until(lambda: one.leadership.floor == 99)  # the next lease will be above the one that wrote here
            await other.aclose()

    run(work)


def test_a_leader_that_cannot_open_its_market_ends_with_the_reason(state: Path) -> None:
    async def work() -> None:
        lease = FakeLease()
        one = OnDuty(state, lease)
        one.app.record.memory.claim = _refuse  # type: ignore[method-assign]
        with pytest.raises(GeneratorError, match="disk full"):
            await one.duty.run()
        await one.app.aclose()
        assert lease.calls[-2:] == ["release", "close"]

    run(work)


def test_a_standby_that_cannot_lead_leaves_the_lease_to_others_and_stays(state: Path) -> None:
    async def work() -> None:
        lease = FakeLease()
        lease.free = False
        async with OnDuty(state, lease, log_key_file=state / "of-another-machine.key") as two:
            await two.until(lambda: len(two.app.market.history) > 0)
            lease.free = True
            await two.until(lambda: lease.epoch == 1 and lease.free)
            two.clock.step(MINUTE)
            await two.duty.fire()
            assert not two.told
            assert "release" in lease.calls

    run(work)


def _refuse() -> None:
    raise GeneratorError("disk full")


def test_a_stop_is_heard_while_the_market_is_being_opened(tmp_path: Path) -> None:
    async def work() -> None:
        lease = FakeLease()
        one = OnDuty(tmp_path, lease)  # an empty memory: 48 hours are to be played
        async with one:
            await one.until(lambda: len(one.app.market.history) > 0)
        assert not one.told
        memory = Memory.open(one.app.settings.memory)
        assert memory.is_empty()
        memory.close()

    run(work)


class LateVenues:
    """A live market whose history is out of reach at first."""

    mode = SourceMode.LIVE

    def __init__(self, source: Any, failures: int) -> None:
        self.source, self.failures = source, failures

    async def backfill(self, now_ms: int, days: int, progress: Any) -> BarFrame:
        if self.failures:
            self.failures -= 1
            raise SourceError("no venue sent any history")
        found: BarFrame = await self.source.backfill(now_ms, days, progress)
        return found

    async def observe(self, now_ms: int, since_ms: int) -> Observation:
        if self.failures:
            nothing = {asset: AssetObservation(asset, limitations=("no venue answered",)) for asset in ASSETS}
            return Observation(SourceMode.LIVE, now_ms, nothing, (), BarFrame.empty(ASSETS))
        near = max(since_ms, now_ms - 3_600_000)
        found: Observation = await self.source.observe(now_ms, near)
        return found

    async def aclose(self) -> None:
        await self.source.aclose()


async def late(state: Path, clock: ManualClock) -> tuple[App, LateVenues]:
    app = build(GeneratorSettings(state_dir=state), clock)
    app.publisher.standing.close()
    app.publisher.standing = NoStanding()
    source = LateVenues(app.market.source, failures=1)
    app.market.source = source
    await open_market(app, clock.now(), lambda *_: None, days=DAYS)
    return app, source


def test_a_history_that_comes_late_is_read_as_if_it_had_been_there(tmp_path: Path) -> None:
    async def work() -> None:
        clock = ManualClock()
        app, _ = await late(tmp_path / "late", clock)
        await pipeline.tick(app, clock.now())
        found = await fill_later(app, pipeline.to_ms(clock.now()), DAYS, lambda *_: None)
        await pipeline.tick(app, clock.step(timedelta(minutes=6)))  # meanwhile
        adopt(app, *found)
        await pipeline.tick(app, clock.step(timedelta(minutes=5)))
        async with opened(tmp_path / "whole", ManualClock()) as whole:
            await whole.market.source.observe(0, 0)
            expected = await pipeline.observe(whole, clock.now())
            reading = whole.market.engine.update(expected.new_bars)
        assert app.market.engine.reading() == reading is not None
        assert app.market.engine.dump() == app.record.memory.brain_state()
        await app.aclose()

    run(work)


def test_a_live_start_without_venues_asks_again_by_itself(tmp_path: Path) -> None:
    async def work() -> None:
        one = OnDuty(tmp_path, FakeLease())
        one.app.market.source = LateVenues(one.app.market.source, failures=3)
        async with one:
            await one.until(lambda: bool(one.told))
            assert one.told[0].regime == "unknown"
            await one.until(lambda: len(one.app.market.history) == DAYS * 288)
            one.clock.step(MINUTE)
            await one.duty.fire()
            assert one.told[-1].regime != "unknown"

    run(work)


def test_a_brain_that_began_without_history_is_not_kept_once_there_is_some(tmp_path: Path) -> None:
    async def work() -> None:
        clock = ManualClock()
        app, source = await late(tmp_path, clock)
        source.failures = 0
        await pipeline.tick(app, clock.now())  # an hour of bars, kept in memory
        thin = app.market.engine.counters.bars
        await app.aclose()
        again, source = await late(tmp_path, clock)
        again.market.history.append(await source.source.backfill(pipeline.to_ms(NOON), DAYS, lambda *_: None))
        await open_market(again, clock.now(), lambda *_: None, days=DAYS)
        assert 0 < thin < 20
        assert again.market.engine.counters.bars == DAYS * 288
        await again.aclose()

    run(work)


def test_a_restart_without_venues_keeps_the_brain_that_memory_has(tmp_path: Path) -> None:
    async def work() -> None:
        clock = ManualClock()
        app, source = await late(tmp_path, clock)
        source.failures = 0
        adopt(app, *await fill_later(app, pipeline.to_ms(NOON), DAYS, lambda *_: None))
        await pipeline.tick(app, clock.now())
        await app.aclose()
        again, _ = await late(tmp_path, clock)
        assert again.market.engine.counters.bars == DAYS * 288
        await again.aclose()

    run(work)


def test_the_fence_of_a_lost_lease_is_no_failed_tick_of_the_record(state: Path) -> None:
    def lost() -> int:
        raise LeadershipLost("another leads")

    async def work() -> None:
        async with OnDuty(state, FakeLease(None)) as one:
            await one.until(lambda: len(one.told) == 1)
            one.app.record.memory._fence = lost
            await one.duty.fire()
            assert len(one.told) == 1

    run(work)


def test_metrics_are_served_on_loopback_and_a_taken_port_is_told() -> None:
    port = free_port()
    metrics = Metrics()

    end = metrics.serve(port)
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as answer:
            text = answer.read().decode()
        with pytest.raises(GeneratorError, match=f"metrics port {port}"):
            Metrics().serve(port)
    finally:
        end()

    assert 'emi_ticks_total{outcome="missed"} 0.0' in text


def test_refused_ballots_are_counted_in_the_clockwork_s_metrics(tmp_path: Path) -> None:
    async def work() -> None:
        async with opened(tmp_path, ManualClock()) as app:
            clockwork = Clockwork(app)
            inbox = app.settings.inbox_path
            inbox.mkdir(parents=True, exist_ok=True)
            (inbox / "garbage").write_bytes(b"?")
            await clockwork.fire()
            assert count(clockwork.metrics, "emi_ballots_rejected_total", reason="not base64") == 1

    run(work)
