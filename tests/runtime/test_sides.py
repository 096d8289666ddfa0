"""What opens a side to a call: the live record alone."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from generator.brain.forecast import CHANCES_KIND, EARNED, SideRule
from generator.catalog.words import Call, Prediction, SourceMode
from generator.market.bars import BarFrame
from generator.market.observation import Observation
from generator.market.source import Progress, Source
from generator.runtime.market import to_ms
from generator.runtime.tick import tick
from generator.values.hours import PredictionMade
from tests.support import filled_memory
from tests.support.clock import NOON, ManualClock
from tests.support.services import opened, run

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
UP_LEADS = (0.3, 0.3, 0.4)


class Replaced:
    """The bars of a simulated market, as another kind of source gives them."""

    mode: SourceMode

    def __init__(self, source: Source) -> None:
        self.source = source

    async def backfill(self, now_ms: int, days: int, progress: Progress) -> BarFrame:
        return await self.source.backfill(now_ms, days, progress)

    async def observe(self, now_ms: int, since_ms: int) -> Observation:
        return replace(await self.source.observe(now_ms, since_ms), mode=self.mode)

    async def aclose(self) -> None:
        """Nothing is open."""


class Live(Replaced):
    mode = SourceMode.LIVE


def days_of_leads(
    first_day: int, days: int, outcome: Prediction, kind: str | None = CHANCES_KIND
) -> list[PredictionMade]:
    """Return five forecasts a day in which up led, all with one outcome."""
    day_ms = 24 * 3_600_000
    return [
        replace(
            filled_memory.prediction("BTC", (first_day + day) * day_ms + hour * 3_600_000, ended=False),
            probabilities=UP_LEADS,
            ranges=None,
            outcome=outcome,
            call=Call.NONE,
            chances_kind=kind,
        )
        for day in range(days)
        for hour in range(5)
    ]


def called_sides(app: Any) -> set[Call]:
    calls = {forecast.call for forecast in app.market.engine.forecasts(60) if forecast}
    return calls & {Call.UP, Call.DOWN}


def test_a_live_market_calls_a_side_only_while_its_own_record_earns_it(tmp_path: Path) -> None:
    seen: list[SideRule | None] = []
    before = to_ms(NOON) // (24 * 3_600_000) - 200

    async def look(app: Any, at: Any) -> None:
        await tick(app, at)
        seen.append(app.market.engine.sides)

    async def work() -> None:
        async with opened(tmp_path, ManualClock(), wrap=Live) as app:
            await look(app, NOON)
            assert called_sides(app) == set()

            filled_memory.fill(app.record.memory, days_of_leads(before, 60, Prediction.BULLISH), [])
            await look(app, NOON + HOUR)  # it is looked at once a day
            await look(app, NOON + DAY)

            filled_memory.fill(app.record.memory, days_of_leads(before + 60, 60, Prediction.BEARISH), [])
            await look(app, NOON + DAY + HOUR)
            await look(app, NOON + 2 * DAY)
            assert called_sides(app) == set()

    run(work)

    assert seen == [None, None, EARNED, EARNED, None]


def test_what_another_kind_of_chances_led_earns_nothing(tmp_path: Path) -> None:
    before = to_ms(NOON) // (24 * 3_600_000) - 200

    async def work() -> None:
        async with opened(tmp_path, ManualClock(), wrap=Live) as app:
            filled_memory.fill(app.record.memory, days_of_leads(before, 60, Prediction.BULLISH, None), [])
            await tick(app, NOON)
            assert app.market.engine.sides is None

    run(work)


def test_the_backtest_earns_nothing(tmp_path: Path) -> None:
    before = to_ms(NOON) // (24 * 3_600_000) - 200
    backtested = [replace(made, warm_up=True) for made in days_of_leads(before, 60, Prediction.BULLISH)]

    async def work() -> None:
        async with opened(tmp_path, ManualClock(), wrap=Live) as app:
            filled_memory.fill(app.record.memory, backtested, [])
            await tick(app, NOON)
            assert app.market.engine.sides is None

    run(work)


def test_a_simulated_market_opens_no_side_whatever_its_record_holds(tmp_path: Path) -> None:
    before = to_ms(NOON) // (24 * 3_600_000) - 200

    async def work() -> None:
        async with opened(tmp_path, ManualClock()) as app:
            filled_memory.fill(app.record.memory, days_of_leads(before, 60, Prediction.BULLISH), [])
            await tick(app, NOON)
            assert app.market.engine.sides is None
            assert called_sides(app) == set()

    run(work)
