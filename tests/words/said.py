"""What is published of each bar of a market: the facts that sentences are made of, and the numbers that go with them.

The brain is streamed, and of its reading only what these texts need is worked out; `tests/words` holds that it is the
same as in a whole reading.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final, NamedTuple, cast

import numpy as np

from generator.brain.doubt import SILENT
from generator.brain.engine import Engine, _ranges
from generator.brain.forecast import Forecast
from generator.brain.hourly import Hours
from generator.brain.market_facts import Followed, market_facts
from generator.brain.outlook import RANGE_BARS
from generator.brain.reading import BrainReading
from generator.brain.side import SIDES
from generator.brain.smoothing import HOUR_BARS
from generator.brain.weights import Weights
from generator.catalog.text.happened import MarketFacts
from generator.catalog.words import MarketSide, SourceMode, VolatilityWord
from generator.compose.facts import market_now
from generator.compose.tick import Tick
from generator.market.bars import BAR_MS, BarFrame, FloatArray
from generator.market.observation import AssetObservation, Observation
from generator.values.ranges import MoveRange
from tests.support.builders import full_context
from tests.words.published import Chances, Published
from tests.words.raw import HOUR_MS, Ordered

DAY_MS: Final = 24 * HOUR_MS
_GRAIN: Final = 1e-3  # of the record, which is kept in half precision


class Said(NamedTuple):
    """One bar."""

    row: int
    facts: MarketFacts
    published: Published


class _Read(NamedTuple):
    """What the facts ask of a coin's reading."""

    ranges: dict[str, MoveRange] | None
    forecast: Forecast | None


class _Reading(NamedTuple):
    """What they ask of the market's."""

    t_ms: int
    market: MarketFacts
    assets: dict[str, _Read]


class Prices:
    """What a source gives of a recording: the last close of each coin, its age, and its change over 24 hours."""

    def __init__(self, frame: BarFrame) -> None:
        """Take all bars; each is asked for after it has closed."""
        self._frame = frame
        closes = frame.fields["close"]
        rows = np.arange(len(frame))[:, None]
        self._last = np.maximum.accumulate(np.where(np.isfinite(closes), rows, -1), axis=0).tolist()
        self._closes = closes
        self._t: list[int] = frame.t.tolist()
        before = np.searchsorted(frame.t, frame.t - DAY_MS)
        is_there = frame.t[np.minimum(before, len(frame) - 1)] == frame.t - DAY_MS
        day_ago = np.where(is_there[:, None], closes[before], np.nan)
        self._change: FloatArray = 100 * (closes / day_ago - 1)

    def at(self, row: int) -> tuple[int, dict[str, AssetObservation]]:
        """Return the time after a bar, and each coin then."""
        frame = self._frame
        now_ms = self._t[row] + frame.interval_ms
        seen = {}
        for column, asset in enumerate(frame.assets):
            last = self._last[row][column]
            if last < 0:
                continue
            change = float(self._change[last, column])
            seen[asset] = AssetObservation(
                asset,
                price=float(self._closes[last, column]),
                price_as_of_ms=self._t[last] + frame.interval_ms,
                change_24h_percent=change if change == change else None,  # noqa: PLR0124 -- NaN
            )
        return now_ms, seen


class _Ticks:
    """Contexts of ticks that publish a recording."""

    def __init__(self, frame: BarFrame) -> None:
        self._frame = frame
        self._prices = Prices(frame)
        self._full = full_context(SourceMode.RECORDED)

    def at(self, row: int, reading: _Reading | None, market: MarketFacts | None = None) -> Tick:
        """Return the tick after a bar."""
        now_ms, seen = self._prices.at(row)
        return replace(
            self._full,
            observation=Observation(
                mode=SourceMode.RECORDED,
                market_ms=now_ms,
                assets=seen,
                sources=(),
                new_bars=self._full.observation.new_bars,
                bar_interval_ms=self._frame.interval_ms,
            ),
            reading=cast(BrainReading, reading) if reading else None,
            market=market,
            bars=self._frame.rows(0, min(row + 1, HOUR_BARS)),
        )


def every_bar(frame: BarFrame, first: int = 0, every: int = 1) -> Iterator[Said]:
    """Read a market from its first bar on and yield each k-th bar from some row on, as published after it closed."""
    return _of_minutes(frame, first, every) if frame.interval_ms == BAR_MS else _of_hours(frame, first, every)


