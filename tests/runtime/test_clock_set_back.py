"""A clock that was ahead and is set right: readings restart; what was sealed meanwhile and has not ended is void."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from generator.catalog.formats import iso
from generator.catalog.words import SourceMode
from generator.market.bars import BarFrame
from generator.market.observation import Observation
from generator.market.source import Progress, Source
from generator.record.audit.audit import Audit
from generator.record.published import head_of
from generator.record.verify import entries
from generator.runtime.market import no_progress, to_ms
from generator.runtime.tick import tick
from generator.settings import GeneratorSettings
from tests.runtime.test_startup import late
from tests.runtime.test_tick import recorded
from tests.support.clock import NOON, ManualClock
from tests.support.services import DAYS, MINUTE, body, opened, run

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
REASON = "clock was set back"


def rows(state: Path) -> dict[str, Any]:
    return {row["round_id"]: row for row in body(state, "/arena/rounds.json")["rounds"]}


def market_time(found: Any) -> str:
    return str(found.get("replay", {}).get("market_time", found["freshness"]["generated_at"]))


async def a_day_ahead(app: Any, clock: ManualClock, minutes: Sequence[int] = (0, 5, 55, 60, 65, 120, 125, 180)) -> None:
    """Play three hours of tomorrow: a round is sealed, won or lost, another runs, a third takes votes."""
    start = clock.at + DAY
    for minute in minutes:
        clock.at = start + minute * MINUTE
        await tick(app, clock.now())


def settings_of(mode: SourceMode, tmp_path: Path) -> GeneratorSettings:
    if mode is SourceMode.SIMULATED:
        return GeneratorSettings(state_dir=tmp_path / "state")
    return recorded(tmp_path, days=8)


@pytest.fixture(params=[SourceMode.SIMULATED, SourceMode.RECORDED], scope="module")
def back(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A generator whose clock was a day ahead for three hours, and one whose never was, both from noon to ten past."""
    folder = tmp_path_factory.mktemp("clock")
    settings = settings_of(request.param, folder)
    steady = settings.model_copy(update={"state_dir": folder / "steady"})
    at = None if request.param is SourceMode.SIMULATED else datetime(2026, 1, 4, 12, tzinfo=UTC)

    async def work() -> None:
        clock = ManualClock()
        async with opened(folder, clock, settings, at=at) as app:
            await tick(app, clock.now())
            await a_day_ahead(app, clock)
            clock.at = NOON + 10 * MINUTE
            await tick(app, clock.now())
        clock.at = NOON
        async with opened(folder, clock, steady, at=at) as app:
            await tick(app, clock.now())
            await tick(app, clock.step(10 * MINUTE))

    run(work)
    return settings.state_dir, steady.state_dir


def test_the_reading_after_a_clock_was_set_back_is_as_if_it_never_was_ahead(back: tuple[Path, Path]) -> None:
    after, steady = (body(state, "/api/market-regime.php") for state in back)

    assert after["regime"] == steady["regime"]
    assert after["regime"]["as_of"] <= market_time(after)


def test_a_clock_that_was_ahead_from_the_start_lets_the_brain_read_history_again(tmp_path: Path) -> None:
    async def regime(folder: Path, first: datetime) -> Any:
        clock = ManualClock(first)
        async with opened(folder, clock) as app:
            await tick(app, clock.now())
            clock.at = NOON
            await tick(app, clock.now())
        return body(folder, "/api/market-regime.php")["regime"]

    async def work() -> None:
        ahead = await regime(tmp_path / "ahead", NOON + DAY)
        assert ahead == await regime(tmp_path / "right", NOON)

    run(work)


def test_a_brain_that_began_without_history_is_not_gone_back_to(tmp_path: Path) -> None:
    async def work() -> None:
        clock = ManualClock()
        app, source = await late(tmp_path, clock)
        await tick(app, clock.now())
        await app.market.adopt(await source.backfill(to_ms(NOON), DAYS, no_progress))
        await tick(app, clock.step(2 * HOUR))
        clock.at = NOON + HOUR
        await tick(app, clock.now())
        assert app.market.engine.counters.bars >= DAYS * 288
        await app.aclose()

    run(work)


