"""Plain-English meanings of the words that the answers use."""

import re
from typing import Final, NamedTuple

from generator.catalog.counts import ASSETS_IN_WORDS
from generator.catalog.text.figures import MINUS
from generator.catalog.text.labels import STATE
from generator.catalog.words import MarketState, RegimeLabel


class Term(NamedTuple):
    """One entry of the glossary; `anchor` is its id on the page."""

    anchor: str
    term: str
    meaning: str


# What the human report explains too.
GLOSSARY: Final[dict[str, str]] = {
    "regime": (
        "What kind of market it is now: risk-on, risk-off, range or high volatility. It describes; it predicts no gain."
    ),
    "risk-on": f"A regime. {RegimeLabel.RISK_ON.meaning}",
    "risk-off": f"A regime. {RegimeLabel.RISK_OFF.meaning}",
    "range": (
        f"A regime. {RegimeLabel.RANGE.meaning} Of a forecast: the interval in which a price is expected to end."
    ),
    "high volatility": f"A regime. {RegimeLabel.HIGH_VOLATILITY.meaning}",
    "mixed": ("No regime is named, because a part of the last day is missing. The answers say transition."),
    "WAIT": f"A state of the market, not an order: {STATE[MarketState.WAIT]}.",
    "CAUTION": f"A state of the market, not an order: {STATE[MarketState.CAUTION]}.",
    "OPPORTUNITY": f"A state of the market, not an order: {STATE[MarketState.OPPORTUNITY]}.",
    "volatility": "How much a price moves, up or down, within a given time.",
    "realised volatility": "The volatility that was measured, as the standard deviation of past returns.",
    "expected move": (
        "One standard deviation of the moves to come over a given time: about two moves in three should be smaller."
    ),
    "50% range": (
        "The interval in which a price is expected to end one time in two. The 90% range holds nine times in ten."
    ),
    "breadth": f"The share of the {ASSETS_IN_WORDS} coins that rose over the last 24 hours.",
    "dispersion": "How far apart the coins' price changes lie. Low dispersion means that they move together.",
    "trend": "Of the last 24 hours: up on a rising day, down on a falling one, else sideways.",
    "momentum": "How strongly a price has moved in one direction over the last hours.",
    "breakout": "A price above its highest of the 24 hours before the present hour.",
    "breakdown": "A price below its lowest of the 24 hours before the present hour.",
    "usual day": (
        "The median size of all moves over 24 hours on record: half of them were larger, half smaller. So are a usual "
        "hour and a usual week."
    ),
    "candle": "The first, highest, lowest and last price of an interval, here of five minutes. Also called a bar.",
    "volume": "How much was traded in a given time.",
    "percentile": "The share of earlier values that are lower: the 90th percentile is above 90 of 100.",
    "confidence": (
        "From 0 to 100. Of a regime: the chance that it still stands in four hours. Of a forecast: the chance of the "
        "outcome that it calls; without a call there is none."
    ),
    "probability": "How likely an outcome is, from 0 (never) to 1 (always).",
    "base rate": "How often an outcome happened in the recent past: the chance to give when nothing else is known.",
    "forecast": "A chance for each outcome, stored before the outcome can be known.",
    "call": (
        "What a forecast claims: up, down or a small move. Most make none: then nothing is claimed, with no hit "
        "and no miss."
    ),
    "chance of a move": (
        "How likely it is that the price at the end of the hour is further from its start than a small move."
    ),
    "horizon": "How far ahead a forecast looks.",
    "up": "A rise of more than a small move. The answers write UP or BULLISH.",
    "down": "A fall of more than a small move. The answers write DOWN or BEARISH.",
    "small move": (
        "An end inside a band around the starting price: above it is up, below it down. The answers write FLAT or "
        "NEUTRAL, and so for no call."
    ),
    "evidence": (
        "The measurements that are read next to a forecast, in six families: "
        "the last hours, the day, the week, breadth, volume, funding, open interest and the order book."
    ),
    "agreement": "Of the facts that are known, the share that agrees with the call; nothing without a call.",
    "coverage": "How many of the eight facts are known.",
    "scenario": "One way the market may develop, with what would prove it wrong.",
    "liquidity": "How much can be bought or sold without moving the price much.",
    "order book": "All the open offers to buy (bids) and to sell (asks) on a venue, sorted by price.",
    "bid": "An offer to buy at a stated price.",
    "ask": "An offer to sell at a stated price.",
    "mid": "The price halfway between the best bid and the best ask.",
    "spread": "The gap between the best bid and the best ask.",
    "depth": "The value of the bids and asks close to the price, here within 1% of the mid.",
    "imbalance": (
        f"Bids minus asks as a share of both, from {MINUS}100% (only asks) to 100% (only bids), within 1% of the mid."
    ),
    "slippage": (
        "The difference between the price expected and the price got, because an order uses up the best offers."
    ),
    "basis point": "One hundredth of one percent, written bp or bps.",
    "venue": "An exchange whose public market data is read.",
    "derivatives": "Contracts whose value depends on the price of something else, such as futures.",
    "perpetual future": "A futures contract with no expiry date. Funding keeps its price near the spot price.",
    "long": "A position that gains when the price rises. Every contract has one long and one short.",
    "short": "A position that gains when the price falls.",
    "leverage": (
        "The size of a position as a multiple of the money put up for it. It multiplies losses as well as gains."
    ),
    "funding": (
        "The payment between longs and shorts that keeps a perpetual future near the spot price. "
        "Above zero, longs pay. The usual rate is 0.01% per 8 hours."
    ),
    "open interest": "The number of futures contracts that are open. Its value in dollars also changes with the price.",
    "liquidation": "The forced closing of a position whose collateral no longer covers its losses.",
    "crowded": (
        "One side pays unusually much funding to stay in its positions. "
        "It does not mean that more people are on that side."
    ),
    "leveraging up": "Open interest is rising: new positions are being opened.",
    "deleveraging": "Open interest is falling: positions are being closed.",
    "position": "A contract or coin held, and not yet closed or sold.",
    "Arena": (
        "A prediction game without prizes: people and the brain answer the same question about the next price move."
    ),
    "resolved": "The time of a forecast or round is over, and its outcome is known.",
    "void": "Left out of every score, for a reason that is stated.",
    "hit rate": "The share of calls that were right. A forecast without a call is not counted.",
    "Brier score": (
        "The squared error of the stated chances, 0 to 2. Lower is better; "
        "equal chances for three outcomes score 0.667."
    ),
    "log score": (
        "The negative logarithm of the chance given to what happened. Lower is better; "
        "it punishes confident misses hardest."
    ),
    "skill": "How much better a score is than that of a simple rule, in percent. Zero or less means no skill.",
    "calibration": (
        "The match between stated chances and what happens: of all things given 40%, 40 in 100 should happen."
    ),
    "pinball loss": "A score for the ends of a forecast range. Lower is better.",
    "QLIKE": "A score for a volatility forecast that punishes forecasts that were too low most. Lower is better.",
    "persistence": "The simple rule that forecasts the last outcome again.",
    "backtest": "Forecasts made on past data, step by step and without looking ahead. They are scored separately.",
    "USDC": "A stablecoin: a token issued to be worth one US dollar.",
    "snapshot": "The state of the service at one moment, kept unchanged.",
    "simulated": "Made by a model. No one could have traded at such a price.",
    "replayed": "Real prices of the past, played back.",
    "null": "Not known. It never means zero.",
    "signal": "Advice to buy or sell. None is given here.",
}

