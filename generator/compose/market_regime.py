"""GET /api/market-regime.php, and GET /api/x402-market-regime.php once paid."""

from pydantic import Field

from generator.catalog import words
from generator.catalog.assets import ASSETS
from generator.catalog.durations import DAY_MINUTES
from generator.catalog.endpoints import ENDPOINT_BY_ID
from generator.catalog.formats import percent, share
from generator.catalog.text.answers import NO_DAY_BEFORE, clause
from generator.catalog.text.figures import HYPHEN, day_and_clock, signed
from generator.catalog.text.labels import REGIME
from generator.catalog.text.now import regime_summary
from generator.compose.body import Body, absent
from generator.compose.coins import ExpectedMove, Quoted, expected_move_of, trend_of, volatility_of
from generator.compose.context import Change
from generator.compose.envelope import PaidResponse, RichResponse, paid_envelope, rich_envelope, source_name
from generator.compose.events import EVENTS, MarketEvents, events_block
from generator.compose.inputs import missing_reason, reading_of
from generator.compose.paid_words import regime_headline, spells_summary
from generator.compose.regime import HOLDS, UNREAD, Regime
from generator.compose.scores import KIND
from generator.compose.spells import Spells
from generator.compose.tick import Tick


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
    events: MarketEvents | None = Field(description=EVENTS)


def market_context(ctx: Tick) -> MarketContext:
    """Build the regime in short."""
    now = ctx.regime
    return MarketContext(
        regime=now.label,
        mode=now.mode,
        state=now.state,
        volatility=now.volatility,
        breadth_percent=now.breadth_percent,
    )


def market_regime(ctx: Tick) -> MarketRegimeResponse:
    """Compose the public regime."""
    now = ctx.regime
    summary = regime_summary(ctx.market_now)

    return MarketRegimeResponse(
        **rich_envelope(ctx, ENDPOINT_BY_ID["market-regime"], summary=summary).as_fields(),
        regime=now,
        market_mode=now.mode,
        market_state=now.state,
        confidence=now.confidence,
    )


def what_changed(ctx: Tick) -> tuple[Change, ...]:
    """List the changes of regime, confidence, risk and prices over the last 24 hours."""
    label = ctx.reading.regime.label if ctx.reading else None
    first = Change(what="regime", before=ctx.day_before.regime, now=label, text=regime_change(ctx))
    return (first, *_figures(ctx), *_movers(ctx))


def regime_change(ctx: Tick) -> str:
    """Say what the regime is and what it was 24 hours ago, as far as the kept readings or its own dwell know it."""
    if ctx.reading is None:
        return f"The regime is not known now: {clause(missing_reason(ctx))}."

    now = ctx.reading.regime
    if now.label is words.RegimeLabel.UNKNOWN:
        return "The regime is not known now."
    name = REGIME[now.label]
    if ctx.day_before.regime is not None:
        before = REGIME[ctx.day_before.regime]
    elif now.dwell_minutes >= DAY_MINUTES:
        before = name
    else:
        return _regime_began(ctx, name)

    if before == name:
        return f"The regime is the one of 24 hours ago: {name}."
    return f"The regime is {name}; 24 hours ago it was {before}."


def _regime_began(ctx: Tick, name: str) -> str:
    """Say since when the regime is what it is, and what it was before, of a market not read 24 hours ago."""
    now = ctx.reading.regime if ctx.reading else UNREAD
    since = day_and_clock(now.since_ms, ctx.observation.market_ms)
    began = f"The regime has been {name} since {since} UTC" if since else f"The regime is {name}"
    previous = now.previous
    if previous is None or REGIME[previous] == name:
        return f"{began}; what it was 24 hours ago is not known."
    return f"{began}; before that it was {REGIME[previous]}."


def _figures(ctx: Tick) -> list[Change]:
    """Compare the confidence of one regime with itself, and the risk score."""
    now = ctx.regime
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


def _movers(ctx: Tick) -> list[Change]:
    """Name the assets that rose most and least; none where no change is known."""
    changes_24h = ctx.counted.changes
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


def label_of(ctx: Tick, asset: str) -> words.RegimeLabel:
    """Return an asset's own regime; unknown without a reading."""
    read = reading_of(ctx, asset)
    return read.regime if read else words.RegimeLabel.UNKNOWN


def same_as_market(ctx: Tick, asset: str) -> bool | None:
    """Return whether an asset is in the market's regime; None where one of them is unknown."""
    own = label_of(ctx, asset)
    if ctx.reading is None or words.RegimeLabel.UNKNOWN in {own, ctx.reading.regime.label}:
        return None
    return own is ctx.reading.regime.label


def asset_regime(ctx: Tick, asset: str) -> AssetRegime:
    """Compose one asset's own regime."""
    read = reading_of(ctx, asset)
    label = label_of(ctx, asset)

    return AssetRegime(
        **ctx.quotes[asset].as_fields(),
        regime=label,
        mode=words.MODE_OF_REGIME[label],
        confidence=share(read.regime_confidence) if read else None,
        trend=trend_of(ctx, asset),
        volatility=volatility_of(ctx, asset),
        expected_move=expected_move_of(ctx, asset),
        same_as_market=same_as_market(ctx, asset),
        limitations=ctx.limitations_of[asset],
    )


def paid_market_regime(ctx: Tick) -> X402PaidResponse:
    """Compose the market regime in full."""
    now = ctx.regime
    limits = (NO_DAY_BEFORE,) if ctx.day_before.regime is None else ()

    return X402PaidResponse(
        **paid_envelope(ctx, "x402-market-regime", *limits, news=regime_headline(ctx.paid)).as_fields(),
        market_mode=now.mode,
        market_state=now.state,
        summary=spells_summary(ctx.paid),
        confidence=now.confidence,
        risk_score=now.risk_score,
        source=source_name(ctx),
        regime=now,
        assets={asset: asset_regime(ctx, asset) for asset in ASSETS},
        what_changed=what_changed(ctx),
        risk_drivers=ctx.reading.regime.drivers if ctx.reading else (),
        spells=ctx.spells,
        events=events_block(ctx),
    )
