"""Assemble the readings of the parts into one: every asset and the market, in values and words."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, TypeVar

import numpy as np

from generator.brain.derivatives import Pressure
from generator.brain.doubt import Doubt, doubted_chance, named, overall
from generator.brain.evidence import Evidence, Words, breadth_lean, gather
from generator.brain.facts import AssetFacts, MarketFacts
from generator.brain.forecast import Forecast
from generator.brain.liquidity import LiquidityReading
from generator.brain.outlook import HORIZONS, MIN_BARS
from generator.brain.regime import REGIMES, FilterReading, dwell_minutes, facts_of
from generator.brain.smoothing import DAY_BARS, HOUR_BARS
from generator.brain.structure import SIGN, Counts, StructureReading
from generator.brain.volatility import VolatilityReading
from generator.catalog.text import labels, readings
from generator.catalog.words import (
    Bias,
    DerivativesState,
    DerivativesVote,
    LiquidityContext,
    MarketStructure,
    Prediction,
    RegimeLabel,
    Trend,
    VolatilityWord,
)
from generator.market.bars import BAR_MS

_Word = TypeVar("_Word", bound=StrEnum)
_BIAS: Final = {Prediction.BULLISH: Bias.UP, Prediction.BEARISH: Bias.DOWN, Prediction.NEUTRAL: Bias.FLAT}
_REGIME_BARS: Final = 2 * DAY_BARS
_CROWDS: Final = (DerivativesState.CROWDED_LONGS, DerivativesState.CROWDED_SHORTS, DerivativesState.DELEVERAGING)


@dataclass(frozen=True, slots=True)
class VolatilityOutlook:
    """Expected sigma of log returns over the horizon, as a fraction (0.004 = 0.4%)."""

    m15: float
    h1: float
    h4: float
    h24: float


@dataclass(frozen=True, slots=True)
class Range:
    """Where the price may be at the end of a horizon, as simple returns (0.004 = 0.4%)."""

    low_90: float
    low_50: float
    high_50: float
    high_90: float


@dataclass(frozen=True, slots=True)
class RegimeReading:
    """The market regime now, by the forward filter."""

    label: RegimeLabel
    posterior: dict[RegimeLabel, float]  # over risk_on, risk_off, range, high_volatility; sums to 1
    confidence: float  # chance of the shown label; of `transition`, the likeliest's
    since_ms: int  # close of the first bar with the label
    dwell_minutes: int
    previous: RegimeLabel | None
    trend: Trend
    volatility: VolatilityWord
    counts: Counts  # of the assets' changes over the last day
    facts: MarketFacts
    risk_score: float | None  # 0..100, from the volatility outlook against the last week
    drivers: tuple[str, ...]  # risk drivers in words

    @property
    def stressed(self) -> bool:
        """Whether the next hours are expected to be rougher than most of the week."""
        return self.volatility in (VolatilityWord.ELEVATED, VolatilityWord.EXTREME)


@dataclass(frozen=True, slots=True)
class AssetReading:
    """One asset now."""

    asset: str
    bias: Bias
    forecast: Forecast | None  # 60 minutes; None while there is too little history
    regime: RegimeLabel
    regime_confidence: float | None
    trend: Trend
    structure: MarketStructure
    liquidity: LiquidityContext
    derivatives: DerivativesState
    vote: DerivativesVote
    pressure: Pressure  # what the derivatives word and vote rest on
    volatility: VolatilityWord
    outlook: VolatilityOutlook | None
    ranges: dict[str, Range] | None  # by horizon: 15m, 1h, 4h, 24h
    baselines: dict[str, float] | None  # sigma of a 5-minute bar by last_hour, last_day, ewma, as a fraction
    change: float | None  # over the last day, as a fraction
    facts: AssetFacts
    agreement: float | None  # between families of evidence, 0..1
    coverage: float  # families present, 0..1
    evidence: tuple[Evidence, ...]
    limitations: tuple[str, ...] = ()
    book_lean: int | None = None  # of the order book lately: 1 to bids, 0 even, -1 to asks


@dataclass(frozen=True, slots=True)
class LearningReading:
    """What the online part has learned from resolved outcomes; counts and scores only."""

    resolved: int
    status: str  # learning | idle


@dataclass(frozen=True, slots=True)
class BrainReading:
    """Everything the brain says after one closed bar.

    Args:
        t_ms: open time of the last closed bar.
        regime: the market's regime.
        outlook: market volatility, geometric mean over assets.
        direction: the word of most assets; FLAT on a tie.
        confidence: mean chance of the shown class over the assets with a forecast.
        assets: every asset, also those without data.
        limitations: what is missing.
    """

    t_ms: int
    bars_seen: int
    regime: RegimeReading
    outlook: VolatilityOutlook | None
    direction: Bias
    confidence: float | None
    agreement: float | None
    coverage: float
    assets: dict[str, AssetReading]
    learning: LearningReading
    limitations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Parts:
    """The readings of the engine's parts after one bar; lists run over the assets.

    Args:
        bars_seen, gaps: bars so far, and bars that never came.
        fresh: a close in the last hour; bars: closes that counted, the market's last.
        doubt: in each asset's data.
        push: of the last hours: 1, 0 or -1.
        forecast: over 60 minutes.
        resolved: outcomes that the online part has learned from.
    """

    assets: tuple[str, ...]
    t_ms: int
    bars_seen: int
    gaps: int
    fresh: list[bool]
    bars: list[float]
    doubt: tuple[Doubt, ...]
    regime: FilterReading
    volatility: VolatilityReading
    structure: StructureReading
    baselines: list[dict[str, float] | None]
    push: list[int]
    liquidity: LiquidityReading
    pressure: list[Pressure]
    forecast: tuple[Forecast | None, ...]
    resolved: int


def assemble(parts: Parts) -> BrainReading:
    """Return what the brain says after the last bar."""
    share = overall(parts.doubt)
    assets = {name: _asset(name, column, parts) for column, name in enumerate(parts.assets)}
    books, futures = _shared(parts.liquidity.context), _shared([one.shown for one in parts.pressure])
    regime = _regime(parts, share, books, futures)
    forecasts = [one.forecast for one in assets.values() if one.forecast]
    agreements = [one.agreement for one in assets.values() if one.agreement is not None]
    sigma = [row for row, one in zip(parts.volatility.sigma, assets.values(), strict=True) if one.outlook]
    return BrainReading(
        t_ms=parts.t_ms,
        bars_seen=parts.bars_seen,
        regime=regime,
        outlook=_market_outlook(sigma),
        direction=_direction([one.bias for one in assets.values() if one.forecast]),
        confidence=_confidence(forecasts, parts),
        agreement=_mean(agreements),
        coverage=_mean([one.coverage for one in assets.values()]) or 0.0,
        assets=assets,
        learning=LearningReading(parts.resolved, "learning" if parts.resolved else "idle"),
        limitations=_market_limits(parts),
    )


def _asset(name: str, column: int, parts: Parts) -> AssetReading:
    forecast, fresh, pressure = parts.forecast[column], parts.fresh[column], parts.pressure[column]
    shape, doubt, label = parts.structure, parts.doubt[column], parts.regime.label[column]
    bias = _BIAS[forecast.prediction] if forecast else Bias.FLAT
    seen = parts.volatility.seen[column]
    placed = fresh and seen >= HOUR_BARS
    words = Words(
        bias=bias if forecast else None,
        trend=shape.trend[column] if placed else Trend.UNKNOWN,
        volatility=parts.volatility.word[column] if fresh else VolatilityWord.UNKNOWN,
        liquidity=parts.liquidity.context[column],
        derivatives=pressure.shown,
        vote=pressure.vote,
        push=parts.push[column] if placed else None,
        breadth=breadth_lean(shape.counts),
        book=parts.liquidity.lean[column],
    )
    structure = shape.structure[column] if placed else MarketStructure.UNKNOWN
    evidence = gather(words)
    outlook = VolatilityOutlook(*parts.volatility.sigma[column]) if fresh and seen >= MIN_BARS else None
    confidence = doubted_chance(parts.regime.confidence[column], doubt.share) if fresh else None
    return AssetReading(
        asset=name,
        bias=bias,
        forecast=forecast,
        regime=label if fresh else RegimeLabel.UNKNOWN,
        regime_confidence=confidence,
        trend=words.trend,
        structure=structure,
        liquidity=words.liquidity,
        derivatives=words.derivatives,
        vote=words.vote,
        pressure=pressure,
        volatility=words.volatility,
        outlook=outlook,
        ranges=_ranges(parts.volatility.reach[column]) if outlook else None,
        baselines=parts.baselines[column] if outlook else None,
        change=shape.day[column],
        facts=shape.assets[column],
        agreement=evidence.agreement,
        coverage=evidence.coverage,
        evidence=evidence.evidence,
        limitations=_limits(column, parts, words),
        book_lean=words.book,
    )


def _ranges(reach: list[list[float]]) -> dict[str, Range]:
    return {
        name: Range(*(math.expm1(log) for log in (-most, -half, half, most)))
        for name, (half, most) in zip(HORIZONS, reach, strict=True)
    }


def _regime(
    parts: Parts, doubt: float, books: LiquidityContext | None, futures: DerivativesState | None
) -> RegimeReading:
    """Return the market's regime; `books` and `futures` are words that more than half of the assets share."""
    found, shape, known = parts.regime, parts.structure, parts.volatility.fresh > 0
    label, risk = found.label[-1], parts.volatility.risk[-1] if known else None
    volatility = parts.volatility.word[-1] if known else VolatilityWord.UNKNOWN
    drivers = []
    if volatility in (VolatilityWord.ELEVATED, VolatilityWord.EXTREME):
        drivers.append(labels.EXPECTED[volatility])
    if breadth_lean(shape.counts) == -1:
        drivers.append(labels.BREADTH[-1])
    if books is LiquidityContext.THIN:
        drivers.append(labels.LIQUIDITY[LiquidityContext.THIN].most)
    if futures in _CROWDS:
        drivers.append(labels.DERIVATIVES[futures].most)
    trend = shape.trend[-1] if known and parts.bars[-1] >= HOUR_BARS else Trend.UNKNOWN
    change = np.array(shape.day, dtype=np.float64)
    usual = np.full(len(change) + 1, shape.market.usual_day, dtype=np.float64)
    facts = facts_of(change, np.full(len(usual), SIGN.get(trend, np.nan)), [volatility] * len(usual), usual)
    now = found.held(facts)
    if now is not label:  # prices of this minute, which the bars do not have, forbid the label of the last bar
        found = replace(found, since_ms=parts.t_ms + BAR_MS, previous=label)
    return RegimeReading(
        label=now,
        posterior={regime: doubted_chance(one, doubt) for regime, one in zip(REGIMES, found.market, strict=True)},
        confidence=doubted_chance(found.chance(now), doubt),
        since_ms=found.since_ms,
        dwell_minutes=dwell_minutes(parts.t_ms, found.since_ms),
        previous=found.previous,
        trend=trend,
        volatility=volatility,
        counts=shape.counts,
        facts=shape.market,
        risk_score=risk,
        drivers=tuple(drivers),
    )


