"""What the brain says after one closed bar: the market and every asset, in values and words."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from generator.brain.derivatives import Pressure
from generator.brain.evidence import Evidence
from generator.brain.facts import AssetWeek, MarketWeek
from generator.brain.forecast import Forecast
from generator.brain.joint import Joint
from generator.brain.ladder import Ladder, Partition
from generator.catalog.text.happened import MarketFacts
from generator.catalog.words import (
    Bias,
    DerivativesState,
    DerivativesVote,
    LiquidityContext,
    MarketSide,
    MarketStructure,
    RegimeLabel,
    Trend,
    VolatilityWord,
)
from generator.values.market import BreadthCounts
from generator.values.ranges import MoveRange

ROUGH: Final = (VolatilityWord.ELEVATED, VolatilityWord.EXTREME)


@dataclass(frozen=True, slots=True)
class VolatilityOutlook:
    """Expected sigma of log returns over the horizon, as a fraction (0.004 = 0.4%)."""

    m15: float
    h1: float
    h4: float
    h24: float


@dataclass(frozen=True, slots=True)
class Axes:
    """How rough the market is and which side it is on."""

    swings: VolatilityWord  # the word of volatility
    side: MarketSide  # of the last 24 hours


NO_AXES: Final = Axes(VolatilityWord.UNKNOWN, MarketSide.UNKNOWN)


@dataclass(frozen=True, slots=True)
class RegimeReading:
    """The market regime now, read from prices."""

    axes: Axes
    label: RegimeLabel
    holding: dict[RegimeLabel, float]  # chances of risk_on, risk_off, range, high_volatility in four hours; sum to 1
    confidence: float | None  # that the label still stands then; None of one that is none of these four
    since_ms: int  # close of the first bar with the label
    dwell_minutes: int
    previous: RegimeLabel | None
    previous_side: MarketSide | None  # the last one that goes by another mode; None where none is kept
    trend: Trend
    volatility: VolatilityWord
    counts: BreadthCounts  # of the assets' changes over the last day
    facts: MarketWeek
    risk_score: float | None  # 0..100, rank of the next four hours' expected volatility on record
    drivers: tuple[str, ...]  # risk drivers in words

    @property
    def stressed(self) -> bool:
        """Whether the next hours are expected to be rougher than most of the week."""
        return self.volatility in ROUGH


@dataclass(frozen=True, slots=True)
class AssetReading:
    """One asset now."""

    asset: str
    bias: Bias
    forecast: Forecast | None  # 60 minutes; None while there is too little history
    regime: RegimeLabel
    regime_confidence: float | None
    trend: Trend
    structure: MarketStructure
    liquidity: LiquidityContext
    derivatives: DerivativesState
    vote: DerivativesVote
    pressure: Pressure  # what the derivatives word and vote rest on
    volatility: VolatilityWord
    side: MarketSide  # of its last 24 hours
    outlook: VolatilityOutlook | None
    ranges: dict[str, MoveRange] | None  # by horizon: 15m, 1h, 4h, 24h
    baselines: dict[str, float] | None  # sigma of a 5-minute bar by last_hour, last_day, ewma, as a fraction
    change: float | None  # over the last day, as a fraction
    facts: AssetWeek
    agreement: float | None  # between families of evidence, 0..1
    coverage: float  # families present, 0..1
    evidence: tuple[Evidence, ...]
    limitations: tuple[str, ...] = ()
    ladder: Ladder | None = None  # chances of moves beyond the levels of each horizon
    partition: Partition | None = None  # of the next four hours
    book_lean: int | None = None  # of the order book lately: 1 to bids, 0 even, -1 to asks


class AssetReadings(Mapping[str, AssetReading]):
    """What is said of every asset, put together when it is first asked for."""

    def __init__(self, assets: tuple[str, ...], make: Callable[[str, int], AssetReading]) -> None:
        """Take what makes the reading of one asset from its name and column; it must not change later."""
        self._columns = {name: column for column, name in enumerate(assets)}
        self._make = make
        self._made: dict[str, AssetReading] = {}

    def __getitem__(self, asset: str) -> AssetReading:
        """Return one asset's; KeyError of an unknown one."""
        if asset not in self._made:
            self._made[asset] = self._make(asset, self._columns[asset])
        return self._made[asset]

    def __iter__(self) -> Iterator[str]:
        """Give the assets, in their order."""
        return iter(self._columns)

    def __len__(self) -> int:
        """Return how many assets there are."""
        return len(self._columns)


@dataclass(frozen=True, slots=True)
class LearningReading:
    """What the online part has learned from resolved outcomes; counts and scores only."""

    resolved: int
    status: str  # learning | idle


@dataclass(frozen=True, slots=True)
class BrainReading:
    """Everything the brain says after one closed bar."""

    t_ms: int  # open time of the last closed bar
    bars_seen: int
    regime: RegimeReading  # the market's regime
    outlook: VolatilityOutlook | None  # market volatility, geometric mean over assets
    direction: Bias  # the word of most assets; FLAT on a tie
    confidence: float | None  # mean chance of the shown class over the assets with a forecast
    agreement: float | None
    coverage: float
    assets: Mapping[str, AssetReading]  # every asset, also those without data
    learning: LearningReading
    market: MarketFacts  # by closed bars: what sentences are made of
    limitations: tuple[str, ...] = ()  # what is missing
    joint: Joint | None = None  # how the assets may move together
