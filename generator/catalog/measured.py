"""What the regime's confidence was worth where the truth is known: simulated markets that no training has seen.

Made by `python -m generator.lab evaluate`; a test holds it to the table of docs/explain/brain.md and to the packaged
weights.
"""

from typing import Final, NamedTuple

WEIGHTS: Final = "04eadb3e9ef8"
"""Beginning of the digest of the weights that were measured."""
SEEDS: Final = "71001-71012"
MARKETS: Final = 12
"""Simulated markets of each kind."""
DAYS: Final = 30
"""Days of each market that were scored, after 30 days that were not; a bar of 5 minutes at a time."""


class Measured(NamedTuple):
    """One kind of market."""

    family: str
    kind: str
    accuracy_percent: float  # mean over the four regimes of how often the label was right while it ruled; guessing: 25
    error_points: float  # expected calibration error: mean distance of confidence and truth, percentage points


MEASURED: Final = (
    Measured("base", "ordinary markets", 77.6, 2.5),
    Measured("hard", "markets whose regimes differ little", 63.1, 3.8),
    Measured("wild", "markets of many different kinds", 69.6, 3.3),
    Measured("alt", "markets made in a way that the training never saw", 79.9, 2.9),
    Measured("second", "markets whose drift and level change with every spell", 69.0, 6.3),
)
