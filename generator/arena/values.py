"""What the Arena passes around. Times are wall UTC ms; probabilities 0..1; unknown is None."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from gateway.wire.daily import Ends
from generator.arena.rows import ChanceSumsRow, VoteCounts
from generator.brain.forecast import MoveChance
from generator.catalog.words import Call, Concept, Consensus, PatternType, Prediction, RoundPhase

Triple = tuple[float, float, float]  # chances of down, neutral, up, as published


def move_chance(probabilities: Triple | None, base_rate: Triple | None) -> MoveChance | None:
    """Return the chance of a move beyond the band and its base rate, from chances as published; None without them.

    >>> move_chance((0.2, 0.3333, 0.4667), (0.3, 0.4, 0.3))
    MoveChance(chance=0.6667, base_rate=0.6)
    """
    if probabilities is None or base_rate is None:
        return None
    return MoveChance(round(1 - probabilities[1], 4), round(1 - base_rate[1], 4))


@dataclass(frozen=True, slots=True)
class Round:
    """One Arena round.

    `opens_ms` is when votes open (while the round before is live), `start_ms` when it goes live and votes close,
    `end_ms` when it settles. The forecast is sealed at opening by `sealed_digest` and shown from `start_ms` on.
    """

    round_id: str  # <ASSET>-<YYYYMMDD>-<HHMMSS> of start_ms
    asset: str
    opens_ms: int
    start_ms: int
    end_ms: int
    phase: RoundPhase
    band_bps: float | None = None
    sealed_digest: str | None = None  # SHA-256 hex of the canonical forecast and salt
    salt: str | None = None
    prediction: Prediction | None = None  # the brain's; hidden from every body while phase is open
    probabilities: tuple[float, float, float] | None = None  # down, neutral, up; as published, 4 decimals
    confidence_percent: float | None = None  # of the call; as published, 1 decimal
    regime_mode: str | None = None  # at sealing
    start_price: float | None = None
    end_price: float | None = None
    change_bps: float | None = None
    outcome: Prediction | None = None
    void_reason: str | None = None
    price_basis: str | None = None
    warm_up: bool = False
    simulated_crowd: bool = False
    base_rate: tuple[float, float, float] | None = None  # the forecast's causal base rates; as published, 4 decimals
    previous: Prediction | None = None  # the asset's last outcome known when the forecast was sealed (persistence)
    call: Call | None = None  # None without a forecast, and where it was sealed before calls existed
    chances_kind: str | None = None  # None without a forecast, and where it was sealed before kinds existed

    @property
    def move(self) -> MoveChance | None:
        """The sealed chance of a move beyond the band, None without a forecast."""
        return move_chance(self.probabilities, self.base_rate)


@dataclass(frozen=True, slots=True)
class Hour:
    """The market as published first in an hour, or as a backtest read it at its beginning (`warm_up`).

    `chances` are those of the four regimes in the order of the bodies, None where none was known; `chances_kind` is
    what they are the chances of, None without any and where the hour was kept before kinds existed. `situation` is what
    the headline is about, None where it is unknown, of a backtest, and of an hour kept before it was.
    """

    at_ms: int
    market_ms: int
    label: str
    chances: tuple[float, ...] | None
    headline: str
    prices: Mapping[str, float]  # by asset; unknown ones are left out
    warm_up: bool = False
    chances_kind: str | None = None
    situation: str | None = None


@dataclass(frozen=True, slots=True)
class ChanceSums:
    """The chances of one round's counted ballots that gave some: of how many, and their sums in whole percent."""

    votes: int = 0
    up: int = 0
    neutral: int = 0
    down: int = 0

    @property
    def row(self) -> ChanceSumsRow:
        """The sums, as they are published."""
        return {"votes": self.votes, "up": self.up, "neutral": self.neutral, "down": self.down}

    def plus(self, other: ChanceSums) -> ChanceSums:
        """Add those of other ballots."""
        return ChanceSums(
            self.votes + other.votes, self.up + other.up, self.neutral + other.neutral, self.down + other.down
        )

    def minus(self, other: ChanceSums) -> ChanceSums:
        """Take those of a part of the ballots away."""
        return ChanceSums(
            self.votes - other.votes, self.up - other.up, self.neutral - other.neutral, self.down - other.down
        )


