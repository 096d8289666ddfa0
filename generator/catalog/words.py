"""The closed word sets of the public answers with their meanings, and the table that maps the brain's words to them."""

from enum import StrEnum
from typing import Final, Self


class Word(StrEnum):
    """A word of a closed set, and what it means."""

    meaning: str

    def __new__(cls, value: str, meaning: str = "") -> Self:
        """Make a member of its value and its meaning."""
        word = str.__new__(cls, value)
        word._value_, word.meaning = value, meaning
        return word


class SourceMode(Word):
    """Where the market data of a tick came from."""

    LIVE = "live", "Asked from public venues as the tick was made."
    RECORDED = "recorded", "Real prices of the past, replayed; nothing in it is about today."
    SIMULATED = "simulated", "Made by a seeded model; no price in it is real."


class SourceStatus(Word):
    """How one source answered in a tick."""

    OK = "ok", "It answered in time."
    STALE = "stale", "Its newest datum is too old."
    FAILED = "failed", "It did not answer, or not usably."


class Status(Word):
    """How complete the inputs of an answer are."""

    AVAILABLE = "available", "Every input is fresh."
    DEGRADED = "degraded", "Some inputs are stale or missing; limitations says which."
    UNAVAILABLE = "unavailable", "No asset can be read."


class RegimeLabel(Word):
    """The regime's label, derived from the side of the last 24 hours and from volatility."""

    RISK_ON = "risk_on", "A rising day that is not rough."
    RISK_OFF = "risk_off", "A falling day that is not rough."
    RANGE = "range", "A flat day, or one of ups and downs, that is not rough."
    HIGH_VOLATILITY = (
        "high_volatility",
        "The next hours look rougher than most on record.",
    )
    TRANSITION = "transition", "A part of the last day is missing: shown as mixed."
    UNKNOWN = "unknown", "Less than three days of bars."


class MarketMode(Word):
    """The side of the last 24 hours in one word. None of them predicts a gain."""

    RISK_ON = "RISK_ON", "The last 24 hours were rising ones."
    RISK_OFF = "RISK_OFF", "The last 24 hours were falling ones."
    NEUTRAL = "NEUTRAL", "The last 24 hours were flat or went both ways: not the same as calm."
    UNKNOWN = "UNKNOWN", "What the last 24 hours were is unknown."


class MarketState(Word):
    """How calm the conditions are. None of these predicts a gain."""

    OPPORTUNITY = (
        "OPPORTUNITY",
        "Conditions: a rising day with calm or normal volatility. Not an invitation to buy.",
    )
    WAIT = (
        "WAIT",
        (
            "Conditions: calm or normal volatility, and a day that is not a rising one. "
            "Not an order to hold or to stay out."
        ),
    )
    CAUTION = "CAUTION", "Conditions: volatility is elevated or extreme. Not an order to sell."
    UNKNOWN = "UNKNOWN", "There is no state to judge by."


class VolatilityWord(Word):
    """The volatility expected for the next four hours, ranked in the whole kept record of up to a year."""

    CALM = "calm", "Smaller moves are expected than in most hours on record."
    NORMAL = "normal", "Moves are expected to be about as large as in most hours on record."
    ELEVATED = "elevated", "Larger moves are expected than in most hours on record."
    EXTREME = "extreme", "Larger moves are expected than in almost all hours on record."
    UNKNOWN = "unknown", "Too little history to compare with."


class MarketSide(Word):
    """What the last 24 hours were, by their move against a usual day's, kept for a while."""

    RISING = "rising", "The last 24 hours rose by about a usual day's move or more."
    FALLING = "falling", "The last 24 hours fell by about a usual day's move or more."
    FLAT = "flat", "The last 24 hours moved less than a usual day, and did not swing far."
    BOTH_WAYS = "both_ways", "The last 24 hours went far in both directions, or have turned by more than half."
    NONE = "none", "Of entries of earlier versions alone: neither a rising nor a falling market was likely."
    UNKNOWN = "unknown", "Less than a day of history, a part of it is missing, or no fresh prices."


