"""The brain's words for people: short sentences, no figures of the models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from generator.catalog.words import (
    Bias,
    DerivativesState,
    LiquidityContext,
    MarketStructure,
    RegimeLabel,
    Trend,
    VolatilityWord,
)

REGIME: Final[dict[RegimeLabel, str]] = {
    RegimeLabel.RISK_ON: "Prices have been climbing with modest swings",
    RegimeLabel.RISK_OFF: "Prices have been falling with wide swings",
    RegimeLabel.RANGE: "Prices move sideways with small swings",
    RegimeLabel.HIGH_VOLATILITY: "Swings are large and have no lasting direction",
    RegimeLabel.TRANSITION: "The market is between two moods and no reading leads",
    RegimeLabel.UNKNOWN: "There is too little data to name a regime",
}
REGIME_NAME: Final[dict[RegimeLabel, str]] = {
    RegimeLabel.RISK_ON: "risk-on",
    RegimeLabel.RISK_OFF: "risk-off",
    RegimeLabel.RANGE: "range",
    RegimeLabel.HIGH_VOLATILITY: "high volatility",
    RegimeLabel.TRANSITION: "transition",
    RegimeLabel.UNKNOWN: "unknown",
}
TREND: Final[dict[Trend, str]] = {
    Trend.UP: "The price has been going up for hours.",
    Trend.DOWN: "The price has been going down for hours.",
    Trend.SIDEWAYS: "The price shows no clear trend.",
    Trend.UNKNOWN: "The trend is not known yet.",
}
MOMENTUM: Final[dict[int, str]] = {
    1: "The last hours pushed the price up.",
    0: "The last hours had no clear push.",
    -1: "The last hours pushed the price down.",
}
VOLATILITY: Final[dict[VolatilityWord, str]] = {
    VolatilityWord.CALM: "The next hour looks calmer than most of the week.",
    VolatilityWord.NORMAL: "The next hour looks about as lively as most of the week.",
    VolatilityWord.ELEVATED: "The next hour looks livelier than most of the week.",
    VolatilityWord.EXTREME: "The next hour looks wilder than almost all of the week.",
    VolatilityWord.UNKNOWN: "How lively the next hour will be is not known yet.",
}
BREADTH: Final[dict[int, str]] = {
    1: "Most coins rose over the last day.",
    0: "The coins shared no direction over the last day.",
    -1: "Most coins fell over the last day.",
}
BOOK: Final[dict[int, str]] = {
    1: "Lately there have been more bids than asks near the price.",
    0: "Lately bids and asks near the price have been about even.",
    -1: "Lately there have been more asks than bids near the price.",
}
LIQUIDITY: Final[dict[LiquidityContext, str]] = {
    LiquidityContext.DEEP: "Much can change hands near the price.",
    LiquidityContext.NORMAL: "About as much as usual can change hands near the price.",
    LiquidityContext.THIN: "Little can change hands near the price.",
    LiquidityContext.UNKNOWN: "The order book is not known.",
}
DERIVATIVES: Final[dict[DerivativesState, str]] = {
    DerivativesState.CROWDED_LONGS: "Traders pay a lot to hold deals on a rise, so that side is crowded.",
    DerivativesState.CROWDED_SHORTS: "Traders pay to hold deals on a fall, so that side is crowded.",
    DerivativesState.BALANCED: "Neither side of the futures market is crowded.",
    DerivativesState.DELEVERAGING: "Traders are closing futures deals.",
    DerivativesState.LEVERAGING_UP: "Traders are adding futures deals.",
    DerivativesState.UNAVAILABLE: "Futures data is missing.",
}
STRUCTURE: Final[dict[MarketStructure, str]] = {
    MarketStructure.UPTREND: "in an uptrend",
    MarketStructure.DOWNTREND: "in a downtrend",
    MarketStructure.RANGE: "moving sideways",
    MarketStructure.BREAKOUT: "above the top of its last day",
    MarketStructure.BREAKDOWN: "below the low of its last day",
    MarketStructure.UNKNOWN: "not readable now",
}
LEAN: Final[dict[Bias, str]] = {
    Bias.UP: "The evidence leans up by a small edge.",
    Bias.DOWN: "The evidence leans down by a small edge.",
    Bias.FLAT: "There is no clear edge either way, so the call is neutral.",
}
FAMILY: Final[dict[str, str]] = {
    "trend": "the trend",
    "momentum": "the last hours",
    "breadth": "most coins",
    "liquidity": "the order book",
    "derivatives": "the futures side",
}
NOTABLE_BOOK: Final = (LiquidityContext.THIN, LiquidityContext.DEEP)
NOTABLE_FUTURES: Final = (
    DerivativesState.CROWDED_LONGS,
    DerivativesState.CROWDED_SHORTS,
    DerivativesState.DELEVERAGING,
    DerivativesState.LEVERAGING_UP,
)

MOST_BOOKS: Final[dict[LiquidityContext, str]] = {
    LiquidityContext.THIN: "Little can change hands near the price of most coins.",
    LiquidityContext.DEEP: "Much can change hands near the price of most coins.",
}
MOST_FUTURES: Final[dict[DerivativesState, str]] = {
    DerivativesState.CROWDED_LONGS: "For most coins, traders pay a lot to hold deals on a rise.",
    DerivativesState.CROWDED_SHORTS: "For most coins, traders pay to hold deals on a fall.",
    DerivativesState.DELEVERAGING: "For most coins, futures deals are being closed.",
    DerivativesState.LEVERAGING_UP: "For most coins, new futures deals are being made.",
}

EARLY: Final = "It is too early for a call."
NO_BARS: Final = "no price bars for this asset yet"
STALE: Final = "no price bar for this asset in the last hour"
SHORT: Final = "less than half a day of history, so there is no forecast yet"
SHORT_REGIME: Final = "less than two days of history, so the regime is a first guess"
NO_BOOK: Final = "no order book, so liquidity is unknown"
NO_FUTURES: Final = "no futures data, so crowding is unknown"
LAST_MISSING: Final = "the last price bar is missing or cannot be true, so it was left out"
CAPPED: Final = "a price jump in the last day was too large to be taken at face value and was capped"
FROZEN: Final = "the price has not moved for hours, so the source may be stuck and the regime counts for less"
NO_TRADES: Final = "no trade was told for an hour or more, so volume says nothing"
WILD_FUNDING: Final = "the fee on futures is far from its usual size and may be a fault of the data"
NOTHING_FRESH: Final = "no asset has a fresh price bar"
SOME_MISSING: Final = "some assets have no fresh price bar"
GAPS: Final = "some bars never came, so older evidence counts for more"


def span(minutes: int) -> str:
    """Return a length of time in words, e.g. `about 3 hours`."""
    if minutes < 60:
        return "less than an hour"
    hours = round(minutes / 60)
    if hours < 48:
        return f"about {hours} hour{'s' if hours > 1 else ''}"
    return f"about {round(hours / 24)} days"


def sureness(confidence: float) -> str:
    """Return how sure the regime reading is."""
    if confidence >= 0.75:
        return "The reading is fairly sure."
    if confidence >= 0.5:
        return "The reading is more likely than not."
    return "The reading is unsure."


def pointing(up: tuple[str, ...], down: tuple[str, ...]) -> str:
    """Return which families of evidence point up and which down."""
    if not up and not down:
        return "Nothing points either way."
    sides = (("up", up), ("down", down))
    return " ".join(f"Pointing {way}: {listed([FAMILY[f] for f in families])}." for way, families in sides if families)


def listed(names: list[str]) -> str:
    """Return names as people list them: `a, b and c`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def moved(who: str, change: float, hour: int) -> str:
    """Return a price change since a full hour.

    Args:
        who: with its verb, e.g. `It is`.
        change: a fraction.
        hour: 0..23, UTC.
    """
    percent = f"{abs(100.0 * change):.2f}"
    way = "flat" if percent == "0.00" else f"{'up' if change > 0.0 else 'down'} {percent} %"
    return f"{who} {way} since {hour:02d}:00 UTC."


