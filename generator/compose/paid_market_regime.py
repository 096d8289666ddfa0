"""GET /api/x402-market-regime.php, once paid."""

from __future__ import annotations

from generator.compose.changes import change_limits, what_changed
from generator.compose.context import TickContext
from generator.compose.envelope import source_name
from generator.compose.paid import asset_regimes, paid_head
from generator.compose.regime import regime, regime_sentence
from generator.contract.paid_market_regime import X402PaidResponse


def paid_market_regime(ctx: TickContext) -> X402PaidResponse:
    """Compose the market regime in full."""
    now = regime(ctx)
    return X402PaidResponse(
        **paid_head(ctx, "x402-market-regime", *change_limits(ctx)),
        market_mode=now.mode,
        market_state=now.state,
        summary=regime_sentence(ctx),
        confidence=now.confidence,
        risk_score=now.risk_score,
        source=source_name(ctx),
        regime=now,
        assets=asset_regimes(ctx),
        what_changed=what_changed(ctx),
        risk_drivers=ctx.reading.regime.drivers if ctx.reading else (),
    )
