"""What each label of the answers is called and how it reads: in a reading, in the human report and on the pages."""

from typing import Final, NamedTuple

from generator.catalog.words import (
    Call,
    Consensus,
    DerivativesState,
    LiquidityContext,
    MarketState,
    Prediction,
    RegimeLabel,
    Trend,
    VolatilityWord,
)


class Text(NamedTuple):
    """One label in words."""

    reading: str  # in the brain's readings, for those who know markets
    most: str = ""  # where it holds for most coins; empty where that is not worth a sentence
    report: str = ""  # in the human report, for those who know no finance; of order books only


MIXED: Final = "mixed"  # what is shown where no regime is more likely than not
REGIME: Final[dict[RegimeLabel, str]] = {
    RegimeLabel.RISK_ON: "risk-on",
    RegimeLabel.RISK_OFF: "risk-off",
    RegimeLabel.RANGE: "range",
    RegimeLabel.HIGH_VOLATILITY: "high volatility",
    RegimeLabel.TRANSITION: MIXED,
    RegimeLabel.UNKNOWN: "unknown",
}
LIKELY_PERCENT: Final = 50.0  # chance, as published, from which on a regime is named as a fact
# What people call the outcome of a round, and a vote or a forecast of it; the bodies keep the words of the API.
OUTCOME: Final[dict[str, str]] = {
    Prediction.BULLISH: "up",
    Prediction.NEUTRAL: "small move",
    Prediction.BEARISH: "down",
    Consensus.NONE: "no votes",
}
CALL: Final[dict[Call, str]] = {
    Call.UP: "up",
    Call.DOWN: "down",
    Call.SMALL_MOVE: "small move",
    Call.NONE: "no call",
}
NO_CALL: Final = CALL[Call.NONE]
WHAT_A_CALL_IS: Final = (
    "A call is what a forecast claims: up, down or a small move. Most forecasts make none; then nothing is claimed of "
    "the outcome, and only the chances are scored."
)
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
        "The order book is deep for its week and its volatility.",
        "The order books of most assets are deep for their week and their volatility.",
        "the order book is deep for its week",
    ),
    LiquidityContext.NORMAL: Text(
        "The order book is about as deep as usual for its week and its volatility.",
        report="the order book is about as deep as usual",
    ),
    LiquidityContext.THIN: Text(
        "The order book is thin for its week and its volatility.",
        "The order books of most assets are thin for their week and their volatility.",
        "the order book is thin for its week, so the price can jump",
    ),
    LiquidityContext.UNKNOWN: Text("The order book is not known.", report="the order book is not known"),
}
BOOKS_UNTESTED: Final = "liquidity words were tested on simulated order books only, never on real ones"
# Every contract has one long and one short: funding says which side pays, never that more people are on it.
DERIVATIVES: Final[dict[DerivativesState, Text]] = {
    DerivativesState.CROWDED_LONGS: Text(
        "Longs pay shorts well above the usual rate: demand to be long exceeds supply.",
        "In most assets longs pay shorts well above the usual rate: demand to be long exceeds supply.",
    ),
    DerivativesState.CROWDED_SHORTS: Text(
        "Shorts pay longs: demand to be short exceeds supply.",
        "In most assets shorts pay longs: demand to be short exceeds supply.",
    ),
    DerivativesState.BALANCED: Text(
        "Funding is extreme on neither side, and the number of open contracts has not changed enough to stand out."
    ),
    DerivativesState.DELEVERAGING: Text(
        "Open contracts are falling: positions are being closed.",
        "In most assets open contracts are falling: positions are being closed.",
    ),
    DerivativesState.LEVERAGING_UP: Text(
        "Open contracts are rising: new longs and shorts are being opened.",
        "In most assets open contracts are rising: new longs and shorts are being opened.",
    ),
    DerivativesState.UNAVAILABLE: Text("No derivatives state can be named now."),
}
NO_FUTURES: Final = "no funding and no open interest, so there is no derivatives state"
FUNDING_ODD: Final = "the last funding rate is so large that it may be a fault: no derivatives state"
FUNDING_SHORT: Final = "less than a week of funding history: judged by its distance from the usual 0.01% alone"
UNSTEADY: Final = "the derivatives state held for less than half of the last hours: it is not named"
FAMILY: Final[dict[str, str]] = {
    "trend": "the trend",
    "momentum": "momentum",
    "volatility": "volatility",
    "breadth": "market breadth",
    "liquidity": "the order book",
    "derivatives": "funding",
}
STATE: Final[dict[MarketState, str]] = {
    MarketState.OPPORTUNITY: "a clear rise in calm conditions; it does not predict a gain",
    MarketState.WAIT: "volatility is not expected to be high, and no clear and calm rise is shown",
    MarketState.CAUTION: "volatility is expected to be high, or the label of the regime is high volatility",
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
MARKS: Final[dict[str, str]] = {
    "up": "\N{BLACK UP-POINTING TRIANGLE}",
    "small move": "\N{EN DASH}",
    "down": "\N{BLACK DOWN-POINTING TRIANGLE}",
    NO_CALL: "",
}
MODE_BANNERS: Final[dict[str, tuple[str, str]]] = {
    "simulated": (
        "Simulated data",
        "Prices, votes and forecasts on this site come from a simulated market, not from the real one.",
    ),
    "recorded": (
        "Recorded data",
        (
            "Market data on this site are real prices of the past, replayed, not those of today; rounds, votes, "
            "forecasts and days are dated by the clock of the replay."
        ),
    ),
}


def shown_regime(label: RegimeLabel, chance: float | None) -> RegimeLabel:
    """Return the regime that people are shown: below one half it is `transition`, which they read as mixed.

    Args:
        chance: of the label, 0..1, as published; None where it is not known.

    >>> shown_regime(RegimeLabel.RANGE, 0.62), shown_regime(RegimeLabel.RANGE, 0.48)
    (<RegimeLabel.RANGE: 'range'>, <RegimeLabel.TRANSITION: 'transition'>)
    """
    if label is RegimeLabel.UNKNOWN or chance is None or round(100 * chance, 1) >= LIKELY_PERCENT:
        return label
    return RegimeLabel.TRANSITION
