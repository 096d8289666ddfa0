"""Months that were drawn, each of another kind, with forecasts of their hours: what the chapters of Learn count."""

from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from generator.catalog.assets import ASSETS
from generator.catalog.durations import HOUR_MS
from generator.catalog.horizons import HORIZONS
from generator.catalog.words import Call, Prediction
from generator.market.bars import BAR_FIELDS, BarFrame
from generator.site.pages.chapters.chapter import Facts
from generator.site.words.month import hourly_month
from generator.values.hours import Move, PredictionMade
from tests.support.builders import empty_arena
from tests.support.filled_memory import prediction
from tests.support.ranges import range_of

START_MS: Final = 1_790_035_200_000  # 00:00 UTC
OUTCOMES: Final = (Prediction.BEARISH, Prediction.NEUTRAL, Prediction.BULLISH)
CALLS: Final = (Call.DOWN, Call.SMALL_MOVE, Call.UP)
BAND: Final = 0.25


class Kind(NamedTuple):
    """How a month is drawn.

    Args:
        size: of an hour's move, percent.
        again: share of a move that the next one has too; below zero moves turn back.
        shared: share of all assets' moves that is the same.
        step: moves are whole multiples of it, percent; 0 for any.
        assets: how many have prices.
        sees: how much of what comes the forecasts know, 0..1; below zero they lean the other way.
        forecasts: hours that were forecast.
    """

    size: float = 0.5
    again: float = 0.0
    shared: float = 0.7
    step: float = 0.0
    funding: float = 0.0001
    hours: int = 240
    assets: int = len(ASSETS)
    sees: float = 0.0
    forecasts: int = 120
    backtest: bool = False


KINDS: Final = {
    "calm": Kind(size=0.05, forecasts=0),
    "wild": Kind(size=2.5, again=0.5, sees=0.6, hours=720, funding=-0.0002),
    "turning": Kind(again=-0.6, shared=0.1, sees=-0.6),
    "stepped": Kind(step=BAND, shared=0.4, sees=0.1),
    "two days": Kind(hours=48, forecasts=8),
    "three assets": Kind(assets=3, sees=0.4, forecasts=31, backtest=True),
    "four assets": Kind(assets=4, shared=0.5, funding=0.0, forecasts=60),
    "one asset": Kind(assets=1, step=0.5, forecasts=40),
}


def facts_of(name: str) -> Facts:
    """Draw a month of a kind; the same one each time."""
    kind = KINDS[name]
    drawn = np.random.default_rng((20261129, list(KINDS).index(name)))
    noise = kind.shared * drawn.standard_normal((kind.hours + 1, 1))
    noise = kind.size * (noise + (1 - kind.shared) * drawn.standard_normal((kind.hours + 1, len(ASSETS))))
    moves = np.zeros_like(noise)
    for hour in range(1, kind.hours + 1):
        moves[hour] = kind.again * moves[hour - 1] + noise[hour]
    if kind.step:
        moves = kind.step * np.round(moves / kind.step)

    fields = {name: np.full(moves.shape, np.nan) for name in BAR_FIELDS}
    fields["close"] = 100 * np.cumprod(1 + moves / 100, axis=0)
    fields["funding"] = drawn.normal(kind.funding, 0.0002, moves.shape)
    fields["open_interest"] = 1_000 + np.cumsum(drawn.standard_normal(moves.shape), axis=0)
    fields["depth_usd"] = drawn.uniform(1e6, 9e6, moves.shape)
    fields["imbalance"] = drawn.uniform(-0.5, 0.5, moves.shape)
    fields["spread_bps"] = drawn.uniform(0.5, 2.0, moves.shape)
    for values in fields.values():
        values[:, kind.assets :] = np.nan

    times = np.arange(kind.hours + 1, dtype=np.int64) * HOUR_MS + START_MS - HOUR_MS
    due = [_forecast(kind, drawn, hour, moves[hour + 1, 0]) for hour in range(min(kind.forecasts, kind.hours))]
    return Facts(hourly_month(BarFrame(ASSETS, times, fields, HOUR_MS)), due[::-1], empty_arena())


def _forecast(kind: Kind, drawn: np.random.Generator, hour: int, move: float) -> PredictionMade:
    """Return the forecast of Bitcoin's hour that came to a move, its chances leaning by what it sees."""
    came = 1 if abs(move) <= BAND else 1 + int(np.sign(move))
    lean = np.full(3, (1 - kind.sees) / 3)
    lean[came] += kind.sees
    down, small, _ = drawn.dirichlet(30 * np.clip(lean, 0.05, None))
    down, small = round(float(down), 4), round(float(small), 4)
    chances = (down, small, round(1 - down - small, 4))
    call = Call.NONE if hour % 4 == 0 else CALLS[int(np.argmax(chances))]

    return replace(
        prediction("BTC", START_MS + hour * HOUR_MS),
        call=call,
        probabilities=chances,
        outcome=OUTCOMES[came],
        change_bps=round(100 * float(move), 2),
        void_reason=None,
        moves=dict.fromkeys(HORIZONS, Move(100.0, round(float(move), 4))),
        ranges=dict.fromkeys(HORIZONS, range_of(kind.size)),
        warm_up=kind.backtest,
    )
