"""The market in sentences: functions of the published facts and of nothing else; each asset's are in `asset`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Final

from generator.catalog.assets import ASSET_NAMES, ASSETS
from generator.catalog.counts import in_words, listed
from generator.catalog.text.forecast import calls_sentence
from generator.catalog.text.labels import EXPECTED, REGIME
from generator.catalog.text.state import ROUGHNESS, side_words
from generator.catalog.thresholds import (
    BROAD_SHARE,
    HOUR_MOVE_PERCENT,
    LARGE_DAYS,
)
from generator.catalog.words import (
    Call,
    MarketSide,
    RegimeLabel,
    Trend,
    VolatilityWord,
)

LONGEST_HEADLINE: Final = 240
_AS_OF: Final = re.compile(r" \(as of [^)]*\)")
EXTREME_RANK: Final = 95.0  # of the week's hours
_HIGH_VOLUME: Final = 1.5  # of the week's mean day
_LOW_VOLUME: Final = 0.6
_FEWEST: Final = 3  # assets of which a move is called broad
_TOGETHER: Final = 0.8  # mean correlation from which assets are said to move together
JUMP_PERCENT: Final = 2.0  # from which an hour's mean move is a jump or a drop
_SKEWED: Final = 2.0 / 3.0  # of the mean: a smaller median means that few assets make the mean
_HIGH_RANK: Final = 80.0  # below which rough hours have come down
_MORE_THAN_ALL: Final = 1.05  # of the day's move
_TREND_WORDS: Final[dict[Trend, str]] = {
    Trend.UP: "a rise",
    Trend.DOWN: "a fall",
    Trend.SIDEWAYS: "neither a rise nor a fall",
}
TREND_OF_SIDE: Final[dict[MarketSide, Trend]] = {
    MarketSide.RISING: Trend.UP,
    MarketSide.FALLING: Trend.DOWN,
    MarketSide.FLAT: Trend.SIDEWAYS,
    MarketSide.BOTH_WAYS: Trend.SIDEWAYS,
}
_ROUGH_WORDS: Final[dict[VolatilityWord, str]] = {
    **ROUGHNESS,
    VolatilityWord.NORMAL: "of normal volatility",
}
_SHARES: Final = (
    (0.64, "Three fifths"),
    (0.71, "Two thirds"),
    (0.78, "Three quarters"),
    (0.88, "Most"),
    (0.97, "Nearly all"),
)


@dataclass(frozen=True, slots=True)
class PublishedMarket:
    """What is said of the market, as published; None and empty where unknown. Times are UTC, e.g. `14:05`."""

    label: RegimeLabel = RegimeLabel.UNKNOWN  # the regime shown
    confidence: float | None = None  # chance that the label still stands in four hours, percent
    chances: Mapping[RegimeLabel, float] = field(default_factory=dict)  # of the four labels then, percent
    volatility: VolatilityWord = VolatilityWord.UNKNOWN
    side: MarketSide = MarketSide.UNKNOWN  # of the last 24 hours
    trend: Trend = Trend.UNKNOWN  # likewise
    changes: Mapping[str, float] = field(default_factory=dict)  # by asset, over 24 hours, percent
    up: int = 0  # how many of them rose
    down: int = 0
    flat: int = 0
    usual_day: float | None = None  # median size of the mean changes of the kept days, percent
    usual_days_kept: int = 0  # how many days these are
    most_since: str | None = None  # most of the mean change came since this full hour
    since_share: float | None = None  # and this is the share of it
    hours: Mapping[str, float] = field(default_factory=dict)  # by asset, change over the last hour, percent
    move_rank: float | None = None  # of the last hour's mean change among the week's hours, by size, 0..100
    largest_of: str | None = None  # week or day, where no hour of it had a larger mean change to the same side
    risk_score: float | None = None  # rank of the next four hours' expected volatility on record, 0..100
    hour_rank: float | None = None  # of the last hour's realised volatility in its week, 0..100
    volume_ratio: float | None = None  # the last day's volume over the week's mean day
    correlation: float | None = None  # mean over the pairs of assets, of hourly moves over the day
    hour_range: tuple[float, float] | None = None  # 90% range of Bitcoin's next hour, percent
    futures: str = ""  # what most assets' futures show, as a sentence; empty where nothing stands out
    missing: str = ""  # why there is no regime
    as_of: str = ""  # the market time of all this; empty where it is not to be said

    @property
    def known(self) -> int:
        """How many assets have a known change."""
        return self.up + self.down + self.flat

    @property
    def mean(self) -> float | None:
        """Mean change over 24 hours, percent."""
        return _mean(self.changes)

    @property
    def middle(self) -> float | None:
        """Median change over 24 hours, percent."""
        return median(self.changes.values()) if self.changes else None

    @property
    def skewed(self) -> bool:
        """Whether few assets make the mean change, so that the median says more."""
        return _is_skewed(self.changes)

    @property
    def hour(self) -> float | None:
        """Mean change over the last hour, percent; None where fewer than half of the assets are known."""
        return _mean(self.hours) if 2 * len(self.hours) >= max(self.known, _FEWEST) else None

    @property
    def hour_stands_out(self) -> bool:
        """Whether the last hour has a sentence of its own: a mean change of 1% or in the top twentieth of the week."""
        if not self.hour:
            return False
        return abs(self.hour) >= HOUR_MOVE_PERCENT or (self.move_rank or 0.0) >= EXTREME_RANK

    @property
    def broad(self) -> int:
        """1 where at least four fifths of the assets are up on the day, -1 where they are down, else 0."""
        if self.known < _FEWEST:
            return 0
        if self.up >= BROAD_SHARE * self.known:
            return 1
        return -1 if self.down >= BROAD_SHARE * self.known else 0

    @property
    def usual_days(self) -> float | None:
        """Size of the mean change in usual days."""
        if self.mean is None or not self.usual_day:
            return None
        return abs(self.mean) / self.usual_day


def _mean(changes: Mapping[str, float]) -> float | None:
    return sum(changes.values()) / len(changes) if changes else None


def _is_skewed(changes: Mapping[str, float]) -> bool:
    """Say whether the median has another sign than the mean, or is far smaller."""
    mean = _mean(changes)
    if not mean or len(changes) < _FEWEST:
        return False
    return median(changes.values()) / mean < _SKEWED


def signed(value: float, decimals: int = 1) -> str:
    """Write a change in percent with its sign, e.g. `+0.3%`; nothing is never minus nothing."""
    text = f"{value:+.{decimals}f}"
    if float(text) == 0.0:
        text = text.lstrip("+-")
    return f"{text}%"


def headline(facts: PublishedMarket) -> str:
    """Return the state now, as of when, then the day, then the hour where it stands out, at most 240 characters.

    The fullest that fits; the time goes last of all.
    """
    dated = f" (as of {facts.as_of} UTC)." if facts.as_of else "."
    if not facts.chances and not facts.changes:
        unknown = f"Volatility and side of the market are unknown: {facts.missing or 'price changes are not known'}"
        return f"{unknown}{dated}"

    state = _state(facts).removesuffix(".")
    for ending in (dated, "."):
        for day, hour in _days_and_hours(facts):
            text = " ".join(sentence for sentence in (f"{state}{ending}", day, hour) if sentence)
            if len(text) <= LONGEST_HEADLINE:
                return text
    return text


def undated(headline: str) -> str:
    """Return a headline without its time, for what is shown with a time of its own.

    >>> undated("A flat day, calm (as of 12:03 UTC). On the day all are lower.")
    'A flat day, calm. On the day all are lower.'
    """
    return _AS_OF.sub("", headline)


def _days_and_hours(facts: PublishedMarket) -> list[tuple[str, str]]:
    """Return the sentences on the day and the hour, the fullest first."""
    days = _day(facts)
    if not facts.hour_stands_out:
        return [(day, "") for day in days]
    full, short = _hour(facts)
    return [*((day, full) for day in days), (days[-1], short)]


def summary(facts: PublishedMarket) -> str:
    """Return the headline and what a reader should know with it, in a few sentences."""
    sentences = [
        headline(facts),
        _range(facts),
        _volatility(facts),
        _size(facts),
        _regime(facts),
        _volume(facts),
        _together(facts),
        facts.futures,
        _ending(facts),
    ]
    return " ".join(sentence for sentence in sentences if sentence)


def _together(facts: PublishedMarket) -> str:
    if facts.correlation is None or facts.correlation < _TOGETHER:
        return ""
    return "The assets are moving closely together."


def _ending(facts: PublishedMarket) -> str:
    turned = facts.hour_stands_out and facts.broad * (facts.hour or 0.0) < 0
    if facts.broad and not turned:
        return f"Whether the {'rise' if facts.broad > 0 else 'fall'} will continue is not known."
    return "Which way prices will move next is not known."


def _state(facts: PublishedMarket) -> str:
    """Say what the last 24 hours were, and how rough the next ones look."""
    is_rated = facts.volatility is not VolatilityWord.UNKNOWN
    if facts.side is MarketSide.UNKNOWN and not is_rated:
        why = f": {facts.missing}" if facts.missing else ""
        return f"Volatility and side of the market are unknown{why}."

    side = side_words(facts.side).capitalize()
    if not is_rated:
        why = facts.missing or "less than three days of bars"
        return f"{side}; how rough the next hours look is unknown: {why}."
    return f"{side}, {_ROUGH_WORDS[facts.volatility]}."


def _day(facts: PublishedMarket) -> tuple[str, ...]:
    """Say how many assets are higher and lower on the day, and which least and most: in full, then shorter."""
    if not facts.changes:
        return ("How prices changed over the day is not known.",)
    if facts.known < _FEWEST:
        named = [f"{_name(asset)} {signed(moved)}" for asset, moved in facts.changes.items()]
        return (f"On the day {listed(named)}; the other changes are not known.",)

    lowest, *_, highest = sorted(facts.changes, key=lambda asset: facts.changes[asset])
    counts = f"On the day {_counted(facts)}"
    if not facts.broad:
        ends = f"from {signed(facts.changes[lowest])} ({_name(lowest)}) to {signed(facts.changes[highest])}"
        return f"{counts}, {ends} ({_name(highest)}).", f"{counts}."

    rising = facts.broad > 0
    large = (facts.usual_days or 0.0) >= LARGE_DAYS and ((facts.mean or 0.0) > 0) is rising
    most = _named_change(facts, highest if rising else lowest, "most")
    shortest = f"{counts}, {most}."
    if large:
        counts = f"On the day a broad, {_speed(facts)} {'rise' if rising else 'fall'}: {_counted(facts)}"
    short = f"{counts}, {most}."
    if max(facts.up, facts.down) < facts.known:
        return short, shortest
    # Where all move one way, the one that moved least bounds the rest.
    least = _named_change(facts, lowest if rising else highest, "least")
    return f"{counts}, {least}, {most}.", short, shortest


def _speed(facts: PublishedMarket) -> str:
    """Call a large move fast where most of it came within the last hours."""
    return "large" if facts.since_share is None else "fast"


def _counted(facts: PublishedMarket) -> str:
    """Count the assets by their side, e.g. `two of three assets are lower`."""
    whole = facts.known == len(ASSETS)
    assets = "assets" if whole else "known assets"
    ways = ((facts.up, "higher"), (facts.down, "lower"), (facts.flat, "flat"))
    for count, way in ways:
        if count == facts.known:
            return f"all {in_words(count)} {assets} are {way}"
    if facts.broad:
        count, way = ways[facts.broad < 0]
        return f"{in_words(count)} of {in_words(facts.known)} {assets} are {way}"

    (first, way), *others = [(count, way) for count, way in ways if count]
    opening = f"{in_words(first)} of {in_words(facts.known)} {assets} {'is' if first == 1 else 'are'} {way}"
    return listed([opening, *(f"{in_words(count)} {word}" for count, word in others)])


def _name(asset: str) -> str:
    return ASSET_NAMES.get(asset, asset)


def _named_change(facts: PublishedMarket, asset: str, rank: str) -> str:
    """Return an asset, its rank and its change, e.g. `Bitcoin most (+3.2%)`."""
    return f"{_name(asset)} {rank} ({signed(facts.changes[asset])})"


def _hour(facts: PublishedMarket) -> tuple[str, str]:
    """Say how prices moved in the last hour, and where that is among the week's: in full, and shorter."""
    moved = facts.hour or 0.0
    word = verb_of(moved, JUMP_PERCENT)
    said = f"n the last hour prices {word} {abs(moved):.1f}% on average"
    if _is_skewed(facts.hours):
        said = f"{said} (median {signed(median(facts.hours.values()))})"

    # `But` where the day went the other way.
    day = facts.broad or (facts.mean or 0.0)
    said = f"But i{said}" if day * moved < 0 else f"I{said}"

    place = ""
    if facts.largest_of:
        place = f", the largest {'rise' if moved > 0 else 'fall'} of the {facts.largest_of}"
    elif facts.move_rank is not None and facts.move_rank >= EXTREME_RANK:
        place = f", more than in {in_100(facts.move_rank)} of 100 hours of the week"
    return f"{said}{place}.", f"{said}."


