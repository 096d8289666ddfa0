"""Put the engine's state into words and values: the reading after the last bar."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from generator.brain.derivatives import Pressure
from generator.brain.doubt import Doubt, doubted_chance, named, overall
from generator.brain.evidence import Words, book_leans, breadth_lean, gather, momentum
from generator.brain.outlook import volatility_word
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
from generator.market.values import BAR_MS, FloatArray

if TYPE_CHECKING:
    from generator.brain.engine import Engine

HOURLY: Final = 60
_Word = TypeVar("_Word", bound=StrEnum)
_BIAS: Final = {Prediction.BULLISH: Bias.UP, Prediction.BEARISH: Bias.DOWN, Prediction.NEUTRAL: Bias.FLAT}
_OUTLOOK_BARS: Final = 3 * HOUR_BARS
_REGIME_BARS: Final = 2 * DAY_BARS
_CROWDS: Final = (DerivativesState.CROWDED_LONGS, DerivativesState.CROWDED_SHORTS, DerivativesState.DELEVERAGING)


@dataclass(frozen=True, slots=True)
class Columns:
    """What is found for all assets at once, as plain Python values: taking them one by one from arrays is slow.

    Args:
        fresh: a close in the last hour; seen: returns so far; bars: closes that counted.
        doubt: in each asset's data.
        chance: the market's posterior.
        label, sure, trend, score: of the regime, the trend and the risk; the market's is last.
        book_of_most, futures_of_most: words that more than half of the assets share.
        breadth: share of assets that rose over the day; counts: how many rose, fell, and are known at all.
        hour, change: full hour of the day (UTC) six to seven hours ago, and log changes since then.
    """

    fresh: list[bool]
    seen: list[float]
    bars: list[float]
    doubt: tuple[Doubt, ...]
    label: list[RegimeLabel]
    chance: list[float]
    sure: list[float]
    trend: list[Trend]
    score: list[float | None]
    structure: list[MarketStructure]
    push: list[int]
    liquidity: list[LiquidityContext]
    book: list[int | None]
    pressure: list[Pressure]
    book_of_most: LiquidityContext | None
    futures_of_most: DerivativesState | None
    sigma: list[list[float]]
    forecast: tuple[Forecast | None, ...]
    breadth: float | None
    counts: tuple[int, int, int]
    hour: int
    change: list[float]


def read(engine: Engine, day: FloatArray | None = None) -> BrainReading:
    """Return what the engine says now; it must have seen a bar.

    Args:
        engine: after its last bar.
        day: each asset's log change over exactly 24 hours where it is known from outside, NaN elsewhere, (assets,);
            else the change since the oldest hourly close, which is 23 to 24 hours old.
    """
    t_ms = engine.t_ms or 0
    found = _columns(engine, t_ms, day)
    assets = {name: _asset(name, column, found) for column, name in enumerate(engine.assets)}
    regime = _regime(engine, t_ms, found)
    forecasts = [one.forecast for one in assets.values() if one.forecast]
    agreements = [one.agreement for one in assets.values() if one.agreement is not None]
    resolved = int(engine.direction.resolved.sum())
    return BrainReading(
        t_ms=t_ms,
        bars_seen=engine.counters.bars,
        regime=regime,
        outlook=_market_outlook(found.sigma, [one.outlook is not None for one in assets.values()]),
        direction=_direction([one.bias for one in assets.values() if one.forecast]),
        confidence=_confidence(forecasts, found),
        agreement=_mean(agreements),
        coverage=_mean([one.coverage for one in assets.values()]) or 0.0,
        assets=assets,
        learning=LearningReading(resolved, "learning" if resolved else "idle"),
        summary=readings.market_summary(_market_facts(regime, found)),
        limitations=_market_limits(engine, found),
    )


def _columns(engine: Engine, t_ms: int, day: FloatArray | None) -> Columns:
    """Take everything out of the arrays."""
    fresh = engine.close_age <= HOUR_BARS
    here = engine.log_close
    if np.count_nonzero(fresh) < fresh.size:
        here = np.where(fresh, here, np.nan)
    moved = engine.structure.day_change(t_ms, here)
    if day is not None:
        moved = np.where(np.isfinite(day), day, moved)
    rose, fell, known = (int(np.count_nonzero(one)) for one in (moved > 0.0, moved < 0.0, np.isfinite(moved)))
    hour, change = engine.structure.recent_change(t_ms, here)
    sigma = engine.volatility.sigma(t_ms)
    contexts = engine.liquidity.contexts()
    pressure = engine.derivatives.readings()
    chances = engine.filter.chances()
    doubt = engine.doubts()
    shares = [*(one.share for one in doubt), overall(doubt)]
    label = [LABELS[int(one)] for one in engine.filter.label.tolist()]
    sure = engine.filter.confidence(chances).tolist()
    if any(shares):
        sure = [_doubted(*one) for one in zip(sure, label, shares, strict=True)]
    bars = engine.features.count
    return Columns(
        fresh=(fresh & (bars[:-1] > 0.0)).tolist(),
        seen=engine.volatility.count[0].tolist(),
        bars=bars.tolist(),
        doubt=doubt,
        label=label,
        chance=[doubted_chance(one, shares[-1]) for one in chances[:, -1].tolist()],
        sure=sure,
        trend=engine.structure.trends(),
        score=engine.outlook.risk_scores(),
        structure=engine.structure.words(t_ms, engine.log_close, sigma[1], moved),
        push=momentum(engine),
        liquidity=contexts,
        book=book_leans(engine.liquidity.known_imbalance().tolist(), contexts),
        pressure=pressure,
        book_of_most=_shared(contexts),
        futures_of_most=_shared([one.state for one in pressure]),
        sigma=sigma.T.tolist(),
        forecast=engine.forecasts(HOURLY),
        breadth=rose / known if known else None,
        counts=(rose, fell, known),
        hour=hour,
        change=change.tolist(),
    )


def _doubted(sure: float, label: RegimeLabel, share: float) -> float:
    """Return the confidence in a label after doubt in the data; that of `transition` is no chance of a regime."""
    return sure * (1.0 - share) if label is RegimeLabel.TRANSITION else doubted_chance(sure, share)


def _asset(name: str, column: int, found: Columns) -> AssetReading:
    """Return one asset's reading."""
    forecast, fresh, pressure = found.forecast[column], found.fresh[column], found.pressure[column]
    bias = _BIAS[forecast.prediction] if forecast else Bias.FLAT
    placed = fresh and found.seen[column] >= HOUR_BARS
    words = Words(
        bias=bias if forecast else None,
        trend=found.trend[column] if placed else Trend.UNKNOWN,
        volatility=volatility_word(found.score[column]) if fresh else VolatilityWord.UNKNOWN,
        liquidity=found.liquidity[column],
        derivatives=pressure.state,
        vote=pressure.vote,
        push=found.push[column] if placed else None,
        breadth=breadth_lean(*found.counts),
        book=found.book[column],
    )
    structure = found.structure[column] if placed else MarketStructure.UNKNOWN
    evidence = gather(words)
    return AssetReading(
        asset=name,
        bias=bias,
        forecast=forecast,
        regime=found.label[column] if fresh else RegimeLabel.UNKNOWN,
        regime_confidence=found.sure[column] if fresh else None,
        trend=words.trend,
        structure=structure,
        liquidity=words.liquidity,
        derivatives=words.derivatives,
        vote=words.vote,
        derivatives_confidence=pressure.confidence,
        volatility=words.volatility,
        outlook=VolatilityOutlook(*found.sigma[column]) if fresh and found.seen[column] >= _OUTLOOK_BARS else None,
        agreement=evidence.agreement,
        coverage=evidence.coverage,
        evidence=evidence.evidence,
        summary=readings.asset_summary(
            name, structure, _changed("It is", found.change[column], found.hour), evidence.said
        ),
        limitations=_limits(column, found, words, forecast),
        book_lean=words.book,
    )


