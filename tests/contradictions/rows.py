"""What no text may say of its facts, and what it must not leave out.

Each row is tested over every bar of recordings and of simulated markets (`python -m tests.contradictions`), and by a
planted sentence that it must find.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from generator.catalog.counts import in_words
from generator.catalog.text.asset import PublishedAsset
from generator.catalog.text.forecast import AHEAD_POINTS, PublishedForecast
from generator.catalog.text.market import (
    LONGEST_HEADLINE,
    PublishedMarket,
)
from generator.catalog.text.state import ROUGHNESS, side_words
from generator.catalog.thresholds import (
    CONTRACTS_PERCENT,
    FLAT_PERCENT,
    HIGH_FUNDING_RANK,
    HOUR_MOVE_PERCENT,
    REBOUND_PERCENT,
)
from generator.catalog.words import Call, MarketSide, MarketState, RegimeLabel, Trend, VolatilityWord

_STRESSED: Final = (VolatilityWord.ELEVATED, VolatilityWord.EXTREME)
_QUIET: Final = (VolatilityWord.CALM, VolatilityWord.NORMAL)
EVEN: Final = 50.0  # a rank above it is more than most on record
_LEFT_ROUGH: Final = 45.0  # a rank below which a rough market is rough no more
_ROUNDED: Final = 0.011  # percent, of a published change
_DECIMAL: Final = 0.06  # percent, of a change written with one decimal


class MarketTruth(NamedTuple):
    """What the candles say, worked out apart from the product; None where not checked or unknown."""

    hour: float | None = None  # mean change over the hour up to now, percent
    usual_day: float | None = None  # median size of the kept days' mean changes, percent


class MarketText(NamedTuple):
    """A text on the market and the facts published with it."""

    facts: PublishedMarket
    headline: str
    summary: str
    state: MarketState = MarketState.UNKNOWN
    truth: MarketTruth = MarketTruth()

    @property
    def first(self) -> str:
        """The headline's sentence on the state now."""
        return self.headline.partition(". ")[0]

    @property
    def day(self) -> str:
        """The headline's sentence on the day; empty without one."""
        found = re.search(r"On the day .*?\.(?= |$)", self.headline)
        return found[0] if found else ""

    @property
    def last_hour(self) -> str:
        """The headline's sentence on the hour; empty without one."""
        found = re.search(r"[Ii]n the last hour .*", self.headline)
        return found[0] if found else ""


class AssetTruth(NamedTuple):
    """What the candles say of one asset, worked out apart from the product; None where not checked or unknown."""

    below_high: float | None = None  # how far the price is below the highest of the 24 hours up to now, percent
    above_low: float | None = None
    broke_high: bool | None = None  # whether the present hour had a price above the 24 hours before it
    broke_low: bool | None = None


class AssetText(NamedTuple):
    """A text on one asset and the facts published with it."""

    facts: PublishedAsset
    text: str
    truth: AssetTruth = AssetTruth()


class FuturesText(NamedTuple):
    """The sentences on one asset's futures and the figures published with them."""

    text: str
    rank: float | None = None  # of the funding rate in the asset's month, percent
    contracts_change: float | None = None  # over 24 hours, percent


def _said(pattern: str) -> Callable[[str], bool]:
    found = re.compile(pattern, re.IGNORECASE)
    return lambda text: bool(found.search(text))


_no_direction = _said(r"both ways|no (clear|broad|lasting) direction|sideways|range-bound|no clear side")
_calm = _said(r"calmer|small swings|steady")
_wild = _said(
    r"more volatile than|large swings|wide swings|volatility is extreme|^[^.]*, (?:rough|wild)\b|still count as rough"
)
_nowhere = _said(r"gone nowhere|without a clear trend|is flat")
_sized = _said(r"[+-]?\d+\.\d%")
_rose = _said(r"in the last hour (prices|it) (rose|jumped)")
_fell = _said(r"in the last hour (prices|it) (fell|dropped)")


def _few_up(facts: PublishedMarket) -> bool:
    return facts.known > 0 and 2 * facts.up < facts.known and facts.trend is not Trend.UP


def _few_down(facts: PublishedMarket) -> bool:
    return facts.known > 0 and 2 * facts.down < facts.known and facts.trend is not Trend.DOWN


def _miscounted(t: MarketText) -> bool:
    """Say whether the day's sentence counts otherwise than the facts."""
    counts = {"higher": t.facts.up, "lower": t.facts.down, "flat": t.facts.flat}
    found = re.search(r"(\w+) of (\w+) (?:known )?assets? (?:is|are) (higher|lower|flat)", t.day)
    if found:
        return found[1] != in_words(counts[found[3]]) or found[2] != in_words(t.facts.known)
    whole = re.search(r"all (\w+) (?:known )?assets are (higher|lower|flat)", t.day)
    return whole is not None and (counts[whole[2]] != t.facts.known or whole[1] != in_words(t.facts.known))


