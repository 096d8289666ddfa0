"""What the buyer page sells: a name in its address, the product, and what is in it, shown before anything is paid."""

from typing import Final, NamedTuple

DEFAULT: Final = "human"


class Part(NamedTuple):
    """One part of a product, shown in this order.

    Args:
        field: its key in the paid body (of `report` in the report, of `intelligence_layer` in ATLAS).
        title: for people.
        words: what it says.
    """

    field: str
    title: str
    words: str


class Flow(NamedTuple):
    """One way through the page.

    Args:
        name: the value of `?product=`.
        product: id of what it sells.
        link: its word in the page's navigation.
        parts: what is in it.
    """

    name: str
    product: str
    link: str
    parts: tuple[Part, ...]


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
        (
            Part("regime", "Regime", "the market's regime with its confidence, since when, and the one before"),
            Part("assets", "Assets", "each coin's own regime, trend, volatility and expected moves"),
            Part("what_changed", "What changed", "over the last 24 hours, before and now"),
            Part("risk_drivers", "Risk drivers", "what drives risk now, in words"),
        ),
    ),
)
FLOW_BY_NAME: Final = {flow.name: flow for flow in FLOWS}
