"""Starting: history that comes late, a brain that is restored, a standby that takes over."""

from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import update

from generator.arena.inputs import PlayInputs
from generator.catalog.assets import ASSETS
from generator.catalog.words import SourceMode
from generator.errors import SourceError
from generator.market.bars import BarFrame
from generator.market.observation import AssetObservation, Observation
from generator.record.memory import tables as t
from generator.runtime.app import App, build
from generator.runtime.market import to_ms
from generator.runtime.startup import open_market, preload
from generator.runtime.tick import play_tick, tick
from generator.settings import GeneratorSettings
from generator.site.files.background import BackgroundFiles, StaticFiles
from generator.site.files.pictures import Pictures
from tests.runtime.test_leader import Candidate
from tests.support.clock import NOON, ManualClock
from tests.support.leases import FakeLease
from tests.support.services import DAYS, MINUTE, body, landing_page, opened, run, without_background

LABELLED_DAYS = 4  # of history: a label needs 72 hours on record


def nothing(*_: object) -> None:
    pass


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
    app = build(GeneratorSettings(state_dir=state), clock, days=DAYS)
    without_background(app)
    app.publisher.pages = landing_page()
    source = LateVenues(app.market.source, failures=1)
    app.market.source = source
    await open_market(app, clock.now(), nothing)
    return app, source


def test_a_history_that_comes_late_is_read_as_if_it_had_been_there(tmp_path: Path) -> None:
    async def work() -> None:
        clock = ManualClock()
        app, _ = await late(tmp_path / "late", clock)
        await tick(app, clock.now())
        found = await app.market.source.backfill(to_ms(clock.now()), DAYS, nothing)
        await tick(app, clock.step(timedelta(minutes=6)))  # meanwhile
        await app.market.adopt(found)
        await tick(app, clock.step(timedelta(minutes=5)))
        async with opened(tmp_path / "whole", ManualClock()) as whole:
            await whole.market.source.observe(0, 0)
            expected = await whole.market.observe(clock.now())
            reading = whole.market.engine.update(expected.new_bars)
        assert app.market.engine.reading() == reading is not None
        assert app.market.engine.dump() == app.record.memory.brain_state()
        await app.aclose()

    run(work)


def test_a_live_start_without_venues_backfills_by_itself(tmp_path: Path) -> None:
    async def work() -> None:
        one = Candidate(tmp_path, FakeLease(), days=LABELLED_DAYS)
        one.app.market.source = LateVenues(one.app.market.source, failures=3)
        async with one:
            await one.until(lambda: bool(one.reports))
            assert one.reports[0].headline.startswith("No fresh prices")
            await one.until(lambda: len(one.app.market.history) == LABELLED_DAYS * 288)
            one.clock.step(MINUTE)
            await one.leader.scheduler.fire()
            assert not one.reports[-1].headline.startswith("No fresh prices")

    run(work)


def test_a_brain_that_began_without_history_is_not_kept_once_there_is_some(tmp_path: Path) -> None:
    async def work() -> None:
        clock = ManualClock()
        app, source = await late(tmp_path, clock)
        source.failures = 0
        await tick(app, clock.now())  # an hour of bars, kept in memory
        thin = app.market.engine.counters.bars
        await app.aclose()
        again, source = await late(tmp_path, clock)
        again.market.history.append(await source.source.backfill(to_ms(NOON), DAYS, nothing))
        await open_market(again, clock.now(), nothing)
        assert 0 < thin < 20
        assert again.market.engine.counters.bars == DAYS * 288
        await again.aclose()

    run(work)


def test_a_restart_without_venues_keeps_the_brain_that_memory_has(tmp_path: Path) -> None:
    async def work() -> None:
        clock = ManualClock()
        app, source = await late(tmp_path, clock)
        source.failures = 0
        await app.market.adopt(await source.backfill(to_ms(NOON), DAYS, nothing))
        await tick(app, clock.now())
        await app.aclose()
        again, _ = await late(tmp_path, clock)
        assert again.market.engine.counters.bars == DAYS * 288
        await again.aclose()

    run(work)


