"""One tick, whole: what it publishes, and what it never loses when something fails."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from generator.arena.play import PlayInputs
from generator.catalog.assets import ASSETS
from generator.catalog.words import SourceMode
from generator.errors import PublishError, SourceError
from generator.market.values import AssetObservation, BarFrame, Observation
from generator.runtime.app import build
from generator.runtime.opening import open_market
from generator.runtime.schedule import Clockwork
from generator.runtime.tick import tick
from generator.settings import GeneratorSettings
from tests.support.clock import NOON, ManualClock
from tests.support.disks import FailingDisk
from tests.support.services import opened, with_disk

MINUTE = timedelta(minutes=1)


def run(work: Callable[[], Awaitable[None]]) -> None:
    async def inner() -> None:
        await work()

    asyncio.run(inner())


def body(state: Path, path: str) -> Any:
    return json.loads((state / "site" / "current" / path.lstrip("/")).read_text())


def test_every_file_of_a_release_is_of_one_tick(tmp_path: Path) -> None:
    async def work() -> None:
        clock = ManualClock()
        async with opened(tmp_path, clock) as app:
            await tick(app, clock.now())
            await tick(app, clock.step(MINUTE))

    run(work)

    current = tmp_path / "site" / "current"
    freshness = [json.loads(path.read_text())["freshness"] for path in current.glob("a*/*.php")]
    assert len(freshness) == 9
    assert {(row["tick_id"], row["generation"]) for row in freshness} == {("20261120T120100Z", "000000000002")}


def test_the_vault_and_the_site_carry_the_same_generation(tmp_path: Path) -> None:
    async def work() -> None:
        async with opened(tmp_path, ManualClock()) as app:
            await tick(app, NOON)

    run(work)

    manifest = json.loads((tmp_path / "vault" / "manifest.json").read_text())
    assert manifest["generation"] == body(tmp_path, "/status.json")["generation"]
    assert not any("snapshots" in str(path) for path in (tmp_path / "site").rglob("*"))


@pytest.mark.parametrize("step", ["write", "sync", "replace", "point"])
def test_a_full_disk_leaves_the_last_release_and_the_next_tick_recovers(tmp_path: Path, step: str) -> None:
    async def work() -> None:
        clock = ManualClock()
        async with opened(tmp_path, clock) as app:
            await tick(app, clock.now())
            before = body(tmp_path, "/status.json")
            with pytest.raises(PublishError, match="No space left"):
                await tick(with_disk(app, FailingDisk(step)), clock.step(MINUTE))
            assert body(tmp_path, "/status.json") == before
            await tick(app, clock.step(MINUTE))
            assert body(tmp_path, "/status.json")["tick_id"] == "20261120T120200Z"

    run(work)


def test_a_generation_is_never_used_twice_when_only_the_vault_was_written(tmp_path: Path) -> None:
    async def work() -> None:
        clock = ManualClock()
        async with opened(tmp_path, clock) as app:
            await tick(app, clock.now())
            broken = with_disk(app, FailingDisk("point"))
            with pytest.raises(PublishError):
                await tick(broken, clock.step(MINUTE))
        async with opened(tmp_path, clock) as again:
            report = await tick(again, clock.step(MINUTE))
        assert report.generation == "000000000003"

    run(work)


def test_a_clock_set_back_an_hour_goes_on_with_higher_generations_and_loses_nothing(tmp_path: Path) -> None:
    async def work() -> None:
        clock = ManualClock()
        async with opened(tmp_path, clock, hours=6) as app:
            first = await tick(app, clock.now())
            lessons = body(tmp_path, "/api/teacher-lessons.php")["teacher_brain"]["metrics"]["lessons_total"]
            second = await tick(app, clock.step(-timedelta(hours=1)))
            third = await tick(app, clock.step(timedelta(hours=1, minutes=1)))
        assert first.generation < second.generation < third.generation
        after = body(tmp_path, "/api/teacher-lessons.php")["teacher_brain"]["metrics"]["lessons_total"]
        assert after >= lessons > 0

    run(work)


def test_a_clock_that_jumps_a_day_ahead_voids_what_it_missed_and_never_forecasts_after_the_fact(tmp_path: Path) -> None:
    async def work() -> None:
        clock = ManualClock()
        async with opened(tmp_path, clock, hours=3) as app:
            await tick(app, clock.now())
            await tick(app, clock.step(timedelta(days=1, minutes=7)))

    run(work)

    rows = body(tmp_path, "/arena/rounds.json")["rounds"]
    late = [row for row in rows if row["start"] >= "2026-11-20T12:00:00Z"]
    assert late
    assert all(row["phase"] == "void" and row["void_reason"] for row in late)


def test_a_restart_goes_on_where_it_stopped(tmp_path: Path) -> None:
    async def work() -> None:
        clock = ManualClock()
        async with opened(tmp_path, clock, hours=4) as app:
            await tick(app, clock.now())
        before = body(tmp_path, "/arena/get_shared_intelligence.php")
        async with opened(tmp_path, clock) as app:
            await tick(app, clock.step(MINUTE))
        after = body(tmp_path, "/arena/get_shared_intelligence.php")
        assert before["round"]["round_id"] == after["round"]["round_id"]
        assert before["teacher_brain"]["lessons_total"] == after["teacher_brain"]["lessons_total"] > 0

    run(work)


def test_a_restart_reads_what_the_same_run_without_a_restart_reads(tmp_path: Path) -> None:
    async def work() -> None:
        clock = ManualClock()
        async with opened(tmp_path / "one", clock) as app:
            await tick(app, clock.now())
            await tick(app, clock.step(timedelta(minutes=30)))
        clock = ManualClock()
        async with opened(tmp_path / "two", clock) as app:
            await tick(app, clock.now())
        clock.step(timedelta(minutes=30))
        async with opened(tmp_path / "two", clock) as app:
            await tick(app, clock.now())

    run(work)

    one, two = (body(tmp_path / name, "/api/market-regime.php")["regime"] for name in ("one", "two"))
    assert one == two


def test_a_source_that_breaks_fails_the_tick_not_the_clockwork(tmp_path: Path) -> None:
    class Broken:
        def __init__(self, source: Any) -> None:
            self.source, self.mode, self.calls = source, source.mode, 0

        async def observe(self, now_ms: int, since_ms: int) -> Observation:
            self.calls += 1
            if self.calls == 2:
                raise RuntimeError("the venue sent nonsense")
            found: Observation = await self.source.observe(now_ms, since_ms)
            return found

        async def aclose(self) -> None:
            await self.source.aclose()

    told: list[str] = []

    async def work() -> None:
        clock = ManualClock()
        async with opened(tmp_path, clock) as app:
            app.market.source = Broken(app.market.source)  # type: ignore[assignment]
            clockwork = Clockwork(app, lambda report, _seconds: told.append(report.tick_id))
            for _ in range(3):
                await clockwork.fire()
                clock.step(MINUTE)

    run(work)

    assert told == ["20261120T120000Z", "20261120T120200Z"]
    ticks = body(tmp_path, "/status.json")["ticks"]
    assert ticks["failed_24h"] == 1


def test_after_a_stop_no_further_tick_begins(tmp_path: Path) -> None:
    told: list[str] = []

    async def work() -> None:
        async with opened(tmp_path, ManualClock()) as app:
            clockwork = Clockwork(app, lambda report, _seconds: told.append(report.tick_id))
            clockwork.stop()
            await clockwork.fire()

    run(work)

    assert not told


def write_candles(folder: Path, days: int, asset: str = "BTC", *, flat: bool = False, step_ms: int = 300_000) -> None:
    """Write a random walk of candles from 2026-01-01 on, or a price that never moves."""
    steps = np.random.default_rng(5).normal(0, 0.001, days * 86_400_000 // step_ms)
    closes = 100 * np.exp(np.cumsum(0 * steps if flat else steps))
    wick = 0.0 if flat else 0.001
    rows = ["ts,open,high,low,close,volume"]
    for place, close in enumerate(closes):
        t = 1_767_225_600_000 + place * step_ms
        rows.append(f"{t},{close:.4f},{close * (1 + wick):.4f},{close * (1 - wick):.4f},{close:.4f},10")
    folder.mkdir(exist_ok=True)
    (folder / f"{asset}USDT.csv").write_text("\n".join(rows))


def test_a_replay_moved_elsewhere_voids_what_was_under_way_and_says_why(tmp_path: Path) -> None:
    write_candles(tmp_path / "candles", days=14)
    settings = GeneratorSettings(
        state_dir=tmp_path / "state", source=SourceMode.RECORDED, data_dir=(tmp_path / "candles",)
    )

    async def work() -> None:
        clock = ManualClock()
        first = datetime(2026, 1, 9, 12, tzinfo=UTC)
        async with opened(tmp_path, clock, settings, at=first) as app:
            for _ in range(2):
                await tick(app, clock.now())
                clock.step(timedelta(hours=1))
        async with opened(tmp_path, clock, settings, at=first - timedelta(days=2)) as app:
            report = await tick(app, clock.now())
        assert report.regime != "unknown"

    run(work)

    rows = body(settings.state_dir, "/arena/rounds.json")["rounds"]
    assert {row["void_reason"] for row in rows} == {"the replay was moved to another market time"}
    replay = body(settings.state_dir, "/api/market-regime.php")["replay"]
    assert replay["market_time"] == "2026-01-07T12:00:00Z"


@pytest.mark.parametrize(("begins", "rounds"), [(datetime(2026, 1, 9, 12, tzinfo=UTC), 47), (None, 47)])
def test_a_recording_that_was_never_played_begins_with_the_two_days_before(
    tmp_path: Path, begins: datetime | None, rounds: int
) -> None:
    write_candles(tmp_path / "candles", days=14)
    settings = GeneratorSettings(
        state_dir=tmp_path / "state", source=SourceMode.RECORDED, data_dir=(tmp_path / "candles",)
    )

    async def work() -> None:
        app = build(settings, ManualClock(), begins)
        await open_market(app, NOON, lambda *_: None, days=3)
        await tick(app, NOON)
        await app.aclose()

    run(work)

    state = settings.state_dir
    rows = body(state, "/arena/rounds.json")["rounds"]
    assert len([row for row in rows if row["phase"] == "resolved"]) == rounds
    assert all(row["warm_up"] and not row["log_entries"] for row in rows)
    assert body(state, "/api/statistics.php")["arena"]["record"]["resolved"] == 0
    if begins:
        assert body(state, "/api/market-regime.php")["replay"]["market_time"] == "2026-01-09T12:00:00Z"


def test_hours_in_which_a_recording_has_too_few_bars_for_a_forecast_are_not_played(tmp_path: Path) -> None:
    write_candles(tmp_path / "candles", days=4)
    settings = GeneratorSettings(
        state_dir=tmp_path / "state", source=SourceMode.RECORDED, data_dir=(tmp_path / "candles",)
    )

    async def work() -> None:
        app = build(settings, ManualClock(), datetime(2026, 1, 2, 0, tzinfo=UTC))
        await open_market(app, NOON, lambda *_: None)
        await tick(app, NOON)
        await app.aclose()

    run(work)

    rows = body(settings.state_dir, "/arena/rounds.json")["rounds"]
    assert {(row["phase"], row["void_reason"]) for row in rows} == {("resolved", None)}


def test_on_hourly_data_the_brain_says_nothing_and_nothing_is_scored_or_learned(tmp_path: Path) -> None:
    write_candles(tmp_path / "candles", days=14, step_ms=3_600_000)
    settings = GeneratorSettings(
        state_dir=tmp_path / "state", source=SourceMode.RECORDED, data_dir=(tmp_path / "candles",)
    )

    async def work() -> None:
        clock = ManualClock()
        async with opened(tmp_path, clock, settings, at=datetime(2026, 1, 9, 12, tzinfo=UTC), days=8) as app:
            for _ in range(4 * 12 + 1):
                await tick(app, clock.now())
                clock.step(5 * MINUTE)

    run(work)

    state = settings.state_dir
    statistics = body(state, "/api/statistics.php")
    assert statistics["main_brain"]["record"]["predictions"] == statistics["arena"]["record"]["predictions"] == 0
    assert statistics["teacher_brain"]["metrics"]["lessons_total"] == 0
    reasoning = body(state, "/api/reasoning.php")["reasoning"]
    assert (reasoning["prediction"], reasoning["confidence"], reasoning["brain_silent"]) == ("NEUTRAL", None, True)
    shared = body(state, "/arena/get_shared_intelligence.php")
    snapshot = shared["brain_snapshot"]
    assert (snapshot["prediction"], snapshot["confidence"], snapshot["brain_silent"]) == ("NEUTRAL", None, True)
    assert (shared["combined_intelligence"]["brain"], shared["combined_intelligence"]["agreement"]) == (None, None)
    reasons = {row["void_reason"] for row in body(state, "/arena/rounds.json")["rounds"]}
    assert reasons == {"no forecast: the brain had none before the start"}


def test_a_brain_state_of_other_weights_is_not_used_and_nothing_is_lost(tmp_path: Path) -> None:
    async def work() -> None:
        clock = ManualClock()
        async with opened(tmp_path, clock, hours=2) as app:
            await tick(app, clock.now())
            inputs = PlayInputs(
                now_ms=0, prices={}, venues_needed=1, price_basis="", forecast=lambda *_: None, config=app.record.arena,
                ballots=(), salt=app.record.salt, brain_state=b"of another version",
            )  # fmt: skip
            app.record.memory.play(inputs)
        async with opened(tmp_path, clock) as app:
            report = await tick(app, clock.step(MINUTE))
        assert report.regime != "unknown"

    run(work)


@pytest.mark.parametrize(
    ("flat", "lively"),
    [(("BTC",), ()), (ASSETS, ()), (("BTC",), ASSETS[1:])],
    ids=["one asset alone", "all seven", "one of seven"],
)
def test_a_market_that_never_moves_is_published_with_every_page(
    tmp_path: Path, flat: tuple[str, ...], lively: tuple[str, ...]
) -> None:
    for asset in (*flat, *lively):
        write_candles(tmp_path / "candles", days=4, asset=asset, flat=asset in flat)
    settings = GeneratorSettings(
        state_dir=tmp_path / "state", source=SourceMode.RECORDED, data_dir=(tmp_path / "candles",)
    )

    async def work() -> None:
        clock = ManualClock()
        async with opened(tmp_path, clock, settings, at=datetime(2026, 1, 3, 12, tzinfo=UTC)) as app:
            for _ in range(4):
                await tick(app, clock.now())
                clock.step(timedelta(hours=1))
            assert not any(app.publisher.last_good.failures.values())

    run(work)

    assert body(settings.state_dir, "/status.json")["generation"] == "000000000004"
    assert b"</html>" in (settings.state_dir / "site" / "current" / "index.html").read_bytes()


def test_a_recording_that_ended_is_stale_and_unknown(tmp_path: Path) -> None:
    write_candles(tmp_path / "candles", days=4)
    settings = GeneratorSettings(
        state_dir=tmp_path / "state", source=SourceMode.RECORDED, data_dir=(tmp_path / "candles",)
    )

    async def work() -> None:
        clock = ManualClock()
        async with opened(tmp_path, clock, settings, at=datetime(2026, 1, 4, 23, 30, tzinfo=UTC)) as app:
            await tick(app, clock.now())
            assert body(settings.state_dir, "/status.json")["sources"][0]["status"] == "ok"
            await tick(app, clock.step(timedelta(hours=2)))

    run(work)

    assert body(settings.state_dir, "/status.json")["sources"][0]["status"] == "stale"
    assert body(settings.state_dir, "/api/market-regime.php")["regime"]["label"] == "unknown"


def test_a_live_market_out_of_reach_at_the_start_is_published_as_unavailable(tmp_path: Path) -> None:
    class OutOfReach:
        mode = SourceMode.LIVE

        async def backfill(self, now_ms: int, days: int, progress: Any) -> BarFrame:
            raise SourceError("no venue sent any history")

        async def observe(self, now_ms: int, since_ms: int) -> Observation:
            nothing = {asset: AssetObservation(asset, limitations=("no venue answered",)) for asset in ASSETS}
            return Observation(SourceMode.LIVE, now_ms, nothing, (), BarFrame.empty(ASSETS))

        async def aclose(self) -> None:
            """Nothing is open."""

    async def work() -> None:
        clock = ManualClock()
        app = build(GeneratorSettings(state_dir=tmp_path), clock)
        app.market.source = OutOfReach()
        await open_market(app, clock.now(), lambda *_: None)
        await tick(app, clock.now())
        await app.aclose()

    run(work)

    assert body(tmp_path, "/status.json")["status"] == "unavailable"
    assert body(tmp_path, "/api/main-brain.php")["coins"]["BTC"]["price"] is None
