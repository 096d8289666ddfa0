"""Plain-English meanings of the words that the answers use."""

from __future__ import annotations

from typing import Final

GLOSSARY: Final[dict[str, str]] = {
    "regime": "The kind of market we are in now: rising, falling, flat or wild.",
    "risk on": "Most prices rise and the moves are calm.",
    "risk off": "Most prices fall.",
    "range": "Prices move up and down but go nowhere.",
    "high volatility": "Prices move far and fast, both ways.",
    "transition": "The market may be changing from one kind to another.",
    "volatility": "How far prices move in a given time.",
    "breadth": "How many of the seven coins rose in the last day.",
    "confidence": "How sure the reading is, from 0 to 100. It is not a promise.",
    "probability": "How often we expect a thing, from 0 (never) to 1 (always).",
    "neutral band": "A small move, up or down, that we count as no move.",
    "liquidity": "How much can be bought or sold near the price without moving it.",
    "spread": "The gap between the best buy price and the best sell price.",
    "basis point": "One hundredth of one percent.",
    "funding": "A fee that one side of the futures market pays to the other.",
    "open interest": "The total value of futures that are still open.",
    "liquidation": "A futures bet that was closed by force.",
    "crowded": "Most people stand on the same side.",
    "Brier score": "A grade for forecasts. Lower is better; a blind guess gets 0.667.",
    "base rate": "How often each result came up in the past.",
    "hit rate": "How often the shown word came true.",
    "skill": "How much better the grade is than that of a simple rule.",
    "Arena": "A game with no prizes in which people and the brain guess the next move.",
    "USDC": "A digital coin that is meant to be worth one US dollar.",
}