class Trend(Word):
    """The direction of the last 24 hours."""

    UP = "up", "The last 24 hours rose by about a usual day's move or more."
    DOWN = "down", "The last 24 hours fell by about a usual day's move or more."
    SIDEWAYS = "sideways", "Neither, or so much came back that it is not a direction."
    UNKNOWN = "unknown", "Too little history."


class Call(Word):
    """What a forecast claims of the price at the end of its horizon."""

    UP = "up", "A rise of more than a small move is the likeliest outcome and clearly likelier than such a fall."
    DOWN = "down", "A fall of more than a small move is the likeliest outcome and clearly likelier than such a rise."
    SMALL_MOVE = (
        "small_move",
        "A small move is the likeliest outcome: about one chance in two or more.",
    )
    NONE = "none", "No call: nothing is claimed, so there is no hit and no miss. The three chances are scored."


class Bias(Word):
    """The brain's call for an asset, in three words; `call` distinguishes no call from a small move."""

    UP = "UP", "The call is up."
    DOWN = "DOWN", "The call is down."
    FLAT = "FLAT", "The call is small_move or none: no direction is forecast."


class Prediction(Word):
    """A forecast or a vote, and the outcome of a round."""

    BULLISH = "BULLISH", "A rise of more than a small move."
    BEARISH = "BEARISH", "A fall of more than a small move."
    NEUTRAL = (
        "NEUTRAL",
        (
            "As an outcome or vote: a small move. "
            "As a forecast: the call is small_move or none, or (brain_silent) there is no forecast."
        ),
    )


class Consensus(Word):
    """What most voters said; NONE only with no votes."""

    BULLISH = "BULLISH", "Most votes are for a rise of more than a small move."
    BEARISH = "BEARISH", "Most votes are for a fall of more than a small move."
    NEUTRAL = "NEUTRAL", "Most votes are for a small move, or the top is tied."
    NONE = "NONE", "No votes."


class LiquidityContext(Word):
    """How deep the order book is for its own week. Tested on simulated order books only."""

    DEEP = "deep", "Order books are deeper or spreads tighter than usual for this asset and its volatility."
    NORMAL = "normal", "Depth and spread are about usual for this asset and its volatility."
    THIN = "thin", "Order books are shallower or spreads wider than usual for this asset and its volatility."
    UNKNOWN = "unknown", "No order book is known."


class MarketStructure(Word):
    """The shape of an asset's last day."""

    UPTREND = "uptrend", "A rising day: the trend is up."
    DOWNTREND = "downtrend", "A falling day: the trend is down."
    RANGE = "range", "Without a trend over the last 24 hours."
    BREAKOUT = "breakout", "Above the high of the 24 hours before the present hour."
    BREAKDOWN = "breakdown", "Below the low of the 24 hours before the present hour."
    UNKNOWN = "unknown", "Too little history."


class DerivativesState(Word):
    """Where the pressure in perpetual futures lies."""

    CROWDED_LONGS = (
        "crowded_longs",
        "Longs pay shorts well above the usual rate, and the rate is high within the asset's own 30 days.",
    )
    CROWDED_SHORTS = "crowded_shorts", "Shorts pay longs, and the rate is low within the asset's own 30 days."
    BALANCED = "balanced", "Funding is extreme on neither side, and the number of contracts is steady."
    DELEVERAGING = "deleveraging", "The number of open contracts fell over 24 hours: positions are being closed."
    LEVERAGING_UP = (
        "leveraging_up",
        "The number of open contracts rose over 24 hours: new longs and shorts are being opened.",
    )
    UNAVAILABLE = "unavailable", "Too little is known of funding and open interest."


class PriceAndInterest(Word):
    """The changes of price and of open contracts over the same 24 hours."""

    RISING_PRICE_RISING_INTEREST = (
        "rising_price_rising_interest",
        "New longs and shorts are being opened while the price rises.",
    )
    RISING_PRICE_FALLING_INTEREST = (
        "rising_price_falling_interest",
        "Positions are being closed while the price rises: usually read as shorts closing (short covering).",
    )
    FALLING_PRICE_RISING_INTEREST = (
        "falling_price_rising_interest",
        "New longs and shorts are being opened while the price falls.",
    )
    FALLING_PRICE_FALLING_INTEREST = (
        "falling_price_falling_interest",
        "Positions are being closed while the price falls: usually read as longs closing (deleveraging).",
    )
    LITTLE_CHANGE = (
        "little_change",
        "The price or the number of contracts changed too little to tell whether positions are being opened or closed.",
    )


