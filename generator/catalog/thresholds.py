"""Figures from which on a word is used: one place for the brain, the bodies and the sentences."""

from typing import Final

FLAT_PERCENT: Final = 0.1  # a smaller change over the day is neither a rise nor a fall
BROAD_SHARE: Final = 0.8  # of the assets on one side: a broad rise or fall