def _hour_without_sign(t: MarketText) -> bool:
    """Say whether an hour that stands out, by its facts or by the candles, is left out or has the wrong sign."""
    true = t.truth.hour
    beyond = true is not None and abs(true) >= HOUR_MOVE_PERCENT + _ROUNDED
    if not beyond and not t.facts.hour_stands_out:
        return False
    moved = true if true is not None else (t.facts.hour or 0.0)
    return not (_rose if moved > 0 else _fell)(t.last_hour)


def _wrong_edge(t: AssetText, edge: str) -> bool:
    """Say whether a broken high or low, or the distance from the new one, is not that of the candles."""
    if f"broke its {edge}" not in t.text:
        return False
    off, broke = (t.truth.below_high, t.truth.broke_high) if edge == "high" else (t.truth.above_low, t.truth.broke_low)
    if off is None:
        return False
    found = re.search(r"is now ([\d.]+)% (?:below|above) the new one", t.text)
    claimed = float(found[1]) if found else 0.0
    return not broke or abs(claimed - off) > _DECIMAL


def _derived(facts: PublishedMarket) -> RegimeLabel:
    """Return the label that side and volatility make."""
    if facts.volatility in _STRESSED:
        return RegimeLabel.HIGH_VOLATILITY
    sides = {MarketSide.RISING: RegimeLabel.RISK_ON, MarketSide.FALLING: RegimeLabel.RISK_OFF}
    return sides.get(facts.side, RegimeLabel.RANGE)


MARKET: Final[dict[str, Callable[[MarketText], bool]]] = {
    "no direction said of a broad or large move": lambda t: (
        (t.facts.broad != 0 or (t.facts.usual_days or 0.0) >= 1.0) and _no_direction(t.summary)
    ),
    "calm said of a volatile market": lambda t: t.facts.volatility in _STRESSED and _calm(t.summary),
    "volatile said of a calm market": lambda t: t.facts.volatility in _QUIET and _wild(t.summary),
    "volatility in the headline that its word contradicts": lambda t: (
        t.facts.volatility is not VolatilityWord.UNKNOWN and ROUGHNESS[t.facts.volatility] not in t.first
    ),
    "a side in the headline that its word contradicts": lambda t: (
        t.facts.volatility is not VolatilityWord.UNKNOWN and side_words(t.facts.side).capitalize() not in t.first
    ),
    "a broad move as the state under another side": lambda t: (
        t.facts.side not in (MarketSide.RISING, MarketSide.FALLING) and _said(r"\bbroad\b|\brise\b|\bfall\b")(t.first)
    ),
    "a count in the headline that the day contradicts": _miscounted,
    "a fall of rising assets, or a rise of falling ones": lambda t: (
        (t.facts.broad > 0 and _said(r"\bfall\b|are lower")(t.day))
        or (t.facts.broad < 0 and _said(r"\brise\b|are higher")(t.day))
    ),
    "a broad move without its direction and size": lambda t: (
        t.facts.broad != 0 and not (("higher" if t.facts.broad > 0 else "lower") in t.day and _sized(t.day))
    ),
    "an hour that stands out without its sign": _hour_without_sign,
    "an hour in words that its facts contradict": lambda t: (
        ((t.facts.hour or 0.0) <= 0.0 and _rose(t.summary)) or ((t.facts.hour or 0.0) >= 0.0 and _fell(t.summary))
    ),
    "a usual day that is not the median of the days": lambda t: (
        t.truth.usual_day is not None
        and t.facts.usual_day is not None
        and abs(t.facts.usual_day - t.truth.usual_day) > _ROUNDED
    ),
    "a mean that few assets make": lambda t: t.facts.skewed and "The average" in t.summary,
    "a part said of more than the whole": lambda t: (
        (t.facts.since_share or 0.0) > 1.1 and "of it has come" in t.summary
    ),
    "a side that the day's move denies": lambda t: (
        (t.facts.side is MarketSide.RISING and (t.facts.mean or 0.0) < -_ROUNDED)
        or (t.facts.side is MarketSide.FALLING and (t.facts.mean or 0.0) > _ROUNDED)
    ),
    "a volatility word that its rank contradicts": lambda t: (
        t.facts.risk_score is not None
        and (
            (t.facts.volatility in _STRESSED and t.facts.risk_score < _LEFT_ROUGH)
            or (t.facts.volatility is VolatilityWord.CALM and t.facts.risk_score > EVEN)
        )
    ),
    "a rank of the coming hours other than the risk score": lambda t: (
        t.facts.risk_score is not None
        and t.facts.volatility is not VolatilityWord.UNKNOWN
        and f"rougher than {int(min(t.facts.risk_score, 99.0))} in 100 hours on record" not in t.summary
    ),
    "a label other than the one that side and volatility make": lambda t: (
        t.facts.confidence is not None and _derived(t.facts) is not t.facts.label
    ),
    "a state that volatility contradicts": lambda t: (
        (t.state is MarketState.CAUTION) is not (t.facts.volatility in _STRESSED) and t.state is not MarketState.UNKNOWN
    ),
    "a headline too long": lambda t: len(t.headline) > LONGEST_HEADLINE,
}