@dataclass(frozen=True, slots=True)
class Tally:
    """Counted ballots of one round, one per voter, the last before the close; those with chances by their largest."""

    bullish: int = 0
    bearish: int = 0
    neutral: int = 0
    chances: ChanceSums = ChanceSums()

    @property
    def total(self) -> int:
        """All counted ballots."""
        return self.bullish + self.bearish + self.neutral

    def plus(self, other: Tally) -> Tally:
        """Add two tallies."""
        return Tally(
            self.bullish + other.bullish,
            self.bearish + other.bearish,
            self.neutral + other.neutral,
            self.chances.plus(other.chances),
        )

    @property
    def votes(self) -> VoteCounts:
        """The votes by choice, as they are published."""
        return {"bullish": self.bullish, "bearish": self.bearish, "neutral": self.neutral}


class Votes(NamedTuple):
    """The votes of a round at its close, of real and of simulated voters."""

    real: Tally = Tally()
    simulated: Tally = Tally()


@dataclass(frozen=True, slots=True)
class Lesson:
    """What a resolved round teaches; published as `TeacherLesson`."""

    lesson_id: str
    round_id: str
    asset: str
    brain_prediction: Prediction
    human_consensus: Consensus
    actual_outcome: Prediction
    brain_correct: int
    crowd_correct: int
    agreement: int
    shared_intelligence_score: float
    learning_score: float
    pattern_type: PatternType
    summary: str
    created_ms: int
    warm_up: bool = False
    simulated_crowd: bool = False
    brain_called: int | None = None  # 1 or 0: whether the forecast had a call; None where it was sealed before calls
    concept: Concept | None = None  # the idea that it explains; None, as the three texts, before lessons had one
    point: str | None = None  # what the round shows of it
    question: str | None = None
    answer: str | None = None


class BallotVerdict(NamedTuple):
    """What became of one ballot file; `reason` is None when it counted."""

    name: str  # the file's
    reason: str | None = None
    txid: str | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """One transition worth telling: a round opened, went live, settled or was voided; a regime changed."""

    at_ms: int
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Proportion:
    """A share of counted cases with its 95% interval, in percent; made in `rates` alone.

    The cases are those of live play, or (`backtest`) of the backtest before it. The share is None below one case, its
    interval also where there is too little for one.
    """

    hits: int
    n: int
    percent: float | None
    low_percent: float | None
    high_percent: float | None
    backtest: bool = False


@dataclass(frozen=True, slots=True)
class RangeForecast:
    """How far one asset may move over one horizon, in percent, as published (4 decimals).

    The 90% range is from `low_90` to `high_90`. `last_hour`, `last_day` and `ewma` are what three simple rules take for
    sigma, the standard deviation of the move.
    """

    sigma: float
    low_90: float
    low_50: float
    high_50: float
    high_90: float
    last_hour: float
    last_day: float
    ewma: float


@dataclass(frozen=True, slots=True)
class Move:
    """How far an asset moved over one horizon, from the hour's start price; in percent, as published (4 decimals)."""

    end_price: float | None = None
    move: float | None = None
    void_reason: str | None = None


@dataclass(frozen=True, slots=True)
class MeanInterval:
    """A mean with its 95% interval; None where nothing, or too little for an interval, has resolved."""

    value: float | None = None
    """The mean."""
    low: float | None = None
    """Lower end."""
    high: float | None = None
    """Upper end."""


