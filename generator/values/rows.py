"""The rows of the published record, as the files have them: what makes a row gives its fields, and files their schema.

Attribute docstrings are the descriptions in `/openapi/files.json`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NotRequired

from typing_extensions import TypedDict

from generator.catalog.words import Call, Consensus, PatternType, Prediction, RoundPhase


class Chances(TypedDict):
    """Three chances or rates, 0..1, that add up to 1."""

    down: float
    """Of an end below the band."""
    neutral: float
    """Of an end within it."""
    up: float
    """Of an end above it."""


class SealedMove(TypedDict):
    """Whether the price was to end outside of the band."""

    chance: float
    """0..1."""
    base_rate: float
    """How often it did before, 0..1."""


class ClaimOfForecast(TypedDict):
    """What a forecast claims; nothing of one that was sealed before calls or kinds existed."""

    call: NotRequired[Call]
    """What it claims, or none."""
    move: NotRequired[SealedMove]
    """Whether the price ends outside of the band."""
    chances_kind: NotRequired[str]
    """How the chances were made: `law`, from the kept law of moves over their expected size."""


class SealedForecast(ClaimOfForecast):
    """What was sealed of a round before the first vote."""

    round_id: str
    """Which round."""
    asset: str
    """Ticker of the asset."""
    start: str
    """When votes close, ISO 8601 UTC."""
    end: str
    """When it is settled, ISO 8601 UTC."""
    band_bps: float | None
    """Half width of the neutral band in basis points."""
    prediction: Prediction
    """The call in the words of an outcome; NEUTRAL for a small move and for no call."""
    probabilities: Chances
    """What the brain gave."""
    base_rate: Chances
    """How often each came before."""
    confidence: float | None
    """The chance of the called outcome in percent; null without a call."""
    regime_mode: str | None
    """The market's regime then; null without a reading."""


class ClosingForecast(TypedDict):
    """What was sealed again of a round when its votes were about to close."""

    round_id: str
    """Which round."""
    made: str
    """When it was sealed, ISO 8601 UTC."""
    band_bps: float | None
    """Half width of the round's neutral band in basis points."""
    probabilities: Chances
    """What the brain gave then."""


class PublishedClosing(TypedDict):
    """The second seal of a round, with which people are compared."""

    commitment: str | None
    """SHA-256 of the forecast's canonical JSON followed by the round's salt; null where none was sealed."""
    forecast: ClosingForecast | None
    """What was sealed; null where nothing was."""
    void_reason: str | None
    """Why people are compared with nothing in this round; null where they are compared with this forecast."""


class VoteCounts(TypedDict):
    """Counted votes by choice."""

    bullish: int
    """Votes for up; of three chances, where that was the largest."""
    bearish: int
    """Votes for down."""
    neutral: int
    """Votes for a small move."""


class ChanceSumsRow(TypedDict):
    """Of the votes that gave chances: how many, and the sums of their chances in whole percent."""

    votes: int
    """How many gave chances."""
    up: int
    """Sum of their chances of up."""
    neutral: int
    """Sum of their chances of a small move."""
    down: int
    """Sum of their chances of down."""


class LessonRow(TypedDict):
    """The part of a lesson that can be recomputed from its round."""

    lesson_id: str
    """Which lesson."""
    brain_prediction: Prediction
    """What the brain said, in the words of an outcome."""
    human_consensus: Consensus
    """What most voters said; NONE without votes."""
    actual_outcome: Prediction
    """What came."""
    brain_correct: int
    """1 if the brain was right; 0 too without a call."""
    crowd_correct: int
    """1 if the voters were right."""
    agreement: int
    """1 if both said the same."""
    shared_intelligence_score: float
    """0 to 100, as the methodology defines it."""
    learning_score: float
    """0 to 100, as the methodology defines it."""
    pattern_type: PatternType
    """Who was right, in one word."""
    brain_called: NotRequired[int]
    """1 if the brain made a call; absent where the forecast was sealed before calls existed."""


class PublishedRound(TypedDict):
    """One finished round, resolved or void."""

    round_id: str
    """Asset and start of the round."""
    asset: str
    """Ticker of the asset."""
    phase: RoundPhase
    """resolved or void."""
    opened: str
    """When votes opened and the forecast was sealed, ISO 8601 UTC."""
    start: str
    """When votes closed, ISO 8601 UTC."""
    end: str
    """When it was settled, ISO 8601 UTC."""
    warm_up: bool
    """Whether the backtest before the start played it."""
    commitment: str | None
    """SHA-256 of the forecast's canonical JSON followed by the salt; null without a forecast."""
    forecast: SealedForecast | None
    """What was sealed; null where there was no reading."""
    salt: str | None
    """Hex digits; null without a forecast."""
    closing: PublishedClosing | None
    """What people are compared with; null where that is `forecast`: in rounds from before this rule, and backtests."""
    previous_outcome: Prediction | None
    """The asset's last outcome known at sealing."""
    price_basis: str | None
    """How prices were fixed."""
    start_price: float | None
    """USD; null where void."""
    end_price: float | None
    """USD; null where void."""
    change_bps: float | None
    """Change between the two in basis points."""
    outcome: Prediction | None
    """What came; null where void."""
    void_reason: str | None
    """Why there is no outcome; null where there is one."""
    votes: VoteCounts
    """All counted votes, simulated ones included."""
    simulated_votes: VoteCounts
    """The simulated ones among them."""
    chance_sums: ChanceSumsRow
    """Of the real votes."""
    simulated_chance_sums: ChanceSumsRow
    """Of the simulated ones."""
    lesson: LessonRow | None
    """What can be recomputed of its lesson; null where void."""


