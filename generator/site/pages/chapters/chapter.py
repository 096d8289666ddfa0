"""What a chapter is made of: questions whose answers are counted, each with a guess that can be set before."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Final, NamedTuple

from markupsafe import Markup

from generator.arena.rates import ENOUGH, part
from generator.arena.scoring import ENOUGH_BLOCKS, Ratio
from generator.catalog.durations import HOUR_MS
from generator.catalog.text.chapters import REMARKS
from generator.site.charts.plot import Chart
from generator.site.words.month import HourlyMonth
from generator.values.hours import PredictionMade
from generator.values.scores import Rate
from generator.values.view import ArenaView

OWN_RECORD: Final = "Source: own record."
_LONG_BLOCK: Final = 24  # hours
_SHORT_BLOCK: Final = 4
_STEPS: Final = 100  # of a slider, at least
Case = tuple[int, bool]  # a time in ms, and whether something came true


class Guess(NamedTuple):
    """A slider: from where to where it goes, and the answer; `words` hold a place for the number.

    Args:
        low: the lower end of what luck allows the answer, None where that is not known.
        high: the upper end.
    """

    answer: float
    least: float
    most: float
    step: float
    words: str
    low: float | None = None
    high: float | None = None

    @property
    def start(self) -> float:
        """Where the slider is first: in the middle, whatever the answer is."""
        middle = self.least + (self.most - self.least) / 2
        return round(self.step * round(middle / self.step), 6)


class Ask(NamedTuple):
    """One question: a guess where its answer is a number, the answer, and a picture where one helps.

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
        live = [prediction for prediction in self.due if not prediction.warm_up]
        if live:
            return live, ""
        return list(self.due), " (a backtest before the start)"


def in_blocks(cases: Iterable[tuple[int, int, int]], *, hours: int = 1) -> Ratio:
    """Return the ratio of two totals over blocks of hours: days where there are ten of them, else four hours.

    Hours that follow each other, and the assets of one hour, are fewer cases than they seem.

    Args:
        cases: (time in ms, y, x).
        hours: that one case takes; cases that overlap have blocks of twice as many.
    """
    every = list(cases)
    shortest = max(_SHORT_BLOCK, 2 * hours if hours > 1 else 1)
    ratio = _blocks(every, max(_LONG_BLOCK, shortest) * HOUR_MS)
    return ratio if ratio.blocks >= ENOUGH_BLOCKS else _blocks(every, shortest * HOUR_MS)


def _blocks(cases: Iterable[tuple[int, int, int]], length_ms: int) -> Ratio:
    by_block: dict[int, tuple[int, int]] = {}
    for at_ms, above, below in cases:
        block = at_ms // length_ms
        of_above, of_below = by_block.get(block, (0, 0))
        by_block[block] = (of_above + above, of_below + below)
    ratio = Ratio()
    for above, below in by_block.values():
        ratio = ratio.plus(above, below)
    return ratio


def share_of(cases: Iterable[Case], *, hours: int = 1) -> Rate:
    """Return how often something came true, with its interval by blocks where there are cases and blocks enough."""
    ratio = in_blocks(((at_ms, int(is_true), 1) for at_ms, is_true in cases), hours=hours)
    if ratio.blocks >= ENOUGH_BLOCKS and ratio.below >= ENOUGH:
        return ratio.rate(backtest=False)
    return part(ratio.above, ratio.below)


def counted(of: Rate) -> str:
    """Write a count, and as a share of a hundred with its interval where there is one.

    >>> counted(part(3, 10)), counted(rate(120, 400))
    ('3 of 10', '120 of 400, 30 in 100 (25 to 36 allowing for luck)')
    """
    words = f"{of.hits:,} of {of.n:,}"
    if of.percent is None or of.low_percent is None or of.high_percent is None:
        return words
    return f"{words}, {of.percent:.0f} in 100 ({of.low_percent:.0f} to {of.high_percent:.0f} allowing for luck)"


def remark(name: str, of: Rate, against: float) -> str:
    """Say what a share shows against another one, percent: each case of `REMARKS` looks at the interval."""
    remarks = REMARKS[name]
    if of.low_percent is None or of.high_percent is None:
        return remarks.few
    if of.low_percent > against:
        return remarks.above
    return remarks.below if of.high_percent < against else remarks.inside


def share_guess(of: Rate) -> Guess:
    """Ask for a share of a hundred, or for a count where there are few cases."""
    if of.low_percent is None:
        return Guess(of.hits, 0, of.n, 1, f"{{}} of {of.n}")
    return Guess(100 * of.hits / of.n, 0, 100, 1, "{} in 100", of.low_percent, of.high_percent)


def size_guess(answer: float, words: str, *, times: float = 3.0, least: float = 0.0) -> Guess:
    """Ask for a size, on a slider that goes some times as far as the answer and ends at a round number."""
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