@dataclass(frozen=True, slots=True)
class RangeForecastScore:
    """How the ranges of one forecaster did; losses in units of percent moves, lower is better."""

    name: str
    inside_50: Proportion
    inside_90: Proportion
    pinball: float | None
    qlike: float | None
    pinball_saved: MeanInterval = field(
        default_factory=MeanInterval
    )  # by how many percent the brain's loss is below its
    qlike_saved: MeanInterval = field(default_factory=MeanInterval)  # its loss minus the brain's


@dataclass(frozen=True, slots=True)
class HorizonRecord:
    """The ranges over one horizon: the brain's first, then those of the simple rules; `blocks` are resampled whole."""

    horizon: str
    resolved: int
    void: int
    blocks: int
    scores: tuple[RangeForecastScore, ...]


@dataclass(frozen=True, slots=True)
class Bin:
    """One bin of published confidence against what came true; rate None below 30 cases."""

    low_percent: float
    high_percent: float
    n: int
    hit: Proportion | None
    said_percent: float | None = None  # mean confidence of its forecasts

    @property
    def fits(self) -> bool | None:
        """Whether the mean confidence lies within the interval of what came true; None without a rate."""
        if self.hit is None or self.hit.low_percent is None or self.hit.high_percent is None:
            return None
        return self.hit.low_percent <= (self.said_percent or 0.0) <= self.hit.high_percent


class MoveHour(NamedTuple):
    """One hour of the UTC day: chances of a move said for it, how often the price moved, and the Brier skill."""

    hour: int
    n: int
    said_percent: float | None
    moved: Proportion
    skill_percent: MeanInterval


@dataclass(frozen=True, slots=True)
class MoveScores:
    """Scores of the chance that the price ends outside the band; two classes, Brier 0..1, against the base rate."""

    n: int = 0
    said_percent: float | None = None  # mean chance
    base_percent: float | None = None  # mean base rate
    moved: Proportion = Proportion(0, 0, None, None, None)
    brier: float | None = None
    base_rate_brier: float | None = None
    log_score: float | None = None
    base_rate_log_score: float | None = None
    skill_percent: MeanInterval = MeanInterval()
    log_skill_percent: MeanInterval = MeanInterval()
    bins: tuple[Bin, ...] = ()  # by chance; `hit` is how often the price moved
    hours: tuple[MoveHour, ...] = ()


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
    held: Proportion = Proportion(0, 0, None, None, None)
    brier: float | None = None
    climate_brier: float | None = None
    persistence_brier: float | None = None
    climate_skill_percent: MeanInterval = MeanInterval()
    persistence_skill_percent: MeanInterval = MeanInterval()
    bins: tuple[Bin, ...] = ()  # by chance; `hit` is how often the label stood


@dataclass(frozen=True, slots=True)
class HoldRecord:
    """The record of the regime's chances: live, and of the backtest; and the hours of earlier kinds of chances."""

    kind: str | None = None
    live: HoldScores = HoldScores()
    backtest: HoldScores = HoldScores()
    earlier: Mapping[str | None, int] = field(default_factory=dict)  # None: from before kinds were stored


@dataclass(frozen=True, slots=True)
class CrowdScores:
    """Scores of a crowd's mean chances over the rounds in which it gave some, and of the brain's in the same rounds.

    Three-class Brier 0..2 and log score; skill is against the base rate, in percent, its interval over rounds.
    """

    rounds: int = 0
    votes: int = 0  # that gave chances, in all of them
    brier: float | None = None
    base_rate_brier: float | None = None
    brain_brier: float | None = None
    log_score: float | None = None
    base_rate_log_score: float | None = None
    brain_log_score: float | None = None
    skill_percent: MeanInterval = MeanInterval()
    log_skill_percent: MeanInterval = MeanInterval()


@dataclass(frozen=True, slots=True)
class BeforeCalls:
    """Forecasts from before calls: how often their words came true, a FLAT or NEUTRAL scored as a small move."""

    hit: Proportion
    by_word: Mapping[Call, Proportion]
    chance: Proportion  # of always naming the outcome that was most frequent before
    last_ms: int  # start of the last of them


