"""Rounds, from opening to lesson.

Times are wall UTC ms; probabilities 0..1; unknown is None.
"""

from __future__ import annotations

from dataclasses import dataclass

from generator.catalog.words import Call, Concept, Consensus, PatternType, Prediction, RoundPhase
from generator.values.chances import MoveChance

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


@dataclass(frozen=True, slots=True)
class Event:
    """One transition worth telling: a round opened, went live, settled or was voided; a regime changed."""

    at_ms: int
    kind: str
    text: str
