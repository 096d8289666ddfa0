"""What the buyer page sells: a name in its address, the product, and what is in it, shown before anything is paid."""

from typing import Final, NamedTuple

DEFAULT: Final = "atlas-human-report"


class ProductPart(NamedTuple):
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
        name: the product's one name, as in `emi buy NAME`; also the value of `?product=`.
        product: id of what it sells.
        link: its word in the page's navigation.
        parts: what is in it.
        glimpse: whether the page shows the beginning of a sample at once; a long one is loaded at a press alone.
    """

    name: str
    product: str
    link: str
    parts: tuple[ProductPart, ...]
    glimpse: bool = True


_RECORD: Final = ProductPart(
    "track_record",
    "How past forecasts turned out",
    "hits and misses with the interval, Brier score against simple rules, and calibration",
)
_EVENTS: Final = ProductPart(
    "events", "Events", "large hours and days, turns and rough spells on record, and what came after them"
)
_MONTH: Final = (
    ProductPart(
        "joint", "Together", "how far a portfolio and each two coins may move, by moves that came together, and paths"
    ),
    ProductPart("ladder", "Ladder", "chances of moves beyond several levels, at the end and on the way"),
    ProductPart("day_ahead", "Day ahead", "the usual move of each of the next 24 hours, with its interval"),
    ProductPart("pairs", "Pairs", "how each two coins moved together, and which one moves first"),
    ProductPart("ranges_last_week", "Ranges of last week", "how often each coin's ranges held, and how wide they were"),
)
FLOWS: Final[tuple[Flow, ...]] = (
    Flow(
        DEFAULT,
        "x402-atlas-human-report",
        "Report for people",
        (
            ProductPart("happened", "What happened", "the day in figures, against a usual day, hour and week"),
            ProductPart("rough", "How rough it is", "the next hours against every hour of the record"),
            ProductPart("far", "How far from here", "where Bitcoin should end, and how often such ranges held"),
            ProductPart("after", "What came after such days", "counted on the record, with an interval"),
            ProductPart("long", "How long it lasts", "spells that were as rough or as calm, and how many went further"),
            ProductPart("yesterday", "Yesterday, graded", "how the ranges of a day ago did"),
            ProductPart("idea", "An idea to keep", "with its figures"),
            ProductPart("question", "A question", "to think about"),
            ProductPart("assets", "Coin by coin", "each coin's day by its own measure"),
            ProductPart("levels", "Levels", "chances of moves of Bitcoin beyond each of several levels, by horizon"),
            ProductPart("together", "Together", "how far all coins in equal parts may move, and the best and worst"),
            _EVENTS,
            ProductPart("plots", "Plots", "drawn from numbers that come with the report"),
        ),
    ),
    Flow(
        "atlas",
        "x402-atlas",
        "ATLAS for programs",
        (
            ProductPart("regime", "Regime", "the market's regime with its confidence, since when, and the one before"),
            ProductPart("assets", "Assets", "each coin's price, regime, trend, expected moves and three probabilities"),
            ProductPart("derivatives", "Derivatives", "funding, open interest and liquidations"),
            ProductPart("liquidity", "Liquidity", "depth, spread and imbalance of each order book"),
            ProductPart("cross_asset", "Cross asset", "breadth, dispersion, strongest and weakest"),
            *_MONTH,
            ProductPart("partition", "Partition", "the next four hours in three parts, with their base rates"),
            ProductPart("spells", "Spells", "how long the market's states last, what ends them, ranks in the month"),
            _RECORD,
            ProductPart("confidence", "Confidence", "of the regime and of the direction, never mixed"),
            ProductPart("evidence", "Evidence", "what was used, what is missing, what disagrees"),
        ),
        glimpse=False,
    ),
    Flow(
        "main-brain",
        "x402-main-brain",
        "Main Brain",
        (
            ProductPart("summary", "Summary", "the overall direction in words, and how many coins share it"),
            ProductPart(
                "assets", "Assets", "each coin's direction, three probabilities next to their base rates, the evidence"
            ),
            *_MONTH,
            _RECORD,
        ),
    ),
    Flow(
        "market-regime",
        "x402-market-regime",
        "Market Regime",
        (
            ProductPart("regime", "Regime", "the market's regime with its confidence, since when, and the one before"),
            ProductPart("assets", "Assets", "each coin's own regime, trend, volatility and expected moves"),
            ProductPart("what_changed", "What changed", "over the last 24 hours, before and now"),
            ProductPart("risk_drivers", "Risk drivers", "what drives risk now, in words"),
            _EVENTS,
            ProductPart("spells", "Spells", "how long the market's states last, what ends them, ranks in the month"),
        ),
    ),
)
_OLDER_NAMES: Final = {"agent": "atlas", "human": DEFAULT}
"""In links of the published service and of earlier pages; they open the same."""
FLOW_BY_NAME: Final = {flow.name: flow for flow in FLOWS}
FLOW_BY_NAME.update({older: FLOW_BY_NAME[name] for older, name in _OLDER_NAMES.items()})