def test_a_standby_takes_over_what_the_last_leader_wrote_last(tmp_path: Path) -> None:
    # The YAML of OpenAPI takes a second, and so do pictures.
    quick = partial(BackgroundFiles, static=lambda *_: StaticFiles({}), draw=lambda _: Pictures())
    hourly = tmp_path / "site" / "current" / "track-record" / "hourly.csv"

    async def work() -> None:
        clock = ManualClock(NOON.replace(minute=56))
        async with opened(tmp_path, clock, hours=3) as leader:
            leader.publisher.background = quick(leader.record.memory)
            await tick(leader, clock.now())
            standby = build(GeneratorSettings(state_dir=tmp_path), clock, days=DAYS)
            standby.publisher.background = quick(standby.record.memory)
            await preload(standby, clock.now())
            await standby.market.observe(clock.now())
            for minutes in (4, 1):  # over the full hour: forecasts come due, a round ends
                await tick(leader, clock.step(minutes * MINUTE))
                leader.publisher.background._pool.submit(int).result()
            rounds, record = body(tmp_path, "/arena/rounds.json")["rounds"], hourly.read_bytes()
            brain = leader.record.memory.brain_state()
        standby.record.memory.claim()
        await open_market(standby, clock.step(MINUTE), nothing)
        assert standby.record.memory.brain_state() == brain
        assert standby.market.engine.dump() == brain
        report = await tick(standby, clock.now())
        assert report.generation == "000000000004"
        assert body(tmp_path, "/arena/rounds.json")["rounds"] == rounds
        assert hourly.read_bytes() == record
        assert body(tmp_path, "/status.json")["ticks"]["failed_24h"] == 0
        await standby.aclose()

    run(work)


def test_a_brain_state_of_other_weights_is_not_used_and_nothing_is_lost(tmp_path: Path) -> None:
    async def work() -> None:
        clock = ManualClock()
        async with opened(tmp_path, clock, hours=2, days=LABELLED_DAYS) as app:
            await tick(app, clock.now())
            inputs = PlayInputs(
                now_ms=0, prices={}, venues_needed=1, price_basis="", forecast=lambda *_: None, config=app.record.arena,
                ballots=(), salt=app.record.salt,
            )  # fmt: skip
            with app.record.memory.tick() as transaction:
                play_tick(transaction, inputs, b"of another version")
        async with opened(tmp_path, clock, days=LABELLED_DAYS) as app:
            report = await tick(app, clock.step(MINUTE))
        assert not report.headline.startswith(("No fresh prices", "Just started"))

    run(work)


def test_without_a_seed_the_market_that_was_begun_is_resumed_at_any_later_time(tmp_path: Path) -> None:
    unset = GeneratorSettings(state_dir=tmp_path, seed=None)
    seeds = []

    async def work() -> None:
        for days in (0, 40):
            async with opened(tmp_path, ManualClock(NOON + timedelta(days=days)), unset) as app:
                seeds.append(app.record.arena.seed)

    run(work)

    assert seeds[0] == seeds[1]
    other = build(GeneratorSettings(state_dir=tmp_path / "other", seed=None), ManualClock(NOON + timedelta(days=40)))
    assert other.record.arena.seed != seeds[0]


def test_totals_of_another_version_are_counted_again_before_the_first_tick(tmp_path: Path) -> None:
    async def work() -> None:
        clock = ManualClock()
        async with opened(tmp_path, clock) as app:
            await tick(app, clock.now())
            with app.record.memory.writing() as connection:
                connection.execute(update(t.totals).values(rule="0", sums="of another form"))
        before = body(tmp_path, "/status.json")

        seen: list[object] = []
        app = without_background(build(GeneratorSettings(state_dir=tmp_path), clock, days=DAYS))
        await open_market(app, clock.now(), lambda *step: seen.append((step, body(tmp_path, "/status.json") == before)))
        await app.aclose()

        assert ((1, 1, "weeks of the record, counted again for this version"), True) in seen

    run(work)
