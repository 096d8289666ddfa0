"""The state of the market in words: what its last 24 hours were, and how rough the next ones look."""

from typing import Final

from generator.catalog.words import STEP_OF_VOLATILITY, MarketSide, VolatilityWord

# What people read of volatility.
ROUGHNESS: Final[dict[VolatilityWord, str]] = {
    VolatilityWord.CALM: "calm",
    VolatilityWord.NORMAL: "normal",
    VolatilityWord.ELEVATED: "rough",
    VolatilityWord.EXTREME: "wild",
    VolatilityWord.UNKNOWN: "unknown",
}
_STEP: Final[dict[VolatilityWord, str]] = {
    VolatilityWord.NORMAL: "calm or normal volatility",
    VolatilityWord.ELEVATED: "rough or wild volatility",
    VolatilityWord.UNKNOWN: "volatility unknown",
}
_SIDE: Final[dict[MarketSide, str]] = {
    MarketSide.RISING: "a rising day",
    MarketSide.FALLING: "a falling day",
    MarketSide.FLAT: "a flat day",
    MarketSide.BOTH_WAYS: "a day of ups and downs",
    MarketSide.NONE: "no trend",
    MarketSide.UNKNOWN: "side unknown",
}


def volatility_words(volatility: VolatilityWord) -> str:
    """Return the step of a word of volatility in words.

    >>> volatility_words(VolatilityWord.CALM), volatility_words(VolatilityWord.EXTREME)
    ('calm or normal volatility', 'rough or wild volatility')
    """
    return _STEP[STEP_OF_VOLATILITY[volatility]]


def side_words(side: MarketSide) -> str:
    """Return what the last 24 hours were in words.

    >>> side_words(MarketSide.FALLING), side_words(MarketSide.BOTH_WAYS)
    ('a falling day', 'a day of ups and downs')
    """
    return _SIDE[side]


def state_words(volatility: VolatilityWord, side: MarketSide) -> str:
    """Return both in words.

    >>> state_words(VolatilityWord.CALM, MarketSide.FALLING)
    'a falling day, calm or normal volatility'
    """
    return f"{side_words(side)}, {volatility_words(volatility)}"