# Terms of the pages only.
PAGE_TERMS: Final[dict[str, str]] = {
    "average coin": "The mean of the coins' moves, of three coins at least. With fewer it is Bitcoin alone.",
    "bias": "The call for one asset in three words: UP, DOWN or FLAT. FLAT is a small move or no call.",
    "brain": "The program that reads the market: statistics, not a person and not a chatbot.",
    "calm, normal, rough, wild": (
        "How the volatility expected of the next four hours ranks among all hours on record, from low to high."
    ),
    "consensus": "The answer with the most votes in a round. NONE means that no one voted.",
    "correlation": f"How far prices move together: 1 is in step, 0 without any link, {MINUS}1 always opposite.",
    "interval (95%)": "The range in which the true rate plausibly lies. The fewer the cases, the wider it is.",
    "leaderboard": "The voters by the lower end of the interval of what their votes saved.",
    "lesson": "What a finished round shows: the move, how rare it was, the chances, the score, and one idea.",
    "record": "What the service has kept of the market, a year at most. Usual, rare and largest are so on record.",
    "risk score": "From 0 to 100: where the volatility expected for the next four hours ranks on record.",
    "round": "One question of the Arena, with a start and an end.",
    "sealed forecast": (
        "The brain's forecast, fixed before the vote and hidden until the round starts. "
        "Its digest proves that it was not changed."
    ),
    "spell": "A time in which the market stayed in one state, such as calm, without a break.",
    "stale": "Past its valid_until time, and no longer a description of now.",
    "tick": "One cycle of the service, each minute: read the market, update the forecasts, publish.",
    "x402": (
        "A protocol for paying for a single web request: "
        "the server answers 402 with its price, and the payment comes with the next request."
    ),
}
# Linked where a page first uses them: terms of the field that mean one thing only.
LINKED: Final = (
    "regime", "volatility", "breadth", "dispersion", "percentile", "base rate", "order book",
    "slippage", "basis point", "perpetual future", "leverage", "funding", "open interest", "liquidation", "hit rate",
    "Brier score", "log score", "calibration", "pinball loss", "QLIKE", "backtest", "x402", "USDC",
)  # fmt: skip


def anchor(term: str) -> str:
    """Return the id of a term on the glossary page, e.g. `term-open-interest`."""
    return "-".join(["term", *re.findall("[a-z0-9]+", term.lower())])


def glossary() -> tuple[Term, ...]:
    """Return every term with its meaning, in alphabetical order."""
    entries = sorted((GLOSSARY | PAGE_TERMS).items(), key=lambda entry: entry[0].lower())
    return tuple(Term(anchor(term), term[0].upper() + term[1:], meaning) for term, meaning in entries)
