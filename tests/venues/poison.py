"""A whole generator with a venue poisoned at random: `python -m tests.venues.poison [TICKS]`, else 100."""

import asyncio
import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from generator.market.live.source import LiveSource
from generator.runtime.scheduler import Scheduler
from generator.settings import GeneratorSettings
from tests.support.clock import NOON, ManualClock
from tests.support.services import opened
from tests.venues.exchange import FakeExchange, Moment

TICKS: Final = 100
VENUES: Final = ("kraken", "coinbase", "okx", "binance", "bybit", "gate")
_JUNK: Final[tuple[Any, ...]] = (
    None, "", "NaN", "\ud800", float("nan"), float("inf"), -1.0, 0, 1e300, 10**400, True, [], {}, [[]], b"\x00",
)  # fmt: skip


class PoisonedExchange(FakeExchange):
    """An exchange of which each answer has some of its values replaced by junk, or is an error or junk itself."""

    def __init__(self, name: str, moment: Moment, chance: random.Random, is_poisoned: Callable[[str], bool]) -> None:
        super().__init__(name, moment, [])
        self._chance = chance
        self._is_poisoned = is_poisoned
        for method in [name for name in dir(self) if name.startswith("fetch_")]:
            setattr(self, method, self._poisoning(getattr(self, method)))

    def _poisoning(self, ask: Callable[..., Any]) -> Callable[..., Any]:
        async def answer(*arguments: Any) -> Any:
            honest = await ask(*arguments)
            if not self._is_poisoned(self.name):
                return honest
            if self._chance.random() < 0.1:
                raise self._chance.choice((RuntimeError("\ud800"), KeyError("x"), RecursionError(), ValueError("")))
            return self._spoiled(honest)

        return answer

    def _spoiled(self, value: Any) -> Any:
        if self._chance.random() < 0.05:
            return self._chance.choice(_JUNK)
        if isinstance(value, dict):
            return {key: self._spoiled(part) for key, part in value.items()}
        return [self._spoiled(part) for part in value] if isinstance(value, list) else value


async def poisoned(state: Path, ticks: int, seed: int) -> tuple[int, int]:
    """Return how many releases were published in so many minutes and how many ticks failed; the venues take turns."""
    clock = ManualClock(NOON)
    moment = Moment(round(NOON.timestamp() * 1000))
    chance = random.Random(seed)
    liar = VENUES[0]

    def factory(ccxt_id: str, _config: dict[str, Any]) -> FakeExchange:
        return PoisonedExchange(ccxt_id, moment, chance, lambda name: name.startswith(liar))

    source = LiveSource(exchange_factory=factory, retry_pause_s=0.0)
    settings = GeneratorSettings(state_dir=state, source="live")
    async with opened(state, clock, settings, wrap=lambda _: source) as app:
        scheduler = Scheduler(app)
        before = app.publisher.releases.generation()
        for number in range(ticks):
            liar = VENUES[number // 5 % len(VENUES)]
            moment.now_ms = round(clock.now().timestamp() * 1000)
            await scheduler.fire()
            clock.step(60)
        failed = scheduler.metrics.registry.get_sample_value("emi_ticks_total", {"outcome": "failed"})
        return app.publisher.releases.generation() - before, int(failed or 0)


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else TICKS
    with tempfile.TemporaryDirectory() as folder:
        published, failed = asyncio.run(poisoned(Path(folder), count, seed=33))
    print(f"{count} ticks with a poisoned venue: {published} releases, {failed} failed ticks")
    raise SystemExit(published != count)
