"""GET /arena/get_shared_intelligence.php."""

from pydantic import Field

from generator.catalog.words import ConfidenceKind, Consensus, Prediction, TeacherStatus
from generator.contract.base import Body, Percent
from generator.contract.envelope import NoticeResponse
from generator.contract.rounds import HumanConsensus, OpenRound, RoundInfo
from generator.contract.scores import KIND, Probabilities
from generator.contract.teacher_lessons import TeacherLesson


class BrainSnapshot(Body):
    """The brain's forecast of the live round, as sealed before it started."""

    prediction: Prediction | None = Field(
        description="The revealed forecast; null while sealed or without one; NEUTRAL where the brain is silent."
    )
    brain_silent: bool = Field(
        description="True while the brain makes no forecasts: the NEUTRAL next to it claims nothing and is never scored."
    )
    confidence: float | None = Field(description="Chance of the shown class, percent 0..100; null while sealed.")
    confidence_kind: ConfidenceKind = Field(default=ConfidenceKind.CLASS_PROBABILITY, description=KIND)
    probabilities: Probabilities | None = Field(description="The three chances; null while sealed.")
    base_rates: Probabilities | None = Field(description="How often each outcome came up before; null while sealed.")
    regime_mode: str | None = Field(description="Market mode when it was sealed; null while sealed.")
    sealed_digest: str | None = Field(description="SHA-256 of the forecast and its salt, published before the votes.")
    salt: str | None = Field(description="The salt, with which the digest can be checked; null while sealed.")


class CombinedIntelligence(Body):
    """Brain and people side by side."""

    brain: Prediction | None = Field(description="The brain's revealed forecast.")
    crowd: Consensus = Field(description="What most voters said.")
    agreement: bool | None = Field(
        description="Whether they gave the same answer, as in a lesson; null when one of them gave none."
    )
    note: str = Field(description="What to make of it.")


class TeacherSnapshot(Body):
    """The teacher in short."""

    status: TeacherStatus = Field(description="learning once there are lessons, else idle.")
    role: str = Field(description="What the teacher does.")
    lessons_total: int = Field(description="Lessons so far.")
    last_lesson: TeacherLesson | None = Field(description="The newest lesson; null before the first.")


class EventRow(Body):
    """One transition."""

    at: str = Field(description="When, ISO 8601 UTC, wall time.")
    kind: str = Field(description="Kind of the transition.")
    text: str = Field(description="What happened, in words.")


class Events(Body):
    """What happened lately."""

    latest: tuple[EventRow, ...] = Field(description="The last 10, newest first.")


class RoundPrice(Body):
    """Price of the round's asset."""

    asset: str = Field(description="Asset symbol.")
    now: float | None = Field(description="Price now, US dollars, 6 significant digits.")
    start: float | None = Field(description="Price at the start of the live round, US dollars.")
    change_bps: float | None = Field(description="now against start, basis points.")
    venues: tuple[str, ...] = Field(description="Venues whose median mid is the price.")
    as_of: str | None = Field(description="Market time of the price, ISO 8601 UTC.")


class SystemIntegrity(Body):
    """What can be checked."""

    log_size: int = Field(description="Entries in the transparency log.")
    checkpoint_digest: str | None = Field(description="Digest of its newest checkpoint; null before the first.")
    last_tick: str | None = Field(description="The tick published before this one.")
    void_rate_percent: Percent = Field(description="Share of void among ended rounds, percent.")
    rounds_ended: int = Field(description="Ended rounds, the count behind void_rate_percent.")


class SharedIntelligenceResponse(NoticeResponse):
    """The live round in one document."""

    asset: str = Field(description="Asset of the live round.")
    round: RoundInfo = Field(description="The live round.")
    open_round: OpenRound | None = Field(description="The round that takes votes now; null when none does.")
    my_prediction: str | None = Field(description="Null in this public file; a client may fill in its own vote.")
    brain_snapshot: BrainSnapshot = Field(description="The brain's forecast of the live round.")
    human_layer: HumanConsensus = Field(description="Counted votes of the live round.")
    simulated_votes: int = Field(description="How many of the counted votes a labelled simulated crowd cast.")
    combined_intelligence: CombinedIntelligence = Field(description="Brain and people side by side.")
    teacher_brain: TeacherSnapshot = Field(description="The teacher in short.")
    events: Events = Field(description="What happened lately.")
    price: RoundPrice = Field(description="Price of the round's asset.")
    system_integrity: SystemIntegrity = Field(description="What can be checked.")
