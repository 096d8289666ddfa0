"""The eight tools as agents see them: names, words and input schemas; together they cost at most 1,700 tokens."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

from generator.catalog.assets import ASSETS
from generator.catalog.products import PRODUCTS
from generator.client.agent.answers import WINDOWS

MOST_TOKENS: Final = 1_700
MOST_CHARACTERS: Final = 64
_ASSET: Final = {"type": "string", "enum": list(ASSETS)}


@dataclass(frozen=True, slots=True)
class ToolText:
    """One tool: what it is for, and what it takes.

    Args:
        name: as programs call it.
        title: as people read it.
        description: for the model that chooses a tool.
        properties: the JSON Schema of each argument.
        required: names of the arguments that must be there.
        spends: whether a call may cost money.
    """

    name: str
    title: str
    description: str
    properties: dict[str, Any] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    spends: bool = False

    @property
    def input_schema(self) -> dict[str, Any]:
        """The JSON Schema of its arguments."""
        schema: dict[str, Any] = {"type": "object", "properties": self.properties}
        if self.required:
            schema["required"] = list(self.required)
        # A host may add arguments of its own. What only reads ignores them; what spends names them.
        return schema | {"additionalProperties": False} if self.spends else schema

    def as_asked(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return arguments as the schema has them, from the forms in which hosts and models send the same.

        Null is an argument that was left out, an asset may be in any case, and a number of dollars is its decimal text.

        >>> TOOLS[0].as_asked({"asset": "btc", "toolCallId": "call-1"})
        {'asset': 'BTC'}
        """
        asked = {name: value for name, value in given.items() if value is not None or name in self.required}
        if not self.spends:
            asked = {name: value for name, value in asked.items() if name in self.properties}

        if isinstance(asked.get("asset"), str):
            asked["asset"] = asked["asset"].upper()
        if "cap" in asked:
            asked["cap"] = decimal_text(asked["cap"])
        return asked


def decimal_text(value: Any) -> Any:
    """Return a JSON number as the decimal that was written; anything else as it is.

    >>> decimal_text(0.02), decimal_text(1e-06), decimal_text("0.02"), decimal_text(True)
    ('0.02', '0.000001', '0.02', True)
    """
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value):
        return value
    # The shortest text that gives this float again is what the sender wrote.
    return format(Decimal(repr(value)), "f")


TOOLS: Final = (
    ToolText(
        "market_now",
        "The market now",
        "The crypto market now in one true sentence, what its last day was and how rough the next hours look; with an "
        "asset's price if named. Education, not advice. Null is unknown, not zero.",
        {"asset": _ASSET},
    ),
    ToolText(
        "how_far",
        "How far an asset may move",
        "How far an asset may move in 15 minutes, 1, 4 and 24 hours (50% and 90% ranges), and the chance that the next "
        "hour leaves its band. It does not say which way.",
        {"asset": _ASSET},
        ("asset",),
    ),
    ToolText(
        "why",
        "Chances and reasons",
        "Chances of down, small move and up for the next hour in a sentence, and the facts that are known. call none "
        "means no forecast of a side, not a forecast of no move.",
        {"asset": _ASSET},
        ("asset",),
    ),
    ToolText(
        "arena_round",
        "The prediction round",
        "The prediction round that takes votes now, and the one that runs. No stakes.",
    ),
    ToolText(
        "track_record",
        "How right it was",
        "How right past forecasts of one horizon were, with counts and intervals. Read it before relying on how_far.",
        {"window": {"type": "string", "enum": list(WINDOWS)}},
        ("window",),
    ),
    ToolText(
        "lesson",
        "The newest lesson",
        "What the newest finished round teaches; topic is an asset or a pattern such as brain_only.",
        {"topic": {"type": "string", "maxLength": MOST_CHARACTERS}},
    ),
    ToolText(
        "verify",
        "Check the signed record",
        "Check the signed record: recompute every score and digest, and say what that proves and what not.",
        {"round_id": {"type": "string", "maxLength": MOST_CHARACTERS}},
    ),
    ToolText(
        "buy",
        "Buy one deeper answer",
        "Buy one deeper answer in USDC. Ask the user first. purchase_id names the purchase: THE SAME PURCHASE, THE "
        "SAME ID. After an error, a timeout or a lost answer call again with the SAME id: nothing is paid twice. Use "
        "another id only when the user wants to buy once more. cap is the most to pay, in USDC. cap_exceeded is "
        "final: do not retry.",
        {
            "product": {"type": "string", "enum": [product.buy_name for product in PRODUCTS]},
            "cap": {"type": "string", "pattern": r"^[0-9]+(\.[0-9]{1,6})?$"},
            "purchase_id": {"type": "string", "pattern": "^[A-Za-z0-9_-]{4,64}$"},
        },
        ("product", "cap", "purchase_id"),
        spends=True,
    ),
)
# Title, then the sentences.
PROMPTS: Final[dict[str, tuple[str, ...]]] = {
    "explain_today": (
        "Explain today's market to a beginner",
        "Call market_now and how_far for BTC.",
        "Explain to a beginner, in five plain sentences, what kind of market it is, how far Bitcoin may move in an",
        "hour and in a day, and what no one knows. Say the time of the numbers. No advice.",
    ),
    "am_i_calibrated": (
        "Am I calibrated?",
        "Ask me for ten forecasts, one at a time: the chance in percent that an asset ends the next hour beyond the",
        "band that how_far states. Do not show its chance before mine.",
        "Then compare my chances with its chances, explain the Brier score, and say how few cases ten are.",
    ),
    "check_this_record": (
        "Check this record",
        "Call verify, then track_record for 1h and 24h.",
        "Say what is proved, what is not, how often the ranges held with their intervals, and whether any skill in",
        "direction is shown.",
    ),
}
INSTRUCTIONS: Final = (
    "Educational crypto market data, renewed each minute; not advice. Every answer says as_of, valid_until and "
    "source_mode (live, recorded or simulated): say them when you use a number, and that simulated prices are not real."
)