def _shared(words: list[_Word]) -> _Word | None:
    """Return the word of more than half of the assets, None without one."""
    return next((word for word in dict.fromkeys(words) if 2 * words.count(word) > len(words)), None)


def _market_outlook(sigma: Sequence[list[float]]) -> VolatilityOutlook | None:
    """Return the geometric mean over the assets whose own outlook is known."""
    if not sigma:
        return None
    return VolatilityOutlook(*np.exp(np.add.reduce(np.log(sigma)) / len(sigma)).tolist())


def _confidence(forecasts: list[Forecast], parts: Parts) -> float | None:
    """Return the mean confidence of the forecasts, less the doubt in the assets that have none any more."""
    known = [(one.share, forecast) for one, forecast in zip(parts.doubt, parts.forecast, strict=True) if one.known]
    lost = sum(share for share, forecast in known if forecast is None)
    mean = _mean([one.confidence for one in forecasts])
    return mean * (1.0 - lost / len(known)) if mean is not None and lost else mean


def _direction(biases: list[Bias]) -> Bias:
    """Return the word of most assets, FLAT on a tie or without any."""
    up, down, flat = (biases.count(word) for word in (Bias.UP, Bias.DOWN, Bias.FLAT))
    if up > max(down, flat):
        return Bias.UP
    return Bias.DOWN if down > max(up, flat) else Bias.FLAT


def _limits(column: int, parts: Parts, words: Words) -> tuple[str, ...]:
    missing = []
    if not parts.bars[column]:
        missing.append(readings.NO_BARS)
    elif words.bias is None and parts.fresh[column] and parts.volatility.seen[column] < DAY_BARS // 2:
        missing.append(readings.SHORT)
    if words.liquidity is LiquidityContext.UNKNOWN:
        missing.append(readings.NO_BOOK)
    if parts.pressure[column].state is DerivativesState.UNAVAILABLE:
        missing += parts.pressure[column].limitations
    return (*missing, *parts.doubt[column].reasons)


def _market_limits(parts: Parts) -> tuple[str, ...]:
    fresh, missing = parts.volatility.fresh, []
    if fresh < len(parts.assets):
        missing.append(readings.SOME_MISSING if fresh else readings.NOTHING_FRESH)
    missing += named(parts.doubt, parts.assets)
    if parts.bars[-1] < _REGIME_BARS:
        missing.append(readings.SHORT_REGIME)
    if parts.gaps > parts.bars_seen // 20:
        missing.append(readings.GAPS)
    return tuple(missing)


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None
