"""All of the Arena after a tick."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from generator.catalog.words import RoundPhase
from generator.values.hours import RangeDay
from generator.values.joint import JointScores
from generator.values.ladders import NO_LADDER_SCORES, LadderScores
from generator.values.questions import DailyQuestion
from generator.values.ranges import RangesOfWeek
from generator.values.rounds import Event, Lesson, Round
from generator.values.rows import DailyRanking
from generator.values.scores import (
    NO_CROWD,
    NO_ROUNDS,
    BacktestScores,
    CrowdRecord,
    ForecastScores,
    HoldRecord,
    HorizonRecord,
    Rate,
    TeacherMetrics,
    TeacherPattern,
)
from generator.values.votes import NO_VOTERS, Leaderboard, LockedCrowd, Tally


@dataclass(frozen=True, slots=True)
class ArenaView:
    """Everything the bodies need of the Arena after a tick."""

    live: Round | None
    live_tally: Tally
    open: Round | None
    lessons: tuple[Lesson, ...]  # newest first, at most 20
    events: tuple[Event, ...]  # newest first, at most 10
    teacher: TeacherMetrics  # rates are live, as everything that is scored; `backtest` has the backtest
    arena_record: ForecastScores
    hourly_record: ForecastScores
    how_far: tuple[HorizonRecord, ...] = ()  # live, by horizon
    rounds: dict[RoundPhase, int] = field(default_factory=dict)  # all of them
    rounds_warm_up: int = 0  # how many of these the backtest played
    ballots_counted: int = 0
    ballots_rejected: int = 0
    void: Rate = NO_ROUNDS  # how many of the live rounds that ended were void
    log_size: int = 0
    checkpoint_digest: str | None = None
    live_simulated_tally: Tally = field(default_factory=Tally)  # the part of `live_tally` that the demo simulated
    crowd: LockedCrowd | None = None  # of the live round
    patterns: tuple[TeacherPattern, ...] = ()
    leaderboard: Leaderboard = NO_VOTERS
    crowd_record: CrowdRecord = NO_CROWD  # live, of real votes that gave chances
    simulated_crowd_record: CrowdRecord = NO_CROWD
    backtest: BacktestScores | None = None  # None where there was none
    week_of_ranges: Mapping[tuple[str, str], RangesOfWeek] = field(default_factory=dict)  # by asset and horizon
    day_of_ranges: RangeDay | None = None
    rare_levels: frozenset[tuple[str, float]] = frozenset()  # of the ladder: horizon and level, percent
    daily: tuple[DailyQuestion, ...] = ()  # the last questions, newest first
    daily_ranking: DailyRanking | None = None  # None before a question with a base was measured
    ladder_record: LadderScores = NO_LADDER_SCORES  # live
    ladder_backtest: LadderScores = NO_LADDER_SCORES
    joint: tuple[JointScores, ...] = ()  # live, of the last 90 days, by horizon
    holds: HoldRecord = field(default_factory=HoldRecord)  # whether the regime's label still stands
    refused: dict[str, int] = field(default_factory=dict)  # ballots newly refused in this tick, by reason
