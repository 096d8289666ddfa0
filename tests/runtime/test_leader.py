"""Leader election: leading, standing by, taking over, and stopping."""

import asyncio
import hashlib
import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import pytest
from structlog.testing import capture_logs

from generator.errors import GeneratorError, LeadershipLost
from generator.record.keys import make_key
from generator.record.memory.store import Memory
from generator.release.bucket.site import BucketSite
from generator.runtime.app import build
from generator.runtime.leader import Leader, LeaderState
from generator.runtime.leadership import Leadership
from generator.runtime.market import to_ms
from generator.runtime.publication import Report
from generator.runtime.tick import tick
from generator.settings import GeneratorSettings
from tests.support.buckets import FaultyBucket, memory
from tests.support.clock import NOON, ManualClock
from tests.support.leases import FakeLease
from tests.support.services import DAYS, MINUTE, landing_page, opened, run, without_background


class Candidate:
    """A generator with a lease that the test grants, running in this loop.

    Args:
        state: its folder.
        lease: granted by the test.
        bucket: of its site; None where that is a folder.
        days: of history.
        settings: of the generator.
    """

    def __init__(
        self, state: Path, lease: FakeLease, bucket: FaultyBucket | None = None, days: int = DAYS, **settings: Any
    ) -> None:
        self.clock = ManualClock()
        self.lease = lease
        self.reports: list[Report] = []
        self.leadership = Leadership(lease)
        made = GeneratorSettings(state_dir=state, **settings)
        self.app = build(made, self.clock, fence=self.leadership.fence, days=days)
        without_background(self.app)
        self.app.publisher.pages = landing_page()
        if bucket is not None:
            self.app.settings = made.model_copy(update={"site_url": "s3://bucket/site"})
            self.app.publisher.releases = BucketSite(bucket, state.name, self.leadership.fence)
        self.leader = Leader(self.app, self.leadership, lambda report, _: self.reports.append(report), retry_s=0.05)
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self.leader.run())
        return self

    async def __aexit__(self, *_: object) -> None:
        self.leader.stop()
        if self._task is not None:
            with suppress(GeneratorError):
                await self._task
        await self.app.aclose()

    async def until(self, done: Callable[[], bool]) -> None:
        while not done():
            assert self._task is not None
            assert not self._task.done(), self._task
            await asyncio.sleep(0.01)

    def lease_count(self, name: str) -> float:
        return self.leader.metrics.registry.get_sample_value(f"emi_lease_{name}_total") or 0.0


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A state folder with one tick in it, so that no backtest comes first."""
    folder = tmp_path_factory.mktemp("record") / "state"

    async def work() -> None:
        async with opened(folder, ManualClock(NOON - MINUTE)) as app:
            await tick(app, NOON - MINUTE)

    run(work)
    return folder


@pytest.fixture
def state(record: Path, tmp_path: Path) -> Path:
    """A copy of it for one test."""
    shutil.copytree(record, tmp_path / "state", symlinks=True)
    return tmp_path / "state"


def standby() -> FakeLease:
    """Return a lease that another holds."""
    lease = FakeLease()
    lease.free = False
    return lease


def tree(folder: Path) -> dict[str, str]:
    """Return a digest of every file but the database's own."""
    files = [path for path in folder.rglob("*") if path.is_file() and "sqlite3" not in path.name]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_a_standby_writes_nothing_and_takes_over_with_the_next_generation(state: Path) -> None:
    async def work() -> None:
        lease = standby()
        before = tree(state / "site")
        async with Candidate(state, lease) as two:
            await two.until(lambda: len(two.app.market.history) > 0)
            assert two.leader.state == LeaderState.STANDBY
            two.clock.step(MINUTE)
            await two.leader.scheduler.fire()
            await two.leader._preload()  # the newest bars, every minute
            assert not two.reports
            assert two.app.record.memory.epoch() == 0
            assert tree(state / "site") == before
            lease.free = True
            await two.until(lambda: bool(two.reports))
            assert two.leader.may_tick()
            assert two.reports[0].generation == "000000000002"
            assert two.app.record.memory.epoch() == 1
        assert lease.calls[-2:] == ["release", "close"]

    run(work)


def test_a_lost_leader_stands_by_and_leads_again_without_a_restart(state: Path) -> None:
    async def work() -> None:
        lease = FakeLease(0.3)
        async with Candidate(state, lease) as one:
            await one.until(lambda: len(one.reports) == 1)
            lease.epoch += 5  # others led

            def lost_once() -> None:
                lease.free, lease.on_renew = True, lambda: None

            lease.on_renew = lost_once
            await one.until(lambda: len(one.reports) == 2)
            assert one.lease_count("lost") >= 1
            assert one.app.record.memory.epoch() == 7
        assert [report.generation for report in one.reports] == ["000000000002", "000000000003"]

    run(work)


def test_a_tick_under_a_lost_lease_publishes_and_records_nothing(state: Path) -> None:
    async def work() -> None:
        lease = FakeLease(None)
        async with Candidate(state, lease) as one:
            await one.until(lambda: len(one.reports) == 1)
            other = build(GeneratorSettings(state_dir=state), one.clock, fence=lambda: 99)
            other.record.memory.claim()
            one.clock.step(MINUTE)
            await one.leader.scheduler.fire()
            assert len(one.reports) == 1
            assert other.record.memory.ticks(to_ms(one.clock.now())).failed_24h == 0
            await one.until(lambda: one.leadership.floor == 99)  # the next lease will be above the one that wrote here
            await other.aclose()

    run(work)