def _lead(forecast: PublishedForecast) -> float:
    """Return by how many points one side is ahead of the other."""
    down, _, up = forecast.chances
    return abs(round(up - down, 2))


def _is_called(text: str, forecast: PublishedForecast) -> bool:
    """Return whether the outcome that a text calls is the call, and the likeliest of the three."""
    places = {Call.DOWN: 0, Call.SMALL_MOVE: 1, Call.UP: 2}
    words = {Call.DOWN: "call is down", Call.SMALL_MOVE: "call is a small move", Call.UP: "call is up"}
    called = forecast.call in places and words[forecast.call] in text
    return called and forecast.chances[places[forecast.call]] == max(forecast.chances)


def _points_elsewhere(text: str, forecast: PublishedForecast | None) -> bool:
    """Return whether a text gives evidence for a way without evidence that points there, or without a called side."""
    said_same = "the same way" in text
    said_other = "the other way" in text
    if not said_same and not said_other:
        return False
    if forecast is None or forecast.call not in (Call.UP, Call.DOWN):
        return True
    same, other = forecast.points if forecast.call is Call.UP else forecast.points[::-1]
    return bool(same) is not said_same or bool(other) is not said_other


def _on_the_way(text: AssetText) -> bool:
    return _said(r"within the hour|touch|leaves? (its|the) band")(text.text)


ASSET: Final[dict[str, Callable[[AssetText], bool]]] = {
    "up said of a fall, or down of a rise": lambda t: (
        ((t.facts.change or 0.0) < -FLAT_PERCENT and _said(r"\bis up\b")(t.text))
        or ((t.facts.change or 0.0) > FLAT_PERCENT and _said(r"\bis down\b")(t.text))
    ),
    "going nowhere said of a move": lambda t: (
        t.facts.change is not None
        and bool(t.facts.usual_day)
        and abs(t.facts.change) > FLAT_PERCENT
        and abs(t.facts.change) >= 0.5 * (t.facts.usual_day or 0.0)
        and _nowhere(t.text)
    ),
    "a high or its distance that the last 24 hours contradict": lambda t: _wrong_edge(t, "high"),
    "a low or its distance that the last 24 hours contradict": lambda t: _wrong_edge(t, "low"),
    "a trend without the three hours against it": lambda t: (
        ("uptrend" in t.text and (t.facts.last_3h or 0.0) < -REBOUND_PERCENT and "though down" not in t.text)
        or ("downtrend" in t.text and (t.facts.last_3h or 0.0) > REBOUND_PERCENT and "though up" not in t.text)
    ),
    "an asset's hour beyond 1% without its sign": lambda t: (
        abs(t.facts.hour or 0.0) >= HOUR_MOVE_PERCENT and not (_rose if (t.facts.hour or 0.0) > 0 else _fell)(t.text)
    ),
    "evidence said to point a way that it does not": lambda t: _points_elsewhere(t.text, t.facts.forecast),
    "two sides called alike where one is ahead": lambda t: (
        "as likely as each other" in t.text and (t.facts.forecast is None or _lead(t.facts.forecast) >= AHEAD_POINTS)
    ),
    "an outcome called that is not called, or is not the likeliest": lambda t: (
        "call is" in t.text and (t.facts.forecast is None or not _is_called(t.text, t.facts.forecast))
    ),
    "a chance of a move other than what a small move leaves": lambda t: (
        t.facts.forecast is not None
        and "from here: " in t.text
        and f"from here: {round(100 - t.facts.forecast.chances[1], 2):.1f}%, usual" not in t.text
    ),
    "a move at the end of the hour said of the way there": _on_the_way,
}
FUTURES: Final[dict[str, Callable[[FuturesText], bool]]] = {
    "a side in demand at a rate that is usual for its month": lambda t: (
        t.rank is not None
        and (
            ("demand to be long exceeds supply" in t.text and t.rank < HIGH_FUNDING_RANK)
            or ("demand to be short exceeds supply" in t.text and t.rank > 100.0 - HIGH_FUNDING_RANK)
        )
    ),
    "positions said to open or close within the noise": lambda t: (
        t.contracts_change is not None
        and abs(t.contracts_change) <= CONTRACTS_PERCENT
        and _said(r"being (opened|closed) while")(t.text)
    ),
}


def contradictions(text: MarketText | AssetText | FuturesText) -> Iterator[str]:
    """Yield the rows that a text breaks."""
    if isinstance(text, MarketText):
        yield from (name for name, broken in MARKET.items() if broken(text))
    elif isinstance(text, AssetText):
        yield from (name for name, broken in ASSET.items() if broken(text))
    else:
        yield from (name for name, broken in FUTURES.items() if broken(text))
