"""Put the engine's state into words and values: the reading after the last bar."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from generator.brain import sentences
from generator.brain.evidence import Words, agreement_of, breadth_lean, coverage_of, gather, momentum
from generator.brain.regime import LABELS, dwell_minutes
from generator.brain.smoothing import DAY_BARS, HOUR_BARS
from generator.brain.values import (
    AssetReading,
    BrainReading,
    Forecast,
    LearningReading,
    RegimeReading,
    VolatilityOutlook,
)
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

if TYPE_CHECKING:
    from generator.brain.engine import Engine

HOURLY: Final = 60
_BIAS: Final = {Prediction.BULLISH: Bias.UP, Prediction.BEARISH: Bias.DOWN, Prediction.NEUTRAL: Bias.FLAT}
_OUTLOOK_BARS: Final = 3 * HOUR_BARS
_REGIME_BARS: Final = 2 * DAY_BARS


@dataclass(frozen=True, slots=True)
class Known:
    """What is found for all assets at once, of one asset; breadth is the market's."""

    sure: float
    structure: MarketStructure
    push: int
    breadth: float | None


def read(engine: Engine) -> BrainReading:
    """Return what the engine says now; it must have seen a bar."""
    t_ms = engine.t_ms or 0
    here = np.where(engine.close_age <= HOUR_BARS, engine.log_close, np.nan)
    breadth = engine.structure.breadth(t_ms, here)
    sigma = engine.volatility.sigma(t_ms)
    hourly = engine.forecasts(HOURLY)
    sure = engine.filter.confidence().tolist()
    expected = sigma.T.tolist()
    shapes = engine.structure.words(t_ms, engine.log_close, sigma[1])
    pushes = momentum(engine)
    assets = {
        name: _asset(
            engine, column, forecast, expected[column], Known(sure[column], shapes[column], pushes[column], breadth)
        )
        for column, (name, forecast) in enumerate(zip(engine.assets, hourly, strict=True))
    }
    regime = _regime(engine, t_ms, breadth)
    forecasts = [one.forecast for one in assets.values() if one.forecast]
    agreements = [one.agreement for one in assets.values() if one.agreement is not None]
    resolved = int(engine.direction.resolved.sum())
    return BrainReading(
        t_ms=t_ms,
        bars_seen=engine.counters.bars,
        regime=regime,
        outlook=_market_outlook([one.outlook for one in assets.values() if one.outlook]),
        direction=_direction([one.bias for one in assets.values() if one.forecast]),
        confidence=_mean([one.confidence for one in forecasts]),
        agreement=_mean(agreements),
        coverage=_mean([one.coverage for one in assets.values()]) or 0.0,
        assets=assets,
        learning=LearningReading(resolved, "learning" if resolved else "idle"),
        summary=sentences.market_summary(
            regime.label, regime.dwell_minutes, regime.confidence, regime.volatility, breadth_lean(breadth)
        ),
        limitations=_market_limits(engine),
    )


def _asset(engine: Engine, column: int, forecast: Forecast | None, sigma: list[float], known: Known) -> AssetReading:
    """Return one asset's reading.

    Args:
        sigma: expected over 15 minutes, 1 hour, 4 hours.
        known: what was found for all assets at once.
    """
    name = engine.assets[column]
    fresh = bool(engine.close_age[column] <= HOUR_BARS) and bool(engine.features.count[column] > 0)
    bias = _BIAS[forecast.prediction] if forecast else Bias.FLAT
    words = Words(
        bias=bias,
        trend=engine.structure.trend_word(column) if fresh and _seen(engine, column) >= HOUR_BARS else Trend.UNKNOWN,
        volatility=engine.outlook.word(column) if fresh else VolatilityWord.UNKNOWN,
        liquidity=engine.liquidity.context(column),
        derivatives=engine.derivatives.state(column),
        vote=engine.derivatives.vote(column),
    )
    structure = known.structure if words.trend is not Trend.UNKNOWN else MarketStructure.UNKNOWN
    evidence = gather(engine, column, words, (known.push, known.breadth))
    return AssetReading(
        asset=name,
        bias=bias,
        forecast=forecast,
        regime=LABELS[int(engine.filter.label[column])] if fresh else RegimeLabel.UNKNOWN,
        regime_confidence=known.sure if fresh else None,
        trend=words.trend,
        structure=structure,
        liquidity=words.liquidity,
        derivatives=words.derivatives,
        vote=words.vote,
        derivatives_confidence=engine.derivatives.confidence(column),
        volatility=words.volatility,
        outlook=_outlook(engine, column, sigma) if fresh else None,
        agreement=agreement_of(evidence),
        coverage=coverage_of(evidence),
        evidence=evidence,
        summary=sentences.asset_summary(name, structure, bias, words.volatility, forecast=forecast is not None),
        limitations=_limits(engine, column, words, forecast, fresh=fresh),
    )


