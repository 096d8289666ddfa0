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
    "hits and misses with the interval, Brier score against simple rules, and calibration",
)
FLOWS: Final[tuple[Flow, ...]] = (
    Flow(
        DEFAULT,
        "x402-atlas-human-report",
        "Report for people",
        "A report for people",
        (
            Part("verdict", "In short", "the market in a few sentences"),
            Part("what_changed", "What changed", "since the same time yesterday"),
            Part("assets", "Coin by coin", "price, direction and expected move of each coin"),
            Part("derivatives", "Futures", "which side pays funding, and how much"),
            Part("liquidity", "Liquidity", "how deep the order book of each coin is"),
            Part("scenarios", "What may come next", "three scenarios, each with what would prove it wrong"),
            Part("arena", "The Arena", "what people and the brain expect"),
            Part("track_record", "How past forecasts turned out", "hits and misses, with the latest misses"),
            Part("charts", "Charts", "with their numbers as tables"),
            Part("evidence", "What it rests on", "what was used, what is missing, what disagrees"),
            Part("limits", "What it cannot tell", "in plain words"),
            Part("glossary", "Glossary", "each term of finance, explained"),
        ),
    ),
    Flow(
        "agent",
        "x402-atlas",
        "ATLAS for programs",
        _DOCUMENT,
        (
            Part("regime", "Regime", "the market's regime with its confidence, since when, and the one before"),
            Part("assets", "Assets", "each coin's price, regime, trend, expected moves and three probabilities"),
            Part("derivatives", "Derivatives", "funding, open interest and liquidations"),
            Part("liquidity", "Liquidity", "depth, spread and imbalance of each order book"),
            Part("cross_asset", "Cross asset", "breadth, dispersion, strongest and weakest"),
            Part("scenarios", "Scenarios", "the evidence for each, and what would prove it wrong"),
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
            Part("summary", "Summary", "the overall direction in words, and how many coins share it"),
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
            Part("regime", "Regime", "the market's regime with its confidence, since when, and the one before"),
            Part("assets", "Assets", "each coin's own regime, trend, volatility and expected moves"),
            Part("what_changed", "What changed", "over the last 24 hours, before and now"),
            Part("risk_drivers", "Risk drivers", "what drives risk now, in words"),
        ),
    ),
)
FLOW_BY_NAME: Final[Mapping[str, Flow]] = {flow.name: flow for flow in FLOWS}
# By names and not by products' ids, which the page's address does not carry.
PRODUCTS: Final[Mapping[str, str]] = {flow.name: flow.product for flow in FLOWS}
