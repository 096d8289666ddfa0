"""What no text on an asset's futures may say of its figures.

Headlines and the short texts are held against the raw closes: tests/words.
"""

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from generator.catalog.thresholds import HIGH_FUNDING_RANK


class FuturesText(NamedTuple):
    """The sentences on one asset's futures and the figures published with them."""

    text: str
    rank: float | None = None  # of the funding rate in the asset's month, percent


FUTURES: Final[dict[str, Callable[[FuturesText], bool]]] = {
    "a side in demand at a rate that is usual for its month": lambda t: (
        t.rank is not None
        and (
            ("demand to be long exceeds supply" in t.text and t.rank < HIGH_FUNDING_RANK)
            or ("demand to be short exceeds supply" in t.text and t.rank > 100.0 - HIGH_FUNDING_RANK)
        )
    ),
}


def contradictions(text: FuturesText) -> Iterator[str]:
    """Yield the rows that a text breaks."""
    yield from (name for name, broken in FUTURES.items() if broken(text))
