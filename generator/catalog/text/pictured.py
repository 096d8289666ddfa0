"""Captions of Learn's pictures: what 24 hours did, said only where the lines that are drawn did it."""

from itertools import pairwise
from typing import Final, NamedTuple

from generator.catalog.counts import in_words
from generator.catalog.text.book import Book, Sentence
from generator.catalog.text.figures import UNCHANGED, size

CLEAR_DAYS: Final = 1.5  # usual days, from which on a rise or fall is clear
_EACH: Final = 0.1  # percent that each coin moved at least
_GIVEN_BACK: Final = 0.33  # of a clear move, at most; and as far against it on the way, at most
_NOWHERE_DAYS: Final = 0.25
_OF_WIDE: Final = 0.5  # of what a line stayed within
_BACK_DAYS: Final = 0.5
_RESTLESS: Final = 1.3  # of the way that the average coin usually travels


class PicturedDay(NamedTuple):
    """24 hours at their full hours, in percent from the first."""

    coins: tuple[float, ...]  # each one's move
    line: tuple[float, ...]  # of the average coin, at each full hour
    usual_day: float  # percent
    narrow: float | None = None  # a quarter of the month's days have a narrower line; None of a young record
    usual_way: float | None = None  # that the average coin travels, likewise

    @property
    def moved(self) -> float:
        """Where the average coin ended."""
        return self.line[-1]

    @property
    def wide(self) -> float:
        """From the lowest point of the line to its highest."""
        return max(self.line) - min(self.line)

    @property
    def travelled(self) -> float:
        """How far the average coin went in all, up and down."""
        return sum(abs(after - before) for before, after in pairwise(self.line))


def _together(day: PicturedDay, sign: float) -> bool:
    """Whether every coin moved to one side, clearly on average, and little of it was given back."""
    moved = sign * day.moved
    line = [sign * value for value in day.line]
    return (
        min(sign * coin for coin in day.coins) > _EACH
        and moved >= CLEAR_DAYS * day.usual_day
        and max(line) - moved <= _GIVEN_BACK * moved
        and min(line) >= -_GIVEN_BACK * moved
    )


def _went_nowhere(day: PicturedDay) -> bool:
    return (
        abs(day.moved) < min(_NOWHERE_DAYS * day.usual_day, _OF_WIDE * day.wide)
        and day.narrow is not None
        and day.wide <= day.narrow
    )


def _went_both_ways(day: PicturedDay) -> bool:
    return (
        abs(day.moved) < _BACK_DAYS * day.usual_day
        and day.usual_way is not None
        and day.travelled >= _RESTLESS * day.usual_way
    )


def _ended(day: PicturedDay) -> str:
    return "where it began" if abs(day.moved) < UNCHANGED else f"{size(day.moved)} from where it began"


PICTURED: Final[Book[PicturedDay]] = Book(
    {
        "rising_together": (
            Sentence(
                "Rising together: all {coins} coins are higher after 24 hours, by {moved} on average",
                "each coin by .1%, the average by 1.5 usual days, and at most a third of it given back",
                lambda day: _together(day, 1.0),
            ),
        ),
        "falling_together": (
            Sentence(
                "Falling together: all {coins} coins are lower after 24 hours, by {moved} on average",
                "likewise",
                lambda day: _together(day, -1.0),
            ),
        ),
        "going_nowhere": (
            Sentence(
                "Going nowhere: hour by hour the average coin stayed within {wide} for a day, and ended {ended}",
                "under a quarter of a usual day and half of its range, and among the narrowest quarter of days",
                _went_nowhere,
            ),
        ),
        "up_and_down": (
            Sentence(
                "Up and down: hour by hour the average coin travelled {travelled} in 24 hours, and ended {ended}",
                "under half a usual day, after 1.3 times the usual way",
                _went_both_ways,
            ),
        ),
    },
    {
        "coins": lambda day: in_words(len(day.coins)),
        "moved": lambda day: size(day.moved),
        "wide": lambda day: size(day.wide),
        "travelled": lambda day: size(day.travelled),
        "ended": _ended,
    },
)
NAMES: Final = {
    "rising_together": "Rising together",
    "falling_together": "Falling together",
    "going_nowhere": "Going nowhere",
    "up_and_down": "Up and down",
}
