"""What each label of the answers is called and how it reads: in a reading, in the human report and on the pages."""

from typing import Final, NamedTuple

from generator.catalog.words import (
    Bias,
    DerivativesState,
    LiquidityContext,
    MarketState,
    MarketStructure,
    RegimeLabel,
    Trend,
    VolatilityWord,
)


class Text(NamedTuple):
    """One label in words.

    Args:
        reading: in the brain's readings, for those who know markets.
        report: in the human report, for those who know no finance.
        most: where it holds for most coins; empty where that is not worth a sentence.
    """

    reading: str
    report: str
    most: str = ""


class RegimeText(NamedTuple):
    """A regime in words.

    Args:
        name: within a sentence.
        report_name: the same in the human report.
        reading: as a clause, no full stop.
        report: a sentence.
        headline: of a page.
        subject: where it begins a headline; empty for what cannot be overtaken.
    """

    name: str
    report_name: str
    reading: str
    report: str
    headline: str
    subject: str = ""


REGIME: Final[dict[RegimeLabel, RegimeText]] = {
    RegimeLabel.RISK_ON: RegimeText(
        "risk-on",
        "risk on",
        "Prices have been climbing with modest swings",
        "Most coins rise, and the moves are calm.",
        "Risk-on: a broad, steady rise",
        "Risk-on",
    ),
    RegimeLabel.RISK_OFF: RegimeText(
        "risk-off",
        "risk off",
        "Prices have been falling with wide swings",
        "Most coins fall.",
        "Risk-off: a broad fall",
        "Risk-off",
    ),
    RegimeLabel.RANGE: RegimeText(
        "range",
        "range",
        "Prices move sideways with small swings",
        "Coins move up and down but go nowhere.",
        "A range: no broad direction",
        "The range",
    ),
    RegimeLabel.HIGH_VOLATILITY: RegimeText(
        "high volatility",
        "high volatility",
        "Swings are large and have no lasting direction",
        "Prices swing far and fast, both ways.",
        "High volatility: large moves, no clear side",
        "High volatility",
    ),
    RegimeLabel.TRANSITION: RegimeText(
        "transition",
        "transition",
        "The market is between two moods and no reading leads",
        "The market may be on its way from one mood to the next.",
        "In transition: one regime fades, the next is not settled",
    ),
    RegimeLabel.UNKNOWN: RegimeText(
        "unknown",
        "not known",
        "There is too little data to name a regime",
        "We can not tell what mood the market is in now.",
        "No reading at the moment",
    ),
}
TREND: Final[dict[Trend, Text]] = {
    Trend.UP: Text("The price has been going up for hours.", "It has gone up in the last hours."),
    Trend.DOWN: Text("The price has been going down for hours.", "It has gone down in the last hours."),
    Trend.SIDEWAYS: Text("The price shows no clear trend.", "It has gone nowhere in the last hours."),
    Trend.UNKNOWN: Text("The trend is not known yet.", "Where it has gone in the last hours is not known."),
}
VOLATILITY: Final[dict[VolatilityWord, Text]] = {
    VolatilityWord.CALM: Text(
        "The next hour looks calmer than most of the week.", "Moves are smaller than in the last week."
    ),
    VolatilityWord.NORMAL: Text(
        "The next hour looks about as lively as most of the week.", "Moves are about as large as in the last week."
    ),
    VolatilityWord.ELEVATED: Text(
        "The next hour looks livelier than most of the week.", "Moves are larger than in the last week."
    ),
    VolatilityWord.EXTREME: Text(
        "The next hour looks wilder than almost all of the week.", "Moves are far larger than in the last week."
    ),
    VolatilityWord.UNKNOWN: Text(
        "How lively the next hour will be is not known yet.", "How large the next moves may be is not known."
    ),
}
LIQUIDITY: Final[dict[LiquidityContext, Text]] = {
    LiquidityContext.DEEP: Text(
        "The order book is deep for its week and its volatility.",
        "the order book is deep for its week",
        "The order books of most assets are deep for their week and their volatility.",
    ),
    LiquidityContext.NORMAL: Text(
        "The order book is about as deep as usual for its week and its volatility.",
        "the order book is about as deep as usual",
    ),
    LiquidityContext.THIN: Text(
        "The order book is thin for its week and its volatility.",
        "the order book is thin for its week, so the price can jump",
        "The order books of most assets are thin for their week and their volatility.",
    ),
    LiquidityContext.UNKNOWN: Text("The order book is not known.", "the order book is not known"),
}
BOOKS_UNTESTED: Final = "liquidity words were tested on simulated order books only, never on real ones"
# Every contract has one long and one short: funding says which side pays, never that more people are on it.
DERIVATIVES: Final[dict[DerivativesState, Text]] = {
    DerivativesState.CROWDED_LONGS: Text(
        "Longs pay shorts well above the usual rate: demand to be long exceeds supply.",
        "longs pay shorts well above the usual rate",
        "In most assets longs pay shorts well above the usual rate: demand to be long exceeds supply.",
    ),
    DerivativesState.CROWDED_SHORTS: Text(
        "Shorts pay longs: demand to be short exceeds supply.",
        "shorts pay longs",
        "In most assets shorts pay longs: demand to be short exceeds supply.",
    ),
    DerivativesState.BALANCED: Text(
        "Funding is not extreme on either side, and open interest is steady.",
        "funding is not extreme on either side",
    ),
    DerivativesState.DELEVERAGING: Text(
        "Open contracts are falling: positions are being closed.",
        "open contracts are falling, so positions are being closed",
        "In most assets open contracts are falling: positions are being closed.",
    ),
    DerivativesState.LEVERAGING_UP: Text(
        "Open contracts are rising: new longs and shorts are being opened.",
        "open contracts are rising, so new longs and shorts are being opened",
        "In most assets open contracts are rising: new longs and shorts are being opened.",
    ),
    DerivativesState.UNAVAILABLE: Text(
        "No derivatives state can be named now.", "no derivatives state can be named now"
    ),
}
NO_FUTURES: Final = "no funding and no open interest, so there is no derivatives state"
FUNDING_ODD: Final = "the last funding rate is so large that it may be a fault: no derivatives state"
FUNDING_SHORT: Final = "less than a week of funding history: judged by its distance from the usual 0.01% alone"
UNSTEADY: Final = "the derivatives state held for less than half of the last hours: it is not named"
LEAN: Final[dict[Bias | None, Text]] = {
    Bias.UP: Text("The evidence leans up by a small edge.", "The brain leans up."),
    Bias.DOWN: Text("The evidence leans down by a small edge.", "The brain leans down."),
    Bias.FLAT: Text(
        "There is no clear edge either way, so the call is neutral.", "The brain does not lean to one side."
    ),
    None: Text("It is too early for a call.", "The brain says nothing of what comes next."),
}
FAMILY: Final[dict[str, Text]] = {
    "trend": Text("the trend", "where the price has gone"),
    "momentum": Text("the last hours", "how fast the price goes"),
    "volatility": Text("the swings", "how far the price moves"),
    "breadth": Text("most coins", "how many coins rise"),
    "liquidity": Text("the order book", "how deep the order book is"),
    "derivatives": Text("funding and open interest", "funding and open interest"),
}
STRUCTURE: Final[dict[MarketStructure, str]] = {
    MarketStructure.UPTREND: "in an uptrend",
    MarketStructure.DOWNTREND: "in a downtrend",
    MarketStructure.RANGE: "moving sideways",
    MarketStructure.BREAKOUT: "above the top of its last day",
    MarketStructure.BREAKDOWN: "below the low of its last day",
    MarketStructure.UNKNOWN: "not readable now",
}
STATE: Final[dict[MarketState, str]] = {
    MarketState.OPPORTUNITY: "clear and calm conditions; it does not predict a gain",
    MarketState.WAIT: "nothing in the conditions stands out",
    MarketState.CAUTION: "conditions are rougher or less settled than usual",
    MarketState.UNKNOWN: "there is no regime to judge by",
}
# What the evidence of an asset says by its sign; None where it is not known.
MOMENTUM: Final[dict[int | None, str]] = {
    1: "The last hours pushed the price up.",
    0: "The last hours had no clear push.",
    -1: "The last hours pushed the price down.",
    None: "The push of the last hours is not known yet.",
}
BREADTH: Final[dict[int | None, str]] = {
    1: "Most coins rose over the last day.",
    0: "The coins shared no direction over the last day.",
    -1: "Most coins fell over the last day.",
    None: "How many coins rose is not known yet.",
}
BOOK: Final[dict[int, str]] = {
    1: "Over the last half hour there were more bids than asks near the price.",
    0: "Over the last half hour bids and asks near the price were about even.",
    -1: "Over the last half hour there were more asks than bids near the price.",
}
BIAS_MARKS: Final[dict[str | None, str]] = {
    "UP": "\N{BLACK UP-POINTING TRIANGLE}",
    "DOWN": "\N{BLACK DOWN-POINTING TRIANGLE}",
    "FLAT": "\N{EN DASH}",
    None: "",
}
MODE_BANNERS: Final[dict[str, tuple[str, str]]] = {
    "simulated": (
        "Simulated data",
        "Prices, votes and forecasts on this site come from a simulated market, not from the real one.",
    ),
    "recorded": (
        "Recorded data",
        "Market data on this site are real prices of the past, replayed, not those of today.",
    ),
}


def regime_headline(label: str, likelier: str | None) -> str:
    """Return the headline of a regime.

    Args:
        label: the label shown.
        likelier: the label that has overtaken it without a clear lead, None without one.
    """
    shown = REGIME[RegimeLabel(label)]
    if likelier is None or not shown.subject:
        return shown.headline
    other = REGIME[RegimeLabel(likelier)].subject or likelier
    return f"{shown.subject} is fading; {other[:1].lower()}{other[1:]} is now likelier"
