"""How many assets, free endpoints and products there are, in words, for texts."""

from collections.abc import Sequence
from typing import Final

from generator.catalog.assets import ASSETS
from generator.catalog.endpoints import ENDPOINTS
from generator.catalog.products import PRODUCTS

_WORDS: Final = (
    *("no", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)


def in_words(count: int) -> str:
    """Write a whole number from 0 on: in words up to twelve, else in digits."""
    return _WORDS[count] if count < len(_WORDS) else str(count)


def quantity(count: int, unit: str) -> str:
    """Write a count with its unit, e.g. `1 hour` or `7 hours`."""
    return f"{count} {unit}" if count == 1 else f"{count} {unit}s"


def listed(parts: Sequence[str], word: str = "and") -> str:
    """Write names as people list them: `a, b and c`."""
    *first, last = parts
    if not first:
        return last
    return f"{', '.join(first)} {word} {last}"


ASSETS_IN_WORDS: Final = in_words(len(ASSETS))
ENDPOINTS_IN_WORDS: Final = in_words(len(ENDPOINTS))
PRODUCTS_IN_WORDS: Final = in_words(len(PRODUCTS))
