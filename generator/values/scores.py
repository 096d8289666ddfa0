"""Scores of the record: counted shares, means with their intervals, and what they are worth next to simple rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from generator.catalog.words import Call
from generator.values.published import PUBLISHED

Z_95: Final = 1.959964
"""Standard deviations of a normal curve on either side of its mean that hold 95 of 100 cases."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """A share of cases with its 95% interval."""

    __pydantic_config__ = PUBLISHED

    # Made in `arena.rates` alone, which leaves the share of fewer than 30 cases out where it is published.
    n: int
    """Cases."""
    hits: int
    """How many of them."""
    backtest: bool
    """True: all cases are the backtest's; false: none is."""
    percent: float | None
    """Share, percent; null below 30 cases."""
    low_percent: float | None
    """Lower end of the 95% interval, percent."""
    high_percent: float | None
    """Upper end of the 95% interval, percent."""


NO_ROUNDS: Final = Rate(n=0, hits=0, backtest=False, percent=None, low_percent=None, high_percent=None)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its 95% interval."""

    __pydantic_config__ = PUBLISHED

    value: float
    """What was measured."""
    low: float | None
    """Lower end of the 95% interval; null while there is too little for one."""
    high: float | None
    """Upper end of the 95% interval; null likewise."""


@dataclass(frozen=True, slots=True)
class RangeForecastScore:
    """How the ranges of one forecaster did; losses in units of percent moves, lower is better."""

    name: str
    inside_50: Rate
    inside_90: Rate
    pinball: float | None
    qlike: float | None
    pinball_saved: Estimate | None = None  # by how many percent the brain's loss is below its
    qlike_saved: Estimate | None = None  # its loss minus the brain's


@dataclass(frozen=True, slots=True)
class HorizonRecord:
    """The ranges over one horizon: the brain's first, then those of the simple rules; `blocks` are resampled whole."""

    # Sentences and the audit need the counts behind each share; `HorizonScores` publishes shares alone.
    horizon: str
    resolved: int
    void: int
    blocks: int
    scores: tuple[RangeForecastScore, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationBin:
    """One bin of published confidence against what happened."""

    __pydantic_config__ = PUBLISHED

    low_percent: float
    """Lower edge of the published confidence, percent."""
    high_percent: float
    """Upper edge, percent."""
    n: int
    """Resolved forecasts in the bin."""
    said_percent: float | None
    """Mean confidence of its forecasts, percent; null without any."""
    hit: Rate | None
    """How often that happened; null below 30 cases."""
    fits: bool | None
    """Whether said_percent lies within the interval of hit; null without a rate."""
    note: Literal["sparse"] | None
    """sparse where there is no rate, of fewer than 30 cases; null where there is one."""

    @classmethod
    def of(cls, low: float, high: float, n: int, hit: Rate | None, said: float | None = None) -> CalibrationBin:
        """Return the bin from `low` to `high` percent with what its rate shows."""
        fits = None
        if hit is not None and hit.low_percent is not None and hit.high_percent is not None:
            fits = hit.low_percent <= (said or 0.0) <= hit.high_percent

        return cls(
            low_percent=low,
            high_percent=high,
            n=n,
            said_percent=said,
            hit=hit,
            fits=fits,
            note="sparse" if hit is None else None,
        )


@dataclass(frozen=True, slots=True)
class MoveHourRow:
    """Whether prices moved, in one hour of the day."""

    __pydantic_config__ = PUBLISHED

    hour: int
    """Hour of the day in which the forecasts start, UTC, 0..23."""
    n: int
    """Forecasts that were scored."""
    said_percent: float | None
    """Mean chance of a move, percent; null without any."""
    moved: Rate
    """How often the price ended outside the band."""


@dataclass(frozen=True, slots=True)
class MoveScores:
    """Scores of the chance that the price ends outside the band; two classes, Brier 0..1, against the base rate."""

    n: int = 0
    said_percent: float | None = None  # mean chance
    base_percent: float | None = None  # mean base rate
    moved: Rate = NO_ROUNDS
    brier: float | None = None
    base_rate_brier: float | None = None
    log_score: float | None = None
    base_rate_log_score: float | None = None
    skill_percent: Estimate | None = None
    log_skill_percent: Estimate | None = None
    bins: tuple[CalibrationBin, ...] = ()  # by chance; `hit` is how often the price moved
    hours: tuple[MoveHourRow, ...] = ()


@dataclass(frozen=True, slots=True)
class HoldScores:
    """How often the regime's label still stood four hours later, against the chances kept; Brier of four labels, 0..2.

    A case is an hour of which it is known what came; skills are None below ten days or ten labels that did not stand.
    """

    hours: int = 0  # with a label and chances
    n: int = 0  # of these with an outcome
    days: int = 0  # UTC days with one
    since_ms: int | None = None  # the first and the last of the hours
    until_ms: int | None = None
    said_percent: float | None = None  # mean chance that the label still stands
    held: Rate = NO_ROUNDS
    brier: float | None = None
    climate_brier: float | None = None
    persistence_brier: float | None = None
    climate_skill_percent: Estimate | None = None
    persistence_skill_percent: Estimate | None = None
    bins: tuple[CalibrationBin, ...] = ()  # by chance; `hit` is how often the label stood


@dataclass(frozen=True, slots=True)
class HoldRecord:
    """The record of the regime's chances: live, and of the backtest; and the hours of earlier kinds of chances."""

    kind: str | None = None
    live: HoldScores = HoldScores()
    backtest: HoldScores = HoldScores()
    earlier: Mapping[str | None, int] = field(default_factory=dict)  # None: from before kinds were stored


@dataclass(frozen=True, slots=True, kw_only=True)
class CrowdRecord:
    """Scores of a crowd's mean chances over the rounds in which any were given."""

    __pydantic_config__ = PUBLISHED

    n: int
    """Rounds that it was scored on."""
    votes: int
    """Votes that gave chances, in all of them."""
    brier: float | None
    """Mean three-class Brier score, 0..2, lower is better; null without rounds."""
    brier_base_rate: float | None
    """That of the base rates in the same rounds."""
    brier_brain: float | None
    """That of the brain in the same rounds."""
    log_score: float | None
    """Mean negative log of the outcome's chance, clamped at 0.01."""
    log_score_base_rate: float | None
    """That of the base rates in the same rounds."""
    log_score_brain: float | None
    """That of the brain in the same rounds."""
    skill_percent: Estimate | None
    """1 - brier / brier_base_rate, percent, with its interval; null below 30 rounds."""


NO_CROWD: Final = CrowdRecord(
    n=0,
    votes=0,
    brier=None,
    brier_base_rate=None,
    brier_brain=None,
    log_score=None,
    log_score_base_rate=None,
    log_score_brain=None,
    skill_percent=None,
)


@dataclass(frozen=True, slots=True)
class BeforeCalls:
    """Forecasts from before calls: how often their words came true, a FLAT or NEUTRAL scored as a small move."""

    # The log has the share of fewer than 30 cases too, which `BeforeCallsRecord` leaves out.
    hit: Rate
    by_word: Mapping[Call, Rate]
    chance: Rate  # of always naming the outcome that was most frequent before
    last_ms: int  # start of the last of them


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierChancesRecord:
    """Forecasts whose chances were made in another way than today's, scored apart."""

    __pydantic_config__ = PUBLISHED

    kind: str | None
    """How the chances were made; null: before that was stored."""
    predictions: int
    """Forecasts made."""
    resolved: int
    """Forecasts whose outcome is known."""
    brier: float | None
    """Three-class Brier score, 0..2, lower is better."""
    brier_baseline: float | None
    """Brier score of the base rate over the same forecasts."""
    skill_percent: float | None
    """1 - brier / brier_baseline, in percent."""
    hit: Rate
    """How often calls were right."""


@dataclass(frozen=True, slots=True)
class ForecastScores:
    """Scores of resolved forecasts of one kind (`hourly`: one per asset an hour; `arena`: the rounds).

    Brier and log score are of all resolved forecasts, hit rates of those with a call. Brier is three-class, 0..2,
    uniform 0.667. Skill is 1 - Brier / Brier(baseline), in percent, None without cases.
    """

    # Whole rates, which the audit compares with the log; `TrackRecord` leaves out those of few cases and has sentences.
    kind: str
    predictions: int
    resolved: int
    void: int
    warm_up: int  # how many more were backtested before the start: counted apart, not in `resolved`
    hit: Rate  # of all calls
    brier: float | None
    log_score: float | None
    chance: Rate  # over the same calls, of always naming the outcome that was most frequent before
    baselines: dict[str, float | None]  # uniform, base_rate, persistence -> Brier
    skill_percent: dict[str, float | None]  # the same keys
    bins: tuple[CalibrationBin, ...]  # of calls
    by_call: Mapping[Call, Rate] = field(default_factory=dict)  # up, small_move, down
    no_calls: int = 0  # resolved without a call: neither right nor wrong
    move: MoveScores = field(default_factory=MoveScores)
    before_calls: BeforeCalls | None = None  # None where there are none
    chances_kind: str | None = None  # of all that is scored here
    earlier: tuple[EarlierChancesRecord, ...] = ()  # what was scored before, by kind, the newest first


@dataclass(frozen=True, slots=True, kw_only=True)
class TeacherMetrics:
    """Counts, and rates over the rounds since the start."""

    __pydantic_config__ = PUBLISHED

    lessons_total: int
    """Lessons so far."""
    warm_up: int
    """How many of them were made by backtest before the start; no rate has them."""
    brain: Rate
    """How often the call of the brain was right, over rounds with a call."""
    before_calls: Rate
    """How often its word was right in rounds that were sealed before calls existed, as scored then."""
    crowd: Rate
    """How often the crowd was right, over rounds with votes."""
    same_answer: Rate
    """How often brain and crowd gave the same answer, over rounds with votes."""
    patterns: dict[str, int]
    """Pattern type to its count; no backtest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TeacherPattern:
    """What one group of rounds with a crowd shows."""

    __pydantic_config__ = PUBLISHED

    when: str
    """Which rounds."""
    rounds: int
    """How many."""
    brain: Rate
    """How often the brain was right in them."""
    crowd: Rate
    """How often the crowd was right in them."""
    both_wrong: Rate
    """How often neither was."""
    finding: str
    """What that shows, in one sentence; below 30 rounds it says so."""


class BacktestScores(NamedTuple):
    """Scores of the backtest before the start, apart from those that count."""

    hourly: ForecastScores
    arena: ForecastScores
    how_far: tuple[HorizonRecord, ...] = ()
