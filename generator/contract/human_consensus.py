"""GET /api/human-consensus.php."""

from __future__ import annotations

from pydantic import Field

from generator.contract.rounds import HumanConsensus, NoticeResponse, OpenRound, RoundInfo


class HumanConsensusResponse(NoticeResponse):
    """What the voters of the live round expect."""

    asset: str = Field(description="Asset of the live round.")
    round: RoundInfo = Field(description="The live round.")
    human_consensus: HumanConsensus = Field(description="Its counted votes.")
    open_round: OpenRound | None = Field(description="The round that takes votes now; null when none does.")
    simulated_votes: int = Field(description="How many of the counted votes a labelled simulated crowd cast.")
    developer_note: str = Field(description="Advice for clients.")
