"""Figures as sentences write them, read back: counts in words, sizes, moves, prices.

Every oracle reads them here, whatever kind of text it reads; nothing here knows how a figure was written.
"""

from collections.abc import Sequence
from typing import Final, Literal

from tests.words.raw import NAMES

WORDS: Final = (
    *("no", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
MINUS: Final = "\N{MINUS SIGN}"
SIZE: Final = r"(\d+(?:\.\d)?)%"
MOVED: Final = rf"(?:(up|down) {SIZE}|(unchanged))"  # three groups
COIN: Final = rf"({'|'.join(NAMES)})"
UNCHANGED: Final = 0.07  # percent, below which a move may be said to be none
ROUNDED: Final = 0.011  # percent, to which moves are published
Move = Sequence[str | None]  # the groups of `MOVED`


def count(word: str) -> int:
    """Return a whole number in words up to twelve, else in digits.

    >>> count("none"), count("Seven"), count("1,240")
    (0, 7, 1240)

    Raises:
        ValueError: it is another word.
    """
    small = word.lower()
    if small == "none":
        return 0
    return WORDS.index(small) if small in WORDS else int(word.replace(",", ""))


def number(words: str) -> float | None:
    """Return the number of a price or of an axis, None of other words.

    >>> number("$26,254"), number(f"{MINUS}3.3"), number("unchanged")
    (26254.0, -3.3, None)
    """
    try:
        return float(words.replace(MINUS, "-").replace("$", "").replace(",", ""))
    except ValueError:
        return None


def fits(said: str, true: float, slack: float = ROUNDED) -> bool:
    """Say whether a size in digits is that of a number, whatever its sign, to what was rounded off and a slack.

    >>> fits("3.0", -3.04), fits("3.0", 3.1), fits("22", 21.6)
    (True, False, True)
    """
    rounded = 0.5 * 10.0 ** -len(said.partition(".")[2])
    return abs(abs(float(said)) - abs(true)) <= rounded + slack


def untrue_move(said: Move, true: float, slack: float = ROUNDED) -> Literal["", "way", "figure"]:
    """Return what is untrue of a move said as `up 1.2%`, `down 1.2%` or `unchanged`; of an unknown one its way.

    >>> [untrue_move(("up", "1.2", None), true) for true in (1.23, -1.2, 9.0)]
    ['', 'way', 'figure']
    """
    way, size, unchanged = said
    if unchanged:
        return "" if abs(true) < UNCHANGED - ROUNDED + slack else "way"
    if size is None or not ((way == "up" and true > 0) or (way == "down" and true < 0)):
        return "way"
    return "" if fits(size, true, slack) else "figure"
