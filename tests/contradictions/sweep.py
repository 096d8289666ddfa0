"""Whole bodies and pages at drawn bars of a market, held to the table of contradictions.

Headlines and the other texts on now are held against the raw closes at every bar by tests/words.
"""

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from generator.brain.engine import Engine
from generator.brain.reading import BrainReading
from generator.brain.weights import Weights
from generator.catalog.formats import change
from generator.compose.all import compose
from generator.compose.free import FreeBodies
from generator.compose.tick import Tick
from generator.market.bars import BAR_MS, BarFrame, FloatArray
from generator.market.history import CAPACITY_BARS
from generator.site.pages.recipes import PageView
from tests.contradictions.rows import FuturesText, contradictions
from tests.contradictions.story_rows import STORY, paid_texts
from tests.contradictions.whole_rows import WHOLE, WholeTick
from tests.support.builders import full_context
from tests.support.services import landing_page

DAY_BARS = 288
WARM_UP: Final = 2 * DAY_BARS


@dataclass
class Found:
    """What a sweep counted."""

    texts: int = 0
    bodies: int = 0
    reports: int = 0
    lessons: int = 0
    releases: int = 0
    rows: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)

    def take(self, text: FuturesText, when: str) -> None:
        """Hold one text to the table."""
        self.texts += 1
        for row in contradictions(text):
            self.add(row, f"{when}: {text.text}")

    def add(self, row: str, example: str) -> None:
        """Count one contradiction."""
        self.rows[row] += 1
        self.examples.setdefault(row, example)


def sweep(
    frame: BarFrame,
    *,
    bodies: int = 0,
    warm_up: int = WARM_UP,
    seed: int = 0,
) -> Found:
    """Read a market bar by bar and check what would be published at some.

    Args:
        bodies: at so many drawn moments.
        warm_up: bars without a check.
        seed: of the draw.
    """
    engine, found = Engine(Weights.load(), frame.assets), Found()
    shown = range(warm_up, len(frame))
    drawn = set(random.Random(seed).sample(shown, min(bodies, len(shown))))
    for row in engine.replay(frame):
        if row not in drawn:
            continue
        day = day_changes(frame, row)
        reading = engine.reading(np.log1p(day))
        assert reading is not None
        changes = {
            name: moved for name, one in zip(frame.assets, day, strict=True) if (moved := change(100 * one)) is not None
        }
        _check_bodies(found, context_of(frame, row, engine, reading, changes))
    return found


def day_changes(frame: BarFrame, row: int) -> FloatArray:
    """Return each asset's change over 24 hours up to a row, as a fraction."""
    close = frame.fields["close"]
    out: FloatArray = close[row] / close[row - DAY_BARS] - 1.0
    return out


def context_of(frame: BarFrame, row: int, engine: Engine, reading: BrainReading, changes: Mapping[str, float]) -> Tick:
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


def _check_bodies(found: Found, ctx: Tick) -> None:
    """Check that all bodies and the landing page of a tick agree, and what is sold with both."""
    composed = compose(ctx)
    found.bodies += 1
    bodies = {**composed.free, **composed.paid}
    encoded = {name: body.model_dump(mode="json") for name, body in bodies.items()}
    for name, futures in FreeBodies(composed.free).derivatives.model_dump(mode="json")["assets"].items():
        funding = futures["funding"]
        rank = funding["rank_30d_percent"] if funding else None
        found.take(FuturesText(" ".join(futures["evidence"] or ()), rank), name)

    page = landing_page().render(PageView(ctx=ctx, bodies=FreeBodies(composed.free)))["/index.html"].decode()
    observed = {name: change(seen.change_24h_percent) for name, seen in ctx.observation.assets.items()}
    whole = WholeTick(encoded, page, observed)
    for row, broken in WHOLE.items():
        example = broken(whole)
        if example:
            found.add(row, example)

    sold = paid_texts(encoded)
    for row, untrue in STORY.items():
        example = untrue(sold)
        if example:
            found.add(row, example)