def test_what_was_sealed_with_bars_of_the_future_is_void_unless_it_had_ended(back: tuple[Path, Path]) -> None:
    state, _ = back
    ahead = [row for row in rows(state).values() if row["opened"] > "2026-11-20T12:10:00Z"]

    assert [(row["phase"], row["void_reason"]) for row in sorted(ahead, key=lambda row: row["start"])] == [
        ("resolved", None),
        ("resolved", None),
        ("void", REASON),
        ("void", REASON),
    ]
    assert body(state, "/api/statistics.php")["arena"]["record"]["resolved"] == 2


def test_an_audit_of_the_log_follows_a_clock_that_was_set_back(back: tuple[Path, Path]) -> None:
    state, _ = back
    current = state / "site" / "current" / "log"
    head = head_of((current / "checkpoint").read_bytes())
    audit = Audit()

    for data in entries(lambda path: (state / "site" / "once" / path.lstrip("/")).read_bytes(), head):
        audit.take(data)

    assert audit.clock_steps == 1
    assert audit.rounds.sums.resolved == 2
    ended = [row["void_reason"] for row in audit.rounds.rows.values() if row["opened"] > "2026-11-20T12:10:00Z"]
    assert sorted(ended, key=str) == [None, None, REASON, REASON]


def test_after_a_start_with_the_clock_ahead_nothing_it_had_open_is_resolved(tmp_path: Path) -> None:
    settings = settings_of(SourceMode.SIMULATED, tmp_path)

    async def work() -> None:
        clock = ManualClock(NOON + DAY)
        async with opened(tmp_path, clock, settings, hours=3) as app:
            await tick(app, clock.now())
            clock.at = NOON
            await tick(app, clock.now())
            assert app.market.engine.t_ms is not None
            assert app.market.engine.t_ms < 1000 * NOON.timestamp()

    run(work)

    ended = {(row["warm_up"], row["phase"]) for row in rows(settings.state_dir).values()}
    assert ended == {(True, "resolved"), (True, "void"), (False, "void")}
    regime = body(settings.state_dir, "/api/market-regime.php")
    assert regime["regime"]["as_of"] <= market_time(regime)


def test_a_restart_with_the_clock_right_again_voids_what_was_sealed_before_it(tmp_path: Path) -> None:
    settings = settings_of(SourceMode.SIMULATED, tmp_path)

    async def work() -> None:
        clock = ManualClock()
        async with opened(tmp_path, clock, settings) as app:
            await tick(app, clock.now())
            await a_day_ahead(app, clock, (0, 60))
        clock.at = NOON + 10 * MINUTE
        async with opened(tmp_path, clock, settings) as app:
            await tick(app, clock.now())
            assert app.record.memory.view(round(1000 * clock.now().timestamp())).live is None

    run(work)

    assert {row["void_reason"] for row in rows(settings.state_dir).values() if row["start"] > "2026-11-21"} == {REASON}
    assert body(settings.state_dir, "/api/statistics.php")["main_brain"]["record"]["resolved"] == 0


def test_a_live_market_is_cut_off_at_the_clock_and_not_fetched_again(tmp_path: Path) -> None:
    class Live:
        """Bars as a venue gives them, history once."""

        mode = SourceMode.LIVE

        def __init__(self, source: Source) -> None:
            self.source, self.asked = source, 0

        async def backfill(self, now_ms: int, days: int, progress: Progress) -> BarFrame:
            self.asked += 1
            return await self.source.backfill(now_ms, days, progress)

        async def observe(self, now_ms: int, since_ms: int) -> Observation:
            return replace(await self.source.observe(now_ms, since_ms), mode=SourceMode.LIVE)

        async def aclose(self) -> None:
            """Nothing is open."""

    async def work() -> None:
        async with opened(tmp_path, ManualClock(), wrap=Live) as app:
            for at in (NOON, NOON + HOUR, NOON + MINUTE):
                await tick(app, at)
            source: Any = app.market.source
            assert source.asked == 1
            assert len(app.market.history) == 288

    run(work)

    regime = body(tmp_path, "/api/market-regime.php")
    assert regime["regime"]["as_of"] == iso(1000 * int(NOON.timestamp()))
