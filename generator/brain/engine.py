"""The streaming engine: bars in, a reading out. What every measure says is put together, asset by asset and for the market."""

import math
from enum import StrEnum
from typing import Final, TypeVar

import numpy as np

from generator.brain.doubt import doubted_chance, named, overall
from generator.brain.evidence import breadth_lean, gather
from generator.brain.measures import SHOWN_MINUTES, Measures
from generator.brain.outlook import HORIZONS, MIN_BARS
from generator.brain.reading import (
    ROUGH,
    AssetReading,
    BrainReading,
    LearningReading,
    Range,
    RegimeReading,
    VolatilityOutlook,
)
from generator.brain.regime import LABELS, REGIMES, TRANSITION, dwell_minutes, facts_of, label_of
from generator.brain.smoothing import DAY_BARS, HOUR_BARS
from generator.brain.structure import SIGN, counts
from generator.catalog.text import labels, readings
from generator.catalog.words import (
    Bias,
    DerivativesState,
    LiquidityContext,
    MarketStructure,
    Prediction,
    RegimeLabel,
    Trend,
    VolatilityWord,
)
from generator.market.bars import BAR_MS, BarFrame, FloatArray

_Word = TypeVar("_Word", bound=StrEnum)
_BIAS: Final = {Prediction.BULLISH: Bias.UP, Prediction.BEARISH: Bias.DOWN, Prediction.NEUTRAL: Bias.FLAT}
_REGIME_BARS: Final = 2 * DAY_BARS
_CROWDS: Final = (DerivativesState.CROWDED_LONGS, DerivativesState.CROWDED_SHORTS, DerivativesState.DELEVERAGING)


class Engine(Measures):
    """Read a market bar by bar. One instance belongs to one thread."""

    def update(self, frame: BarFrame, day: FloatArray | None = None) -> BrainReading | None:
        """Feed bars in order and return the reading after the last; `day` as for `reading`."""
        self.advance(frame)
        return self.reading(day)

    def reading(self, day: FloatArray | None = None) -> BrainReading | None:
        """Return the reading after the last bar, None before the first.

        Args:
            day: each asset's log change over exactly 24 hours where the observation has it, NaN elsewhere, (assets,).
        """
        return None if self.t_ms is None else _Assembly(self, self.t_ms, day).reading()


