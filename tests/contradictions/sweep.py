"""Every sentence of every bar of a market, held to the table of contradictions."""

import random
import statistics
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from generator.brain.engine import Engine
from generator.brain.reading import BrainReading
from generator.brain.weights import Weights
from generator.catalog.durations import DAY_MS, HOUR_MS
from generator.catalog.formats import change
from generator.catalog.text.answers import NEEDS_5_MINUTE_BARS, clause
from generator.catalog.text.asset import PublishedAsset, asset_summary
from generator.catalog.text.market import headline, summary
from generator.catalog.words import MarketState
from generator.compose.all import compose
from generator.compose.context import TickContext
from generator.compose.facts import last_bars_hour, market_facts, read_facts
from generator.compose.free import FreeBodies
from generator.compose.regime import market_state
from generator.market.bars import BAR_MS, BarFrame, FloatArray
from generator.market.history import CAPACITY_BARS
from generator.site.pages.render import PageView
from tests.contradictions.rows import (
    AssetText,
    AssetTruth,
    FuturesText,
    MarketText,
    MarketTruth,
    contradictions,
)
from tests.contradictions.story_rows import STORY, paid_texts
from tests.contradictions.whole_rows import WHOLE, WholeTick
from tests.support.builders import full_context
from tests.support.services import landing_page

DAY_BARS = 288
HOUR_BARS = 12
WARM_UP: Final = 2 * DAY_BARS


Progress = Callable[[int, int], None]


def _no_progress(_done: int, _total: int) -> None:
    """Hear nothing."""


@dataclass
class Found:
    """What a sweep counted."""

    bars: int = 0
    texts: int = 0
    bodies: int = 0
    lessons: int = 0
    releases: int = 0
    rows: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)

    def take(self, text: MarketText | AssetText | FuturesText, when: str) -> None:
        """Hold one text to the table."""
        self.texts += 1
        for row in contradictions(text):
            self.add(row, f"{when}: {text.summary if isinstance(text, MarketText) else text.text}")

    def add(self, row: str, example: str) -> None:
        """Count one contradiction."""
        self.rows[row] += 1
        self.examples.setdefault(row, example)


def sweep(
    frame: BarFrame,
    *,
    every: int = 1,
    warm_up: int = WARM_UP,
    bodies: int = 0,
    seed: int = 0,
    progress: Progress = _no_progress,
) -> Found:
    """Read a market bar by bar and check what would be said.

    Args:
        every: say something at each so many bars.
        warm_up: bars without a check.
        bodies: at so many drawn moments, check whole bodies and pages too.
        seed: of the draw.
        progress: hears of each bar that was read, of how many.
    """
    engine, found = Engine(Weights.load(), frame.assets), Found()
    shown = range(warm_up, len(frame), every)
    drawn = set(random.Random(seed).sample(shown, min(bodies, len(shown))))
    candles = Candles(frame)
    for row in engine.replay(frame):
        progress(row, len(frame))
        if row < warm_up or (row - warm_up) % every:
            continue
        day = day_changes(frame, row)
        reading = engine.reading(np.log1p(day))
        assert reading is not None
        changes = {
            name: moved for name, one in zip(frame.assets, day, strict=True) if (moved := change(100 * one)) is not None
        }
        _check(found, candles, row, reading, changes)
        if row in drawn:
            _check_bodies(found, context_of(frame, row, engine, reading, changes), candles.hour(row))
    return found


def sweep_hourly(frame: BarFrame) -> Found:
    """Check what is said at each hour where no regime is read: the changes over 24 hours, and why there is no more."""
    found, close = Found(), frame.fields["close"]
    for row in range(24, len(frame)):
        moved = close[row] / close[row - 24] - 1.0
        changes = {
            name: said for name, one in zip(frame.assets, moved, strict=True) if (said := change(100 * one)) is not None
        }
        counted = market_facts(None, changes, missing=clause(NEEDS_5_MINUTE_BARS))
        facts = replace(counted, hours=last_bars_hour(frame.rows(row - 1, row + 1)))
        when = str(np.datetime64(int(frame.t[row]), "ms"))
        found.bars += 1
        truth = MarketTruth(hour=_mean(100.0 * (close[row] / close[row - 1] - 1.0)))
        found.take(MarketText(facts, headline(facts), summary(facts), MarketState.UNKNOWN, truth), when)
        for name, said in changes.items():
            one = PublishedAsset(name, said, missing=NEEDS_5_MINUTE_BARS)
            found.take(AssetText(one, asset_summary(one)), f"{when} {name}")
    return found


def day_changes(frame: BarFrame, row: int) -> FloatArray:
    """Return each asset's change over 24 hours up to a row, as a fraction."""
    close = frame.fields["close"]
    out: FloatArray = close[row] / close[row - DAY_BARS] - 1.0
    return out


Spans = tuple[tuple[float, float] | None, ...]