def _of_minutes(frame: BarFrame, first: int, every: int) -> Iterator[Said]:
    engine = Engine(Weights.load(), frame.assets)
    ticks = _Ticks(frame)
    outlooks, widths = Ordered(), Ordered()
    for row in engine.replay(frame):
        is_full = (int(frame.t[row]) + BAR_MS) % HOUR_MS == 0
        is_asked = row >= first and (row - first) % every == 0
        if not is_full and not is_asked:
            continue
        reading = light_reading(engine)
        expected = engine.expected()
        reach = _width(reading.assets.get("BTC"))
        if is_asked:
            facts = market_now(ticks.at(row, reading))
            yield Said(row, facts, _published(facts, reading, outlooks, widths, (expected, reach)))
        if is_full:
            outlooks.add(float("nan") if expected is None else expected)
            widths.add(float("nan") if reach is None else reach)


def _of_hours(frame: BarFrame, first: int, every: int) -> Iterator[Said]:
    hours = Hours(frame)
    ticks = _Ticks(frame)
    for hour, row in enumerate(hours.full.tolist()):
        if row >= first and (row - first) % every == 0:
            facts = market_now(ticks.at(row, None, hours.at(hour).market))
            yield Said(row, facts, Published({asset: coin.price for asset, coin in facts.coins.items()}))


def light_reading(engine: Engine) -> Any:
    """Return the parts of a reading that the facts of sentences are made of."""
    assert engine.t_ms is not None
    now = engine.now()
    reach = engine.reach(now).swapaxes(0, 1).tolist()
    forecasts = engine.forecasts(HOUR_MS // 60_000, now)
    stale = engine.returns.age > HOUR_BARS
    seen = engine.volatility.count[0]
    has_range = (~stale & (seen > 0.0) & (seen >= RANGE_BARS) & (now.doubt < SILENT)).tolist()

    moving = bool(engine.volatility.fresh().any())
    side = SIDES[int(engine.side.side[-1])] if moving else MarketSide.UNKNOWN
    word = engine.swings.words()[-1] if moving else VolatilityWord.UNKNOWN
    followed = Followed(engine.moves, engine.record, engine.highlights, engine.situations)
    market = market_facts(engine.assets, engine.t_ms + BAR_MS, followed, side, word, doubt=float(now.doubt[0]))
    assets = {
        asset: _Read(_ranges(reach[column]) if has_range[column] else None, forecasts[column])
        for column, asset in enumerate(engine.assets)
    }
    return _Reading(engine.t_ms, market, assets)


def _width(read: _Read | None) -> float | None:
    """Return how wide the 90% range of the next hour is, as a fraction."""
    if read is None or read.ranges is None:
        return None
    hour = read.ranges["1h"]
    return hour.width_90 / 100


def _published(
    facts: MarketFacts,
    reading: _Reading,
    outlooks: Ordered,
    widths: Ordered,
    now: tuple[float | None, float | None],
) -> Published:
    """Return the numbers published with the texts, worked out from the brain's own: not from the facts."""
    expected, width = now
    chances = {}
    ranges = {}
    for asset, read in reading.assets.items():
        coin = facts.coins.get(asset)
        if read.ranges and coin:
            hour = read.ranges["1h"]
            low_90, *_, high_90 = hour.prices(coin.price)
            ranges[asset] = (low_90, high_90)
        if read.forecast:
            given, base = read.forecast.probabilities, read.forecast.base_rate
            chances[asset] = Chances(
                read.forecast.call.value,
                100 * given.down,
                100 * given.neutral,
                100 * given.up,
                100 * base.neutral,
                read.forecast.band_bps / 100,
            )
    return Published(
        prices={asset: coin.price for asset, coin in facts.coins.items()},
        ranges=ranges,
        chances=chances,
        outlook_rank=outlooks.rank(expected) if expected is not None and len(outlooks) else None,
        outlook_near=0.0 if expected is None else outlooks.near(expected, _GRAIN),
        width_ratio=width / widths.median() if width is not None and len(widths) else None,
        minutes_old={asset: coin.minutes_old for asset, coin in facts.coins.items()},
    )
