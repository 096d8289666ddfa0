"""What the buyer page sells: a name in its address, the product, and what is in it, shown before anything is paid."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

DEFAULT: Final = "human"


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a product.

    Args:
        field: its key in the paid body (of `report` in the report, of `intelligence_layer` in ATLAS).
        title: for people.
        words: what it says.
    """

    field: str
    title: str
    words: str


@dataclass(frozen=True, slots=True)
class Flow:
    """One way through the page.

    Args:
        name: the value of `?product=`.
        product: id of what it sells.
        link: its word in the page's navigation.
        kicker: the line above the title.
        parts: what is in it, in the order in which the page shows it after paying.
    """

    name: str
    product: str
    link: str
    kicker: str
    parts: tuple[Part, ...]


_DOCUMENT: Final = "One document for programs"
_RECORD: Final = Part(
    "track_record",
    "How past forecasts turned out",
    "hits and misses with the interval, Brier score against simple guesses, and what each confidence was worth",
)
FLOWS: Final[tuple[Flow, ...]] = (
    Flow(
        DEFAULT,
        "x402-atlas-human-report",
        "Report for people",
        "A report for people",
        (
            Part("verdict", "The reading", "the market in a few sentences, and how sure we are of them"),
            Part("what_changed", "What changed", "since the same time yesterday"),
            Part(
                "assets", "Coin by coin", "price, direction, and how large a move would be no surprise, for each coin"
            ),
            Part("derivatives", "Futures", "which side is crowded, and what that side pays for it"),
            Part("liquidity", "How much can change hands", "near the price of each coin"),
            Part("scenarios", "What may come next", "three ways, each with what would prove it wrong"),
            Part("arena", "The Arena", "what people and the brain guess"),
            Part("track_record", "How past readings turned out", "right and wrong, counted, with the latest misses"),
            Part("charts", "Charts", "with their numbers as tables"),
            Part("evidence", "What it rests on", "what was read, what is missing, what disagrees"),
            Part("limits", "What it cannot tell", "in plain words"),
            Part("glossary", "Words", "each word of finance, explained"),
        ),
    ),
    Flow(
        "agent",
        "x402-atlas",
        "ATLAS for programs",
        _DOCUMENT,
        (
            Part("regime", "Regime", "the market's label with its confidence, since when, and what it was before"),
            Part("assets", "Assets", "each coin's price, regime, trend, expected moves and three probabilities"),
            Part("derivatives", "Derivatives", "funding, open interest and liquidations, and who is crowded"),
            Part("liquidity", "Liquidity", "depth, spread and imbalance of each order book"),
            Part("cross_asset", "Cross asset", "breadth, dispersion, strongest and weakest"),
            Part("scenarios", "Scenarios", "what speaks for each now, and what would prove it wrong"),
            _RECORD,
            Part("confidence", "Confidence", "of the regime and of the direction, never mixed"),
            Part("evidence", "Evidence", "what was used, what is missing, what disagrees"),
        ),
    ),
    Flow(
        "main-brain",
        "x402-main-brain",
        "Main Brain",
        _DOCUMENT,
        (
            Part("summary", "Summary", "the overall direction in words, and how many coins point where"),
            Part(
                "assets", "Assets", "each coin's direction, three probabilities next to their base rates, the evidence"
            ),
            _RECORD,
        ),
    ),
    Flow(
        "market-regime",
        "x402-market-regime",
        "Market Regime",
        _DOCUMENT,
        (
            Part("regime", "Regime", "the market's label with its confidence, since when, and what it was before"),
            Part("assets", "Assets", "each coin's own regime, trend, volatility and expected moves"),
            Part("what_changed", "What changed", "over the last 24 hours, before and now"),
            Part("risk_drivers", "Risk drivers", "what drives risk now, in words"),
        ),
    ),
)
FLOW_BY_NAME: Final[Mapping[str, Flow]] = {flow.name: flow for flow in FLOWS}
# By names and not by products' ids, which the page's address does not carry.
PRODUCTS: Final[Mapping[str, str]] = {flow.name: flow.product for flow in FLOWS}
