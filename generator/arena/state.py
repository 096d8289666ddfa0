"""What is kept of the regime each tick, and when the state of the market by its two axes is another."""

from typing import NamedTuple

from generator.catalog.words import STEP_OF_VOLATILITY, MarketSide, VolatilityWord


class RegimeRow(NamedTuple):
    """The regime at one tick."""

    label: str
    mode: str
    confidence: float | None  # 0..1
    risk_score: float | None  # 0..100
    volatility: VolatilityWord = VolatilityWord.UNKNOWN
    side: MarketSide = MarketSide.UNKNOWN
    confidence_kind: str | None = None  # None without a confidence
    chances: tuple[float, ...] | None = None  # of the four labels in four hours, as published; None where unknown


class KnownState(NamedTuple):
    """The last that was known of each axis; an axis that is unknown for a while has not changed."""

    volatility: VolatilityWord = VolatilityWord.UNKNOWN  # its step: normal or elevated
    side: MarketSide = MarketSide.UNKNOWN

    @property
    def is_known(self) -> bool:
        """Whether anything was known."""
        return self != KnownState()

    @property
    def is_whole(self) -> bool:
        """Whether both axes were known.

        >>> KnownState(VolatilityWord.NORMAL, MarketSide.RISING).is_whole
        True
        >>> KnownState(VolatilityWord.NORMAL).is_whole, KnownState(side=MarketSide.RISING).is_whole
        (False, False)
        """
        return self.volatility is not VolatilityWord.UNKNOWN and self.side is not MarketSide.UNKNOWN

    def followed_by(self, volatility: VolatilityWord, side: MarketSide) -> "KnownState":
        """Return what is known after a tick.

        >>> before = KnownState(VolatilityWord.NORMAL, MarketSide.RISING)
        >>> before.followed_by(VolatilityWord.CALM, MarketSide.UNKNOWN) == before
        True
        """
        step = STEP_OF_VOLATILITY[volatility]
        return KnownState(
            self.volatility if step is VolatilityWord.UNKNOWN else step,
            self.side if side is MarketSide.UNKNOWN else side,
        )
