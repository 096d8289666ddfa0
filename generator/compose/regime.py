"""The state of the market as published, and what changed since the tick before."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from pydantic import Field

from generator.brain.facts import MarketWeek
from generator.brain.reading import NO_AXES, ROUGH, Axes, RegimeReading
from generator.brain.side import SIDE_HOURS
from generator.catalog import words
from generator.catalog.assets import ASSETS
from generator.catalog.formats import iso, percent, probabilities, share
from generator.catalog.links import METHODOLOGY
from generator.catalog.text.answers import REGIME_RELIABILITY
from generator.catalog.text.market import PublishedMarket
from generator.compose.body import Body
from generator.compose.coins import call_of
from generator.compose.context import Change, TickContext
from generator.compose.facts import market_trend
from generator.compose.holds import RegimeReliability, regime_reliability
from generator.compose.inputs import FEWEST
from generator.compose.scores import KIND
from generator.market.bars import BAR_MS
from generator.values.market import BreadthCounts

HOLDS: Final = "Chance that this label still stands in four hours, percent 0..100; null where there is no label."


class Reliability(Body):
    """How the regime confidence is checked: by whether the label still stood four hours later."""

    kind: str = Field(description="replayed: checked on recorded markets that no rule was fitted to.")
    report: str = Field(description="Where the check is described.")
    record: RegimeReliability | None = Field(
        description="What the service's own live chances were worth so far; null below 30 hours of which it is known."
    )


class RegimeChances(Body):
    """Chances of the four labels in four hours; they sum to 1."""

    risk_on: float = Field(description="Chance that the label is risk_on in four hours, 0..1.")
    risk_off: float = Field(description="Chance that it is risk_off then, 0..1.")
    range: float = Field(description="Chance that it is range then, 0..1.")
    high_volatility: float = Field(description="Chance that it is high_volatility then, 0..1.")


class RegimeAxes(Body):
    """The state of the market, read from prices: how rough the next hours look, and what the last day was."""

    swings: words.VolatilityWord = Field(
        description="How rough: the volatility expected for the next four hours, ranked in the whole kept record. "
        "People read calm, normal, rough, wild."
    )
    side: words.MarketSide = Field(
        description="What the last 24 hours were: rising, falling, flat or both_ways, by their move against a usual "
        "day's; unknown without bars."
    )
    side_hours: int = Field(description="Hours that the side looks back: 24.")


class Regime(Body):
    """The state of the market, and the label that is derived from it."""

    axes: RegimeAxes = Field(description="How rough the market is and which side its day was on: read these first.")
    label: words.RegimeLabel = Field(
        description="Derived from axes: elevated or extreme swings are high_volatility; else rising is risk_on, "
        "falling risk_off, flat and both_ways range. transition at starts and gaps; unknown below three days of bars."
    )
    mode: words.MarketMode = Field(description="The side in one word: RISK_ON rising, RISK_OFF falling, else NEUTRAL.")
    state: words.MarketState = Field(description="How calm conditions are. No state predicts a gain.")
    trend: words.Trend = Field(
        description="Direction of the last 24 hours: up where the side is rising, down where falling; in both_ways "
        "that of the day's move where it is larger than a usual day's."
    )
    volatility: words.VolatilityWord = Field(description="As axes.swings.")
    breadth_percent: float | None = Field(description="Share of assets that rose over the last day, percent 0..100.")
    counts: BreadthCounts | None = Field(description="Assets up, down and flat over the last day; null where unknown.")
    probabilities: RegimeChances | None = Field(
        description="Chances of the four labels in four hours, counted in the kept record; null without a label."
    )
    likeliest: words.RegimeLabel | None = Field(
        description="The label with the highest chance in four hours; null without a label."
    )
    confidence: float | None = Field(description=HOLDS)
    confidence_kind: words.ConfidenceKind = Field(default=words.ConfidenceKind.HOLDS_FOUR_HOURS, description=KIND)
    risk_score: float | None = Field(
        description="Rank of the volatility expected for the next four hours in the whole kept record, 0..100; no "
        "direction."
    )
    since: str | None = Field(
        description="Market time from which this label holds: the close of the first bar with it, ISO 8601 UTC."
    )
    dwell_minutes: int | None = Field(description="Minutes for which the label has held.")
    previous_mode: words.MarketMode | None = Field(description="The mode before this one; null where none is kept.")
    previous_label: words.RegimeLabel | None = Field(description="The label before; null where there was none.")
    as_of: str | None = Field(description="Market time at which the last bar read had closed; null without a reading.")
    reliability: Reliability = Field(description="How the confidence was checked.")


UNREAD: Final = RegimeReading(
    axes=NO_AXES,
    label=words.RegimeLabel.UNKNOWN,
    holding={},
    confidence=None,
    since_ms=0,
    dwell_minutes=0,
    previous=None,
    previous_side=None,
    trend=words.Trend.UNKNOWN,
    volatility=words.VolatilityWord.UNKNOWN,
    counts=BreadthCounts(0, 0, 0),
    facts=MarketWeek(),
    risk_score=None,
    drivers=(),
)


def market_state(axes: Axes) -> words.MarketState:
    """Return the state by the first rule that applies.

    >>> [market_state(Axes(word, words.MarketSide.RISING)).value for word in (*ROUGH, words.VolatilityWord.CALM)]
    ['CAUTION', 'CAUTION', 'OPPORTUNITY']
    """
    if words.VolatilityWord.UNKNOWN is axes.swings or axes.side is words.MarketSide.UNKNOWN:
        return words.MarketState.UNKNOWN
    if axes.swings in ROUGH:
        return words.MarketState.CAUTION
    return words.MarketState.OPPORTUNITY if axes.side is words.MarketSide.RISING else words.MarketState.WAIT


def regime(ctx: TickContext, market: PublishedMarket) -> Regime:
    """Build the regime object; everything but trend and breadth is unknown without a reading.

    Args:
        market: the changes of the tick, as counted.
    """
    if ctx.reading is None:
        now = replace(UNREAD, trend=market_trend(ctx), axes=replace(NO_AXES, side=ctx.side))
        as_of = None
    else:
        now = ctx.reading.regime
        # The reading is as of the close of its bar, which is dated by its start.
        as_of = iso(ctx.reading.t_ms + BAR_MS)

    # What only a known label has.
    confidence = None
    chances = None
    likeliest = None
    since = None
    dwell_minutes = None
    if now.label is not words.RegimeLabel.UNKNOWN:
        confidence = share(now.confidence)
        chances = regime_chances(now.holding)
        likeliest = max(now.holding, key=now.holding.__getitem__)
        since = iso(now.since_ms)
        dwell_minutes = now.dwell_minutes

    return Regime(
        axes=_axes(now.axes),
        label=now.label,
        mode=words.MODE_OF_SIDE[now.axes.side],
        state=market_state(now.axes),
        trend=now.trend,
        volatility=now.volatility,
        breadth_percent=_breadth(market),
        counts=_breadth_counts(market),
        probabilities=chances,
        likeliest=likeliest,
        confidence=confidence,
        risk_score=percent(now.risk_score),
        since=since,
        dwell_minutes=dwell_minutes,
        previous_mode=None if now.previous_side is None else words.MODE_OF_SIDE[now.previous_side],
        previous_label=now.previous,
        as_of=as_of,
        reliability=Reliability(
            kind=REGIME_RELIABILITY,
            report=ctx.site.base_url + METHODOLOGY,
            record=regime_reliability(ctx.arena.holds.live),
        ),
    )


def _axes(axes: Axes) -> RegimeAxes:
    """Publish the state."""
    return RegimeAxes(swings=axes.swings, side=axes.side, side_hours=SIDE_HOURS)


def regime_chances(holding: Mapping[words.RegimeLabel, float]) -> RegimeChances:
    """Publish the chances of the four labels, rounded so that they still sum to 1."""
    rounded = probabilities(tuple(holding.values()))
    chances = dict(zip(holding, rounded, strict=True))

    return RegimeChances(
        risk_on=chances[words.RegimeLabel.RISK_ON],
        risk_off=chances[words.RegimeLabel.RISK_OFF],
        range=chances[words.RegimeLabel.RANGE],
        high_volatility=chances[words.RegimeLabel.HIGH_VOLATILITY],
    )


def _breadth(counted: PublishedMarket) -> float | None:
    """Return the share of assets that are up on the day, as counted, percent; None with fewer than three."""
    return share(counted.up / counted.known) if counted.known >= FEWEST else None


def _breadth_counts(counted: PublishedMarket) -> BreadthCounts | None:
    """Count the assets that are up, down or flat (within 0.1%) on the day; None with fewer than three."""
    if counted.known < FEWEST:
        return None
    return BreadthCounts(up=counted.up, down=counted.down, flat=counted.flat)


def tracked_facts(ctx: TickContext, now: Regime) -> dict[str, str | None]:
    """Return the facts of a tick that a reader would want to know the change of, None where unknown."""
    live = ctx.arena.live
    tracked: dict[str, str | None] = {
        "volatility": None,
        "trend": None,
        "regime": None,
        "market state": None,
        "breadth": None,
    }

    if ctx.reading is not None:
        tracked["regime"] = now.label
        tracked["market state"] = now.state
        tracked["volatility"] = now.volatility
        tracked["trend"] = now.axes.side
    if now.counts is not None:
        tracked["breadth"] = f"{now.counts.up} up, {now.counts.down} down, {now.counts.flat} flat"
    for asset in ASSETS:
        tracked[f"call of {asset}"] = call_of(ctx, asset)
    tracked["live round"] = live.round_id if live else None
    return tracked


def changes(before: Mapping[str, str | None] | None, now: Mapping[str, str | None]) -> tuple[Change, ...] | None:
    """Return what differs from the tick published before; None on the first after a start."""
    if before is None:
        return None
    return tuple(
        Change(what=what, before=previous, now=now[what], text=_change_text(what, previous, now[what]))
        for what, previous in before.items()
        if previous != now[what]
    )


def _change_text(what: str, before: str | None, now: str | None) -> str:
    if now is None:
        return f"The {what} is no longer known; it was {before}."
    if before is None:
        return f"The {what} is {now}."
    return f"The {what} changed from {before} to {now}."