class Candles:
    """What the candles of a market say, worked out apart from the product; all changes in percent."""

    def __init__(self, frame: BarFrame) -> None:
        self._frame = frame
        self._close = frame.fields["close"]
        self._row_at = {int(t): row for row, t in enumerate(frame.t.tolist())}
        ends = [t for t in self._row_at if (t + BAR_MS) % DAY_MS == 0]
        self._days = {(t + BAR_MS) // DAY_MS: self._row_at[t] for t in ends}  # number of the day that follows
        self._usual: dict[int, float | None] = {}

    def since(self, row: int, bars: int) -> FloatArray | None:
        """Return each asset's change over so many bars, percent; None where there is no bar at that time."""
        before = self._row_at.get(int(self._frame.t[row]) - bars * BAR_MS)
        if before is None:
            return None
        out: FloatArray = 100.0 * (self._close[row] / self._close[before] - 1.0)
        return out

    def hour(self, row: int) -> float | None:
        """Return the mean change over the last hour; None where an asset has none."""
        moved = self.since(row, HOUR_BARS)
        return None if moved is None else _mean(moved)

    def usual_day(self, row: int) -> float | None:
        """Return the median size of the mean changes of the UTC days that are over, up to 30; None of holes."""
        last = (int(self._frame.t[row]) + BAR_MS) // DAY_MS
        if last not in self._usual:
            rows = [self._days.get(day) for day in range(last - 30, last + 1)]
            while rows and rows[0] is None:
                rows.pop(0)
            self._usual[last] = self._median_day(rows) if None not in rows else None
        return self._usual[last]

    def _median_day(self, rows: list[int | None]) -> float | None:
        closes = self._close[[row for row in rows if row is not None]]
        means = 100.0 * (closes[1:] / closes[:-1] - 1.0).mean(axis=1)
        return statistics.median(abs(means).tolist()) if len(means) >= 3 and np.isfinite(means).all() else None

    def edges(self, row: int) -> list[AssetTruth]:
        """Return how far each price is from the extremes of the 24 hours up to now, and whether this hour made them."""
        t_ms = int(self._frame.t[row])
        times = self._frame.t[: row + 1]
        hour = int(np.searchsorted(times, t_ms - t_ms % HOUR_MS))
        day = int(np.searchsorted(times, t_ms - t_ms % HOUR_MS - DAY_MS))
        high, low = self._frame.fields["high"], self._frame.fields["low"]
        truths = []
        for column, price in enumerate(self._close[row].tolist()):
            before_high, before_low = high[day:hour, column], low[day:hour, column]
            if hour - day < DAY_BARS or not np.isfinite(before_high).all():
                truths.append(AssetTruth())
                continue
            top, bottom = float(high[hour : row + 1, column].max()), float(low[hour : row + 1, column].min())
            # The highest of the 24 hours up to now is that of this hour wherever this hour broke the hours before.
            truths.append(
                AssetTruth(
                    below_high=100.0 * (1.0 - price / max(top, float(before_high[HOUR_BARS:].max()))),
                    above_low=100.0 * (price / min(bottom, float(before_low[HOUR_BARS:].min())) - 1.0),
                    broke_high=bool(top > float(before_high.max())),
                    broke_low=bool(bottom < float(before_low.min())),
                )
            )
        return truths


def _mean(values: FloatArray) -> float | None:
    return float(values.mean()) if np.isfinite(values).all() else None


def _check(found: Found, candles: Candles, row: int, reading: BrainReading, changes: Mapping[str, float]) -> None:
    when = str(np.datetime64(reading.t_ms + BAR_MS, "ms"))
    facts = market_facts(reading, changes)
    state = market_state(reading.regime.axes)
    truth = MarketTruth(candles.hour(row), candles.usual_day(row))
    found.bars += 1
    found.take(MarketText(facts, headline(facts), summary(facts), state, truth), when)

    edges = candles.edges(row)
    for column, (name, read) in enumerate(reading.assets.items()):
        said = read_facts(read, changes.get(name), reading.t_ms + BAR_MS, simulated=False)
        found.take(AssetText(said, asset_summary(said), edges[column]), f"{when} {name}")


def context_of(
    frame: BarFrame, row: int, engine: Engine, reading: BrainReading, changes: Mapping[str, float]
) -> TickContext:
    """Return a tick that publishes a reading with the prices and the month that it was made from."""
    full = full_context()
    bars = frame.rows(max(0, row + 1 - CAPACITY_BARS), row + 1)
    close, now = frame.fields["close"][row], int(frame.t[row]) + BAR_MS
    seen = {
        name: replace(
            full.observation.assets[name], price=float(price), change_24h_percent=changes.get(name), price_as_of_ms=now
        )
        for name, price in zip(frame.assets, close, strict=True)
    }
    observation = replace(full.observation, assets=seen, market_ms=now)
    return replace(full, reading=reading, observation=observation, bars=bars, month=engine.month(bars))


def _check_bodies(found: Found, ctx: TickContext, hour: float | None) -> None:
    """Check that all bodies and the landing page of a tick agree, and what is sold with both and with the hour."""
    composed = compose(ctx)
    found.bodies += 1
    bodies = {**composed.free, **composed.paid}
    encoded = {name: body.model_dump(mode="json") for name, body in bodies.items()}
    for name, futures in FreeBodies(composed.free).derivatives.model_dump(mode="json")["assets"].items():
        funding, interest = futures["funding"], futures["open_interest"]
        rank = funding["rank_30d_percent"] if funding else None
        contracts = interest["contracts_change_24h_percent"] if interest else None
        found.take(FuturesText(" ".join(futures["evidence"] or ()), rank, contracts), name)

    page = landing_page().render(PageView(ctx=ctx, bodies=FreeBodies(composed.free)))["/index.html"].decode()
    observed = {name: change(seen.change_24h_percent) for name, seen in ctx.observation.assets.items()}
    whole = WholeTick(encoded, page, observed)
    for row, broken in WHOLE.items():
        example = broken(whole)
        if example:
            found.add(row, example)

    sold = paid_texts(encoded, hour)
    for row, untrue in STORY.items():
        example = untrue(sold)
        if example:
            found.add(row, example)
