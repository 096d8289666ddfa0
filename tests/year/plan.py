"""What happens in a year, drawn from its seed: votes and purchases in both years, faults in the disturbed one."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from generator.catalog.products import PRODUCTS
from generator.catalog.words import Prediction
from tests.year.gateway import STEPS

GENERATOR_FAULTS: Final = (
    "generator restarted",
    "generator killed in a tick",
    "generator killed and down for hours",
    "generator's disk full for a tick",
    "generator's disk full for hours",
    "market unreadable for a tick",
    "two of three venues fail",
    "one of three venues fails",
    "clock set back by seconds",
    "clock set back by an hour",
    "clock set forward by hours",
    "power cut",
)
GATEWAY_FAULTS: Final = (
    "gateway restarted",
    "gateway killed in a purchase",
    "gateway's disk full",
    "facilitator dead",
    "facilitator answers 500",
    "facilitator settles and hangs up",
    "facilitator settles and answers 500",
    "node dead",
    "all dead",
)
RESTORED: Final = "machine lost, restored from a backup"
UPGRADED: Final = "upgrade killed on the way"
VOTERS: Final = 40
MOST_VOTES: Final = 3
PURCHASE_EACH_H: Final = 4
QUIET_H: Final = 2  # at the begin, and after a fault of hours


@dataclass(frozen=True)
class Purchase:
    """One purchase that the payer wants to make.

    Args:
        product: index in the catalog.
        fault: that meets it in the disturbed year.
        dies_at: step at which a gateway that is killed dies.
        asks_again: whether the payer asks for the body again at the next purchase.
    """

    product: int
    fault: str | None
    dies_at: str
    asks_again: bool


@dataclass
class Plan:
    """What happens in so many hours.

    Args:
        seed: of every draw.
        hours: of the year.
    """

    seed: int
    hours: int
    votes: dict[int, list[tuple[int, Prediction]]] = field(default_factory=dict)  # by hour
    purchases: dict[int, Purchase] = field(default_factory=dict)
    faults: dict[int, str] = field(default_factory=dict)
    restored_at: int | None = None

    def __post_init__(self) -> None:
        self._draw_votes(random.Random(f"votes {self.seed}"))
        self._draw_faults(random.Random(f"faults {self.seed}"))
        self._draw_purchases(random.Random(f"purchases {self.seed}"))

    def chance(self, hour: int) -> random.Random:
        """Return what is drawn from for the fault of one hour."""
        return random.Random(f"fault {self.seed} {hour}")

    def publishes(self, hour: int) -> bool:
        """Return whether the release of :15 is written: one tick of twelve."""
        return hour % PURCHASE_EACH_H == 0

    def _draw_votes(self, chance: random.Random) -> None:
        words = tuple(Prediction)
        for hour in range(self.hours):
            voters = chance.sample(range(VOTERS), chance.randrange(MOST_VOTES + 1))
            self.votes[hour] = [(voter, chance.choice(words)) for voter in voters]

    def _draw_faults(self, chance: random.Random) -> None:
        """Draw a fault every few hours, each kind once before one comes again; the restore in the middle."""
        usual = min(12, max(3, self.hours // 16))
        deck: list[str] = []
        self.restored_at = self.hours // 2 // PURCHASE_EACH_H * PURCHASE_EACH_H + 2
        hour = QUIET_H
        while hour < self.hours - QUIET_H:
            if abs(hour - self.restored_at) > 2 * QUIET_H:
                self.faults[hour] = _next_of(deck, GENERATOR_FAULTS, chance)
            hour += chance.randint(2, 2 * usual - 2)
        self.faults[self.restored_at] = RESTORED

    def _draw_purchases(self, chance: random.Random) -> None:
        deck: list[str] = []
        for hour in range(0, self.hours, PURCHASE_EACH_H):
            if chance.random() < 0.3:
                continue
            fault = _next_of(deck, GATEWAY_FAULTS, chance) if hour and chance.random() < 0.5 else None
            product = chance.randrange(len(PRODUCTS))
            self.purchases[hour] = Purchase(product, fault, chance.choice(STEPS), chance.random() < 0.5)


def _next_of(deck: list[str], kinds: Sequence[str], chance: random.Random) -> str:
    if not deck:
        deck += chance.sample(kinds, len(kinds))
    return deck.pop()
