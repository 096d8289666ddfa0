"""GET /api/market-regime.php."""

from __future__ import annotations

from generator.catalog.endpoints import ENDPOINT_BY_ID
from generator.compose.context import TickContext
from generator.compose.envelope import rich
from generator.compose.regime import regime, regime_sentence
from generator.contract.market_regime import MarketRegimeResponse


def market_regime(ctx: TickContext) -> MarketRegimeResponse:
    """Compose the public regime."""
    now = regime(ctx)
    return MarketRegimeResponse(
        **rich(ctx, ENDPOINT_BY_ID["market-regime"]),
        regime=now,
        summary=regime_sentence(ctx),
        market_mode=now.mode,
        market_state=now.state,
        confidence=now.confidence,
    )
