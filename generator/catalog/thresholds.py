"""Figures from which on a word is used: one place for the brain, the bodies and the sentences."""

from typing import Final

FLAT_PERCENT: Final = 0.1  # a smaller change over the day is neither a rise nor a fall
BROAD_SHARE: Final = 0.8  # of the assets on one side: a broad rise or fall
LARGE_DAYS: Final = 2.0  # usual days' moves from which on a mean change is large
HOUR_MOVE_PERCENT: Final = 1.0  # mean change of an hour from which on it has a sentence
REBOUND_PERCENT: Final = 2.0  # change over three hours against a trend from which on it is named with it
CONTRACTS_PERCENT: Final = 2.0  # change of open contracts over a day from which on they rise or fall
HIGH_FUNDING_RANK: Final = 200.0 / 3.0  # of the asset's own month, percent, from which on funding is high
