"""The most surprising hours of a week, and what they teach."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final, NamedTuple

from generator.catalog.assets import ASSET_NAMES
from generator.catalog.durations import DAY_MS, HOUR_MS, WEEK_MS
from generator.catalog.formats import moment
from generator.catalog.horizons import HOUR
from generator.catalog.text.chapters import CHAPTER_OF, ChapterText
from generator.catalog.text.figures import signed
from generator.catalog.text.lessons import OUTCOME
from generator.catalog.text.weeks import AGAIN, CHOSEN, FAR, IN_TEN, TOGETHER, WeekIdea
from generator.catalog.words import Prediction
from generator.values.hours import Move, PredictionMade
from generator.values.ranges import RangeForecast

WEEKS_SHOWN: Final = 4  # of those that are over
SETTLED_MS: Final = HOUR_MS  # after its end every hour of a week is judged
SURPRISES: Final = 3
FEWEST: Final = 48  # hours of assets, below which a week has no most surprising one
FAR_SIGMAS: Final = 3.0
FAR_MORE: Final = 3.0  # times as many hours as by a bell curve, and so many at least
_MONDAY_MS: Final = 4 * DAY_MS  # the first one after 1 January 1970, a Thursday
_NORMAL: Final = NormalDist()
_ORDER: Final = (Prediction.BEARISH, Prediction.NEUTRAL, Prediction.BULLISH)  # of a forecast's probabilities


@dataclass(frozen=True, slots=True)
class Surprise:
    """One hour of an asset, in words."""

    start_ms: int
    title: str
    said: str  # what had been sealed before it
    point: str
    chapter: ChapterText


@dataclass(frozen=True, slots=True)
class Week:
    """A week from Monday to Sunday, UTC.

    Args:
        hours: of assets that were judged.
        held: how many of them ended inside of their 90% range.
        over: whether all of it is judged, so that nothing of it changes any more.
        tested: its hours are of the backtest before the start.
    """

    begin_ms: int
    hours: int
    held: int
    surprises: tuple[Surprise, ...]
    over: bool
    tested: bool = False

    @property
    def name(self) -> str:
        """The week by ISO 8601, e.g. 2026-W47."""
        return f"{moment(self.begin_ms):%G-W%V}"

    @property
    def days(self) -> str:
        """Its first and its last day."""
        return f"{moment(self.begin_ms):%-d %b} to {moment(self.begin_ms + WEEK_MS - DAY_MS):%-d %b %Y}"


class _Judged(NamedTuple):
    """One hour of an asset that is over, with how surprising it was."""

    made: PredictionMade
    within: RangeForecast
    move: float
    sigmas: float

    @property
    def outside(self) -> bool:
        return not self.within.holds_90(self.move)


class _Known(NamedTuple):
    """What an idea is judged by."""

    hour: _Judged
    week: Mapping[tuple[str, int], _Judged]
    together: int
    others: int


def week_begins(now_ms: int) -> tuple[int, ...]:
    """Return when the running week began and those before it that are shown, the newest first.

    >>> [f"{moment(begin):%a %d}" for begin in week_begins(1_795_000_000_000)[:2]]
    ['Mon 16', 'Mon 09']
    """
    newest = (now_ms - _MONDAY_MS) // WEEK_MS * WEEK_MS + _MONDAY_MS
    return tuple(newest - back * WEEK_MS for back in range(WEEKS_SHOWN + 1))


def week(begin_ms: int, made: Sequence[PredictionMade], now_ms: int) -> Week | None:
    """Explain a week; None where too few of its hours were judged.

    Args:
        made: hourly forecasts of the week; those of a backtest count only where no others are enough.
    """
    over = now_ms >= begin_ms + WEEK_MS + SETTLED_MS
    judged = tuple(_judged(prediction for prediction in made if not prediction.warm_up))
    tested = len(judged) < FEWEST and not over
    if tested:
        judged = tuple(_judged(made))
    if len(judged) < FEWEST:
        return None

    held = sum(not hour.outside for hour in judged)
    return Week(begin_ms, len(judged), held, tuple(_explained(judged)), over, tested)


def _judged(predictions: Iterator[PredictionMade] | Sequence[PredictionMade]) -> Iterator[_Judged]:
    for prediction in predictions:
        # Without a range or its outcome nothing can be called surprising.
        within = (prediction.ranges or {}).get(HOUR)
        move = prediction.moves.get(HOUR, Move()).move
        if within is not None and move is not None and within.sigma > 0:
            yield _Judged(prediction, within, move, abs(move) / within.sigma)


def _explained(judged: Sequence[_Judged]) -> Iterator[Surprise]:
    """Explain the most surprising hours, one asset of each and another idea each time."""
    week = {(hour.made.asset, hour.made.start_ms): hour for hour in judged}
    by_hour: dict[int, _Judged] = {}
    # Of equal surprises the earlier hour, then the asset by name: the same week gives the same page.
    for hour in sorted(judged, key=lambda of: (-of.sigmas, of.made.start_ms, of.made.asset)):
        by_hour.setdefault(hour.made.start_ms, hour)

    used: set[str] = set()
    for hour in list(by_hour.values())[:SURPRISES]:
        known = _known(hour, week)
        idea = next(idea for idea, fits in _IDEAS if idea.chapter not in used and fits(known))
        used.add(idea.chapter)
        yield _surprise(known, idea)


def _known(hour: _Judged, week: Mapping[tuple[str, int], _Judged]) -> _Known:
    others = [
        other.move
        for (asset, start_ms), other in week.items()
        if start_ms == hour.made.start_ms and asset != hour.made.asset
    ]
    together = sum(move * hour.move > 0 for move in others)
    return _Known(hour, week, together, len(others))


def _goes_together(known: _Known) -> bool:
    return known.others > 1 and known.together >= known.others - 1


def _goes_far(known: _Known) -> bool:
    """Whether the hour is one of three or more that went as far, and of three times as many as by a bell curve."""
    return known.hour.sigmas >= FAR_SIGMAS and _far(known) >= FAR_MORE * max(1.0, _expected(known))


def _far(known: _Known) -> int:
    return sum(hour.sigmas >= FAR_SIGMAS for hour in known.week.values())


def _expected(known: _Known) -> float:
    """Return how many hours of the week a bell curve has beyond so many standard deviations."""
    return 2 * _NORMAL.cdf(-FAR_SIGMAS) * len(known.week)


def _goes_again(known: _Known) -> bool:
    prediction = known.hour.made
    before = known.week.get((prediction.asset, prediction.start_ms - HOUR_MS))
    return before is not None and before.outside and known.hour.within.sigma > before.within.sigma


def _always(_known: _Known) -> bool:
    return True


_IDEAS: Final[tuple[tuple[WeekIdea, Callable[[_Known], bool]], ...]] = (
    (AGAIN, _goes_again),
    (TOGETHER, _goes_together),
    (FAR, _goes_far),
    (IN_TEN, _always),
    (CHOSEN, _always),
    (CHOSEN._replace(chapter="base-rates"), _always),
)


def _surprise(known: _Known, idea: WeekIdea) -> Surprise:
    hour = known.hour
    prediction = hour.made
    way = "rose" if hour.move > 0 else "fell"
    edge = hour.within.high_90 if hour.move > 0 else hour.within.low_90
    sentence = f"Its 90% range for the hour ended at {signed(edge)}; it {way} {abs(hour.move):.2f}%."
    if prediction.outcome is not None:
        outcome = prediction.outcome
        chance = dict(zip(_ORDER, prediction.probabilities, strict=True))[outcome]
        sentence = f"{sentence} The brain had given {OUTCOME[outcome]} {round(100 * chance)} in 100."

    return Surprise(
        start_ms=prediction.start_ms,
        title=f"{ASSET_NAMES[prediction.asset]} {way} {abs(hour.move):.2f}%: {hour.sigmas:.1f} standard deviations",
        said=sentence,
        point=idea.point.format(
            together="All" if known.together == known.others else known.together,
            others=known.others,
            expected=f"{_expected(known):.1f}",
            far=_far(known),
            hours=f"{len(known.week):,}",
            outside=f"{sum(one.outside for one in known.week.values()):,}",
        ),
        chapter=CHAPTER_OF[idea.chapter],
    )
