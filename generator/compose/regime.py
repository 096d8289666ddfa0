"""The regime object and the words that follow from it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Final

from generator.brain.reading import RegimeReading
from generator.catalog.assets import ASSETS
from generator.catalog.formats import change, iso, percent, share
from generator.catalog.links import METHODOLOGY
from generator.catalog.text.answers import REGIME_RELIABILITY
from generator.catalog.words import MODE_OF_REGIME, MarketState, RegimeLabel, Trend, VolatilityWord
from generator.compose.context import TickContext
from generator.compose.inputs import missing_reason, observed
from generator.contract.regime import MarketContext, Regime, Reliability
from generator.market.bars import BAR_MS

_CAUTION = {RegimeLabel.RISK_OFF, RegimeLabel.HIGH_VOLATILITY, RegimeLabel.TRANSITION}
_CALM = {VolatilityWord.CALM, VolatilityWord.NORMAL}
_OPPORTUNITY_PERCENT = 60
_UNREAD: Final = RegimeReading(
    label=RegimeLabel.UNKNOWN,
    posterior={},
    confidence=0.0,
    since_ms=0,
    dwell_minutes=0,
    previous=None,
    trend=Trend.UNKNOWN,
    volatility=VolatilityWord.UNKNOWN,
    breadth=None,
    risk_score=None,
    drivers=(),
)


def market_state(label: RegimeLabel, volatility: VolatilityWord, confidence_percent: float | None) -> MarketState:
    """Return the state by the first rule that applies (docs/brain.md)."""
    if label is RegimeLabel.UNKNOWN:
        return MarketState.UNKNOWN
    if label in _CAUTION or volatility is VolatilityWord.EXTREME:
        return MarketState.CAUTION
    sure = confidence_percent is not None and confidence_percent >= _OPPORTUNITY_PERCENT
    if label is RegimeLabel.RISK_ON and sure and volatility in _CALM:
        return MarketState.OPPORTUNITY
    return MarketState.WAIT


def regime(ctx: TickContext) -> Regime:
    """Build the regime object; everything but trend and breadth is unknown without a reading."""
    now = ctx.reading.regime if ctx.reading else replace(_UNREAD, trend=market_trend(ctx))
    known = now.label is not RegimeLabel.UNKNOWN
    confidence = share(now.confidence) if known else None
    return Regime(
        label=now.label,
        mode=MODE_OF_REGIME[now.label],
        state=market_state(now.label, now.volatility, confidence),
        trend=now.trend,
        volatility=now.volatility,
        breadth_percent=breadth(ctx) if now.breadth is None else share(now.breadth),
        confidence=confidence,
        risk_score=percent(now.risk_score),
        since=iso(now.since_ms) if known else None,
        dwell_minutes=now.dwell_minutes if known else None,
        previous_mode=None if now.previous is None else MODE_OF_REGIME[now.previous],
        as_of=iso(ctx.reading.t_ms + BAR_MS) if ctx.reading else None,
        reliability=Reliability(kind=REGIME_RELIABILITY, report=ctx.site.base_url + METHODOLOGY),
    )


def market_trend(ctx: TickContext) -> Trend:
    """Return the trend of most assets, sideways on a tie, unknown with fewer than three."""
    known = Counter(word for word in ctx.trends.values() if word != Trend.UNKNOWN)
    if known.total() < 3:
        return Trend.UNKNOWN
    (first, count), *others = known.most_common(2)
    return Trend.SIDEWAYS if others and others[0][1] == count else Trend(first)


def breadth(ctx: TickContext) -> float | None:
    """Return the share of assets whose published change over 24 hours is above 0; None with fewer than three."""
    changes = [moved for asset in ASSETS if (moved := change(observed(ctx, asset).change_24h_percent)) is not None]
    return share(sum(moved > 0 for moved in changes) / len(changes)) if len(changes) >= 3 else None


def market_context(ctx: TickContext) -> MarketContext:
    """Build the regime in short."""
    now = regime(ctx)
    return MarketContext(
        regime=now.label,
        mode=now.mode,
        state=now.state,
        volatility=now.volatility,
        breadth_percent=now.breadth_percent,
    )


def regime_sentence(ctx: TickContext) -> str:
    """Say the regime in words."""
    now = regime(ctx)
    if now.label is RegimeLabel.UNKNOWN:
        return f"The regime is unknown: {missing_reason(ctx)}. Prices and changes are shown where they are known."
    label = now.label.replace("_", " ")
    rose = "" if now.breadth_percent is None else f" {now.breadth_percent:g} % of the assets rose over the last day."
    overtaken = ctx.reading.regime.likelier if ctx.reading else None
    fading = f" It is fading: {overtaken.replace('_', ' ')} is now the likelier label." if overtaken else ""
    return (
        f"The market reads as {label} with {now.confidence:g} % confidence in the label; "
        f"volatility is {now.volatility}, the trend {now.trend}.{fading}{rose} This describes now and predicts no gain."
    )