def in_100(rank: float) -> int:
    """Write a rank of 0..100 as the hours of 100 that it is above; none is above all 100."""
    return min(int(rank), 99)


def verb_of(moved: float, jump: float) -> str:
    """Return the verb of a move in percent: a jump or a drop from a size on, else a rise or a fall."""
    if moved > 0:
        return "jumped" if moved >= jump else "rose"
    return "dropped" if moved <= -jump else "fell"


def _size(facts: PublishedMarket) -> str:
    """Say how large the change on the day is against a usual day, and since when most of it came."""
    mean = facts.mean
    middle = facts.middle
    days = facts.usual_days
    if mean is None or middle is None or days is None or not facts.usual_day or days < 1.0:
        return ""

    yardstick = f"(median of {facts.usual_days_kept} days)"
    if facts.skewed:
        most, second, *_ = sorted(facts.changes, key=lambda asset: facts.changes[asset], reverse=mean > 0)
        lifts = "lift" if mean > 0 else "pull"
        pair = " and ".join(f"{_name(asset)} ({signed(facts.changes[asset])})" for asset in (most, second))
        return (
            f"The median change is {signed(middle)}; {pair} {lifts} the average to {signed(mean)}, against a usual "
            f"day's {facts.usual_day:.1f}% {yardstick}."
        )

    word = "rise" if mean > 0 else "fall"
    size = f"The average {word} of {abs(mean):.1f}% is {_times(days)} a usual day's {facts.usual_day:.1f}% {yardstick}."
    if facts.most_since is None or facts.since_share is None:
        return size
    return f"{size} {_part(facts.since_share)} has come since {facts.most_since} UTC."


