"""Rounds, from opening to lesson.

Times are wall UTC ms; probabilities 0..1; unknown is None.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

from pydantic import Field

from generator.catalog.words import Call, Concept, Consensus, PatternType, Prediction, RoundPhase
from generator.values.chances import MoveChance
from generator.values.published import PUBLISHED

Triple = tuple[float, float, float]  # chances of down, neutral, up, as published


def move_chance(probabilities: Triple | None, base_rate: Triple | None) -> MoveChance | None:
    """Return the chance of a move beyond the band and its base rate, from chances as published; None without them.

    >>> move_chance((0.2, 0.3333, 0.4667), (0.3, 0.4, 0.3))
    MoveChance(chance=0.6667, base_rate=0.6)
    """
    if probabilities is None or base_rate is None:
        return None
    return MoveChance(round(1 - probabilities[1], 4), round(1 - base_rate[1], 4))


class Closing(NamedTuple):
    """The brain's chances sealed again in the last minutes before votes close: with these people are compared."""

    made_ms: int | None = None  # None, as the others, until they are sealed
    probabilities: Triple | None = None  # down, neutral, up; of the round's band; as published, 4 decimals
    commitment: str | None = None  # SHA-256 hex of their canonical JSON and the round's salt
    void_reason: str | None = None  # why no one is compared with them; None while votes are open


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
    closing: Closing | None = None  # None: people are compared with the forecast at opening, as before this rule

    # Never the older forecast in place of one that is missing: people would look better than they were.
    @property
    def compared(self) -> Triple | None:
        """The brain's chances that people are compared with, None where they are with none."""
        if self.closing is None:
            return self.probabilities
        return None if self.closing.void_reason else self.closing.probabilities

    @property
    def move(self) -> MoveChance | None:
        """The sealed chance of a move beyond the band, None without a forecast."""
        return move_chance(self.probabilities, self.base_rate)


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonInShort:
    """How one resolved round turned out."""

    __pydantic_config__ = PUBLISHED

    # Described one by one, since pydantic reads no docstring of an inherited field.
    lesson_id: Annotated[str, Field(description="Identity of the lesson.")]
    round_id: Annotated[str, Field(description="The round that it is about.")]
    asset: Annotated[str, Field(description="Asset symbol.")]
    brain_prediction: Annotated[Prediction, Field(description="What the brain had said.")]
    brain_called: Annotated[
        int | None,
        Field(
            description="1 where the brain made a call, 0 where it made none, so that it was neither right nor "
            "wrong; null of a round that was sealed before calls existed."
        ),
    ]
    human_consensus: Annotated[Consensus, Field(description="What most voters had said.")]
    actual_outcome: Annotated[Prediction, Field(description="What happened.")]
    brain_correct: Annotated[int, Field(description="1 or 0; 0 without a call.")]
    crowd_correct: Annotated[int, Field(description="1 or 0; 0 without votes.")]
    agreement: Annotated[
        int, Field(description="1 when brain and crowd gave the same answer, else 0; 0 without a call.")
    ]
    shared_intelligence_score: Annotated[
        float, Field(description="How well both together did, 0..100; see the methodology.")
    ]
    learning_score: Annotated[float, Field(description="How much there was to learn, 0..100; see the methodology.")]
    pattern_type: Annotated[PatternType, Field(description="Who was right.")]
    summary: Annotated[
        str,
        Field(
            description="The move, how many hours on record moved as far, the chances at sealing, the score, the votes."
        ),
    ]
    concept: Annotated[
        Concept | None, Field(description="The idea that it explains; null in lessons from before they had one.")
    ]
    chapter: Annotated[str | None, Field(description="Path of the chapter on this site that says more.")]
    created_at: Annotated[str, Field(description="When the round was resolved, ISO 8601 UTC.")]
    warm_up: Annotated[bool, Field(description="True when made by backtest before the start.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class TeacherLesson(LessonInShort):
    """What one resolved round teaches."""

    __pydantic_config__ = PUBLISHED

    point: str | None
    """What the round shows of its idea."""
    question: str | None
    """A question about it."""
    answer: str | None
    """Its answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson(TeacherLesson):
    """A lesson as it is kept; what is published of it leaves these two out."""

    created_ms: int
    """When the round was resolved; `created_at` has whole seconds."""
    simulated_crowd: bool = False
    """Whether the demo simulated its voters."""


@dataclass(frozen=True, slots=True)
class Event:
    """One transition worth telling: a round opened, went live, settled or was voided; a regime changed."""

    # As stored; of `at_ms` the published `EventRow` has whole seconds.
    at_ms: int
    kind: str
    text: str