class RoundInTheRecord(PublishedRound):
    """One finished round, with where the log has it."""

    log_entries: list[int]
    """Indices of its entries; empty of one that the backtest played."""


class RangeEnds(TypedDict):
    """A 50% range inside a 90% range, in hundredths of a percent of `base`, or without one of `start_price`."""

    low_90: int
    """Low end of the 90% range."""
    low_50: int
    """Low end of the 50% range."""
    high_50: int
    """High end of the 50% range."""
    high_90: int
    """High end of the 90% range."""


class SealedQuestion(TypedDict):
    """What was sealed of a daily question when it was asked."""

    question_id: str
    """Which question."""
    closes: str
    """When answers close, ISO 8601 UTC."""
    measured: str
    """When it is measured, ISO 8601 UTC."""
    brain: RangeEnds
    """The brain's answer."""
    usual_day: RangeEnds
    """What a usual day gives."""


class RangesAtClose(TypedDict):
    """What was expected when answers closed: it knows what they can know, so they are compared with it."""

    brain: RangeEnds
    """The brain's ranges."""
    usual_day: RangeEnds
    """What a usual day gives."""


class QuestionScores(TypedDict):
    """Mean interval scores in percentage points; smaller is better."""

    brain: float
    """The brain's: of its ranges of the close; without a `base` of its sealed ranges."""
    usual_day: float
    """A usual day's, likewise."""
    people: float | None
    """The mean of the answers'; null without one."""
    brain_when_asked: NotRequired[float]
    """Of the brain's sealed ranges; absent without a `base`."""
    usual_day_when_asked: NotRequired[float]
    """Of a usual day's sealed ranges; absent without a `base`."""


class DailyPlace(TypedDict):
    """One place among those who answer the daily question; by the lower end of the interval."""

    place: int
    """From 1."""
    voter: str
    """The voter's address, shortened."""
    answers: int
    """Questions that the voter answered."""
    questions: int
    """Questions measured since the voter's first answer; one that was left out counts as a usual day."""
    saved: float
    """By how much the mean interval score of these questions is below a usual day's, percentage points."""
    low: float
    """Lower end of its 95% interval."""
    high: float
    """Upper end of it."""
    luck: float
    """Among so many voters the best by luck alone stays below this, in 95 of 100 cases."""
    beyond_luck: bool
    """Whether `saved` is more than that."""


class DailyRanking(TypedDict):
    """Who answered better than a usual day, over the questions that have a `base`."""

    places: Sequence[DailyPlace]
    """The best, in order."""
    voters: int
    """How many answered a question that was measured."""
    too_early: int
    """How many of them have too few answers or days for a place."""
    note: str
    """How places are given."""


class PublishedQuestion(TypedDict):
    """One daily question: open, live, resolved or void."""

    question_id: str
    """Asset and day on which it was asked."""
    asset: str
    """Ticker of the asset."""
    phase: RoundPhase
    """open while it takes answers, live until it is measured."""
    asked: str
    """When it was asked and the ranges were sealed, ISO 8601 UTC."""
    closes: str
    """When answers close, ISO 8601 UTC."""
    measured: str
    """When it is measured, ISO 8601 UTC."""
    commitment: str
    """SHA-256 of the forecast's canonical JSON followed by the salt."""
    base: float | None
    """USD when it was asked, which ranges and move count from; null of a question asked before that rule."""
    forecast: SealedQuestion | None
    """What was sealed; null while answers are taken."""
    salt: str | None
    """Hex digits; null while answers are taken."""
    price_basis: str | None
    """How prices were fixed; null before."""
    start_price: float | None
    """USD when answers closed; null before."""
    closing: RangesAtClose | None
    """What was expected then; null before, and without a `base`."""
    end_price: float | None
    """USD when it was measured; null before."""
    move: float | None
    """Percent from `base` to `end_price`, or without one from `start_price`; null before."""
    answers: int | None
    """How many counted; null before they closed."""
    answers_sha256: str | None
    """Over their transaction ids; null before they closed."""
    scores: QuestionScores | None
    """Null before it is measured."""
    void_reason: str | None
    """Why it cannot be measured; null where it can."""
