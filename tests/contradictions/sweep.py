"""Every sentence of every bar of a market, held to the table of contradictions."""

import math
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from generator.brain.engine import Engine
from generator.brain.reading import BrainReading
from generator.brain.weights import Weights
from generator.catalog.formats import change, share
from generator.catalog.text.answers import NEEDS_5_MINUTE_BARS
from generator.catalog.text.market import PublishedAsset, asset_summary, headline, summary
from generator.catalog.words import MarketState
from generator.compose.all import compose
from generator.compose.context import TickContext
from generator.compose.facts import market_facts, read_facts
from generator.compose.free import FreeBodies
from generator.compose.regime import market_state
from generator.market.bars import BAR_MS, BarFrame, FloatArray
from generator.site.pages.render import Pages, PageView
from tests.contradictions.rows import AssetText, MarketText, contradictions
from tests.support.builders import full_context

DAY_BARS = 288
HOUR_BARS = 12


@dataclass
class Found:
    """What a sweep counted."""

    bars: int = 0
    texts: int = 0
    bodies: int = 0
    rows: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)

    def take(self, text: MarketText | AssetText, when: str) -> None:
        """Hold one text to the table."""
        self.texts += 1
        for row in contradictions(text):
            self.add(row, f"{when}: {text.summary if isinstance(text, MarketText) else text.text}")

    def add(self, row: str, example: str) -> None:
        """Count one contradiction."""
        self.rows[row] += 1
        self.examples.setdefault(row, example)


def sweep(frame: BarFrame, *, every: int = 1, warm_up: int = 2 * DAY_BARS, bodies: int = 0, seed: int = 0) -> Found:
    """Read a market bar by bar and check what would be said.

    Args:
        every: say something at each so many bars.
        warm_up: bars without a check.
        bodies: at so many drawn moments, check whole bodies and pages too.
        seed: of the draw.
    """
    engine, found = Engine(Weights.load(), frame.assets), Found()
    shown = range(warm_up, len(frame), every)
    drawn = set(random.Random(seed).sample(shown, min(bodies, len(shown))))
    engine.advance(frame.rows(0, warm_up))
    high, low = edges(frame)
    for row in range(warm_up, len(frame)):
        engine.advance(frame.rows(row, row + 1))
        if (row - warm_up) % every:
            continue
        day = day_changes(frame, row)
        reading = engine.reading(np.log1p(day))
        assert reading is not None
        changes = {
            name: moved for name, one in zip(frame.assets, day, strict=True) if (moved := change(100 * one)) is not None
        }
        when = str(np.datetime64(int(frame.t[row]) + BAR_MS, "ms"))
        _check(found, when, (frame.fields["close"][row], high[row], low[row]), reading, changes)
        if row in drawn:
            _check_bodies(found, context_of(frame, row, reading, changes))
    return found


def sweep_hourly(frame: BarFrame) -> Found:
    """Check what is said at each hour where no regime is read: the changes over 24 hours, and why there is no more."""
    found, close = Found(), frame.fields["close"]
    for row in range(24, len(frame)):
        moved = close[row] / close[row - 24] - 1.0
        changes = {
            name: said for name, one in zip(frame.assets, moved, strict=True) if (said := change(100 * one)) is not None
        }
        facts = market_facts(None, changes, missing=NEEDS_5_MINUTE_BARS)
        when = str(np.datetime64(int(frame.t[row]), "ms"))
        found.bars += 1
        found.take(MarketText(facts, headline(facts), summary(facts), MarketState.UNKNOWN), when)
        for name, said in changes.items():
            one = PublishedAsset(name, said, missing=NEEDS_5_MINUTE_BARS)
            found.take(AssetText(one, asset_summary(one)), f"{when} {name}")
    return found


def day_changes(frame: BarFrame, row: int) -> FloatArray:
    """Return each asset's change over 24 hours up to a row, as a fraction."""
    close = frame.fields["close"]
    out: FloatArray = close[row] / close[row - DAY_BARS] - 1.0
    return out


