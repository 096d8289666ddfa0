"""Plain-English meanings of the words that the answers use."""

from __future__ import annotations

from typing import Final

from generator.catalog.counts import ASSETS_IN_WORDS

GLOSSARY: Final[dict[str, str]] = {
    "regime": "The kind of market we are in now: rising, falling, flat or wild.",
    "risk on": "Most prices rise and the moves are calm.",
    "risk off": "Most prices fall.",
    "range": "Prices move up and down but go nowhere.",
    "high volatility": "Prices move far and fast, both ways.",
    "transition": "The market may be changing from one kind to another.",
    "volatility": "How far prices move in a given time.",
    "breadth": f"How many of the {ASSETS_IN_WORDS} coins rose in the last day.",
    "confidence": "How sure the reading is, from 0 to 100. It is not a promise.",
    "probability": "How often we expect a thing, from 0 (never) to 1 (always).",
    "neutral band": "A small move, up or down, that we count as no move.",
    "liquidity": "How much can be bought or sold near the price without moving it.",
    "spread": "The gap between the best buy price and the best sell price.",
    "basis point": "One hundredth of one percent.",
    "funding": "A fee that one side of the futures market pays to the other.",
    "open interest": "The total value of futures that are still open.",
    "liquidation": "A futures deal that was closed by force.",
    "crowded": "Most people stand on the same side.",
    "Brier score": "A grade for forecasts. Lower is better; a blind guess gets 0.667.",
    "base rate": "How often each result came up in the past.",
    "hit rate": "How often the shown word came true.",
    "skill": "How much better the grade is than that of a simple rule.",
    "Arena": "A game with no prizes in which people and the brain guess the next move.",
    "USDC": "A digital coin that is meant to be worth one US dollar.",
    "bullish": "Says that the price will rise by more than the neutral band.",
    "bearish": "Says that the price will fall by more than the neutral band.",
    "neutral": "Says that the price will stay in the neutral band, or that no side is clear.",
    "trend": "Where the price has gone for hours: up, down or sideways.",
    "uptrend": "The price has gone up for hours.",
    "downtrend": "The price has gone down for hours.",
    "breakout": "The price is above the top of its last day.",
    "breakdown": "The price is below the low of its last day.",
    "momentum": "The push of the last hours, up or down.",
    "swing": "A move up and back down, or down and back up.",
    "order book": "The list of offers to buy and to sell that wait at a venue.",
    "bid": "An offer to buy that waits in the order book.",
    "ask": "An offer to sell that waits in the order book.",
    "depth": "How much waits in the order book near the price.",
    "imbalance": "Whether more waits to be bought or to be sold near the price.",
    "mid": "The price halfway between the best bid and the best ask.",
    "volume": "How much was traded in a given time.",
    "venue": "A place where coins change hands.",
    "asset": f"A coin that we read. There are {ASSETS_IN_WORDS}.",
    "derivatives": "Deals whose worth hangs on the price of a coin, such as futures.",
    "futures": "Deals made now on a later price.",
    "leveraging up": "New futures deals are being made.",
    "deleveraging": "Futures deals are being closed.",
    "evidence": "What was seen that bears on a call. It comes in six families.",
    "agreement": "How much of the evidence that takes a side takes the side that is shown.",
    "coverage": "How many of the six families of evidence were there to be read.",
    "forecast": "A chance for each result, written down before the result can be known.",
    "horizon": "How far ahead a forecast looks.",
    "resolved": "Its time is over and its result is known.",
    "void": "Not counted, for a reason that is given.",
    "provisional": "May still change, because there are too few cases.",
    "calibration": "Whether things said to be 60 % sure come true 60 times in 100.",
    "log score": "A grade for forecasts that counts it hard to be sure and wrong.",
    "persistence": "The simple rule that says: the same as last time.",
    "scenario": "One way in which things may continue, with what would prove it wrong.",
    "snapshot": "What was known at one time, kept as it was.",
    "simulated": "Produced by a model. No one could have traded at such a price.",
    "replayed": "Old prices, played back as if they were new.",
    "null": "Not known. It never means zero.",
    "risk": "How far things may go wrong.",
    "position": "A deal that is still open.",
    "leaderboard": "The voters in the order of their grades.",
    "stake": "Money put at risk on a result. There is none here.",
    "signal": "A call to trade. We give none.",
    "execution": "Carrying out a trade. We do not help with it.",
    "target": "A price at which someone wants to trade. We give none.",
}

# Terms of the pages only.
PAGE_TERMS: Final[tuple[tuple[str, str], ...]] = (
    ("Bias", "The brain's lean for one asset over the next hour: UP, DOWN or FLAT. FLAT is the usual honest answer."),
    ("Brain", "The programme that reads the market. It is arithmetic, not a person and not a chatbot."),
    ("Confidence (prediction)", "The chance, out of 100, that the brain gave to the outcome it named."),
    (
        "Confidence (regime)",
        "How clearly the evidence points to the regime shown. It says nothing about what comes next.",
    ),
    ("Consensus", "What most voters of a round said. NONE means that no one voted."),
    ("Interval (95 %)", "The range in which the true rate plausibly lies. Few cases make it wide."),
    ("Lesson", "What a finished Arena round showed: who was right, who was wrong, and by how much the price moved."),
    ("Perpetual future", "A futures contract with no end date. Funding keeps its price near the spot price."),
    ("Risk score", "From 0 to 100: how large the expected swings are next to those of the last week."),
    ("Round", "One turn of the Arena, with a start, an end and one question."),
    (
        "Sealed forecast",
        "The brain's answer, fixed before the vote and hidden until the round starts. A digest proves it.",
    ),
    ("Stale", "Past its `valid until` time. A stale reading must not be taken as the state of now."),
    ("Tick", "One turn of the service, each minute: look, read, publish."),
    ("x402", "A way to pay for one web request with the request itself: the server answers 402 with its price."),
)


def glossary() -> tuple[tuple[str, str], ...]:
    """Return every term with its meaning, in alphabetical order."""
    terms = [(term[0].upper() + term[1:], meaning) for term, meaning in GLOSSARY.items()]
    return tuple(sorted([*terms, *PAGE_TERMS], key=lambda entry: entry[0].lower()))