def _part(share: float) -> str:
    """Name a share of a move, e.g. `Two thirds of it`."""
    if share >= _MORE_THAN_ALL:
        return "All of it, and more,"
    return f"{next((name for limit, name in _SHARES if share < limit), 'All')} of it"


def _times(days: float) -> str:
    return "about" if days < 1.15 else f"{days:.1f} times"


def _range(facts: PublishedMarket) -> str:
    if facts.hour_range is None:
        return ""
    low, high = facts.hour_range
    return f"Nine times in ten, Bitcoin should end the next hour between {signed(low, 2)} and {signed(high, 2)}."


def _volatility(facts: PublishedMarket) -> str:
    """Say how far prices swung in the last hour where only that is extreme, and what is expected."""
    sentences = []
    hour = facts.hour
    if facts.hour_rank is not None and facts.hour_rank >= EXTREME_RANK and not facts.hour_stands_out:
        swung = f"In the last hour prices swung more than in {in_100(facts.hour_rank)} of 100 hours of the past week"
        net = "" if hour is None else f", for a change of {signed(hour)} on average"
        sentences.append(f"{swung}{net}.")
    if facts.volatility is not VolatilityWord.UNKNOWN:
        sentences.append(_expected(facts.volatility, facts.risk_score))
    return " ".join(sentences)