@dataclass(frozen=True, slots=True)
class EarlierChances:
    """Forecasts whose chances were made in another way than today's: they stay in the record, and are scored apart."""

    kind: str | None  # None: from before kinds were stored
    predictions: int
    resolved: int
    brier: float | None  # three-class, 0..2
    base_rate_brier: float | None
    skill_percent: float | None
    hit: Proportion  # of all calls


@dataclass(frozen=True, slots=True)
class ForecastScores:
    """Scores of resolved forecasts of one kind (`hourly`: one per asset an hour; `arena`: the rounds).

    Brier and log score are of all resolved forecasts, hit rates of those with a call. Brier is three-class, 0..2,
    uniform 0.667. Skill is 1 - Brier / Brier(baseline), in percent, None without cases.
    """

    kind: str
    predictions: int
    resolved: int
    void: int
    warm_up: int  # how many more were backtested before the start: counted apart, not in `resolved`
    hit: Proportion  # of all calls
    brier: float | None
    log_score: float | None
    chance: Proportion  # over the same calls, of always naming the outcome that was most frequent before
    baselines: dict[str, float | None]  # uniform, base_rate, persistence -> Brier
    skill_percent: dict[str, float | None]  # the same keys
    bins: tuple[Bin, ...]  # of calls
    by_call: Mapping[Call, Proportion] = field(default_factory=dict)  # up, small_move, down
    no_calls: int = 0  # resolved without a call: neither right nor wrong
    move: MoveScores = field(default_factory=MoveScores)
    before_calls: BeforeCalls | None = None  # None where there are none
    chances_kind: str | None = None  # of all that is scored here
    earlier: tuple[EarlierChances, ...] = ()  # what was scored before, by kind, the newest first


@dataclass(frozen=True, slots=True)
class PredictionMade:
    """One hourly prediction, stored before its horizon starts."""

    asset: str
    start_ms: int
    end_ms: int
    probabilities: tuple[float, float, float]
    base_rate: tuple[float, float, float]
    prediction: Prediction
    band_bps: float
    start_price: float | None = None
    end_price: float | None = None
    outcome: Prediction | None = None
    void_reason: str | None = None
    warm_up: bool = False
    made_ms: int | None = None  # the tick that stored it, before `start_ms`
    change_bps: float | None = None
    previous: Prediction | None = None  # the asset's last hourly outcome known at `made_ms` (persistence)
    ranges: Mapping[str, RangeForecast] | None = None  # by horizon, from the same start price
    moves: Mapping[str, Move] = field(default_factory=dict)  # of the horizons that ended
    call: Call | None = None  # None where it was stored before calls existed
    chances_kind: str | None = None  # how its chances were made; None where it was stored before kinds existed

    @property
    def move(self) -> MoveChance | None:
        """The stored chance of a move beyond the band."""
        return move_chance(self.probabilities, self.base_rate)


class LessonMetrics(NamedTuple):
    """Counts and rates over resolved rounds, those of live play or those of the backtest."""

    lessons_total: int
    brain: Proportion  # over rounds with a call
    crowd: Proportion  # over rounds with a crowd
    agreement: Proportion
    patterns: dict[PatternType, int]
    before_calls: Proportion = Proportion(0, 0, None, None, None)  # the brain's words, of rounds sealed before calls


@dataclass(frozen=True, slots=True)
class RecordCrowd:
    """The crowd in which a voter counts by their record; weighed shares 0..1, all 0 when no one has one."""

    voters: int
    bullish: float
    bearish: float
    neutral: float
    said: Tally = Tally()  # these voters by their choice; empty where an earlier version locked the round


@dataclass(frozen=True, slots=True)
class Burst:
    """Many votes in one minute: how many of them were for its most frequent choice, how many from new addresses."""

    at_ms: int
    votes: int
    same_choice: int
    new_voters: int


class RankedVoter(NamedTuple):
    """One place of the leaderboard; provisional below 100 resolved rounds."""

    place: int
    address: str
    hit: Proportion
    provisional: bool


