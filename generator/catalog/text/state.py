"""The state of the market by its two axes, in words: volatility in two steps, and the trend by which side it is on."""

from typing import Final

from generator.catalog.words import STEP_OF_VOLATILITY, MarketSide, VolatilityWord

_VOLATILITY: Final[dict[VolatilityWord, str]] = {
    VolatilityWord.NORMAL: "normal volatility",
    VolatilityWord.ELEVATED: "elevated volatility",
    VolatilityWord.UNKNOWN: "volatility unknown",
}
_TREND: Final[dict[MarketSide, str]] = {
    MarketSide.RISING: "an uptrend",
    MarketSide.FALLING: "a downtrend",
    MarketSide.NONE: "no trend",
    MarketSide.UNKNOWN: "trend unknown",
}


def volatility_words(volatility: VolatilityWord) -> str:
    """Return the step of a word of volatility in words.

    >>> volatility_words(VolatilityWord.CALM), volatility_words(VolatilityWord.EXTREME)
    ('normal volatility', 'elevated volatility')
    """
    return _VOLATILITY[STEP_OF_VOLATILITY[volatility]]


def trend_words(side: MarketSide) -> str:
    """Return the side that the market is on in words.

    >>> trend_words(MarketSide.FALLING), trend_words(MarketSide.NONE)
    ('a downtrend', 'no trend')
    """
    return _TREND[side]


def state_words(volatility: VolatilityWord, side: MarketSide) -> str:
    """Return both axes in words.

    >>> state_words(VolatilityWord.CALM, MarketSide.FALLING)
    'normal volatility, a downtrend'
    """
    return f"{volatility_words(volatility)}, {trend_words(side)}"