def edges(frame: BarFrame) -> tuple[FloatArray, FloatArray]:
    """Return the highest and lowest price of the 24 hours before each bar's hour, (n, assets), NaN where unknown."""
    hour = frame.t // 3_600_000
    high, low = np.full((2, *frame.fields["close"].shape), np.nan)
    for row in range(DAY_BARS + HOUR_BARS, len(frame)):
        start = int(np.searchsorted(hour, hour[row]))
        if start == row or math.isnan(high[row - 1][0]):
            before = slice(int(np.searchsorted(hour, hour[row] - 24)), start)
            high[row], low[row] = frame.fields["high"][before].max(axis=0), frame.fields["low"][before].min(axis=0)
        else:
            high[row], low[row] = high[row - 1], low[row - 1]
    return high, low


Prices = tuple[FloatArray, FloatArray, FloatArray]  # closes, and the highs and lows of the day before


def _check(found: Found, when: str, prices: Prices, reading: BrainReading, changes: Mapping[str, float]) -> None:
    facts = market_facts(reading, changes)
    state = market_state(
        facts.label, facts.volatility, share(reading.regime.confidence), stressed=reading.regime.stressed
    )
    found.bars += 1
    found.take(MarketText(facts, headline(facts), summary(facts), state), when)
    for column, (name, read) in enumerate(reading.assets.items()):
        said = read_facts(read, changes.get(name))
        price, top, bottom = (float(one[column]) for one in prices)
        known = math.isfinite(top)
        text = AssetText(said, asset_summary(said), price, top if known else None, bottom if known else None)
        found.take(text, f"{when} {name}")


def context_of(frame: BarFrame, row: int, reading: BrainReading, changes: Mapping[str, float]) -> TickContext:
    """Return a tick that publishes a reading with the prices that it was made from."""
    full = full_context()
    close, now = frame.fields["close"][row], int(frame.t[row]) + BAR_MS
    seen = {
        name: replace(
            full.observation.assets[name], price=float(price), change_24h_percent=changes.get(name), price_as_of_ms=now
        )
        for name, price in zip(frame.assets, close, strict=True)
    }
    return replace(full, reading=reading, observation=replace(full.observation, assets=seen, market_ms=now))


def _check_bodies(found: Found, ctx: TickContext) -> None:
    """Check that all bodies and the landing page of a tick agree."""
    composed = compose(ctx)
    found.bodies += 1
    bodies = {**composed.free, **composed.paid}
    encoded = {name: body.model_dump(mode="json") for name, body in bodies.items()}
    headlines = {body["headline"] for body in encoded.values() if "headline" in body}
    if len(headlines) != 1:
        found.add("bodies with different headlines", " | ".join(sorted(headlines)))
    regimes = {tuple(sorted(one.items())) for one in _of(encoded, "regime") if "label" in one for one in [_flat(one)]}
    if len(regimes) != 1:
        found.add("bodies with different regimes", str(regimes))
    for name, moved in _changes(encoded):
        if moved != change(ctx.observation.assets[name].change_24h_percent):
            found.add("two changes of one asset", f"{name} {moved}")
    page = Pages().render(PageView(ctx=ctx, bodies=FreeBodies(composed.free)))["/index.html"].decode()
    if next(iter(headlines)).replace("'", "&#39;") not in page:
        found.add("a page with another headline", next(iter(headlines)))


def _of(value: Any, key: str) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            if name == key and isinstance(inner, dict):
                yield inner
            yield from _of(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from _of(inner, key)


def _flat(regime: dict[str, Any]) -> dict[str, Any]:
    return {name: str(regime.get(name)) for name in ("label", "state", "volatility", "breadth_percent", "confidence")}


def _changes(bodies: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for body in bodies.values():
        for block in _of(body, "assets"):
            for name, one in block.items():
                if isinstance(one, dict) and one.get("change_24h") is not None:
                    yield name, one["change_24h"]
