"""The regime object, shared by free and paid bodies."""

from __future__ import annotations

from pydantic import Field

from generator.catalog.words import MarketMode, MarketState, RegimeLabel, Trend, VolatilityWord
from generator.contract.base import Body


class Reliability(Body):
    """How the regime confidence was checked. A label is never resolved, so it has no hit rate."""

    kind: str = Field(description="simulated: checked on simulated markets whose true regime is known.")
    report: str = Field(description="Where the check is described.")


class Regime(Body):
    """The kind of market there is now."""

    label: RegimeLabel = Field(description="The regime; unknown without a reading.")
    mode: MarketMode = Field(description="The regime in one word.")
    state: MarketState = Field(description="How calm conditions are. No state predicts a gain.")
    trend: Trend = Field(description="Direction of the last hours.")
    volatility: VolatilityWord = Field(description="Volatility outlook against the last week.")
    breadth_percent: float | None = Field(description="Share of assets that rose over the last day, percent 0..100.")
    confidence: float | None = Field(description="Posterior of the shown label, percent 0..100.")
    risk_score: float | None = Field(description="Expected volatility against the last week, 0 (calm) .. 100 (wild).")
    since: str | None = Field(
        description="Market time from which this label holds: the close of the first bar with it, ISO 8601 UTC."
    )
    dwell_minutes: int | None = Field(description="Minutes for which the label has held.")
    previous_mode: MarketMode | None = Field(description="Mode of the label before.")
    as_of: str | None = Field(description="Market time at which the last bar read had closed; null without a reading.")
    reliability: Reliability = Field(description="How the confidence was checked.")


class MarketContext(Body):
    """The regime in short, next to the brain's state."""

    regime: RegimeLabel = Field(description="Regime label.")
    mode: MarketMode = Field(description="The regime in one word.")
    state: MarketState = Field(description="How calm conditions are. No state predicts a gain.")
    volatility: VolatilityWord = Field(description="Volatility outlook against the last week.")
    breadth_percent: float | None = Field(description="Share of assets that rose over the last day, percent 0..100.")