class ScoredVoter(NamedTuple):
    """One place of the ranking by chances: a voter's scores, the base rate's in the same rounds, and what was saved."""

    place: int
    address: str
    rounds: int
    brier: float
    base_rate_brier: float
    log_score: float
    base_rate_log_score: float
    saved: MeanInterval  # the base rate's Brier score minus the voter's
    provisional: bool


class VoterRanking(NamedTuple):
    """The best records by the lower end of their interval, and how many voters have too few rounds for a place.

    `places` are of hit rates, `by_score` of the chances that voters gave.
    """

    places: tuple[RankedVoter, ...] = ()
    voters: int = 0
    below: int = 0
    by_score: tuple[ScoredVoter, ...] = ()
    scored: int = 0  # voters who gave chances in a resolved round
    scored_below: int = 0  # of them in fewer than 30


class Pattern(NamedTuple):
    """One group of rounds: how often brain and crowd were right in it, how often neither, and what that shows."""

    when: str
    rounds: int
    brain: Proportion
    crowd: Proportion
    both_wrong: Proportion
    finding: str


@dataclass(frozen=True, slots=True)
class LockedCrowd:
    """What was worked out of a round's real votes at its lock."""

    by_record: RecordCrowd
    bursts: tuple[Burst, ...]


class BacktestScores(NamedTuple):
    """Scores of the backtest before the start, apart from those that count."""

    hourly: ForecastScores
    arena: ForecastScores
    how_far: tuple[HorizonRecord, ...] = ()


NO_ROUNDS: Final = Proportion(0, 0, None, None, None)


@dataclass(frozen=True, slots=True)
class LadderScore:
    """The scores of one level of the ladder over all assets, either side; skill is against the base rate."""

    horizon: str
    """15m, 1h, 4h or 24h."""
    level: float
    """Percent."""
    kind: str
    """Whether it counts at the `end` or a `touch` on the way does."""
    n: int
    """Cases."""
    void: int
    """Cases of which it is not known what came."""
    events: int
    """Moves beyond the level."""
    days: int
    """UTC days with one."""
    said_percent: float
    """Mean chance that was given."""
    came_percent: float | None
    """Share of cases with a move beyond it; null below 30 cases."""
    brier: float
    """Mean squared distance of the chance from what came, smaller is better."""
    base_rate_brier: float
    """That of the base rate."""
    log_score: float
    """Mean negative log of the chance of what came, smaller is better."""
    base_rate_log_score: float
    """That of the base rate."""
    skill_percent: MeanInterval
    """How much of the base rate's Brier score was saved; of a rare level pooled with the next lower one."""
    rare: bool
    """Whether fewer than 30 days had an event."""


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """What was said and what came, by tenths of what was said."""

    n: int
    """Cases."""
    said_percent: float
    """Mean chance that was given."""
    came_percent: float
    """Share of cases in which it came."""


@dataclass(frozen=True, slots=True)
class PartitionScore:
    """The scores of the partition over all assets, next to those of its base rates."""

    n: int
    """Cases."""
    void: int
    """Cases of which it is not known what came."""
    brier: float
    """Mean three-class Brier score, 0..2, smaller is better."""
    base_rate_brier: float
    """That of the base rates."""
    log_score: float
    """Mean negative log of the chance of what came, smaller is better."""
    base_rate_log_score: float
    """That of the base rates."""
    skill_percent: MeanInterval
    """How much of the base rates' Brier score was saved."""


class LadderScores(NamedTuple):
    """The record of ladder and partition, live or of the backtest."""

    levels: tuple[LadderScore, ...]
    bins: Mapping[str, tuple[ReliabilityBin, ...]]  # by horizon and kind, over levels and sides
    partition: PartitionScore | None


NO_LADDER_SCORES: Final = LadderScores((), {}, None)


