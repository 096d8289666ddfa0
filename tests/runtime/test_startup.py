"""Starting and taking over: what is prepared is not written, what was published meanwhile counts, reasons come at once."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from generator.brain.engine import Engine
from generator.brain.weights import Weights
from generator.catalog.assets import ASSETS
from generator.errors import GeneratorError, LeadershipLost, MemoryUnreadable, SourceError
from generator.record.logbook import KeyFileError, make_key
from generator.release.release import Releases
from generator.runtime.app import App, build
from generator.runtime.duty import Duty
from generator.runtime.headstart import HeadStart, read
from generator.runtime.lease.leadership import Leadership
from generator.runtime.opening import keep_warm, open_market, warm_up
from generator.runtime.schedule import Clockwork
from generator.runtime.tick import tick, to_ms
from generator.settings import GeneratorSettings
from generator.site.beside import Beside
from generator.wings.bucket.mirror import Mirrored
from generator.wings.bucket.site import BucketSite
from tests.support.buckets import FaultyBucket, memory
from tests.support.clock import NOON, ManualClock
from tests.support.leases import FakeLease
from tests.support.services import DAYS, NoStanding, opened

MINUTE = timedelta(minutes=1)


def run(work: Callable[[], Awaitable[None]]) -> None:
    async def inner() -> None:
        await asyncio.wait_for(work(), 100)

    asyncio.run(inner())


def nothing(*_: object) -> None:
    pass


def made(state: Path, clock: ManualClock, fence: Callable[[], int] = lambda: 0, **settings: Any) -> App:
    """Build a generator as `emi schedule` does, but without OpenAPI."""
    app = build(GeneratorSettings(state_dir=state, **settings), clock, fence=fence, at_once=False)
    app.publisher.standing.close()
    app.publisher.standing = NoStanding()
    return app


def tree(folder: Path) -> dict[str, str]:
    """Return a digest of every file but the database's own."""
    files = [path for path in folder.rglob("*") if path.is_file() and "sqlite3" not in path.name]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def site(state: Path, path: str) -> Any:
    return json.loads((state / "site" / "current" / path).read_bytes())


def refused() -> int:
    raise LeadershipLost("another leads")


def test_a_standby_makes_whole_ticks_and_writes_nothing_anywhere(tmp_path: Path) -> None:
    async def work() -> None:
        clock = ManualClock()
        async with opened(tmp_path, clock) as leader:
            await tick(leader, clock.now())
            before = tree(tmp_path)
            standby = made(tmp_path, clock, refused)  # whatever would be written asks this fence first
            await warm_up(standby, clock.now(), nothing, DAYS)
            for _ in range(2):
                await keep_warm(standby, clock.step(3 * MINUTE))
            assert tree(tmp_path) == before
            assert leader.record.memory.meta("generation") == "1"
            assert standby.market.engine.t_ms is not None
            assert to_ms(clock.now()) - standby.market.engine.t_ms < 600_000  # it reads on
            await standby.aclose()

    run(work)


def test_what_a_standby_prepared_gives_way_to_what_the_last_leader_wrote(tmp_path: Path) -> None:
    hourly = tmp_path / "site" / "current" / "track-record" / "hourly.csv"

    async def work() -> None:
        clock = ManualClock(NOON.replace(minute=56))
        async with opened(tmp_path, clock, hours=3) as leader:
            leader.publisher.beside.close()
            leader.publisher.beside = Beside(leader.record.memory, leader.publisher.releases.shown, at_once=False)
            await tick(leader, clock.now())
            standby = made(tmp_path, clock)
            await warm_up(standby, clock.now(), nothing, DAYS)
            await keep_warm(standby, clock.now())
            for _ in range(6):  # over the full hour: forecasts come due, a round ends
                await tick(leader, clock.step(MINUTE))
                leader.publisher.beside._pool.submit(int).result()
            rounds, record = site(tmp_path, "arena/rounds.json")["rounds"], hourly.read_bytes()
            brain = leader.record.memory.brain_state()
        standby.record.memory.claim()
        await open_market(standby, clock.step(MINUTE), nothing, days=DAYS)
        assert standby.record.memory.brain_state() == brain
        assert standby.market.engine.dump() == brain
        report = await tick(standby, clock.now())
        assert report.generation == "000000000008"
        assert site(tmp_path, "arena/rounds.json")["rounds"] == rounds
        assert hourly.read_bytes() == record
        assert site(tmp_path, "status.json")["ticks"]["failed_24h"] == 0
        await standby.aclose()

    run(work)


