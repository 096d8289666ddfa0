"""The free endpoints: path, identity, version, limits and the richer resource each points to."""

from dataclasses import dataclass
from typing import Final

CACHE_SECONDS: Final = 60


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One free resource."""

    id: str  # the `endpoint` of its answer
    path: str
    model: str  # name of the 200 body's model in OpenAPI
    name: str
    purpose: str
    when_to_use: str
    when_not_to_use: str
    provides: tuple[str, ...]
    does_not_provide: tuple[str, ...]
    truth_statement: str  # what a reader must not conclude from it
    next_resource: str  # id of the suggested richer resource (an endpoint or a product)
    first_read: tuple[tuple[str, ...], ...]  # key paths that the first program of the docs prints
    version: str = "v1"
    product_id: str = ""  # catalogue id; this and the next three are empty where its answer does not carry them
    schema_version: str = ""
    recommended_for: tuple[str, ...] = ()
    type: str = ""  # kind of the answer


ENDPOINTS: Final[tuple[Endpoint, ...]] = (
    Endpoint(
        id="market-regime",
        path="/api/market-regime.php",
        model="MarketRegimeResponse",
        name="Market Regime",
        product_id="SVC-API-002",
        version="v1.3",
        schema_version="1.3.0",
        purpose="Compact public context: which regime the market is in now and how sure the reading is.",
        when_to_use="First, to learn what kind of market it is before reading anything else.",
        when_not_to_use="Not as a signal to buy or sell, and not to predict a return.",
        recommended_for=("market context",),
        provides=("regime label, mode and state", "trend, volatility, breadth", "confidence and risk score"),
        does_not_provide=("internal evidence layers", "per-asset regimes", "any forecast of gains"),
        truth_statement=(
            "The regime describes the market now. No regime, mode or state, OPPORTUNITY included, predicts a gain."
        ),
        next_resource="x402-market-regime",
        first_read=(("regime", "label"), ("regime", "confidence"), ("regime", "volatility")),
    ),
    Endpoint(
        id="main-brain",
        path="/api/main-brain.php",
        model="MainBrainResponse",
        name="Main Brain Snapshot",
        product_id="SVC-API-001",
        version="v1.3",
        schema_version="1.3.0",
        purpose="Ranges, chances and calls by asset.",
        when_to_use="After the regime.",
        when_not_to_use="Not as a signal.",
        recommended_for=("comparing assets",),
        provides=("ranges", "chances", "calls", "performance"),
        does_not_provide=("internal evidence layers", "trade records"),
        truth_statement="Ranges say how far; no word here predicts a gain.",
        next_resource="x402-main-brain",
        first_read=(("coins", "BTC", "move"), ("coins", "BTC", "call"), ("public_performance", "statement")),
    ),
    Endpoint(
        id="liquidity-lite",
        path="/api/liquidity-lite.php",
        model="LiquidityLiteResponse",
        name="Liquidity Lite",
        product_id="SVC-API-003",
        purpose="Lightweight liquidity and market-structure context for each asset.",
        when_to_use="To see whether order books are deep or thin now.",
        when_not_to_use="Not to reconstruct an order book or to plan an order.",
        provides=("liquidity word", "market structure", "spread, depth within 1% and imbalance where known"),
        does_not_provide=("full order-book reconstruction", "execution guidance", "per-venue books"),
        truth_statement="Liquidity is read from public order books at one moment and can vanish in the next.",
        next_resource="x402-atlas",
        first_read=(("assets", "BTC", "liquidity_context"), ("assets", "BTC", "market_structure")),
    ),
    Endpoint(
        id="derivatives",
        path="/api/derivatives.php",
        model="DerivativesResponse",
        name="Derivatives Intelligence",
        product_id="SVC-API-004",
        purpose="Aggregate funding, open-interest and liquidation context from perpetual futures.",
        when_to_use="To see which side pays funding, and whether positions are being opened or closed.",
        when_not_to_use="Not as guidance for entering, sizing or leaving a position.",
        provides=("state and vote per asset", "funding", "open interest", "liquidations where venues publish them"),
        does_not_provide=("execution guidance", "per-account positions", "liquidation price levels"),
        truth_statement="Funding shows which side pays now, not which way the price will go.",
        next_resource="x402-atlas",
        first_read=(("overall_state",), ("assets", "BTC", "state"), ("assets", "BTC", "funding")),
    ),
    Endpoint(
        id="human-consensus",
        path="/api/human-consensus.php",
        model="HumanConsensusResponse",
        name="Human Consensus",
        type="human_consensus",
        purpose="What the people who voted in the live Arena round expect.",
        when_to_use="To compare people with the brain on the same question.",
        when_not_to_use="Not as a poll: voters are few, unverified and self-selected. It may be sparse.",
        provides=("the live round", "vote counts and shares", "the round that takes votes now"),
        does_not_provide=(
            "who is behind a voter's address",
            "the split of the round that still takes votes",
            "a representative sample",
        ),
        truth_statement=(
            "A count of votes by whoever sent one. It may be sparse or empty, and one person may hold many addresses."
        ),
        next_resource="shared-intelligence",
        first_read=(("round", "round_id"), ("human_consensus", "consensus"), ("human_consensus", "total")),
    ),
    Endpoint(
        id="teacher-lessons",
        path="/api/teacher-lessons.php",
        model="TeacherLessonsResponse",
        name="Teacher Lessons",
        type="teacher_lessons",
        purpose="Lessons from finished Arena rounds: who was right, and what there is to learn.",
        when_to_use="To study how forecasts turned out.",
        when_not_to_use="Not as a live signal: every lesson is historical.",
        provides=("the last 20 lessons", "teacher metrics with their counts"),
        does_not_provide=("a live signal", "a forecast", "who is behind a voter's address"),
        truth_statement="Lessons are historical. What was right in one round says little about the next.",
        next_resource="statistics",
        first_read=(("teacher_brain", "metrics", "lessons_total"), ("latest_lessons",)),
    ),
    Endpoint(
        id="reasoning",
        path="/api/reasoning.php",
        model="ReasoningResponse",
        name="Brain Reasoning",
        type="brain_reasoning",
        purpose="The forecast for one asset: whether it will move, three chances, the call, and the evidence in words.",
        when_to_use="To read one asset's forecast next to its base rates and evidence.",
        when_not_to_use="Not as a recommendation: evidence is described, nothing is advised.",
        provides=("three chances and their base rates", "ranges of the move", "reasons in words"),
        does_not_provide=("weights, features or thresholds", "targets, entries or exits"),
        truth_statement="Reasons are context: they describe one moment and decide no call.",
        next_resource="x402-atlas",
        first_read=(("reasoning", "call"), ("reasoning", "move"), ("reasoning", "summary")),
    ),
    Endpoint(
        id="statistics",
        path="/api/statistics.php",
        model="StatisticsResponse",
        name="Network Statistics",
        type="network_statistics",
        purpose="How much was predicted and how it turned out, each score with its count.",
        when_to_use="To judge what the service's readings have been worth.",
        when_not_to_use="Not a market signal.",
        provides=("scores", "counts", "the API's own state"),
        does_not_provide=("a market signal", "sales figures", "personal data"),
        truth_statement="Statistics look back; few cases prove nothing.",
        next_resource="main-brain",
        first_read=(("main_brain", "record", "n"), ("main_brain", "record", "brier")),
    ),
    Endpoint(
        id="shared-intelligence",
        path="/arena/get_shared_intelligence.php",
        model="SharedIntelligenceResponse",
        name="Arena Shared Intelligence",
        type="arena_shared_intelligence",
        purpose="The live Arena round in one document: people, brain, teacher, price and events.",
        when_to_use="To follow a round with one request a minute.",
        when_not_to_use="Not for betting: nothing can be won or lost here.",
        provides=("round state", "human consensus", "the brain's revealed forecast", "price context", "recent events"),
        does_not_provide=(
            "the brain's forecast while it is sealed",
            "who is behind a voter's address",
            "stakes or prizes",
        ),
        truth_statement="People and brain agreeing is not evidence that they are right.",
        next_resource="x402-atlas",
        first_read=(("round", "timer"), ("human_layer", "consensus"), ("brain_snapshot", "prediction")),
    ),
)
ENDPOINT_BY_ID: Final[dict[str, Endpoint]] = {endpoint.id: endpoint for endpoint in ENDPOINTS}

# From the widest view to the narrowest: the order an agent should read them in.
RECOMMENDED_ORDER: Final = (
    "market-regime", "main-brain", "liquidity-lite", "derivatives", "reasoning", "statistics",
)  # fmt: skip
