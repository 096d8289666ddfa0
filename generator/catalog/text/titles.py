"""Titles of price charts: where the line that is drawn ended, and how far it had been on the way."""

from typing import Final, NamedTuple

from generator.catalog.text.book import Book, Sentence, always
from generator.catalog.text.figures import UNCHANGED, moved

_APART: Final = 0.5  # of the whole move, from which on a turn on the way is named


class Drawn(NamedTuple):
    """A line of prices, against its first point."""

    name: str
    span: str  # `a week`; empty where the line is shorter than its chart
    begun: str  # when it began, `24 Nov, 10:00 UTC`
    moved: float  # to its last point, percent
    high: tuple[float, str]  # its highest point, percent, and when: `on 12 Mar`, `at 14:00 UTC`
    low: tuple[float, str]

    @property
    def turn(self) -> tuple[float, str]:
        """The point of the two that is farther outside of where the line began and ended."""
        above = self.high[0] - max(0.0, self.moved)
        below = min(0.0, self.moved) - self.low[0]
        return self.high if above >= below else self.low

    @property
    def turned(self) -> bool:
        """Whether that is far enough to be named."""
        size, _ = self.turn
        outside = max(size - max(0.0, self.moved), min(0.0, self.moved) - size)
        return outside >= max(_APART * abs(self.moved), 2 * UNCHANGED)


def _is_level(line: Drawn) -> bool:
    return abs(line.moved) < UNCHANGED


TITLES: Final[Book[Drawn]] = Book(
    {
        "title": (
            Sentence(
                "{name} is where it was {ago}, after being {turn_moved} {turn_when}",
                "no change, and a turn on the way",
                lambda line: _is_level(line) and line.turned,
            ),
            Sentence("{name} is where it was {ago}", "no change", _is_level),
            Sentence(
                "{name} is {moved} {over}, after being {turn_moved} {turn_when}",
                "a turn on the way of half the move or more",
                lambda line: line.turned,
            ),
            Sentence("{name} is {moved} {over}", "else", always),
        ),
        "over": (
            Sentence("since {begun}", "a line shorter than its chart", lambda line: not line.span),
            Sentence("in {span}", "else", always),
        ),
        "ago": (
            Sentence("on {begun}", "a line shorter than its chart", lambda line: not line.span),
            Sentence("{span} ago", "else", always),
        ),
    },
    {
        "name": lambda line: line.name,
        "span": lambda line: line.span,
        "begun": lambda line: line.begun,
        "moved": lambda line: moved(line.moved),
        "turn_moved": lambda line: moved(line.turn[0]),
        "turn_when": lambda line: line.turn[1],
    },
)