class Warm(Duty):
    """A standby whose preparing fails."""

    async def _keep_warm(self) -> None:
        self._app.publisher.pages.render = _broken  # type: ignore[method-assign, assignment]
        await super()._keep_warm()


def _broken(*_: object) -> dict[str, bytes]:
    raise RuntimeError("a template is broken")


def test_a_standby_that_cannot_prepare_stands_by_all_the_same(tmp_path: Path) -> None:
    async def work() -> None:
        clock = ManualClock()
        async with opened(tmp_path, clock) as leader:
            await tick(leader, clock.now())
        lease = FakeLease()
        lease.free = False
        leadership = Leadership(lease)
        app = made(tmp_path, clock, leadership.fence)
        duty = Warm(app, leadership, days=DAYS)
        running = asyncio.create_task(duty.run())
        while not len(app.market.history) and not running.done():  # noqa: ASYNC110  no event tells it
            await asyncio.sleep(0.01)
        await asyncio.sleep(0)
        assert not running.done()
        duty.stop()
        await running
        await app.aclose()

    run(work)


def test_a_head_start_gives_the_very_state_that_reading_here_gives() -> None:
    here = read(7, to_ms(NOON), 1)

    async def work() -> None:
        start = HeadStart(7, to_ms(NOON), 1)
        assert await start.state() == here
        assert await start.state() is None

    run(work)


@pytest.mark.parametrize("seed", [-1, 7], ids=["it ends with an error", "it takes too long"])
def test_a_head_start_that_fails_is_done_without(seed: int) -> None:
    async def work() -> None:
        start = HeadStart(seed, to_ms(NOON), 300, longest_s=60 if seed < 0 else 0.01)
        assert await start.state() is None
        start.close()

    run(work)


class Given(HeadStart):
    """A head start with a state that is there."""

    def __init__(self, state: bytes | None) -> None:
        self._state = state

    async def state(self) -> bytes | None:
        return self._state


def test_a_brain_with_a_head_start_reads_only_what_is_left(tmp_path: Path) -> None:
    async def brain(state: bytes | None, name: str) -> bytes:
        app = made(tmp_path / name, ManualClock())
        app.head_start = Given(state)
        seen: list[int] = []
        await open_market(app, NOON, lambda _, total, what: seen.append(total * ("brain" in what)), 0, DAYS)
        assert max(seen) == (288 * DAYS if name == "alone" else 1 if name == "ahead" else 0)
        await app.aclose()
        return app.market.engine.dump()

    begun = read(GeneratorSettings().seed, to_ms(NOON - timedelta(minutes=5)), DAYS)

    async def work() -> None:
        alone, ahead = await brain(None, "alone"), await brain(begun, "ahead")
        ours, theirs = (Engine.load(Weights.load(None), ASSETS, state) for state in (alone, ahead))
        assert ours.t_ms == theirs.t_ms
        assert theirs.counters.bars == ours.counters.bars + 1  # it began a bar earlier

    run(work)


def test_a_head_start_of_other_weights_is_not_used(tmp_path: Path) -> None:
    async def work() -> None:
        app = made(tmp_path, ManualClock())
        app.head_start = Given(b"not a brain")
        await open_market(app, NOON, nothing, 0, DAYS)
        assert app.market.engine.counters.bars == 288 * DAYS
        await app.aclose()

    run(work)


class FullDisk:
    """A memory's `tick_done` on a disk that is full, until `heal`."""

    def __init__(self, app: App) -> None:
        self._really, self.full = app.record.memory.tick_done, True
        app.record.memory.tick_done = self  # type: ignore[method-assign]

    def __call__(self, *told: Any, **more: Any) -> None:
        if self.full:
            raise MemoryUnreadable("database or disk is full")
        self._really(*told, **more)


class Dead:
    """A source that a full disk killed."""

    def __init__(self, source: Any) -> None:
        self.mode, self.source = source.mode, source

    async def observe(self, _now_ms: int, _since_ms: int) -> Any:
        raise SourceError("no room")

    async def aclose(self) -> None:
        await self.source.aclose()