def _regime(engine: Engine, t_ms: int, breadth: float | None) -> RegimeReading:
    """Return the market's regime."""
    found = engine.filter
    label, before = LABELS[int(found.label[-1])], int(found.previous[-1])
    since = int(found.since[-1])
    known = bool((engine.volatility.fresh() > 0).any())
    volatility = engine.outlook.word(-1) if known else VolatilityWord.UNKNOWN
    return RegimeReading(
        label=label,
        posterior={word: float(chance) for word, chance in zip(LABELS[:4], found.posterior[:, -1], strict=True)},
        confidence=float(found.confidence()[-1]),
        since_ms=since,
        dwell_minutes=dwell_minutes(t_ms, since),
        previous=LABELS[before] if before >= 0 else None,
        trend=engine.structure.trend_word(-1) if known and engine.features.count[-1] >= HOUR_BARS else Trend.UNKNOWN,
        volatility=volatility,
        breadth=breadth,
        risk_score=engine.outlook.risk_score(-1) if known else None,
        drivers=_drivers(engine, volatility, breadth),
    )


def _drivers(engine: Engine, volatility: VolatilityWord, breadth: float | None) -> tuple[str, ...]:
    """Return what makes the market risky now, in words; empty where nothing does."""
    columns = range(len(engine.assets))
    states = [engine.derivatives.state(column) for column in columns]
    thin = sum(engine.liquidity.context(column) is LiquidityContext.THIN for column in columns)
    found = []
    if volatility in (VolatilityWord.ELEVATED, VolatilityWord.EXTREME):
        found.append(sentences.VOLATILITY[volatility])
    if breadth_lean(breadth) == -1:
        found.append(sentences.BREADTH[-1])
    if 2 * thin > len(engine.assets):
        found.append("Little can change hands near the price of most coins.")
    crowds = (DerivativesState.CROWDED_LONGS, DerivativesState.CROWDED_SHORTS, DerivativesState.DELEVERAGING)
    found += [sentences.DERIVATIVES[state] for state in crowds if 2 * states.count(state) > len(engine.assets)]
    return tuple(found)


def _outlook(engine: Engine, column: int, sigma: list[float]) -> VolatilityOutlook | None:
    """Return the asset's outlook; None with under three hours of returns."""
    if _seen(engine, column) < _OUTLOOK_BARS:
        return None
    return VolatilityOutlook(*sigma)


def _market_outlook(outlooks: list[VolatilityOutlook]) -> VolatilityOutlook | None:
    """Return the geometric mean over assets."""
    if not outlooks:
        return None
    logs = np.log([[one.m15, one.h1, one.h4] for one in outlooks])
    return VolatilityOutlook(*np.exp(logs.mean(axis=0)).tolist())


def _direction(biases: list[Bias]) -> Bias:
    """Return the word of most assets, FLAT on a tie or without any."""
    ranked = Counter(biases).most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return Bias.FLAT
    return ranked[0][0]


def _limits(engine: Engine, column: int, words: Words, forecast: Forecast | None, *, fresh: bool) -> tuple[str, ...]:
    """Name what is missing for one asset."""
    found = []
    if not fresh:
        found.append(sentences.STALE if engine.features.count[column] > 0 else sentences.NO_BARS)
    elif forecast is None:
        found.append(sentences.SHORT if _seen(engine, column) < DAY_BARS // 2 else "the last bars are missing")
    if words.liquidity is LiquidityContext.UNKNOWN:
        found.append(sentences.NO_BOOK)
    if words.derivatives is DerivativesState.UNAVAILABLE:
        found.append(sentences.NO_FUTURES)
    if engine.volatility.capped[column] > 0:
        found.append(sentences.CAPPED)
    return tuple(found)


def _market_limits(engine: Engine) -> tuple[str, ...]:
    """Name what is missing for the market."""
    fresh = engine.volatility.fresh() > 0
    found = []
    if not fresh.all():
        found.append(sentences.SOME_MISSING if fresh.any() else sentences.NOTHING_FRESH)
    if engine.features.count[-1] < _REGIME_BARS:
        found.append(sentences.SHORT_REGIME)
    if engine.counters.gaps > engine.counters.bars // 20:
        found.append(sentences.GAPS)
    return tuple(found)


def _seen(engine: Engine, column: int) -> float:
    """Return how many returns an asset has."""
    return float(engine.volatility.count[0, column])


def _mean(values: list[float]) -> float | None:
    """Return the mean, None of nothing."""
    return sum(values) / len(values) if values else None