class DerivativesVote(Word):
    """What the derivatives state leans to on its own."""

    BULLISH = "bullish", "The state leans to a rise, taken alone."
    BEARISH = "bearish", "The state leans to a fall, taken alone."
    NEUTRAL = "neutral", "The state leans to neither."
    NO_VOTE = "no_vote", "No data, or a state that did not hold long enough."


class OverallState(Word):
    """The derivatives state of most assets; `mixed` on a tie."""

    CROWDED_LONGS = "crowded_longs", "Most of the assets that have a state: longs pay more than usual."
    CROWDED_SHORTS = "crowded_shorts", "Most of the assets that have a state: shorts pay longs."
    BALANCED = "balanced", "Most of the assets that have a state: funding is extreme on neither side."
    DELEVERAGING = "deleveraging", "Most of the assets that have a state: open contracts are falling."
    LEVERAGING_UP = "leveraging_up", "Most of the assets that have a state: open contracts are rising."
    MIXED = "mixed", "No state leads."


class OverallVote(Word):
    """The derivatives vote of most assets; `mixed` on a tie."""

    BULLISH = "bullish", "Most votes are bullish."
    BEARISH = "bearish", "Most votes are bearish."
    NEUTRAL = "neutral", "Most votes are neutral."
    MIXED = "mixed", "No vote leads."


class TeacherStatus(Word):
    """Whether resolved rounds have given the teacher anything yet."""

    LEARNING = "learning", "There are resolved outcomes."
    IDLE = "idle", "Nothing has resolved yet."


class PatternType(Word):
    """Who was right in a resolved round."""

    BOTH_CORRECT = "both_correct", "Brain and crowd were right."
    BRAIN_ONLY = "brain_only", "Only the brain was right."
    CROWD_ONLY = "crowd_only", "Only the crowd was right."
    BOTH_WRONG = "both_wrong", "Neither was right."
    NO_CROWD = "no_crowd", "No one voted."
    NO_CALL = "no_call", "The brain made no call, so it was neither right nor wrong."


class Concept(Word):
    """The idea that a lesson teaches."""

    BASE_RATE = "base_rate", "How often each outcome comes."
    BAND_WIDTH = "band_width", "How the band of a small move decides what an hour is called."
    FAT_TAILS = "fat_tails", "Why very large moves are not rare."
    CLUSTERING = "clustering", "Large moves follow large moves."
    LUCK = "luck", "Being right by a margin that means nothing."
    CROWD_BIAS = "crowd_bias", "Where votes lean, whatever happens."
    CALIBRATION = "calibration", "Whether things happen as often as their chances say."
    ONE_ROUND = "one_round", "How little a single round shows."
    CORRELATION = "correlation", "Assets that move together."
    REVERSION = "reversion", "Volatility returns to its mean."
    WEEKEND = "weekend", "What is different on Saturdays and Sundays."
    NO_CALL = "no_call", "Naming no outcome."


class RoundPhase(Word):
    """The life of an Arena round."""

    SCHEDULED = "scheduled", "Not open yet."
    OPEN = "open", "Takes votes; its forecast is sealed."
    LIVE = "live", "Running; votes are closed and the forecast is revealed."
    RESOLVING = "resolving", "Over; its price is awaited."
    RESOLVED = "resolved", "Its outcome is known and scored."
    VOID = "void", "Ended without an outcome; kept and not scored."


class ConfidenceKind(Word):
    """What a confidence is the measure of. None is a promise, and none is the chance of a gain."""

    HOLDS_FOUR_HOURS = (
        "holds_four_hours",
        (
            "The chance that the shown label still stands in four hours, counted in the kept record by label and by "
            "how long it has stood. Each is scored four hours later."
        ),
    )
    CLASS_PROBABILITY = "class_probability", "The forecast chance of the called outcome; its base rate is next to it."
    NO_CALL = "no_call", "There is no call, so there is no confidence in one: it is null."
    STEADINESS = "steadiness", "The share of the last hours in which the state held. It says nothing of what follows."
    SHARE_OF_ASSETS = "share_of_assets", "The share of assets that have the shown word."