def test_ticks_that_fail_on_a_disk_the_memory_shares_are_told_as_failed_with_their_reason(tmp_path: Path) -> None:
    async def work() -> None:
        clock = ManualClock()
        async with opened(tmp_path, clock) as app:
            clockwork = Clockwork(app)
            await clockwork.fire()
            source, disk = app.market.source, FullDisk(app)
            app.market.source = Dead(source)  # type: ignore[assignment]
            for _ in range(3):
                clock.step(MINUTE)
                await clockwork.fire()
            assert app.record.memory.ticks(to_ms(clock.now())).failed_24h == 0
            app.market.source, disk.full = source, False
            clock.step(MINUTE)
            await clockwork.fire()
            told = site(tmp_path, "status.json")["ticks"]
            assert (told["published_24h"], told["failed_24h"], told["missed_24h"]) == (1, 3, 0)
            failed = clockwork.metrics.registry.get_sample_value("emi_ticks_total", {"outcome": "failed"})
            assert failed == 3

    run(work)


@pytest.mark.parametrize("key", ["missing", "of nobody", "of another log"])
def test_a_wrong_key_of_the_log_is_refused_before_any_history_is_read(tmp_path: Path, key: str) -> None:
    async def work() -> None:
        if key == "of another log":
            async with opened(tmp_path / "state", ManualClock()) as before:
                await tick(before, NOON)
            make_key(tmp_path / "log.key", "another.example/log")
        if key == "of nobody":
            (tmp_path / "log.key").write_text("no key\n")
        leadership = Leadership(FakeLease())
        app = made(tmp_path / "state", ManualClock(), leadership.fence, log_key_file=tmp_path / "log.key")
        with pytest.raises(KeyFileError):
            await Duty(app, leadership, days=DAYS).run()
        assert not len(app.market.history)
        await app.aclose()

    run(work)


class InStore:
    """A generator with its site in an object store, under a lease."""

    def __init__(self, state: Path, bucket: FaultyBucket) -> None:
        self.told: list[str] = []
        self.lease = FakeLease()
        self.leadership = Leadership(self.lease)
        self.app = made(state, ManualClock(), self.leadership.fence)
        settings = {"site_url": "s3://bucket/site"}
        self.app.settings = self.app.settings.model_copy(update=settings)
        public = BucketSite(bucket, state.name, self.leadership.fence)
        self.app.publisher.releases = Mirrored(public, Releases(state / "site", fence=self.leadership.fence))
        self.duty = Duty(self.app, self.leadership, lambda report, _: self.told.append(report.generation), days=DAYS)

    async def until(self, done: Callable[[], bool]) -> None:
        running = asyncio.create_task(self.duty.run())
        while not done() and not running.done():  # noqa: ASYNC110  no event tells it
            await asyncio.sleep(0.01)
        self.duty.stop()
        await running
        await self.app.aclose()


def pointed(bucket: FaultyBucket) -> dict[str, Any]:
    found = bucket.inner.get("current.json")
    return {} if found is None else dict(json.loads(found.data))


def test_an_object_store_never_starts_empty_and_number_one_follows(tmp_path: Path) -> None:
    bucket = FaultyBucket(memory())

    async def work() -> None:
        one = InStore(tmp_path / "one", bucket)
        await one.until(lambda: bool(pointed(bucket)))
        assert not one.told  # nothing was played yet: 48 hours come first
        assert pointed(bucket)["generation"] == "000000000000"
        status = bucket.inner.get("g/000000000000/status.json")
        assert status is not None
        assert json.loads(status.data)["status"] == "unavailable"
        assert pointed(bucket)["epoch"] == 1

    run(work)


def test_a_standby_lays_nothing_down_and_a_store_that_is_away_is_waited_for(tmp_path: Path) -> None:
    bucket = FaultyBucket(memory())

    async def work() -> None:
        async with opened(tmp_path / "two", ManualClock(NOON - MINUTE)) as before:
            await tick(before, NOON - MINUTE)
        two = InStore(tmp_path / "two", bucket)
        two.lease.free = False
        await two.until(lambda: len(two.app.market.history) > 0)
        assert not bucket.writes
        two = InStore(tmp_path / "two", bucket)
        bucket.reads_fail = True
        await two.until(two.duty.may_tick)
        assert not bucket.writes
        bucket.reads_fail = False
        two = InStore(tmp_path / "two", bucket)
        await two.until(lambda: bool(two.told))
        assert pointed(bucket)["generation"] == two.told[-1]

    run(work)


def test_a_leader_that_is_refused_ends_with_one_line(tmp_path: Path) -> None:
    async def work() -> None:
        bucket = FaultyBucket(memory())
        one = InStore(tmp_path, bucket)
        bucket.inner.create("current.json", b"[]", {})
        with pytest.raises(GeneratorError, match=r"current\.json is no pointer of ours"):
            await one.duty.run()
        await one.app.aclose()

    run(work)
