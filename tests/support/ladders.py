"""Ladders for tests: chances that fall with the level, and highs and lows that follow from the minute."""

import math
from typing import Any, Final

from generator.arena.ladders.hour import LadderHour
from generator.catalog.horizons import HORIZONS
from tests.support.arena_inputs import MINUTE, price_at

ASSETS: Final = ("BTC", "ETH")
_BAR: Final = 5 * MINUTE


def said_at(now_ms: int) -> dict[str, Any]:
    """Return what is sealed of an hour, different by the hour and the asset."""
    return {asset: _said(now_ms, place) for place, asset in enumerate(ASSETS)}


def _said(now_ms: int, place: int) -> dict[str, Any]:
    wild = 1.0 + 0.5 * math.sin(now_ms / (170 * MINUTE) + place)
    ladder = {}
    for name, horizon in HORIZONS.items():
        sigma = 0.3 * wild * (horizon.minutes / 15) ** 0.5
        ladder[name] = [_row(level, sigma) for level in horizon.levels]
    within = round(0.34 + 0.1 * math.sin(now_ms / (90 * MINUTE)), 3)
    side = round((1.0 - within) / 2, 3)
    chances = [side, within, round(1.0 - within - side, 3)]
    return {"ladder": ladder, "partition": {"band_percent": 0.6, "chances": chances, "base_rates": [0.32, 0.36, 0.32]}}


def _row(level: float, sigma: float) -> list[float]:
    beyond = math.erfc(level / sigma / math.sqrt(2.0))
    either = round(min(max(beyond, 0.001), 0.999), 4)
    side = max(round(either / 2, 4), 0.001)
    touch = round(min(1.8 * either, 0.999), 4)
    return [level, side, side, either, min(round(2 * side, 4), touch), min(round(2 * side, 4), touch), touch]


def hour_at(start_ms: int, *, warm_up: bool = False) -> LadderHour:
    """Return an hour as it is made five minutes before its start."""
    base = {name: [[0.3, 0.45] for _ in horizon.levels] for name, horizon in HORIZONS.items()}
    return LadderHour(start_ms, start_ms - 5 * MINUTE, warm_up, said_at(start_ms), base)


def reached_at(asset: str, since_ms: int, until_ms: int) -> tuple[float, float]:
    """Return the highest and lowest price at the ends of the 5-minute bars between two times."""
    prices = [price_at(asset, at) for at in range(since_ms, until_ms + 1, _BAR)]
    return max(prices), min(prices)
