"""Plain-English sentences of the human report, for people who know no finance."""

from __future__ import annotations

from typing import Final

from generator.catalog.words import (
    Bias,
    DerivativesState,
    LiquidityContext,
    RegimeLabel,
    Trend,
    VolatilityWord,
)

REPORT_TITLE: Final = "The crypto market now, in plain words"

REGIME: Final[dict[RegimeLabel, str]] = {
    RegimeLabel.RISK_ON: "Most coins rise, and the moves are calm.",
    RegimeLabel.RISK_OFF: "Most coins fall.",
    RegimeLabel.RANGE: "Coins move up and down but go nowhere.",
    RegimeLabel.HIGH_VOLATILITY: "Prices swing far and fast, both ways.",
    RegimeLabel.TRANSITION: "The market may be on its way from one mood to the next.",
    RegimeLabel.UNKNOWN: "We can not tell what mood the market is in now.",
}
REGIME_NAME: Final[dict[RegimeLabel, str]] = {
    RegimeLabel.RISK_ON: "risk on",
    RegimeLabel.RISK_OFF: "risk off",
    RegimeLabel.RANGE: "range",
    RegimeLabel.HIGH_VOLATILITY: "high volatility",
    RegimeLabel.TRANSITION: "transition",
    RegimeLabel.UNKNOWN: "not known",
}
VOLATILITY: Final[dict[VolatilityWord, str]] = {
    VolatilityWord.CALM: "Moves are smaller than in the last week.",
    VolatilityWord.NORMAL: "Moves are about as large as in the last week.",
    VolatilityWord.ELEVATED: "Moves are larger than in the last week.",
    VolatilityWord.EXTREME: "Moves are far larger than in the last week.",
    VolatilityWord.UNKNOWN: "How large the next moves may be is not known.",
}
TREND: Final[dict[Trend, str]] = {
    Trend.UP: "It has gone up in the last hours.",
    Trend.DOWN: "It has gone down in the last hours.",
    Trend.SIDEWAYS: "It has gone nowhere in the last hours.",
    Trend.UNKNOWN: "Where it has gone in the last hours is not known.",
}
LEAN: Final[dict[Bias | None, str]] = {
    Bias.UP: "The brain leans up.",
    Bias.DOWN: "The brain leans down.",
    Bias.FLAT: "The brain does not lean to one side.",
    None: "The brain says nothing of what comes next.",
}
CROWD: Final[dict[DerivativesState, str]] = {
    DerivativesState.CROWDED_LONGS: "most futures deals are on a rise",
    DerivativesState.CROWDED_SHORTS: "most futures deals are on a fall",
    DerivativesState.BALANCED: "futures deals are about even",
    DerivativesState.DELEVERAGING: "futures deals are being closed",
    DerivativesState.LEVERAGING_UP: "new futures deals are being made",
    DerivativesState.UNAVAILABLE: "futures deals are not known",
}
DEPTH: Final[dict[LiquidityContext, str]] = {
    LiquidityContext.DEEP: "a lot can change hands near the price",
    LiquidityContext.NORMAL: "a normal amount can change hands near the price",
    LiquidityContext.THIN: "little can change hands near the price, so it can jump",
    LiquidityContext.UNKNOWN: "how much can change hands is not known",
}
FAMILY: Final[dict[str, str]] = {
    "trend": "where the price has gone",
    "momentum": "how fast the price goes",
    "volatility": "how far the price moves",
    "breadth": "how many coins rise",
    "liquidity": "how much can change hands",
    "derivatives": "futures deals",
}
LIMITS: Final[tuple[str, ...]] = (
    "This report tells what is. It does not know what comes next.",
    "It is made to learn from. It does not tell you what to do.",
    "It reads seven coins. The market has many more.",
    "News, laws and people can change the market at once. We read none of that.",
    "To be sure of the name of a market is not to be sure of its next move.",
)
MADE_UP: Final = "The prices in this report are made up by a model. No one could have traded at them."
REPLAYED: Final = "The prices in this report are old. They are played back as if they were new."
