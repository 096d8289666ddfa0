"""Ticks that were drawn: any figure missing or far off, any word of the brain, an Arena young, grown or empty."""

import math
from collections.abc import Mapping
from dataclasses import fields, replace
from enum import Enum
from functools import cache
from random import Random
from typing import Any, Final, TypeVar

from generator.brain.reading import RegimeReading
from generator.catalog.assets import ASSETS
from generator.catalog.durations import MINUTE_MS
from generator.catalog.words import MarketSide, RegimeLabel, SourceMode, SourceStatus
from generator.compose.context import DayBefore
from generator.compose.tick import Tick
from generator.market.observation import AssetObservation
from generator.values.market import Liquidations, OpenInterest
from tests.support.builders import (
    INTEREST_VENUES,
    LIQUIDATED_USD,
    NOW_MS,
    arena,
    empty_arena,
    full_context,
    interest_figures,
    void_rounds_context,
)
from tests.support.played import played

MISSING: Final = 0.15
"""The share of blocks and figures that are unknown."""
SAID: Final = ("change_24h_percent", "book", "funding", "open_interest", "liquidations")
T = TypeVar("T")


@cache
def drawn(number: int) -> Tick:
    """Draw a tick; the same one for the same number."""
    draw = Random(number)
    mode = draw.choice((SourceMode.LIVE, SourceMode.SIMULATED))
    made = full_context(mode)
    reading = made.reading
    assert reading is not None

    sources = tuple(replace(row, status=draw.choice(list(SourceStatus))) for row in made.observation.sources)
    seen = {asset: _seen(draw, known) for asset, known in made.observation.assets.items()}
    read = {asset: _words(draw, known) for asset, known in reading.assets.items()}
    label = draw.choice((None, *RegimeLabel))
    return replace(
        made,
        observation=replace(made.observation, assets=seen, sources=sources),
        reading=replace(reading, assets=read, regime=_regime(draw, reading.regime)),
        arena=draw.choice(
            (played().young.arena, played().end.arena, arena(), empty_arena(), void_rounds_context().arena)
        ),
        day_before=DayBefore(label, round(draw.random(), 4), round(100 * draw.random(), 1)),
        side=draw.choice(list(MarketSide)),
        trends={asset: draw.choice(("up", "down", "flat")) for asset in made.trends},
    )


def _seen(draw: Random, known: AssetObservation) -> AssetObservation:
    """Return what is seen of an asset: figures of every size and sign, some of them unknown."""
    changes: dict[str, Any] = {}
    for name in SAID:
        value = getattr(known, name)
        if value is None or draw.random() < MISSING:
            changes[name] = None
        elif name == "open_interest":
            changes[name] = _interest(draw, ASSETS.index(known.asset))
        elif name == "liquidations":
            longs, shorts = (_figure(draw, usd, is_signed=False) for usd in LIQUIDATED_USD)
            changes[name] = Liquidations.of(longs, shorts, value.venues)
        else:
            changes[name] = _figures(draw, name, value)
    return replace(known, **changes)


def _interest(draw: Random, place: int) -> OpenInterest:
    """Draw open interest before it is rounded: contracts and dollars, each with its change."""
    contracts, contracts_change, usd, usd_change = interest_figures(place)
    return OpenInterest.of(
        _figure(draw, contracts, is_signed=False),
        _figure(draw, contracts_change, is_signed=True),
        _figure(draw, usd, is_signed=False),
        _figure(draw, usd_change, is_signed=True),
        INTEREST_VENUES,
        as_of_ms=NOW_MS - MINUTE_MS,
    )


def _figures(draw: Random, name: str, value: Any) -> Any:
    if isinstance(value, float):
        is_signed = name.endswith(("percent", "rate_8h"))
        return _figure(draw, value, is_signed=is_signed)
    if not hasattr(value, "__dataclass_fields__"):
        return value
    return replace(
        value, **{field.name: _figures(draw, field.name, getattr(value, field.name)) for field in fields(value)}
    )


def _figure(draw: Random, value: float, *, is_signed: bool) -> float:
    """Return a figure up to thirty times as large or as small, now and then none, of either sign where it may be."""
    if draw.random() < MISSING:
        return 0.0
    sign = draw.choice((-1, 1)) if is_signed else 1
    return sign * value * math.pow(30, draw.uniform(-1, 1))


def _words(draw: Random, known: T) -> T:
    """Return the same with every word another one of its kind."""
    words = {name: draw.choice(list(type(word))) for name, word in _enums(known).items()}
    return replace(known, **words)  # type: ignore[type-var]


def _enums(known: object) -> Mapping[str, Enum]:
    named = {field.name: getattr(known, field.name) for field in fields(known)}  # type: ignore[arg-type]
    return {name: value for name, value in named.items() if isinstance(value, Enum)}


def _regime(draw: Random, known: RegimeReading) -> RegimeReading:
    other = _words(draw, known)
    return replace(other, axes=_words(draw, known.axes), risk_score=draw.choice((None, 0.0, 50.0, 99.4)))
