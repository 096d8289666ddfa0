"""Texts of the kept series."""

from typing import Final

HOW_TO_READ: Final = (
    "What was published here before, hour by hour and every five minutes, null where it was not known. The values of a "
    "quantity begin at its time in since, follow each other at equal steps and end at until. Prices, volatility and "
    "ranges are of the time named; the rest is what the first minute of each step showed. A range is for the hour that "
    "begins then, and held_90 says whether the price ended within it."
)
