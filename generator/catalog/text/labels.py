"""What each label of the answers is called and how it reads: in a reading, in the human report and on the pages."""

from typing import Final, NamedTuple

from generator.catalog.words import (
    DerivativesState,
    LiquidityContext,
    MarketState,
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


REGIME: Final[dict[RegimeLabel, str]] = {
    RegimeLabel.RISK_ON: "risk-on",
    RegimeLabel.RISK_OFF: "risk-off",
    RegimeLabel.RANGE: "range",
    RegimeLabel.HIGH_VOLATILITY: "high volatility",
    RegimeLabel.TRANSITION: "no clear regime",
    RegimeLabel.UNKNOWN: "unknown",
}
TREND: Final[dict[Trend, str]] = {
    Trend.UP: "The trend over the last 8 to 20 hours is up.",
    Trend.DOWN: "The trend over the last 8 to 20 hours is down.",
    Trend.SIDEWAYS: "There is no clear trend over the last 8 to 20 hours.",
    Trend.UNKNOWN: "The trend is not known yet.",
}
EXPECTED: Final[dict[VolatilityWord, str]] = {
    VolatilityWord.CALM: "The next hours are expected to be calmer than most of the past week.",
    VolatilityWord.NORMAL: "The next hours are expected to be about as volatile as usual.",
    VolatilityWord.ELEVATED: "The next hours are expected to be more volatile than most of the past week.",
    VolatilityWord.EXTREME: "The next hours are expected to be more volatile than almost all of the past week.",
    VolatilityWord.UNKNOWN: "How volatile the next hours will be is not known yet.",
}
LIQUIDITY: Final[dict[LiquidityContext, Text]] = {
    LiquidityContext.DEEP: Text(
        "Much can change hands near the price.",
        "a lot can change hands near the price",
        "Much can change hands near the price of most coins.",
    ),
    LiquidityContext.NORMAL: Text(
        "About as much as usual can change hands near the price.",
        "a normal amount can change hands near the price",
    ),
    LiquidityContext.THIN: Text(
        "Little can change hands near the price.",
        "little can change hands near the price, so it can jump",
        "Little can change hands near the price of most coins.",
    ),
    LiquidityContext.UNKNOWN: Text("The order book is not known.", "how much can change hands is not known"),
}
DERIVATIVES: Final[dict[DerivativesState, Text]] = {
    DerivativesState.CROWDED_LONGS: Text(
        "Traders pay a lot to hold deals on a rise, so that side is crowded.",
        "most futures deals are on a rise",
        "For most coins, traders pay a lot to hold deals on a rise.",
    ),
    DerivativesState.CROWDED_SHORTS: Text(
        "Traders pay to hold deals on a fall, so that side is crowded.",
        "most futures deals are on a fall",
        "For most coins, traders pay to hold deals on a fall.",
    ),
    DerivativesState.BALANCED: Text("Neither side of the futures market is crowded.", "futures deals are about even"),
    DerivativesState.DELEVERAGING: Text(
        "Traders are closing futures deals.",
        "futures deals are being closed",
        "For most coins, futures deals are being closed.",
    ),
    DerivativesState.LEVERAGING_UP: Text(
        "Traders are adding futures deals.",
        "new futures deals are being made",
        "For most coins, new futures deals are being made.",
    ),
    DerivativesState.UNAVAILABLE: Text("Futures data is missing.", "futures deals are not known"),
}
FAMILY: Final[dict[str, str]] = {
    "trend": "the trend",
    "momentum": "momentum",
    "volatility": "volatility",
    "breadth": "market breadth",
    "liquidity": "the order book",
    "derivatives": "derivatives",
}
STATE: Final[dict[MarketState, str]] = {
    MarketState.OPPORTUNITY: "clear and calm conditions; it does not predict a gain",
    MarketState.WAIT: "nothing in the conditions stands out",
    MarketState.CAUTION: "conditions are rougher or less settled than usual",
    MarketState.UNKNOWN: "there is no regime to judge by",
}
# What the evidence of an asset says by its sign; None where it is not known.
MOMENTUM: Final[dict[int | None, str]] = {
    1: "Momentum over the last one to three hours is up.",
    0: "There is no clear momentum over the last one to three hours.",
    -1: "Momentum over the last one to three hours is down.",
    None: "Momentum is not known yet.",
}
BREADTH: Final[dict[int | None, str]] = {
    1: "At least two thirds of the assets are up on the day.",
    0: "The assets share no direction on the day.",
    -1: "At least two thirds of the assets are down on the day.",
    None: "How many assets are up on the day is not known yet.",
}
BOOK: Final[dict[int | None, str]] = {
    1: "Over the last half hour there were more bids than asks near the price.",
    0: "Over the last half hour bids and asks near the price were about even.",
    -1: "Over the last half hour there were more asks than bids near the price.",
    None: "The order book is not known.",
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