MODE_OF_REGIME: Final[dict[RegimeLabel, MarketMode]] = {
    RegimeLabel.RISK_ON: MarketMode.RISK_ON,
    RegimeLabel.RISK_OFF: MarketMode.RISK_OFF,
    RegimeLabel.RANGE: MarketMode.NEUTRAL,
    RegimeLabel.HIGH_VOLATILITY: MarketMode.NEUTRAL,
    RegimeLabel.TRANSITION: MarketMode.NEUTRAL,
    RegimeLabel.UNKNOWN: MarketMode.UNKNOWN,
}

MODE_OF_SIDE: Final[dict[MarketSide, MarketMode]] = {
    MarketSide.RISING: MarketMode.RISK_ON,
    MarketSide.FALLING: MarketMode.RISK_OFF,
    MarketSide.FLAT: MarketMode.NEUTRAL,
    MarketSide.BOTH_WAYS: MarketMode.NEUTRAL,
    MarketSide.NONE: MarketMode.NEUTRAL,
    MarketSide.UNKNOWN: MarketMode.UNKNOWN,
}

# News and spells go by two steps; between the words of one step volatility moves to and fro.
STEP_OF_VOLATILITY: Final[dict[VolatilityWord, VolatilityWord]] = {
    VolatilityWord.CALM: VolatilityWord.NORMAL,
    VolatilityWord.NORMAL: VolatilityWord.NORMAL,
    VolatilityWord.ELEVATED: VolatilityWord.ELEVATED,
    VolatilityWord.EXTREME: VolatilityWord.ELEVATED,
    VolatilityWord.UNKNOWN: VolatilityWord.UNKNOWN,
}

# The words of the first bodies for a call. A small move and no call share one: `call` has both.
BIAS_OF_CALL: Final[dict[Call, Bias]] = {
    Call.UP: Bias.UP,
    Call.DOWN: Bias.DOWN,
    Call.SMALL_MOVE: Bias.FLAT,
    Call.NONE: Bias.FLAT,
}
PREDICTION_OF_CALL: Final[dict[Call, Prediction]] = {
    Call.UP: Prediction.BULLISH,
    Call.DOWN: Prediction.BEARISH,
    Call.SMALL_MOVE: Prediction.NEUTRAL,
    Call.NONE: Prediction.NEUTRAL,
}

# The words of `emi read`, by those of the public bodies.
READ_BIAS: Final[dict[Bias, str]] = {Bias.UP: "UP", Bias.DOWN: "DOWN", Bias.FLAT: "NEUTRAL"}
READ_REGIME: Final[dict[RegimeLabel, str]] = {
    **{label: label.value for label in RegimeLabel},
    RegimeLabel.UNKNOWN: RegimeLabel.TRANSITION.value,
}
READ_LIQUIDITY: Final[dict[LiquidityContext, str | None]] = {
    word: None if word is LiquidityContext.UNKNOWN else word.value for word in LiquidityContext
}
READ_DERIVATIVES: Final[dict[DerivativesState, str | None]] = {
    **dict.fromkeys(DerivativesState, "balanced"),
    DerivativesState.CROWDED_LONGS: "longs_crowded",
    DerivativesState.CROWDED_SHORTS: "shorts_crowded",
    DerivativesState.UNAVAILABLE: None,
}


class Side(Word):
    """How a family of evidence bears on the call. It is context, and decides no call."""

    FOR = "for", "It agrees with the call."
    AGAINST = "against", "It speaks against the call."
    NEUTRAL = "neutral", "It speaks for neither way, or there is no call."
    MISSING = "missing", "It is not known."


class Points(Word):
    """Which way a family of evidence points."""

    UP = "up", "Towards higher prices."
    DOWN = "down", "Towards lower prices."
    FLAT = "flat", "Neither way."
