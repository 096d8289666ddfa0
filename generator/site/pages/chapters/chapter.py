"""What a chapter is made of: questions whose answers are counted, each with a guess that can be set before."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Final, NamedTuple

from markupsafe import Markup

from generator.arena.rates import ENOUGH
from generator.arena.values import ArenaView, PredictionMade
from generator.site.charts.plot import Chart
from generator.site.words.month import HourlyMonth

OWN_RECORD: Final = "Source: own record."
_STEPS: Final = 100  # of a slider, at least


class Guess(NamedTuple):
    """A slider: from where to where it goes, and what came; `words` hold a place for the number."""

    answer: float
    least: float
    most: float
    step: float
    words: str

    @property
    def start(self) -> float:
        """Where the slider is first: in the middle, whatever came."""
        middle = self.least + (self.most - self.least) / 2
        return round(self.step * round(middle / self.step), 6)


class Ask(NamedTuple):
    """One question: a guess where its answer is a number, what came, and a picture where one helps.

    Args:
        at_ms: the start of the hour that is asked about, where it is one.
    """

    question: str
    tell: str
    guess: Guess | None = None
    picture: Chart | Markup | None = None
    at_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """What the chapters are counted from.

    Args:
        month: the market at the full hours of the last month.
        due: hourly forecasts that came due or were void, newest first.
        funding: the drawn funding of the default asset.
    """

    month: HourlyMonth
    due: Sequence[PredictionMade]
    arena: ArenaView
    funding: Markup | None = None

    def judged(self) -> tuple[list[PredictionMade], str]:
        """Return the forecasts of live play with what to say of them, or, while there is none, of the backtest."""
        live = [made for made in self.due if not made.warm_up]
        if live:
            return live, ""
        return list(self.due), " (a backtest before the start)"


def counted(hits: int, n: int) -> str:
    """Write a count, and as a share of a hundred where there are cases enough.

    >>> counted(3, 10), counted(120, 400)
    ('3 of 10', '120 of 400, 30 in 100')
    """
    words = f"{hits:,} of {n:,}"
    if n < ENOUGH:
        return words
    return f"{words}, {round(100 * hits / n)} in 100"


def share_guess(hits: int, n: int) -> Guess:
    """Ask for a share of a hundred, or for a count where there are few cases."""
    if n < ENOUGH:
        return Guess(hits, 0, n, 1, f"{{}} of {n}")
    return Guess(100 * hits / n, 0, 100, 1, "{} in 100")


def size_guess(answer: float, words: str, *, times: float = 3.0, least: float = 0.0) -> Guess:
    """Ask for a size, on a slider that goes some times as far as what came and ends at a round number."""
    most = rounded_up(times * abs(answer) or 1.0)
    step = 10.0 ** floor(log10(most / _STEPS))
    return Guess(answer, least * most, most, step, words)


def rounded_up(value: float) -> float:
    """Return the next of 1, 2 or 5 times a power of ten.

    >>> rounded_up(0.9), rounded_up(130), rounded_up(5)
    (1.0, 200.0, 5.0)
    """
    power = 10.0 ** floor(log10(value))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= value * 0.999)


def in_words(asks: Sequence[Ask | None]) -> tuple[Ask, ...]:
    """Return the questions that can be answered."""
    return tuple(ask for ask in asks if ask is not None)


def wildest(sizes: Sequence[float], part: float) -> float:
    """Return the size from which on an hour belongs to the wildest part of all."""
    place = ceil((1 - part) * len(sizes))
    return sorted(sizes)[min(place, len(sizes) - 1)]
