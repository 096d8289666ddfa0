"""How much a backup holds, in three numbers that only grow."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class Figures:
    """How much a backup holds; none of these ever becomes less, but by the restore of an older backup."""

    generation: int = 0  # the last release that the memory knows
    log_size: int = 0  # entries of the transparency log
    payments: int = 0  # settled, those of long ago too

    def less_than(self, other: Self, without: Iterable[str] = ()) -> str | None:
        """Say what is less than in other figures, None where nothing is; of what is left out nothing is asked."""
        rows = (
            ("memory", "release", self.generation, other.generation),
            ("memory", "log entry", self.log_size, other.log_size),
            ("ledger", "settled payment", self.payments, other.payments),
        )
        for holds, what, ours, theirs in rows:
            if holds not in without and ours < theirs:
                return f"the last {what} is number {ours}, and was {theirs}"
        return None
