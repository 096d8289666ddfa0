"""GET /api/market-regime.php, GET /api/x402-market-regime.php once paid, and the regime in other bodies."""

from collections import Counter
from dataclasses import replace
from typing import Any, Final

from generator.brain.facts import MarketFacts
from generator.brain.reading import RegimeReading
from generator.brain.structure import Counts
from generator.catalog.assets import ASSETS
from generator.catalog.endpoints import ENDPOINT_BY_ID
from generator.catalog.formats import change, iso, percent, price, probabilities, share
from generator.catalog.links import METHODOLOGY
from generator.catalog.text.answers import NO_DAY_BEFORE, REGIME_RELIABILITY
from generator.catalog.words import MODE_OF_REGIME, MarketState, RegimeLabel, Trend, VolatilityWord
from generator.compose.coins import expected_move, trend_of
from generator.compose.context import TickContext
from generator.compose.envelope import rich, source_name
from generator.compose.inputs import (
    asset_limitations,
    missing_reason,
    observed,
    reading_of,
)
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

_CAUTION = {RegimeLabel.RISK_OFF, RegimeLabel.HIGH_VOLATILITY, RegimeLabel.TRANSITION}
_CALM = {VolatilityWord.CALM, VolatilityWord.NORMAL}
_OPPORTUNITY_PERCENT = 60
FLAT_PERCENT: Final = 0.1
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
    return Regime.of(
        now,
        mode=MODE_OF_REGIME[now.label],
        state=market_state(now.label, now.volatility, confidence),
        breadth_percent=breadth(ctx) if now.breadth is None else share(now.breadth),
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


def market_trend(ctx: TickContext) -> Trend:
    """Return the trend of most assets, sideways on a tie, unknown with fewer than three."""
    known = Counter(word for word in ctx.trends.values() if word != Trend.UNKNOWN)
    if known.total() < 3:
        return Trend.UNKNOWN
    (first, count), *others = known.most_common(2)
    return Trend.SIDEWAYS if others and others[0][1] == count else Trend(first)


def breadth(ctx: TickContext) -> float | None:
    """Return the share of assets whose published change over 24 hours is above 0; None with fewer than three."""
    changes = moves(ctx).values()
    return share(sum(moved > 0 for moved in changes) / len(changes)) if len(changes) >= 3 else None


def breadth_counts(ctx: TickContext) -> BreadthCounts | None:
    """Count the assets that rose, fell or stayed within 0.1% over 24 hours, as published; None with fewer than three."""
    changes = moves(ctx).values()
    up, down = sum(moved > FLAT_PERCENT for moved in changes), sum(moved < -FLAT_PERCENT for moved in changes)
    return BreadthCounts(up=up, down=down, flat=len(changes) - up - down) if len(changes) >= 3 else None


def regime_chances(now: RegimeReading) -> RegimeChances:
    """Publish the chances of the four regimes."""
    values = probabilities(tuple(now.posterior.values()))
    return RegimeChances(**{label.value: value for label, value in zip(now.posterior, values, strict=True)})


def market_context(ctx: TickContext) -> MarketContext:
    """Build the regime in short."""
    now = regime(ctx)
    return MarketContext.of(now, regime=now.label)


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


def market_regime(ctx: TickContext) -> MarketRegimeResponse:
    """Compose the public regime."""
    now = regime(ctx)
    return MarketRegimeResponse(
        **rich(ctx, ENDPOINT_BY_ID["market-regime"]),
        **_public(ctx, now),
    )


def _public(ctx: TickContext, now: Regime) -> dict[str, Any]:
    """Fill the fields that the free and the paid answer share."""
    return {
        "regime": now,
        "summary": regime_sentence(ctx),
        "market_mode": now.mode,
        "market_state": now.state,
        "confidence": now.confidence,
    }


def moves(ctx: TickContext) -> dict[str, float]:
    """Return the published changes over 24 hours of the assets that have one."""
    found = {asset: change(observed(ctx, asset).change_24h_percent) for asset in ASSETS}
    return {asset: moved for asset, moved in found.items() if moved is not None}


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
    word = ctx.reading.regime.label.replace("_", " ")
    if before is None:
        return f"The regime is {word}; what it was 24 hours ago is not known."
    if before is ctx.reading.regime.label:
        return f"The regime is {word}, as it was 24 hours ago."
    return f"The regime went from {before.replace('_', ' ')} to {word}."


def _figures(ctx: TickContext) -> list[Change]:
    now, before = regime(ctx), ctx.day_before
    pairs = (
        ("regime confidence", share(before.confidence), now.confidence),
        ("risk score", percent(before.risk_score), now.risk_score),
    )
    return [Change(what=what, before=was, now=is_now, text=_moved(what, was, is_now)) for what, was, is_now in pairs]


def _moved(what: str, was: float | None, is_now: float | None) -> str:
    if was is None or is_now is None:
        return f"How the {what} moved is not known."
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
            text=f"{asset} moved {found[asset]:+g} % in 24 hours, the {rank} of all.",
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
    seen, read = observed(ctx, asset), reading_of(ctx, asset)
    label = label_of(ctx, asset)
    return AssetRegime(
        asset=asset,
        regime=label,
        mode=MODE_OF_REGIME[label],
        confidence=share(read.regime_confidence) if read else None,
        trend=trend_of(ctx, asset),
        volatility=read.volatility if read else VolatilityWord.UNKNOWN,
        expected_move=expected_move(read.outlook) if read else None,
        price=price(seen.price),
        change_24h=change(seen.change_24h_percent),
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