class RangeWeek(NamedTuple):
    """How the ranges of one asset and horizon held over the last week."""

    moves: int  # ranges whose move is known
    held_50: int
    held_90: int
    width_90: float  # sum of the widths of the 90% ranges, percentage points
    largest: float  # size of the largest move, percent
    of_backtest: int


class RangeDay(NamedTuple):
    """The ranges of the default asset that came due within the last day."""

    due_ms: int | None  # wall time for which one was given a day before; None where none came due
    low: float  # its ends, nine times in ten, as prices
    high: float
    price: float  # what came then
    hours: int  # ranges for an hour that ended within the day up to now
    held: int  # how many of them held
    warm_up: bool  # any of them made by the backtest


@dataclass(frozen=True, slots=True)
class DailyQuestion:
    """One daily question; prices, move and scores as published."""

    question_id: str
    asked_ms: int  # of the tick that asked it and sealed what is below
    closes_ms: int
    measured_ms: int  # when it is due to be measured
    brain: Ends
    usual: Ends
    salt: str
    commitment: str
    phase: RoundPhase = RoundPhase.OPEN
    start_price: float | None = None
    end_price: float | None = None
    price_basis: str | None = None
    move: float | None = None  # percent, four decimals
    void_reason: str | None = None
    answers: int | None = None  # how many counted; None before it closed
    answers_sha256: str | None = None  # over their transaction ids
    people: float | None = None  # mean score of the answers; None without one

    @property
    def asset(self) -> str:
        """What it asks about."""
        return self.question_id.partition("-")[0]

    @property
    def start_ms(self) -> int:
        """When it takes no more answers, as a round does from its start on."""
        return self.closes_ms

    @property
    def is_over(self) -> bool:
        """Whether nothing more will change."""
        return self.phase in {RoundPhase.RESOLVED, RoundPhase.VOID}


@dataclass(frozen=True, slots=True)
class ArenaView:
    """Everything the bodies need of the Arena after a tick."""

    live: Round | None
    live_tally: Tally
    open: Round | None
    lessons: tuple[Lesson, ...]  # newest first, at most 20
    events: tuple[Event, ...]  # newest first, at most 10
    teacher: LessonMetrics  # live, as everything that is scored; `backtest` has the backtest
    arena_record: ForecastScores
    hourly_record: ForecastScores
    how_far: tuple[HorizonRecord, ...] = ()  # live, by horizon
    rounds: dict[RoundPhase, int] = field(default_factory=dict)  # all of them
    rounds_warm_up: int = 0  # how many of these the backtest played
    lessons_warm_up: int = 0  # lessons of the backtest; `teacher` does not count them
    ballots_counted: int = 0
    ballots_rejected: int = 0
    void: Proportion = NO_ROUNDS  # how many of the live rounds that ended were void
    log_size: int = 0
    checkpoint_digest: str | None = None
    live_simulated_tally: Tally = field(default_factory=Tally)  # the part of `live_tally` that the demo simulated
    crowd: LockedCrowd | None = None  # of the live round
    patterns: tuple[Pattern, ...] = ()
    leaderboard: VoterRanking = field(default_factory=VoterRanking)
    crowd_record: CrowdScores = CrowdScores()  # live, of real votes that gave chances
    simulated_crowd_record: CrowdScores = CrowdScores()
    backtest: BacktestScores | None = None  # None where there was none
    week_of_ranges: Mapping[tuple[str, str], RangeWeek] = field(default_factory=dict)  # by asset and horizon
    day_of_ranges: RangeDay | None = None
    rare_levels: frozenset[tuple[str, float]] = frozenset()  # of the ladder: horizon and level, percent
    daily: tuple[DailyQuestion, ...] = ()  # the last questions, newest first
    ladder_record: LadderScores = NO_LADDER_SCORES  # live
    ladder_backtest: LadderScores = NO_LADDER_SCORES
    holds: HoldRecord = field(default_factory=HoldRecord)  # whether the regime's label still stands
    refused: dict[str, int] = field(default_factory=dict)  # ballots newly refused in this tick, by reason
