"""GET /status.json."""

from __future__ import annotations

from generator.catalog.formats import iso
from generator.catalog.text.answers import DISCLAIMER
from generator.compose.context import TickContext
from generator.compose.envelope import replay, source_rows
from generator.compose.inputs import market_status
from generator.contract.status import StatusResponse, TicksBlock


def status(ctx: TickContext) -> StatusResponse:
    """Compose the state of the tick."""
    tick = ctx.freshness
    return StatusResponse(
        success=True,
        project=ctx.site.project,
        status=market_status(ctx),
        generation=tick.generation,
        tick_id=tick.tick_id,
        generated_at=iso(tick.generated_ms),
        valid_until=iso(tick.valid_until_ms),
        next_update_at=iso(tick.next_update_ms),
        source_mode=ctx.observation.mode,
        sources=source_rows(ctx),
        ticks=TicksBlock(
            published_24h=ctx.ticks.published_24h,
            failed_24h=ctx.ticks.failed_24h,
            missed_24h=ctx.ticks.missed_24h,
        ),
        disclaimer=DISCLAIMER,
        replay=replay(ctx),
    )