def _changed(who: str, change: float, hour: int) -> str | None:
    """Put a log change into words, None where it is not known."""
    return None if math.isnan(change) else readings.moved(who, math.expm1(change), hour)


def _regime(engine: Engine, t_ms: int, found: Columns) -> RegimeReading:
    """Return the market's regime."""
    before, since = int(engine.filter.previous[-1]), int(engine.filter.since[-1]) + BAR_MS
    known = np.count_nonzero(engine.volatility.fresh()) > 0
    volatility = volatility_word(found.score[-1]) if known else VolatilityWord.UNKNOWN
    return RegimeReading(
        label=found.label[-1],
        posterior=dict(zip(LABELS[:4], found.chance, strict=True)),
        confidence=found.sure[-1],
        since_ms=since,
        dwell_minutes=dwell_minutes(t_ms, since),
        previous=LABELS[before] if before >= 0 else None,
        trend=found.trend[-1] if known and found.bars[-1] >= HOUR_BARS else Trend.UNKNOWN,
        volatility=volatility,
        breadth=found.breadth,
        risk_score=found.score[-1] if known else None,
        drivers=_drivers(found, volatility),
    )


def _market_facts(regime: RegimeReading, found: Columns) -> readings.MarketFacts:
    """Return what the market's summary is made of."""
    changes = [math.expm1(change) for change in found.change if not math.isnan(change)]
    mean = _mean(changes)
    rose, _, known = found.counts
    return readings.MarketFacts(
        label=regime.label,
        likelier=regime.likelier,
        minutes=regime.dwell_minutes,
        confidence=regime.confidence,
        volatility=regime.volatility,
        change=None if mean is None else readings.moved("On average the coins are", mean, found.hour),
        risers=readings.risers(rose, known) if known else None,
        book=found.book_of_most,
        futures=found.futures_of_most,
    )


