"""GET /api/market-regime.php, GET /api/x402-market-regime.php once paid, and the regime in other bodies."""

from dataclasses import replace
from typing import Any, Final

from generator.brain.facts import MarketFacts
from generator.brain.reading import RegimeReading
from generator.brain.structure import Counts
from generator.catalog.assets import ASSETS
from generator.catalog.endpoints import ENDPOINT_BY_ID
from generator.catalog.formats import iso, percent, probabilities, share
from generator.catalog.links import METHODOLOGY
from generator.catalog.text.answers import NO_DAY_BEFORE, REGIME_RELIABILITY
from generator.catalog.text.labels import REGIME
from generator.catalog.text.market import signed
from generator.catalog.words import MODE_OF_REGIME, MarketState, RegimeLabel, Trend, VolatilityWord
from generator.compose.coins import expected_move, quoted, trend_of
from generator.compose.context import TickContext
from generator.compose.envelope import rich, source_name
from generator.compose.facts import FEWEST, facts, market_trend, moves, regime_sentence
from generator.compose.inputs import asset_limitations, missing_reason, reading_of
from generator.compose.paid import paid_head
from generator.contract.envelope import Change
from generator.contract.regime import (
    AssetRegime,
    BreadthCounts,
    MarketContext,
    MarketRegimeResponse,
    Regime,
    RegimeChances,
    Reliability,
    X402PaidResponse,
)
from generator.market.bars import BAR_MS

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
    counts=Counts(0, 0, 0),
    facts=MarketFacts(),
    risk_score=None,
    drivers=(),
)


def market_state(
    label: RegimeLabel, volatility: VolatilityWord, confidence_percent: float | None, *, stressed: bool
) -> MarketState:
    """Return the state by the first rule that applies (docs/explain/brain.md).

    Args:
        stressed: whether the next hours are expected to be rougher than most of the week.
    """
    if label is RegimeLabel.UNKNOWN:
        return MarketState.UNKNOWN
    if stressed or label is RegimeLabel.HIGH_VOLATILITY:
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
    return Regime.of(
        now,
        mode=MODE_OF_REGIME[now.label],
        state=market_state(now.label, now.volatility, confidence, stressed=now.stressed),
        breadth_percent=breadth(ctx),
        counts=breadth_counts(ctx),
        probabilities=regime_chances(now) if known else None,
        likeliest=max(now.posterior, key=now.posterior.__getitem__) if known else None,
        confidence=confidence,
        risk_score=percent(now.risk_score),
        since=iso(now.since_ms) if known else None,
        dwell_minutes=now.dwell_minutes if known else None,
        previous_mode=None if now.previous is None else MODE_OF_REGIME[now.previous],
        previous_label=now.previous,
        as_of=iso(ctx.reading.t_ms + BAR_MS) if ctx.reading else None,
        reliability=Reliability(kind=REGIME_RELIABILITY, report=ctx.site.base_url + METHODOLOGY),
    )


def breadth(ctx: TickContext) -> float | None:
    """Return the share of assets that are up on the day, as counted; None with fewer than three."""
    said = facts(ctx)
    return share(said.up / said.known) if said.known >= FEWEST else None


def breadth_counts(ctx: TickContext) -> BreadthCounts | None:
    """Count the assets that are up, down or flat (within 0.1%) on the day; None with fewer than three."""
    said = facts(ctx)
    return BreadthCounts.of(said) if said.known >= FEWEST else None


def regime_chances(now: RegimeReading) -> RegimeChances:
    """Publish the chances of the four regimes."""
    values = probabilities(tuple(now.posterior.values()))
    return RegimeChances(**{label.value: value for label, value in zip(now.posterior, values, strict=True)})


def market_context(ctx: TickContext) -> MarketContext:
    """Build the regime in short."""
    now = regime(ctx)
    return MarketContext.of(now, regime=now.label)


def market_regime(ctx: TickContext) -> MarketRegimeResponse:
    """Compose the public regime."""
    return MarketRegimeResponse(**rich(ctx, ENDPOINT_BY_ID["market-regime"]), **_public(ctx, regime(ctx)))


def _public(ctx: TickContext, now: Regime) -> dict[str, Any]:
    """Fill the fields that the free and the paid answer share."""
    return {
        "regime": now,
        "summary": regime_sentence(ctx),
        "market_mode": now.mode,
        "market_state": now.state,
        "confidence": now.confidence,
    }


