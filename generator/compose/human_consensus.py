"""GET /api/human-consensus.php."""

from __future__ import annotations

from generator.catalog.endpoints import ENDPOINT_BY_ID
from generator.catalog.text.answers import CROWD_NOTE, DEVELOPER_NOTE
from generator.compose.context import TickContext
from generator.compose.crowd import crowd_by_record, vote_bursts
from generator.compose.envelope import notice
from generator.compose.rounds import (
    human_consensus_block,
    live_tally,
    open_round,
    round_info,
    round_limits,
    shown_round,
)
from generator.contract.human_consensus import HumanConsensusResponse


def human_consensus(ctx: TickContext) -> HumanConsensusResponse:
    """Compose what the voters of the live round expect."""
    return HumanConsensusResponse(
        **notice(ctx, ENDPOINT_BY_ID["human-consensus"], *round_limits(ctx)),
        asset=shown_round(ctx).asset,
        round=round_info(ctx),
        human_consensus=human_consensus_block(live_tally(ctx)),
        by_record=crowd_by_record(ctx),
        bursts=vote_bursts(ctx),
        crowd_note=CROWD_NOTE,
        open_round=open_round(ctx),
        simulated_votes=ctx.arena.live_simulated_tally.total if ctx.arena.live else 0,
        developer_note=DEVELOPER_NOTE,
    )
