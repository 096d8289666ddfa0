"""What each label of the answers is called and how it reads: in a reading, in the human report and on the pages."""

import math
from typing import Final, NamedTuple

from generator.catalog.words import (
    Call,
    Consensus,
    DerivativesState,
    LiquidityContext,
    MarketState,
    Prediction,
    RegimeLabel,
    VolatilityWord,
)


class Text(NamedTuple):
    """One label in words."""

    reading: str  # in the brain's readings, for those who know markets
    most: str = ""  # where it holds for most coins; empty where that is not worth a sentence
    report: str = ""  # in the human report, for those who know no finance; of order books only


REGIME: Final[dict[RegimeLabel, str]] = {
    RegimeLabel.RISK_ON: "risk-on",
    RegimeLabel.RISK_OFF: "risk-off",
    RegimeLabel.RANGE: "range",
    RegimeLabel.HIGH_VOLATILITY: "high volatility",
    RegimeLabel.TRANSITION: "mixed",
    RegimeLabel.UNKNOWN: "unknown",
}
# What people call the outcome of a round, and a vote or a forecast of it; the bodies keep the words of the API.
OUTCOME: Final[dict[str, str]] = {
    Prediction.BULLISH: "up",
    Prediction.NEUTRAL: "small move",
    Prediction.BEARISH: "down",
    Consensus.NONE: "no votes",
}
# What one tap says, which is less than the word alone.
LEANING: Final[dict[str, str]] = {
    Prediction.BULLISH: "a little more likely up",
    Prediction.NEUTRAL: "a small move a little more likely",
    Prediction.BEARISH: "a little more likely down",
}
CALL: Final[dict[Call, str]] = {
    Call.UP: "up",
    Call.DOWN: "down",
    Call.SMALL_MOVE: "small move",
    Call.NONE: "no call",
}
NO_CALL: Final = CALL[Call.NONE]
EXPECTED: Final[dict[VolatilityWord, str]] = {
    VolatilityWord.CALM: "The next four hours are expected to be calmer than most hours on record.",
    VolatilityWord.NORMAL: "The next four hours are expected to be about as rough as usual.",
    VolatilityWord.ELEVATED: "The next four hours are expected to be rougher than most hours on record.",
    VolatilityWord.EXTREME: "The next four hours are expected to be rougher than almost all hours on record.",
    VolatilityWord.UNKNOWN: "How rough the next hours will be is not known yet.",
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
    "hours": "the last hours",
    "day": "the day",
    "week": "the week",
    "breadth": "market breadth",
    "volume": "trading volume",
    "funding": "funding",
    "interest": "open interest",
    "liquidity": "the order book",
}
STATE: Final[dict[MarketState, str]] = {
    MarketState.OPPORTUNITY: "a rising day that is not rough; it does not predict a gain",
    MarketState.WAIT: "the next hours do not look rough, and the day is not a rising one",
    MarketState.CAUTION: "the next hours look rougher than most on record",
    MarketState.UNKNOWN: "there is no state to judge by",
}
# What the evidence of an asset says by its sign; None where it is not known.
BREADTH: Final[dict[int | None, str]] = {
    1: "At least two thirds of the assets are up over the day.",
    0: "The assets share no direction over the day.",
    -1: "At least two thirds of the assets are down over the day.",
    None: "How many assets are up over the day is not known yet.",
}
BOOK: Final[dict[int | None, str]] = {
    1: "Over the last half hour there were more bids than asks near the price.",
    0: "Over the last half hour bids and asks near the price were about even.",
    -1: "Over the last half hour there were more asks than bids near the price.",
    None: "The order book is not known.",
}
BOOK_LEAN: Final[dict[int, str]] = {
    1: "Over half an hour: more bids than asks.",
    0: "Over half an hour: bids and asks about even.",
    -1: "Over half an hour: more asks than bids.",
}
MARKS: Final[dict[str, str]] = {
    "up": "\N{BLACK UP-POINTING TRIANGLE}",
    "small move": "\N{BLACK CIRCLE}",
    "down": "\N{BLACK DOWN-POINTING TRIANGLE}",
    NO_CALL: "",
}
MODE_BANNERS: Final[dict[str, tuple[str, str]]] = {
    "simulated": (
        "Simulated data",
        "Prices, votes and forecasts here are of a simulated market, not of the real one.",
    ),
    "recorded": (
        "Recorded data",
        ("Real prices of the past, replayed; rounds, votes, forecasts and days are dated by the clock of the replay."),
    ),
}


_SPANS: Final = {"hours": "three hours", "day": "24 hours", "week": "seven days"}
_UNCHANGED: Final = 0.0005
_OF_CONTRACTS: Final = (DerivativesState.LEVERAGING_UP, DerivativesState.DELEVERAGING)


def moved_text(span: str, move: float) -> str:
    """Say how far the price moved over a span of `_SPANS`, a fraction; NaN where it is not known.

    >>> moved_text("day", -0.0312), moved_text("hours", 0.0001)
    ('Over the last 24 hours the price fell 3.1%.', 'Over the last three hours the price is unchanged.')
    """
    words = _SPANS[span]
    if not math.isfinite(move):
        return f"How far the price moved over the last {words} is not known."
    if abs(move) < _UNCHANGED:
        return f"Over the last {words} the price is unchanged."
    return f"Over the last {words} the price {'rose' if move > 0 else 'fell'} {100 * abs(move):.1f}%."


def volume_text(ratio: float | None) -> str:
    """Compare the last day's volume with the week's mean day; None where it is not known."""
    if ratio is None:
        return "How much was traded against the week is not known."
    return f"Trading volume over the last day was {ratio:.1f} times the week's daily average."


def funding_text(state: DerivativesState) -> str:
    """Say which side pays, as far as the state of the futures shows it."""
    if state in _OF_CONTRACTS:
        # The state is named by the contracts alone: the rate may be usual, unknown or doubted.
        return "Funding is called extreme on neither side."
    if state is DerivativesState.BALANCED:
        return "Funding is extreme on neither side."
    return DERIVATIVES[state].reading


def interest_text(state: DerivativesState) -> str:
    """Say whether the open contracts rise or fall, as far as the state of the futures shows it."""
    if state is DerivativesState.UNAVAILABLE:
        return "How the open contracts change is not known."
    if state in _OF_CONTRACTS:
        return DERIVATIVES[state].reading
    return "Open contracts are not what stands out in the futures."
