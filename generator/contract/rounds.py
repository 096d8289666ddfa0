"""GET /api/human-consensus.php, and the Arena rounds and votes of other bodies."""

from pydantic import Field

from generator.catalog.words import Consensus, RoundPhase
from generator.contract.base import Body
from generator.contract.envelope import NoticeResponse


class RoundInfo(Body):
    """One Arena round; its clock is as of updated_utc."""

    round_id: str = Field(description="<ASSET>-<YYYYMMDD>-<HHMMSS> of its start.")
    asset: str = Field(description="Asset symbol.")
    phase: RoundPhase = Field(description="Where the round is in its life.")
    start: str = Field(description="When it goes live, ISO 8601 UTC, wall time.")
    end: str = Field(description="When it settles, ISO 8601 UTC, wall time.")
    seconds_left: int = Field(description="Seconds until end; until start while the round still takes votes.")
    timer: str = Field(description="The same as MM:SS.")
    band_bps: float | None = Field(description="Half-width of the neutral band, basis points; a rule of the game.")


class OpenRound(Body):
    """The round that takes votes now."""

    round_id: str = Field(
        description="<ASSET>-<YYYYMMDD>-<HHMMSS> of its start. GET /x402-buyer/ballot?voter=&round=&choice= prepares a free "
        "vote in it, to be signed with an Ed25519 key and sent to the same path in an X-Ballot header."
    )
    asset: str = Field(description="Asset symbol.")
    opens: str = Field(description="When votes opened, ISO 8601 UTC.")
    closes: str = Field(description="When votes close and the round goes live, ISO 8601 UTC.")
    band_bps: float | None = Field(description="Half-width of the neutral band, basis points, frozen at opening.")
    commitment: str | None = Field(
        description="SHA-256 of the brain's sealed forecast and salt; null without one. It proves that the forecast was "
        "fixed before the votes closed; what the brain reads of the asset now is public elsewhere."
    )


class HumanConsensus(Body):
    """Counted votes of one round."""

    total: int = Field(description="Votes counted, one a voter.")
    bullish: int = Field(description="Votes for BULLISH.")
    bearish: int = Field(description="Votes for BEARISH.")
    neutral: int = Field(description="Votes for NEUTRAL.")
    bullish_percent: float = Field(description="Share of BULLISH, percent; 0 with no votes.")
    bearish_percent: float = Field(description="Share of BEARISH, percent; 0 with no votes.")
    neutral_percent: float = Field(description="Share of NEUTRAL, percent; 0 with no votes.")
    consensus: Consensus = Field(description="What most said; NEUTRAL on a tie at the top; NONE with no votes.")
    disagreement_score: float = Field(
        description="100 x entropy of the shares / ln 3; 0 all agree .. 100 split evenly."
    )


class CrowdByRecord(Body):
    """The same round when voters count by their record; anyone can make addresses, a record takes rounds."""

    voters: int = Field(description="Voters with a record above chance.")
    bullish_percent: float | None = Field(
        description="Their share for BULLISH by record, percent; null without such voters."
    )
    bearish_percent: float | None = Field(description="Their share for BEARISH by record, percent.")
    neutral_percent: float | None = Field(description="Their share for NEUTRAL by record, percent.")
    consensus: Consensus = Field(description="What most said by record; NEUTRAL on a tie; NONE without such voters.")
    note: str = Field(description="What it is worth.")


class VoteBurst(Body):
    """A minute in which far more votes came than usual: shown, not removed."""

    at: str = Field(description="Begin of the minute, ISO 8601 UTC.")
    votes: int = Field(description="Counted votes in it.")
    same_choice_percent: float = Field(description="Share of the most frequent choice, percent.")
    new_voters_percent: float = Field(description="Share of addresses that never had a resolved round, percent.")


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