def _shared(words: list[_Word]) -> _Word | None:
    """Return the word of more than half of the assets, None without one."""
    return next((word for word in dict.fromkeys(words) if 2 * words.count(word) > len(words)), None)


def _drivers(found: Columns, volatility: VolatilityWord) -> tuple[str, ...]:
    """Return what makes the market risky now, in words; empty where nothing does."""
    drivers = []
    if volatility in (VolatilityWord.ELEVATED, VolatilityWord.EXTREME):
        drivers.append(labels.VOLATILITY[volatility].reading)
    if breadth_lean(*found.counts) == -1:
        drivers.append(labels.BREADTH[-1])
    if found.book_of_most is LiquidityContext.THIN:
        drivers.append(labels.LIQUIDITY[LiquidityContext.THIN].most)
    if found.futures_of_most in _CROWDS:
        drivers.append(labels.DERIVATIVES[found.futures_of_most].reading)
    return tuple(drivers)


def _market_outlook(sigma: list[list[float]], known: list[bool]) -> VolatilityOutlook | None:
    """Return the geometric mean over the assets whose own outlook is known."""
    if not any(known):
        return None
    logs = np.log(sigma if all(known) else [row for row, here in zip(sigma, known, strict=True) if here])
    return VolatilityOutlook(*np.exp(np.add.reduce(logs) / len(logs)).tolist())


def _confidence(forecasts: list[Forecast], found: Columns) -> float | None:
    """Return the mean confidence of the forecasts, less the doubt in the assets that have none any more."""
    known = [(one.share, forecast) for one, forecast in zip(found.doubt, found.forecast, strict=True) if one.known]
    lost = sum(share for share, forecast in known if forecast is None)
    mean = _mean([one.confidence for one in forecasts])
    return mean * (1.0 - lost / len(known)) if mean is not None and lost else mean


def _direction(biases: list[Bias]) -> Bias:
    """Return the word of most assets, FLAT on a tie or without any."""
    up, down, flat = (biases.count(word) for word in (Bias.UP, Bias.DOWN, Bias.FLAT))
    if up > max(down, flat):
        return Bias.UP
    return Bias.DOWN if down > max(up, flat) else Bias.FLAT


def _limits(column: int, found: Columns, words: Words, forecast: Forecast | None) -> tuple[str, ...]:
    """Name what is missing for one asset."""
    missing = []
    if not found.bars[column]:
        missing.append(readings.NO_BARS)
    elif forecast is None and found.fresh[column] and found.seen[column] < DAY_BARS // 2:
        missing.append(readings.SHORT)
    if words.liquidity is LiquidityContext.UNKNOWN:
        missing.append(readings.NO_BOOK)
    if words.derivatives is DerivativesState.UNAVAILABLE:
        missing.append(readings.NO_FUTURES)
    return (*missing, *found.doubt[column].reasons)


def _market_limits(engine: Engine, found: Columns) -> tuple[str, ...]:
    """Name what is missing for the market."""
    fresh, missing = np.count_nonzero(engine.volatility.fresh()), []
    if fresh < len(engine.assets):
        missing.append(readings.SOME_MISSING if fresh else readings.NOTHING_FRESH)
    missing += named(found.doubt, engine.assets)
    if found.bars[-1] < _REGIME_BARS:
        missing.append(readings.SHORT_REGIME)
    if engine.counters.gaps > engine.counters.bars // 20:
        missing.append(readings.GAPS)
    return tuple(missing)


def _mean(values: list[float]) -> float | None:
    """Return the mean, None of nothing."""
    return sum(values) / len(values) if values else None