def _expected(word: VolatilityWord, rank: float | None) -> str:
    """Say how rough the next four hours look; a word is kept for a while, and then its rank says more."""
    if rank is None:
        return EXPECTED[word]

    many = in_100(rank)
    if word is VolatilityWord.ELEVATED and rank < _HIGH_RANK:
        return f"The next four hours still count as rough: they look rougher than {many} in 100 hours on record."
    return f"The next four hours look rougher than {many} in 100 hours on record."


def _regime(facts: PublishedMarket) -> str:
    """Name the label with the chance that it still stands in four hours."""
    if facts.confidence is None:
        said = "unknown" in headline(facts)
        return f"The label of the regime is unknown: {facts.missing}." if facts.missing and not said else ""
    return f"Label: {REGIME[facts.label]}, which still stands in four hours with a chance of {facts.confidence:.1f}%."


def _volume(facts: PublishedMarket) -> str:
    ratio = facts.volume_ratio
    if ratio is None or _LOW_VOLUME < ratio < _HIGH_VOLUME:
        return ""
    return f"Trading volume over the last day was {ratio:.1f} times the week's daily average."


def brain_summary(facts: PublishedMarket, calls: Mapping[Call, int], *, simulated: bool) -> str:
    """Return the market's summary with the calls of the next hour counted; arguments as for `calls_sentence`."""
    sentences = (summary(facts), calls_sentence(calls, simulated=simulated))
    return " ".join(sentence for sentence in sentences if sentence)