def risers(rose: int, known: int) -> str:
    """Return how many coins rose over the day."""
    return f"{rose} of {known} coins rose over the last day."


@dataclass(frozen=True, slots=True)
class MarketFacts:
    """What the market's summary is made of; None where unknown.

    Args:
        likelier: the regime that has overtaken the shown one.
        minutes: how long the regime has stood.
        confidence: of the label, 0..1.
        change: sentence on the coins' mean price change.
        risers: sentence on how many rose.
        book, futures: words that most coins share.
    """

    label: RegimeLabel
    likelier: RegimeLabel | None
    minutes: int
    confidence: float
    volatility: VolatilityWord
    change: str | None
    risers: str | None
    book: LiquidityContext | None
    futures: DerivativesState | None


def market_summary(facts: MarketFacts) -> str:
    """Return the market in a few short sentences."""
    sure = sureness(facts.confidence) if facts.likelier is None else fading(facts.likelier)
    said = [f"{REGIME[facts.label]}. This reading has stood for {span(facts.minutes)}.", sure]
    if facts.change:
        said.append(facts.change)
    if facts.risers:
        said.append(facts.risers)
    if facts.volatility is not VolatilityWord.UNKNOWN:
        said.append(VOLATILITY[facts.volatility])
    if facts.book in NOTABLE_BOOK:
        said.append(MOST_BOOKS[facts.book])
    if facts.futures in NOTABLE_FUTURES:
        said.append(MOST_FUTURES[facts.futures])
    return " ".join(said)


def fading(likelier: RegimeLabel) -> str:
    """Say that another regime has overtaken the shown one."""
    return f"It is fading: {REGIME_NAME[likelier]} is now the likelier reading, but not yet by a clear lead."


def standing_out(volatility: VolatilityWord, liquidity: LiquidityContext, derivatives: DerivativesState) -> list[str]:
    """Return what else is worth saying of an asset: how lively it is, and a book or futures out of the ordinary."""
    said = [] if volatility is VolatilityWord.UNKNOWN else [VOLATILITY[volatility]]
    if liquidity in NOTABLE_BOOK:
        said.append(LIQUIDITY[liquidity])
    if derivatives in NOTABLE_FUTURES:
        said.append(DERIVATIVES[derivatives])
    return said


def asset_summary(asset: str, structure: MarketStructure, change: str | None, said: str) -> str:
    """Return one asset in a few short sentences: where it stands, then the call and what bears on it.

    Args:
        change: sentence on its price change; None where unknown.
        said: sentences on the call.
    """
    if structure is MarketStructure.UNKNOWN:
        return f"{asset} cannot be read now. Its price bars are missing or too old."
    recent = "" if change is None else f"{change} "
    return f"{asset} is {STRUCTURE[structure]}. {recent}{said}"
