"""GET /api/human-consensus.php."""

from __future__ import annotations

from pydantic import Field

from generator.contract.rounds import (
    CrowdByRecord,
    HumanConsensus,
    NoticeResponse,
    OpenRound,
    RoundInfo,
    VoteBurst,
)


class HumanConsensusResponse(NoticeResponse):
    """What the voters of the live round expect."""

    asset: str = Field(description="Asset of the live round.")
    round: RoundInfo = Field(description="The live round.")
    human_consensus: HumanConsensus = Field(description="Its counted votes.")
    by_record: CrowdByRecord | None = Field(
        description="The votes of the live round by the voters' records, as of its lock; null without a live round."
    )
    bursts: tuple[VoteBurst, ...] = Field(description="Minutes with far more votes than usual, at most 5.")
    crowd_note: str = Field(description="What the counts are and are not.")
    open_round: OpenRound | None = Field(description="The round that takes votes now; null when none does.")
    simulated_votes: int = Field(description="How many of the counted votes a labelled simulated crowd cast.")
    developer_note: str = Field(description="Advice for clients.")
