"""GET /api/market-regime.php, GET /api/x402-market-regime.php once paid, and what changed since earlier ticks."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from pydantic import Field

from generator.brain.facts import MarketWeek
from generator.brain.reading import NO_AXES, ROUGH, Axes, RegimeReading
from generator.brain.side import SIDE_HOURS
from generator.brain.structure import Counts
from generator.catalog import words
from generator.catalog.assets import ASSETS
from generator.catalog.endpoints import ENDPOINT_BY_ID
from generator.catalog.formats import iso, percent, probabilities, share
from generator.catalog.links import METHODOLOGY
from generator.catalog.text.answers import NO_DAY_BEFORE, REGIME_RELIABILITY, clause
from generator.catalog.text.figures import HYPHEN, day_and_clock, signed
from generator.catalog.text.labels import REGIME
from generator.compose.body import Body, absent
from generator.compose.coins import ExpectedMove, Quoted, call_of, expected_move_of, quoted, trend_of, volatility_of
from generator.compose.context import Change, TickContext
from generator.compose.envelope import PaidResponse, RichResponse, paid_envelope, rich_envelope, source_name
from generator.compose.facts import facts, market_trend, moves, regime_sentence
from generator.compose.holds import RegimeReliability, regime_reliability
from generator.compose.inputs import FEWEST, asset_limitations, missing_reason, reading_of
from generator.compose.paid_words import regime_headline, regime_summary
from generator.compose.scores import KIND
from generator.compose.spells import Spells, spells
from generator.market.bars import BAR_MS

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


class BreadthCounts(Body):
    """How many assets rose and fell over the last day."""

    up: int = Field(description="Assets that rose by more than 0.1%.")
    down: int = Field(description="Assets that fell by more than 0.1%.")
    flat: int = Field(description="Assets that moved by 0.1% at most.")


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


class MarketContext(Body):
    """The regime in short, next to the brain's state."""

    regime: words.RegimeLabel = Field(description="Regime label.")
    mode: words.MarketMode = Field(description="The side in one word.")
    state: words.MarketState = Field(description="How calm conditions are. No state predicts a gain.")
    volatility: words.VolatilityWord = Field(
        description="How rough the next four hours look against the whole kept record."
    )
    breadth_percent: float | None = Field(description="Share of assets that rose over the last day, percent 0..100.")


class AssetRegime(Quoted):
    """One asset's own regime."""

    regime: words.RegimeLabel = Field(
        description="Its label, by the same rules on its own moves; unknown without a reading."
    )
    mode: words.MarketMode = Field(description="The mode that goes with the label.")
    confidence: float | None = Field(description=HOLDS)
    confidence_kind: words.ConfidenceKind = Field(default=words.ConfidenceKind.HOLDS_FOUR_HOURS, description=KIND)
    trend: words.Trend = Field(description="Direction of its last 24 hours.")
    volatility: words.VolatilityWord = Field(
        description="How rough the next four hours look against the whole kept record."
    )
    expected_move: ExpectedMove | None = Field(description="Expected size of moves; null without a reading.")
    same_as_market: bool | None = Field(description="Whether it is in the market's regime; null without a reading.")
    limitations: tuple[str, ...] = Field(description="What is unknown of this asset, and why.")


class MarketRegimeResponse(RichResponse):
    """Compact public regime context."""

    regime: Regime = Field(description="The kind of market there is now.")
    market_mode: words.MarketMode = Field(description="Repeats regime.mode.")
    market_state: words.MarketState = Field(description="Repeats regime.state.")
    confidence: float | None = Field(
        default=None,
        exclude_if=absent,
        description="Repeats regime.confidence, percent 0..100; left out while that is null.",
    )
    confidence_kind: words.ConfidenceKind = Field(default=words.ConfidenceKind.HOLDS_FOUR_HOURS, description=KIND)