class _Assembly:
    """What every measure says after one bar; lists run over the assets and, where a market has it too, end with it."""

    def __init__(self, by: Measures, t_ms: int, day: FloatArray | None) -> None:
        past, stale = by.past(), by.close_age > HOUR_BARS
        here = np.where(stale, np.nan, by.log_close)
        moved = past.day_change(here)
        if day is not None:
            moved = np.where(np.isfinite(day), day, moved)
        self.by, self.t_ms, self.past = by, t_ms, past
        self.change = np.round(np.expm1(moved), 4).astype(np.float64)  # as published, NaN where unknown
        self.counts = counts(self.change)
        self.bars = by.features.count.tolist()
        self.fresh = (~stale & (by.features.count[:-1] > 0.0)).tolist()
        self.moving = int(np.count_nonzero(by.volatility.fresh()))
        self.seen = by.volatility.count[0].tolist()
        self.doubt = by.doubts()
        self.forecast = by.forecasts(SHOWN_MINUTES)
        self.pressure = by.derivatives.readings()
        self.context, self.lean = by.liquidity.reading()
        self.trend, self.structure = by.structure.reading(t_ms, here, past, self.change)
        self.risk, self.word = by.stress.reading()
        self.push = by.features.pushes()
        sigma = by.sigma().T
        self.sigma: list[list[float]] = sigma.tolist()
        self.reach: list[list[list[float]]] = (sigma[..., None] * by.ranges.widths()).tolist()
        self.facts = past.assets(t_ms)
        self.baselines = past.baselines(by.volatility.variance[1])
        self.label = [LABELS[int(one)] for one in by.filter.label.tolist()]
        self.confidence = by.filter.confidence().tolist()

    def reading(self) -> BrainReading:
        """Return what the brain says."""
        assets = {name: self._asset(name, column) for column, name in enumerate(self.by.assets)}
        forecasts = [one.forecast for one in assets.values() if one.forecast]
        agreements = [one.agreement for one in assets.values() if one.agreement is not None]
        known = [row for row, one in zip(self.sigma, assets.values(), strict=True) if one.outlook]
        sigma = np.exp(np.add.reduce(np.log(known)) / len(known)).tolist() if known else None
        learned = int(self.by.direction.resolved.sum())
        return BrainReading(
            t_ms=self.t_ms,
            bars_seen=self.by.counters.bars,
            regime=self._regime(),
            outlook=VolatilityOutlook(*sigma) if sigma else None,
            direction=_direction([one.bias for one in assets.values() if one.forecast]),
            confidence=self._forecast_confidence([one.confidence for one in forecasts]),
            agreement=_mean(agreements),
            coverage=_mean([one.coverage for one in assets.values()]) or 0.0,
            assets=assets,
            learning=LearningReading(learned, "learning" if learned else "idle"),
            limitations=self._market_limits(),
        )

    def _asset(self, name: str, column: int) -> AssetReading:
        forecast, fresh, pressure = self.forecast[column], self.fresh[column], self.pressure[column]
        bias = _BIAS[forecast.prediction] if forecast else None
        seen, doubt = self.seen[column], self.doubt[column].share
        placed, expected = fresh and seen >= HOUR_BARS, fresh and seen >= MIN_BARS
        trend = self.trend[column] if placed else Trend.UNKNOWN
        volatility = self.word[column] if fresh else VolatilityWord.UNKNOWN
        evidence, agreement, coverage = gather(
            bias,
            trend=trend,
            volatility=volatility,
            derivatives=pressure.shown,
            vote=pressure.vote,
            push=self.push[column] if placed else None,
            breadth=breadth_lean(self.counts),
            book=self.lean[column],
        )
        return AssetReading(
            asset=name,
            bias=bias or Bias.FLAT,
            forecast=forecast,
            regime=self.label[column] if fresh else RegimeLabel.UNKNOWN,
            regime_confidence=doubted_chance(self.confidence[column], doubt) if fresh else None,
            trend=trend,
            structure=self.structure[column] if placed else MarketStructure.UNKNOWN,
            liquidity=self.context[column],
            derivatives=pressure.shown,
            vote=pressure.vote,
            pressure=pressure,
            volatility=volatility,
            outlook=VolatilityOutlook(*self.sigma[column]) if expected else None,
            ranges=_ranges(self.reach[column]) if expected else None,
            baselines=self.baselines[column] if expected else None,
            change=None if math.isnan(self.change[column]) else float(self.change[column]),
            facts=self.facts[column],
            agreement=agreement,
            coverage=coverage,
            evidence=evidence,
            limitations=self._limits(column),
            book_lean=self.lean[column],
        )

    def _regime(self) -> RegimeReading:
        doubt, market, breadth = overall(self.doubt), self.by.filter, breadth_lean(self.counts)
        volatility = self.word[-1] if self.moving else VolatilityWord.UNKNOWN
        trend = self.trend[-1] if self.moving and self.bars[-1] >= HOUR_BARS else Trend.UNKNOWN
        stressed = np.nan if volatility is VolatilityWord.UNKNOWN else float(volatility in ROUGH)
        trends, stress, usual = (
            np.full(len(self.change) + 1, one, dtype=np.float64)
            for one in (SIGN.get(trend, np.nan), stressed, self.past.market.usual_day)
        )
        facts = facts_of(self.change, trends, stress, usual)
        label = int(label_of(market.chances[:, -1:], facts.allowed()[:, -1:], market.label[-1:])[0])
        since_ms, before = int(market.since[-1]) + BAR_MS, int(market.previous[-1])
        if LABELS[label] is not self.label[-1]:
            # Prices of this minute, which the bars do not have, forbid the label of the last bar.
            since_ms, before = self.t_ms + BAR_MS, int(market.label[-1])
        chances = market.chances[:, -1].tolist()
        return RegimeReading(
            label=LABELS[label],
            posterior={regime: doubted_chance(one, doubt) for regime, one in zip(REGIMES, chances, strict=True)},
            confidence=doubted_chance(max(chances) if label == TRANSITION else chances[label], doubt),
            since_ms=since_ms,
            dwell_minutes=dwell_minutes(self.t_ms, since_ms),
            previous=LABELS[before] if before >= 0 else None,
            trend=trend,
            volatility=volatility,
            counts=self.counts,
            facts=self.past.market,
            risk_score=self.risk[-1] if self.moving else None,
            drivers=self._drivers(volatility, breadth),
        )

    def _drivers(self, volatility: VolatilityWord, breadth: int | None) -> tuple[str, ...]:
        """Return the risk drivers in words."""
        books, futures = _shared(self.context), _shared([one.shown for one in self.pressure])
        drivers = []
        if volatility in ROUGH:
            drivers.append(labels.EXPECTED[volatility])
        if breadth == -1:
            drivers.append(labels.BREADTH[-1])
        if books is LiquidityContext.THIN:
            drivers.append(labels.LIQUIDITY[LiquidityContext.THIN].most)
        if futures in _CROWDS:
            drivers.append(labels.DERIVATIVES[futures].most)
        return tuple(drivers)

    def _forecast_confidence(self, confidences: list[float]) -> float | None:
        """Return the mean confidence of the forecasts, less the doubt in the assets that have none any more."""
        known = [(one.share, has) for one, has in zip(self.doubt, self.forecast, strict=True) if one.known]
        lost = sum(share for share, forecast in known if forecast is None)
        mean = _mean(confidences)
        return mean * (1.0 - lost / len(known)) if mean is not None and lost else mean

    def _limits(self, column: int) -> tuple[str, ...]:
        """Return what is missing for one asset."""
        missing = []
        if not self.bars[column]:
            missing.append(readings.NO_BARS)
        elif not self.forecast[column] and self.fresh[column] and self.seen[column] < DAY_BARS // 2:
            missing.append(readings.SHORT)
        if self.context[column] is LiquidityContext.UNKNOWN:
            missing.append(readings.NO_BOOK)
        if self.pressure[column].state is DerivativesState.UNAVAILABLE:
            missing += self.pressure[column].limitations
        return (*missing, *self.doubt[column].reasons)

    def _market_limits(self) -> tuple[str, ...]:
        missing, counters = [], self.by.counters
        if self.moving < len(self.by.assets):
            missing.append(readings.SOME_MISSING if self.moving else readings.NOTHING_FRESH)
        missing += named(self.doubt, self.by.assets)
        if self.bars[-1] < _REGIME_BARS:
            missing.append(readings.SHORT_REGIME)
        if counters.gaps > counters.bars // 20:
            missing.append(readings.GAPS)
        return tuple(missing)


def _ranges(reach: list[list[float]]) -> dict[str, Range]:
    return {
        name: Range(*(math.expm1(log) for log in (-most, -half, half, most)))
        for name, (half, most) in zip(HORIZONS, reach, strict=True)
    }


def _shared(words: list[_Word]) -> _Word | None:
    """Return the word of more than half of the assets, None without one."""
    return next((word for word in dict.fromkeys(words) if 2 * words.count(word) > len(words)), None)


def _direction(biases: list[Bias]) -> Bias:
    """Return the word of most assets, FLAT on a tie or without any."""
    up, down, flat = (biases.count(word) for word in (Bias.UP, Bias.DOWN, Bias.FLAT))
    if up > max(down, flat):
        return Bias.UP
    return Bias.DOWN if down > max(up, flat) else Bias.FLAT


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None
