"""The closed word sets of the public answers, and the table that maps the brain's words to them."""

from enum import StrEnum
from typing import Final


class SourceMode(StrEnum):
    """Where the market data of a tick came from."""

    LIVE = "live"
    RECORDED = "recorded"
    SIMULATED = "simulated"


class SourceStatus(StrEnum):
    """How one source answered in a tick."""

    OK = "ok"
    STALE = "stale"
    FAILED = "failed"


class Status(StrEnum):
    """How complete the inputs of an answer are."""

    AVAILABLE = "available"
    DEGRADED = "degraded"
    UNAVAILABLE = "unavailable"


class RegimeLabel(StrEnum):
    """The market regime. `unknown` is public only; the brain's filter never says it."""

    RISK_ON = "risk_on"
    RISK_OFF = "risk_off"
    RANGE = "range"
    HIGH_VOLATILITY = "high_volatility"
    TRANSITION = "transition"
    UNKNOWN = "unknown"


class MarketMode(StrEnum):
    """The regime in one word."""

    RISK_ON = "RISK_ON"
    RISK_OFF = "RISK_OFF"
    NEUTRAL = "NEUTRAL"
    UNKNOWN = "UNKNOWN"


class MarketState(StrEnum):
    """How calm the conditions are. None of these predicts a gain."""

    OPPORTUNITY = "OPPORTUNITY"
    WAIT = "WAIT"
    CAUTION = "CAUTION"
    UNKNOWN = "UNKNOWN"


class VolatilityWord(StrEnum):
    """The volatility outlook against the last week."""

    CALM = "calm"
    NORMAL = "normal"
    ELEVATED = "elevated"
    EXTREME = "extreme"
    UNKNOWN = "unknown"


class Trend(StrEnum):
    """The direction of the last hours."""

    UP = "up"
    DOWN = "down"
    SIDEWAYS = "sideways"
    UNKNOWN = "unknown"


class Bias(StrEnum):
    """The brain's lean for an asset."""

    UP = "UP"
    DOWN = "DOWN"
    FLAT = "FLAT"


class Prediction(StrEnum):
    """A forecast or a vote, and the outcome of a round."""

    BULLISH = "BULLISH"
    BEARISH = "BEARISH"
    NEUTRAL = "NEUTRAL"


class Consensus(StrEnum):
    """What most voters said; NONE only with no votes."""

    BULLISH = "BULLISH"
    BEARISH = "BEARISH"
    NEUTRAL = "NEUTRAL"
    NONE = "NONE"


class LiquidityContext(StrEnum):
    """How much can change hands near the price."""

    DEEP = "deep"
    NORMAL = "normal"
    THIN = "thin"
    UNKNOWN = "unknown"


class MarketStructure(StrEnum):
    """The shape of an asset's last days."""

    UPTREND = "uptrend"
    DOWNTREND = "downtrend"
    RANGE = "range"
    BREAKOUT = "breakout"
    BREAKDOWN = "breakdown"
    UNKNOWN = "unknown"


class DerivativesState(StrEnum):
    """Where the pressure in perpetual futures lies."""

    CROWDED_LONGS = "crowded_longs"
    CROWDED_SHORTS = "crowded_shorts"
    BALANCED = "balanced"
    DELEVERAGING = "deleveraging"
    LEVERAGING_UP = "leveraging_up"
    UNAVAILABLE = "unavailable"


class DerivativesVote(StrEnum):
    """What the derivatives state leans to on its own."""

    BULLISH = "bullish"
    BEARISH = "bearish"
    NEUTRAL = "neutral"
    NO_VOTE = "no_vote"


class OverallState(StrEnum):
    """The derivatives state of most assets; `mixed` on a tie."""

    CROWDED_LONGS = "crowded_longs"
    CROWDED_SHORTS = "crowded_shorts"
    BALANCED = "balanced"
    DELEVERAGING = "deleveraging"
    LEVERAGING_UP = "leveraging_up"
    MIXED = "mixed"


class OverallVote(StrEnum):
    """The derivatives vote of most assets; `mixed` on a tie."""

    BULLISH = "bullish"
    BEARISH = "bearish"
    NEUTRAL = "neutral"
    MIXED = "mixed"


class TeacherStatus(StrEnum):
    """Whether resolved rounds have given the teacher anything yet."""

    LEARNING = "learning"
    IDLE = "idle"


class PatternType(StrEnum):
    """Who was right in a resolved round."""

    BOTH_CORRECT = "both_correct"
    BRAIN_ONLY = "brain_only"
    CROWD_ONLY = "crowd_only"
    BOTH_WRONG = "both_wrong"
    NO_CROWD = "no_crowd"


class RoundPhase(StrEnum):
    """The life of an Arena round."""

    SCHEDULED = "scheduled"
    OPEN = "open"
    LIVE = "live"
    RESOLVING = "resolving"
    RESOLVED = "resolved"
    VOID = "void"


MODE_OF_REGIME: Final[dict[RegimeLabel, MarketMode]] = {
    RegimeLabel.RISK_ON: MarketMode.RISK_ON,
    RegimeLabel.RISK_OFF: MarketMode.RISK_OFF,
    RegimeLabel.RANGE: MarketMode.NEUTRAL,
    RegimeLabel.HIGH_VOLATILITY: MarketMode.NEUTRAL,
    RegimeLabel.TRANSITION: MarketMode.NEUTRAL,
    RegimeLabel.UNKNOWN: MarketMode.UNKNOWN,
}

# The words of `emi read`, by those of the public bodies.
READ_BIAS: Final[dict[Bias, str]] = {Bias.UP: "UP", Bias.DOWN: "DOWN", Bias.FLAT: "NEUTRAL"}
READ_LIQUIDITY: Final[dict[LiquidityContext, str | None]] = {
    LiquidityContext.DEEP: "deep",
    LiquidityContext.NORMAL: "normal",
    LiquidityContext.THIN: "thin",
    LiquidityContext.UNKNOWN: None,
}
READ_DERIVATIVES: Final[dict[DerivativesState, str | None]] = {
    DerivativesState.CROWDED_LONGS: "longs_crowded",
    DerivativesState.CROWDED_SHORTS: "shorts_crowded",
    DerivativesState.BALANCED: "balanced",
    DerivativesState.DELEVERAGING: "balanced",
    DerivativesState.LEVERAGING_UP: "balanced",
    DerivativesState.UNAVAILABLE: None,
}