def test_a_standby_that_cannot_lead_leaves_the_lease_to_others_and_stays(state: Path) -> None:
    async def work() -> None:
        lease = FakeLease()
        lease.free = False
        async with Candidate(state, lease, log_key_file=state / "of-another-machine.key") as two:
            await two.until(lambda: len(two.app.market.history) > 0)
            lease.free = True
            await two.until(lambda: lease.epoch == 1 and lease.free)
            two.clock.step(MINUTE)
            await two.leader.scheduler.fire()
            assert not two.reports
            assert "release" in lease.calls

    run(work)


def test_a_stop_interrupts_the_opening_of_the_market(tmp_path: Path) -> None:
    async def work() -> None:
        lease = FakeLease()
        one = Candidate(tmp_path, lease)  # an empty memory: a backtest comes first
        async with one:
            await one.until(lambda: len(one.app.market.history) > 0)
        assert not one.reports
        memory = Memory.open(one.app.settings.memory)
        assert memory.is_empty()
        memory.close()

    run(work)


@pytest.mark.parametrize("key", ["missing", "of no log", "of another log"])
def test_a_wrong_key_of_the_log_is_refused_before_any_history_is_read(tmp_path: Path, key: str) -> None:
    async def work() -> None:
        if key == "of another log":
            async with opened(tmp_path / "state", ManualClock()) as before:
                await tick(before, NOON)
            make_key(tmp_path / "log.key", "another.example/log")
        if key == "of no log":
            (tmp_path / "log.key").write_text("not a key\n")
            (tmp_path / "log.key").chmod(0o600)
        one = Candidate(tmp_path / "state", FakeLease(), log_key_file=tmp_path / "log.key")
        with pytest.raises(GeneratorError):
            await one.leader.run()
        assert not len(one.app.market.history)
        await one.app.aclose()

    run(work)


def pointed(bucket: FaultyBucket) -> dict[str, Any]:
    found = bucket.inner.get("current.json")
    return {} if found is None else dict(json.loads(found.data))


def test_an_object_store_never_starts_empty_and_number_one_follows(tmp_path: Path) -> None:
    bucket = FaultyBucket(memory())

    async def work() -> None:
        async with Candidate(tmp_path / "one", FakeLease(), bucket) as one:
            await one.until(lambda: bool(pointed(bucket)))
        assert not one.reports  # nothing was played yet: the backtest comes first
        assert pointed(bucket)["generation"] == "000000000000"
        shown = BucketSite(bucket, "reader").shown(("/status.json",))
        assert json.loads(shown["/status.json"])["status"] == "unavailable"
        assert pointed(bucket)["epoch"] == 1

    run(work)


def test_a_standby_writes_nothing_to_a_store_and_one_that_is_away_is_retried(state: Path) -> None:
    bucket = FaultyBucket(memory())

    async def work() -> None:
        async with Candidate(state, standby(), bucket) as two:
            await two.until(lambda: len(two.app.market.history) > 0)
        assert not bucket.writes
        bucket.reads_fail = True
        async with Candidate(state, FakeLease(), bucket) as two:
            await two.until(two.leader.may_tick)
        assert not bucket.writes
        bucket.reads_fail = False
        async with Candidate(state, FakeLease(), bucket) as two:
            await two.until(lambda: bool(two.reports))
        assert pointed(bucket)["generation"] == two.reports[-1].generation

    run(work)


def test_a_leader_that_the_object_store_refuses_ends_with_one_line(tmp_path: Path) -> None:
    async def work() -> None:
        bucket = FaultyBucket(memory())
        one = Candidate(tmp_path, FakeLease(), bucket)
        bucket.inner.create("current.json", b"[]", {})
        with pytest.raises(GeneratorError, match=r"current\.json is not one of our pointers"):
            await one.leader.run()
        await one.app.aclose()

    run(work)


def test_a_leader_whose_store_refused_two_ticks_lets_another_lead_for_a_minute(state: Path) -> None:
    bucket = FaultyBucket(memory())

    async def work() -> None:
        lease = FakeLease()
        async with Candidate(state, lease, bucket) as one:
            await one.until(lambda: len(one.reports) == 1)
            one.app.settings = one.app.settings.model_copy(update={"lease_url": "postgresql://db/emi"})
            bucket.how = "refused"
            for _ in range(2):
                assert one.leader.may_tick()
                one.clock.step(MINUTE)
                await one.leader.scheduler.fire()
            assert one.leader.state == LeaderState.STANDBY
            await one.until(lambda: "release" in lease.calls)

            asked = lease.calls.count("acquire")
            one.clock.step(59)
            one.leadership.step()
            assert lease.calls.count("acquire") == asked
            bucket.how = ""
            one.clock.step(2)
            await one.until(lambda: len(one.reports) == 2)
        assert lease.epoch == 2

    run(work)


def test_a_leader_alone_keeps_its_lease_whatever_the_store_says(state: Path) -> None:
    bucket = FaultyBucket(memory())

    async def work() -> None:
        lease = FakeLease()
        async with Candidate(state, lease, bucket) as one:
            await one.until(lambda: len(one.reports) == 1)
            bucket.how = "refused"
            for _ in range(3):
                one.clock.step(MINUTE)
                await one.leader.scheduler.fire()
            assert one.leader.may_tick()

    run(work)


def test_a_standby_says_again_that_it_is_ready_once_it_has_lost_the_lease(state: Path) -> None:
    async def work() -> None:
        lease = FakeLease(0.3)
        async with Candidate(state, lease) as one:
            await one.until(lambda: len(one.reports) == 1)
            with capture_logs() as logs:

                def lost() -> None:
                    raise LeadershipLost("another took it")

                lease.free = False
                lease.on_renew = lost
                await one.until(lambda: any(row["event"] == "standby ready" for row in logs))

    run(work)