class X402PaidResponse(PaidResponse):
    """The market regime in full."""

    market_mode: words.MarketMode | None = Field(description="The side in one word.")
    market_state: words.MarketState | None = Field(description="How calm conditions are. No state predicts a gain.")
    summary: str | None = Field(description="The reading in words.")
    confidence: float | None = Field(description=HOLDS)
    confidence_kind: words.ConfidenceKind = Field(default=words.ConfidenceKind.HOLDS_FOUR_HOURS, description=KIND)
    risk_score: float | None = Field(
        description="Rank of the volatility expected for the next four hours in the whole kept record, 0..100; no "
        "direction."
    )
    source: str = Field(description="Where the market data come from.")
    regime: Regime = Field(description="The market's regime.")
    assets: dict[str, AssetRegime] = Field(description="Asset symbol to its own regime.")
    what_changed: tuple[Change, ...] = Field(description="What changed over the last 24 hours.")
    risk_drivers: tuple[str, ...] = Field(description="What drives risk now, in words.")
    spells: Spells | None = Field(
        description="How long: spells of the state that the market is in now, what ended them and what followed; "
        "null without a reading."
    )


_DAY_MINUTES: Final = 1440
_UNREAD: Final = RegimeReading(
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
    counts=Counts(0, 0, 0),
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


def regime(ctx: TickContext) -> Regime:
    """Build the regime object; everything but trend and breadth is unknown without a reading."""
    if ctx.reading is None:
        now = replace(_UNREAD, trend=market_trend(ctx), axes=replace(NO_AXES, side=ctx.side))
        as_of = None
    else:
        now = ctx.reading.regime
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
        breadth_percent=breadth(ctx),
        counts=breadth_counts(ctx),
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


def breadth(ctx: TickContext) -> float | None:
    """Return the share of assets that are up on the day, as counted, percent; None with fewer than three."""
    counted = facts(ctx)
    return share(counted.up / counted.known) if counted.known >= FEWEST else None


def breadth_counts(ctx: TickContext) -> BreadthCounts | None:
    """Count the assets that are up, down or flat (within 0.1%) on the day; None with fewer than three."""
    counted = facts(ctx)
    if counted.known < FEWEST:
        return None
    return BreadthCounts(up=counted.up, down=counted.down, flat=counted.flat)


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


def market_regime(ctx: TickContext) -> MarketRegimeResponse:
    """Compose the public regime."""
    now = regime(ctx)
    summary = regime_sentence(ctx)

    return MarketRegimeResponse(
        **rich_envelope(ctx, ENDPOINT_BY_ID["market-regime"], summary=summary).as_fields(),
        regime=now,
        market_mode=now.mode,
        market_state=now.state,
        confidence=now.confidence,
    )


def what_changed(ctx: TickContext) -> tuple[Change, ...]:
    """List the changes of regime, confidence, risk and prices over the last 24 hours."""
    label = ctx.reading.regime.label if ctx.reading else None
    first = Change(what="regime", before=ctx.day_before.regime, now=label, text=regime_change(ctx))
    return (first, *_figures(ctx), *_movers(ctx))


def regime_change(ctx: TickContext) -> str:
    """Say what the regime is and what it was 24 hours ago, as far as the kept readings or its own dwell know it."""
    if ctx.reading is None:
        return f"The regime is not known now: {clause(missing_reason(ctx))}."

    now = ctx.reading.regime
    if now.label is words.RegimeLabel.UNKNOWN:
        return "The regime is not known now."
    name = REGIME[now.label]
    if ctx.day_before.regime is not None:
        before = REGIME[ctx.day_before.regime]
    elif now.dwell_minutes >= _DAY_MINUTES:
        before = name
    else:
        return _regime_began(ctx, name)

    if before == name:
        return f"The regime is the one of 24 hours ago: {name}."
    return f"The regime is {name}; 24 hours ago it was {before}."


def _regime_began(ctx: TickContext, name: str) -> str:
    """Say since when the regime is what it is, and what it was before, of a market not read 24 hours ago."""
    now = ctx.reading.regime if ctx.reading else _UNREAD
    since = day_and_clock(now.since_ms, ctx.observation.market_ms)
    began = f"The regime has been {name} since {since} UTC" if since else f"The regime is {name}"
    previous = now.previous
    if previous is None or REGIME[previous] == name:
        return f"{began}; what it was 24 hours ago is not known."
    return f"{began}; before that it was {REGIME[previous]}."


def _figures(ctx: TickContext) -> list[Change]:
    """Compare the confidence of one regime with itself, and the risk score."""
    now = regime(ctx)
    before = ctx.day_before

    figures = []
    if before.regime is now.label:
        figures.append(_figure("confidence in the regime", share(before.confidence), now.confidence))
    figures.append(_figure("risk score", percent(before.risk_score), now.risk_score))
    return figures


def _figure(what: str, before: float | None, now: float | None) -> Change:
    if before is None or now is None:
        text = f"How the {what} changed in 24 hours is not known."
    elif now == before:
        text = f"The {what} stayed at {now:g}."
    else:
        verb = "rose" if now > before else "fell"
        text = f"The {what} {verb} from {before:g} to {now:g}."
    return Change(what=what, before=before, now=now, text=text)


def _movers(ctx: TickContext) -> list[Change]:
    """Name the assets that rose most and least; none where no change is known."""
    changes_24h = moves(ctx)
    if not changes_24h:
        return []

    strongest = max(changes_24h, key=changes_24h.__getitem__)
    weakest = min(changes_24h, key=changes_24h.__getitem__)
    highest = changes_24h[strongest]
    lowest = changes_24h[weakest]
    return [
        _mover("strongest", strongest, f"the highest change over 24 hours: {signed(highest, minus=HYPHEN)}"),
        _mover("weakest", weakest, f"the lowest change over 24 hours: {signed(lowest, minus=HYPHEN)}"),
    ]


def _mover(rank: str, asset: str, has: str) -> Change:
    return Change(what=f"{rank} asset", before=None, now=asset, text=f"{asset} has {has}.")


def label_of(ctx: TickContext, asset: str) -> words.RegimeLabel:
    """Return an asset's own regime; unknown without a reading."""
    read = reading_of(ctx, asset)
    return read.regime if read else words.RegimeLabel.UNKNOWN


def same_as_market(ctx: TickContext, asset: str) -> bool | None:
    """Return whether an asset is in the market's regime; None where one of them is unknown."""
    own = label_of(ctx, asset)
    if ctx.reading is None or words.RegimeLabel.UNKNOWN in {own, ctx.reading.regime.label}:
        return None
    return own is ctx.reading.regime.label


def asset_regime(ctx: TickContext, asset: str) -> AssetRegime:
    """Compose one asset's own regime."""
    read = reading_of(ctx, asset)
    label = label_of(ctx, asset)

    return AssetRegime(
        **quoted(ctx, asset).as_fields(),
        regime=label,
        mode=words.MODE_OF_REGIME[label],
        confidence=share(read.regime_confidence) if read else None,
        trend=trend_of(ctx, asset),
        volatility=volatility_of(ctx, asset),
        expected_move=expected_move_of(ctx, asset),
        same_as_market=same_as_market(ctx, asset),
        limitations=asset_limitations(ctx, asset),
    )


def paid_market_regime(ctx: TickContext) -> X402PaidResponse:
    """Compose the market regime in full."""
    now = regime(ctx)
    limits = (NO_DAY_BEFORE,) if ctx.day_before.regime is None else ()

    return X402PaidResponse(
        **paid_envelope(ctx, "x402-market-regime", *limits, news=regime_headline(ctx)).as_fields(),
        market_mode=now.mode,
        market_state=now.state,
        summary=regime_summary(ctx),
        confidence=now.confidence,
        risk_score=now.risk_score,
        source=source_name(ctx),
        regime=now,
        assets={asset: asset_regime(ctx, asset) for asset in ASSETS},
        what_changed=what_changed(ctx),
        risk_drivers=ctx.reading.regime.drivers if ctx.reading else (),
        spells=spells(ctx),
    )


def tracked_facts(ctx: TickContext) -> dict[str, str | None]:
    """Return the facts of a tick that a reader would want to know the change of, None where unknown."""
    now = regime(ctx)
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