def what_changed(ctx: TickContext) -> tuple[Change, ...]:
    """List the changes of regime, confidence, risk and prices."""
    return (_regime(ctx), *_figures(ctx), *_movers(ctx))


def change_limits(ctx: TickContext) -> tuple[str, ...]:
    """Say that the day before is not known, where it is not."""
    return (NO_DAY_BEFORE,) if ctx.day_before.regime is None else ()


def _regime(ctx: TickContext) -> Change:
    before, now = ctx.day_before.regime, regime(ctx).label
    known = None if ctx.reading is None else now.value
    return Change(what="regime", before=before and before.value, now=known, text=_regime_text(ctx))


def _regime_text(ctx: TickContext) -> str:
    before = ctx.day_before.regime
    if ctx.reading is None:
        return f"The regime is not known now: {missing_reason(ctx)}."
    word = REGIME[ctx.reading.regime.label]
    if before is None:
        return f"Regime: {word}. What it was 24 hours ago is not known."
    if before is ctx.reading.regime.label:
        return f"Regime: {word}, as it was 24 hours ago."
    return f"Regime: {word}; 24 hours ago it was {REGIME[before]}."


def _figures(ctx: TickContext) -> list[Change]:
    """Compare the confidence of one regime with itself, and the risk score."""
    now, before = regime(ctx), ctx.day_before
    pairs = [("risk score", percent(before.risk_score), now.risk_score)]
    if before.regime is now.label:
        pairs.insert(0, ("confidence in the regime", share(before.confidence), now.confidence))
    return [Change(what=what, before=was, now=is_now, text=_moved(what, was, is_now)) for what, was, is_now in pairs]


def _moved(what: str, was: float | None, is_now: float | None) -> str:
    if was is None or is_now is None:
        return f"How the {what} changed in 24 hours is not known."
    word = "rose" if is_now > was else "fell"
    return f"The {what} {word} from {was:g} to {is_now:g}." if is_now != was else f"The {what} stayed at {is_now:g}."


def _movers(ctx: TickContext) -> list[Change]:
    found = moves(ctx)
    if not found:
        return []
    best, worst = max(found, key=found.__getitem__), min(found, key=found.__getitem__)
    return [
        Change(
            what=f"{which} asset",
            before=None,
            now=asset,
            text=f"{asset} has the {rank} change over 24 hours: {signed(found[asset], 2)}.",
        )
        for which, asset, rank in (("strongest", best, "highest"), ("weakest", worst, "lowest"))
    ]


def label_of(ctx: TickContext, asset: str) -> RegimeLabel:
    """Return an asset's own regime; unknown without a reading."""
    read = reading_of(ctx, asset)
    return read.regime if read else RegimeLabel.UNKNOWN


def same_as_market(ctx: TickContext, asset: str) -> bool | None:
    """Return whether an asset is in the market's regime; None where one of them is unknown."""
    own = label_of(ctx, asset)
    if ctx.reading is None or RegimeLabel.UNKNOWN in {own, ctx.reading.regime.label}:
        return None
    return own is ctx.reading.regime.label


def asset_regime(ctx: TickContext, asset: str) -> AssetRegime:
    """Compose one asset's own regime."""
    read, label = reading_of(ctx, asset), label_of(ctx, asset)
    return AssetRegime(
        **quoted(ctx, asset),
        regime=label,
        mode=MODE_OF_REGIME[label],
        confidence=share(read.regime_confidence) if read else None,
        trend=trend_of(ctx, asset),
        volatility=read.volatility if read else VolatilityWord.UNKNOWN,
        expected_move=expected_move(read.outlook) if read else None,
        same_as_market=same_as_market(ctx, asset),
        limitations=asset_limitations(ctx, asset),
    )


def paid_market_regime(ctx: TickContext) -> X402PaidResponse:
    """Compose the market regime in full."""
    now = regime(ctx)
    return X402PaidResponse(
        **paid_head(ctx, "x402-market-regime", *change_limits(ctx)),
        **_public(ctx, now),
        risk_score=now.risk_score,
        source=source_name(ctx),
        assets={asset: asset_regime(ctx, asset) for asset in ASSETS},
        what_changed=what_changed(ctx),
        risk_drivers=ctx.reading.regime.drivers if ctx.reading else (),
    )
