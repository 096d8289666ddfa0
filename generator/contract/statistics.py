"""GET /api/statistics.php."""

from pydantic import Field

from generator.catalog.words import TeacherStatus
from generator.contract.base import Body, Percent
from generator.contract.envelope import NoticeResponse
from generator.contract.scores import HowFar, TrackRecord
from generator.contract.teacher_lessons import TeacherBrain


class MainBrainStatistics(Body):
    """How the hourly forecasts turned out."""

    horizon_minutes: int = Field(description="How far ahead they look, minutes.")
    assets: int = Field(description="Assets that are forecast.")
    how_far: HowFar = Field(description="How far prices would move: the ranges, scored.")
    record: TrackRecord = Field(description="Which way they would move: scores with their counts.")


class CoreLearning(Body):
    """What the online part has learned from."""

    status: TeacherStatus = Field(description="learning once outcomes have been learned from, else idle.")
    outcomes_learned: int | None = Field(description="Resolved outcomes it has learned from; null without a reading.")
    bars_seen: int | None = Field(description="Closed 5-minute bars read; null without a reading.")


class ArenaStatistics(Body):
    """Counts and scores of the Arena."""

    rounds: dict[str, int] = Field(description="Phase to number of rounds.")
    rounds_warm_up: int = Field(description="How many of them were played by backtest before the start.")
    ballots_counted: int = Field(description="Ballots counted.")
    ballots_rejected: int = Field(description="Ballots refused.")
    void_rate_percent: Percent = Field(description="Share of void among ended rounds, percent.")
    rounds_ended: int = Field(description="Ended rounds, the count behind void_rate_percent.")
    record: TrackRecord = Field(description="Scores of the brain's sealed forecasts with their counts.")


class ApiEcosystem(Body):
    """The API's own state; never sales."""

    endpoints_public: int = Field(description="Free endpoints.")
    endpoints_paid: int = Field(description="Paid endpoints.")
    endpoints_stable: int = Field(description="Endpoints whose schema is stable.")
    endpoints_evolving: int = Field(description="Endpoints whose schema is evolving.")
    catalog_version: str = Field(description="Version of the OpenAPI catalogue.")
    versions: dict[str, str] = Field(description="Endpoint identity to its version.")
    ticks_published_24h: int = Field(description="Ticks published in the last 24 hours, this one not counted.")
    ticks_failed_24h: int = Field(description="Ticks failed in the last 24 hours.")
    ticks_missed_24h: int = Field(
        description="Full minutes of the last 24 hours, since the first tick, in which none began."
    )


class StatisticsResponse(NoticeResponse):
    """How much was predicted and how it turned out; not a market signal."""

    main_brain: MainBrainStatistics = Field(description="How the hourly forecasts turned out.")
    core_learning: CoreLearning = Field(description="What the online part has learned from.")
    arena: ArenaStatistics = Field(description="Counts and scores of the Arena.")
    teacher_brain: TeacherBrain = Field(description="The teacher's state.")
    api_ecosystem: ApiEcosystem = Field(description="The API's own state.")
    developer_note: str = Field(description="Advice for clients.")
