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
