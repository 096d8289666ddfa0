"""What no text may say of its facts, and what it must not leave out.

Each row is tested over every bar of recordings and of simulated markets (`python -m tests.contradictions`), and by a
planted sentence that it must find.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from generator.catalog.text.market import (
    EXTREME_RANK,
    LIKELY,
    LONGEST_HEADLINE,
    PublishedAsset,
    PublishedMarket,
    ahead,
)
from generator.catalog.thresholds import FLAT_PERCENT
from generator.catalog.words import Bias, MarketState, RegimeLabel, Trend, VolatilityWord

_STRESSED: Final = (VolatilityWord.ELEVATED, VolatilityWord.EXTREME)
_QUIET: Final = (VolatilityWord.CALM, VolatilityWord.NORMAL)
EVEN: Final = 50.0  # a rank above it is more than most of the week
LEAD_LIMIT: Final = 10.0  # percentage points that a shown regime may lie behind the likeliest


class MarketText(NamedTuple):
    """A text on the market and the facts published with it."""

    facts: PublishedMarket
    headline: str
    summary: str
    state: MarketState = MarketState.UNKNOWN


class AssetText(NamedTuple):
    """A text on one asset and the facts published with it."""

    facts: PublishedAsset
    text: str
    price: float | None = None
    high: float | None = None  # true highest price of the 24 hours before the hour; None where not checked
    low: float | None = None  # likewise, the lowest


def _said(pattern: str) -> Callable[[str], bool]:
    found = re.compile(pattern, re.IGNORECASE)
    return lambda text: bool(found.search(text))


_no_direction = _said(r"both ways|no (clear|broad|lasting) direction|sideways|range-bound|no clear side")
_calm = _said(r"calmer|small swings|steady")
_wild = _said(r"more volatile than|large swings|wide swings|volatility is extreme|^high volatility")
_risk_on = _said(r"^risk-on|regime: risk-on")
_risk_off = _said(r"^risk-off|regime: risk-off")
_nowhere = _said(r"gone nowhere|without a clear trend|is flat")
_rise = _said(r"\brise\b")
_fall = _said(r"\bfall\b")
_sized = _said(r"[+-]?\d+\.\d%")


def _few_up(facts: PublishedMarket) -> bool:
    return facts.known > 0 and 2 * facts.up < facts.known and facts.trend is not Trend.UP


def _few_down(facts: PublishedMarket) -> bool:
    return facts.known > 0 and 2 * facts.down < facts.known and facts.trend is not Trend.DOWN


def _behind(facts: PublishedMarket) -> bool:
    named = facts.label in facts.chances
    return named and max(facts.chances.values()) - facts.chances[facts.label] > LEAD_LIMIT


MARKET: Final[dict[str, Callable[[MarketText], bool]]] = {
    "no direction said of a broad or large move": lambda t: (
        (t.facts.broad != 0 or (t.facts.usual_days or 0.0) >= 1.0) and _no_direction(t.summary)
    ),
    "calm said of a volatile market": lambda t: t.facts.volatility in _STRESSED and _calm(t.summary),
    "volatile said of a calm market": lambda t: t.facts.volatility in _QUIET and _wild(t.summary),
    "risk-on without risers or an uptrend": lambda t: (
        _few_up(t.facts) and (_risk_on(t.summary) or t.facts.label is RegimeLabel.RISK_ON)
    ),
    "risk-off without fallers or a downtrend": lambda t: (
        _few_down(t.facts) and (_risk_off(t.summary) or t.facts.label is RegimeLabel.RISK_OFF)
    ),
    "high volatility shown in a calm market": lambda t: (
        t.facts.label is RegimeLabel.HIGH_VOLATILITY and t.facts.volatility in _QUIET
    ),
    "range shown in a volatile market": lambda t: (
        t.facts.label is RegimeLabel.RANGE and t.facts.volatility in _STRESSED
    ),
    "a regime stated below an even chance": lambda t: (
        bool(t.facts.chances) and (t.facts.confidence or 0.0) < LIKELY and "Regime:" in t.summary
    ),
    "a regime shown that another leads": lambda t: _behind(t.facts),
    "a fall of rising assets, or a rise of falling ones": lambda t: (
        (t.facts.broad > 0 and _fall(t.headline)) or (t.facts.broad < 0 and _rise(t.headline))
    ),
    "a broad move without its name and size": lambda t: (
        t.facts.broad != 0 and not ((_rise if t.facts.broad > 0 else _fall)(t.headline) and _sized(t.headline))
    ),
    "a volatility word that its rank contradicts": lambda t: (
        t.facts.risk_score is not None
        and (
            (t.facts.volatility in _STRESSED and t.facts.risk_score < EVEN)
            or (t.facts.volatility is VolatilityWord.CALM and t.facts.risk_score > EVEN)
        )
    ),
    "extreme volatility not named": lambda t: (
        (t.facts.risk_score or 0.0) >= EXTREME_RANK and not _said("more volatile than")(t.summary)
    ),
    "a state that volatility contradicts": lambda t: (
        (t.state is MarketState.CAUTION)
        is not (t.facts.volatility in _STRESSED or t.facts.label is RegimeLabel.HIGH_VOLATILITY)
        and t.state is not MarketState.UNKNOWN
    ),
    "a headline too long": lambda t: len(t.headline) > LONGEST_HEADLINE,
}
ASSET: Final[dict[str, Callable[[AssetText], bool]]] = {
    "up said of a fall, or down of a rise": lambda t: (
        ((t.facts.change or 0.0) < -FLAT_PERCENT and _said(r"\bis up\b")(t.text))
        or ((t.facts.change or 0.0) > FLAT_PERCENT and _said(r"\bis down\b")(t.text))
    ),
    "going nowhere said of a move": lambda t: (
        t.facts.change is not None
        and bool(t.facts.usual_day)
        and abs(t.facts.change) >= max(0.5 * (t.facts.usual_day or 0.0), FLAT_PERCENT)
        and _nowhere(t.text)
    ),
    "above a high that was not passed": lambda t: (
        "above its high" in t.text and t.price is not None and t.high is not None and t.price <= t.high
    ),
    "below a low that was not passed": lambda t: (
        "below its low" in t.text and t.price is not None and t.low is not None and t.price >= t.low
    ),
    "evidence claimed that does not back the direction": lambda t: (
        "that way" in t.text
        and len(t.facts.points[t.facts.forecast is Bias.DOWN]) <= len(t.facts.points[t.facts.forecast is not Bias.DOWN])
    ),
    "no direction said to stand out where one does": lambda t: (
        "o direction stands out" in t.text and ahead(t.facts) != ""
    ),
    "likeliest said of a class that is not": lambda t: (
        "likeliest" in t.text
        and t.facts.chances is not None
        and t.facts.chances[2 if t.facts.forecast is Bias.UP else 0] < max(t.facts.chances)
    ),
}


def contradictions(text: MarketText | AssetText) -> Iterator[str]:
    """Yield the rows that a text breaks."""
    if isinstance(text, MarketText):
        yield from (name for name, broken in MARKET.items() if broken(text))
    else:
        yield from (name for name, broken in ASSET.items() if broken(text))
