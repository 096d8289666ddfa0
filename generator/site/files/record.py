"""Files of the record that stay as they are over many ticks: rounds, daily questions, ladder, months of practice."""

from collections.abc import Mapping, Sequence
from typing import NotRequired

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from generator.arena.daily import forecast_of, published_question
from generator.catalog.text.answers import DISCLAIMER
from generator.catalog.words import RoundPhase, SourceMode
from generator.compose.body import Body
from generator.site.files.inputs import FilesOfTick
from generator.site.resources import PracticeFiles
from generator.values.ladders import LadderScore, LadderScores, PartitionScore, ReliabilityBin
from generator.values.rows import DailyRanking, PublishedQuestion, RoundInTheRecord, SealedQuestion


class ReplayOffset(TypedDict):
    """How much later than its prices a replay is dated."""

    offset_seconds: int
    """Seconds."""


class RoundsFile(TypedDict):
    """The last finished rounds, from which `emi verify` recomputes every score."""

    success: bool
    """True."""
    project: str
    """Name of the service."""
    rounds: Sequence[RoundInTheRecord]
    """Newest first."""
    disclaimer: str
    """Educational notice."""
    replay: NotRequired[ReplayOffset]
    """Only of recorded prices."""


class DailyFile(TypedDict):
    """The last daily questions."""

    success: bool
    """True."""
    project: str
    """Name of the service."""
    questions: Sequence[PublishedQuestion]
    """Newest first."""
    ranking: DailyRanking | None
    """Who answered better than a usual day; null before a question was measured that has a `base`."""
    disclaimer: str
    """Educational notice."""
    replay: NotRequired[ReplayOffset]
    """Only of recorded prices."""


class DailyBrainFile(TypedDict):
    """What was sealed of the daily question that takes answers. Pages load it after an answer, not before."""

    success: bool
    """True."""
    project: str
    """Name of the service."""
    question_id: str | None
    """Which question; null where none takes answers."""
    base: float | None
    """USD that the ranges count from; null where none takes answers."""
    forecast: SealedQuestion | None
    """What is sealed; null where none takes answers."""
    disclaimer: str
    """Educational notice."""


class LadderPart(Body):
    """The record of ladder and partition, live or of the backtest."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    levels: tuple[LadderScore, ...] = Field(description="Scores by horizon, kind and level.")
    reliability: Mapping[str, tuple[ReliabilityBin, ...]] = Field(
        description="Horizon and kind, such as `1h end`, to what was said and what happened, by tenths."
    )
    partition: PartitionScore | None = Field(description="Scores of the three chances of four hours; null before any.")


class LadderFile(Body):
    """How the chances of moves beyond each level came true."""

    success: bool = Field(description="True.")
    project: str = Field(description="Name of the service.")
    live: LadderPart = Field(description="Since the start.")
    backtest: LadderPart = Field(description="Of the backtest before it.")
    disclaimer: str = Field(description="Educational notice.")


class PracticeMonthRow(TypedDict):
    """One month of practice."""

    month: str
    """Such as 2026-10."""
    items: str
    """Path of its items."""
    truths: str
    """Path of their truths."""
    source_mode: str
    """What market it is of."""


class PracticeMonthsFile(TypedDict):
    """Which months of practice there are."""

    success: bool
    """True."""
    project: str
    """Name of the service."""
    months: Sequence[PracticeMonthRow]
    """Those of the own record, newest first, then the shipped one."""
    disclaimer: str
    """Educational notice."""


def rounds_file(tick: FilesOfTick) -> RoundsFile:
    """Return the record that `emi verify` recomputes."""
    body: RoundsFile = {
        "success": True,
        "project": tick.site.project,
        "rounds": list(tick.rounds),
        "disclaimer": DISCLAIMER,
    }
    if tick.offset_ms is not None:
        body["replay"] = {"offset_seconds": tick.offset_ms // 1000}
    return body


def daily_file(tick: FilesOfTick) -> DailyFile:
    """Return the daily questions, the newest first."""
    questions = list(map(published_question, tick.arena.daily))
    body: DailyFile = {
        "success": True,
        "project": tick.site.project,
        "questions": questions,
        "ranking": tick.arena.daily_ranking,
        "disclaimer": DISCLAIMER,
    }

    if tick.offset_ms is not None:
        body["replay"] = {"offset_seconds": tick.offset_ms // 1000}
    return body


def daily_brain_file(tick: FilesOfTick) -> DailyBrainFile:
    """Return what was sealed of the question that takes answers."""
    question = next((question for question in tick.arena.daily if question.phase is RoundPhase.OPEN), None)

    return {
        "success": True,
        "project": tick.site.project,
        "question_id": None if question is None else question.question_id,
        "base": None if question is None else question.base_price,
        "forecast": None if question is None else forecast_of(question),
        "disclaimer": DISCLAIMER,
    }


def ladder_file(tick: FilesOfTick) -> LadderFile:
    """Return the record of ladder and partition: live, and of the backtest, apart."""
    return LadderFile(
        success=True,
        project=tick.site.project,
        live=_part(tick.arena.ladder_record),
        backtest=_part(tick.arena.ladder_backtest),
        disclaimer=DISCLAIMER,
    )


def _part(record: LadderScores) -> LadderPart:
    return LadderPart(levels=record.levels, reliability=record.bins, partition=record.partition)


def practice_file(tick: FilesOfTick) -> PracticeMonthsFile:
    """Return the list of the months of practice."""
    own = [_month(month, tick.mode) for month in tick.own]
    months = [*own, _month(tick.shipped.month, SourceMode.SIMULATED)]
    return {"success": True, "project": tick.site.project, "months": months, "disclaimer": DISCLAIMER}


def _month(month: PracticeFiles, mode: SourceMode) -> PracticeMonthRow:
    return {"month": month.month, "items": month.items, "truths": month.truths, "source_mode": str(mode)}
