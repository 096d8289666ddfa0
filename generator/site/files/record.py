"""Files of the record that stay as they are over many ticks: rounds, daily questions, ladder, months of practice."""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from generator.arena.daily import published_question
from generator.catalog.links import DAILY_JSON, LADDER_JSON, PRACTICE_MONTHS, ROUNDS_JSON
from generator.catalog.text.answers import DISCLAIMER
from generator.catalog.words import SourceMode
from generator.compose.body import Body, encode
from generator.site.resources import PracticeFiles, ShippedMonth
from generator.values.ladders import LadderScore, LadderScores, PartitionScore, ReliabilityBin
from generator.values.rows import PublishedQuestion, RoundInTheRecord
from generator.values.view import ArenaView


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
    disclaimer: str
    """Educational notice."""
    replay: NotRequired[ReplayOffset]
    """Only of recorded prices."""


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


def rounds_file(project: str, rows: Sequence[Any], offset_ms: int | None = None) -> dict[str, bytes]:
    """Return the record that `emi verify` recomputes, by its path.

    Args:
        rows: as the memory gives them.
        offset_ms: of a replay, by which rounds are dated later than their prices.
    """
    body: RoundsFile = {"success": True, "project": project, "rounds": list(rows), "disclaimer": DISCLAIMER}
    if offset_ms is not None:
        body["replay"] = {"offset_seconds": offset_ms // 1000}
    return {ROUNDS_JSON: encode(body)}


def daily_file(project: str, arena: ArenaView, offset_ms: int | None = None) -> dict[str, bytes]:
    """Return the daily questions by their path, the newest first; `offset_ms` as for the rounds."""
    questions = list(map(published_question, arena.daily))
    body: DailyFile = {"success": True, "project": project, "questions": questions, "disclaimer": DISCLAIMER}
    if offset_ms is not None:
        body["replay"] = {"offset_seconds": offset_ms // 1000}
    return {DAILY_JSON: encode(body)}


def ladder_file(project: str, arena: ArenaView) -> dict[str, bytes]:
    """Return the record of ladder and partition by its path: live, and of the backtest, apart."""
    body = LadderFile(
        success=True,
        project=project,
        live=_part(arena.ladder_record),
        backtest=_part(arena.ladder_backtest),
        disclaimer=DISCLAIMER,
    )
    return {LADDER_JSON: encode(body)}


def _part(record: LadderScores) -> LadderPart:
    return LadderPart(levels=record.levels, reliability=record.bins, partition=record.partition)


def practice_file(
    project: str, shipped: ShippedMonth, own: Sequence[PracticeFiles] = (), mode: str = ""
) -> dict[str, bytes]:
    """Return the list of the months of practice by its path.

    Args:
        own: months of the own record, newest first.
        mode: what market the own record is of.
    """
    months = [*(_month(month, mode) for month in own), _month(shipped.month, str(SourceMode.SIMULATED))]
    body: PracticeMonthsFile = {"success": True, "project": project, "months": months, "disclaimer": DISCLAIMER}
    return {PRACTICE_MONTHS: encode(body)}


def _month(month: PracticeFiles, mode: str) -> PracticeMonthRow:
    return {"month": month.month, "items": month.items, "truths": month.truths, "source_mode": mode}
