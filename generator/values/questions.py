"""The daily question. Times are wall UTC ms; unknown is None."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.wire.daily import Ends
from generator.catalog.words import RoundPhase


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
    base_price: float | None = None  # USD, published when it was asked; None where it was asked under the earlier rule
    phase: RoundPhase = RoundPhase.OPEN
    start_price: float | None = None  # when answers closed
    closing_brain: Ends | None = None  # what the brain says at the close, knowing what answers can know
    closing_usual: Ends | None = None  # likewise of a usual day
    end_price: float | None = None
    price_basis: str | None = None
    move: float | None = None  # percent of `counted_from`, four decimals
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
    def counted_from(self) -> float | None:
        """The price that ranges and the move count from; None before it is known."""
        # What was asked under the earlier rule counts from the close.
        return self.start_price if self.base_price is None else self.base_price

    @property
    def compared(self) -> tuple[Ends, Ends]:
        """What answers are compared with: the brain's ranges and a usual day's, those of the close where there are."""
        if self.closing_brain is None or self.closing_usual is None:
            return self.brain, self.usual
        return self.closing_brain, self.closing_usual

    @property
    def is_over(self) -> bool:
        """Whether nothing more will change."""
        return self.phase in {RoundPhase.RESOLVED, RoundPhase.VOID}
