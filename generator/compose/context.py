"""What one tick hands to the composers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from pydantic import Field

from gateway.wire.program import UNNAMED, Program
from generator.brain.derivatives import Pressure
from generator.brain.month import Month
from generator.brain.reading import BrainReading
from generator.catalog.assets import ASSETS
from generator.catalog.text.happened import MarketFacts
from generator.catalog.words import MarketSide, RegimeLabel
from generator.compose.body import Body
from generator.market.bars import BarFrame
from generator.market.observation import AssetObservation, Observation
from generator.values.ticks import TicksBlock
from generator.values.view import ArenaView


class Change(Body):
    """One worded fact that changed."""

    what: str = Field(description="What changed.")
    before: str | float | None = Field(description="What it was; null where not known.")
    now: str | float | None = Field(description="What it is now; null where not known.")
    text: str = Field(description="The change in words.")


@dataclass(frozen=True, slots=True)
class Site:
    """Settings that stand in bodies and pages."""

    project: str
    base_url: str  # no trailing slash
    contact: str
    network: str  # mainnet | testnet | devnet
    asset_id: int  # USDC on that network
    arena_address: str = ""  # where ballots are addressed
    devnet: str | None = None  # origin of the devnet of this machine, whose money is play money
    play: bool = False  # play money on a public name
    source_url: str | None = None  # where the source of this service is
    program: Program = UNNAMED  # what runs
    log_name: str = ""  # of the signed log, which keeps it when the address moves; empty: not known


@dataclass(frozen=True, slots=True)
class TickTimes:
    """The tick's wall times and numbers."""

    tick_id: str  # 20261120T095300Z
    generation: str  # 12 digits
    generated_ms: int
    next_update_ms: int
    valid_until_ms: int
    offset_ms: int | None = None  # recorded only: wall minus market
    moved_ms: int | None = None  # recorded only: when the replay was moved to another market time last

    def priced_ms(self, wall_ms: int) -> int | None:
        """Return the market time of the prices that were replayed at a wall time.

        None where both are the same, or where the replay was moved since and the offset of then is not known.
        """
        if not self.offset_ms or wall_ms < (self.moved_ms or 0):
            return None
        return wall_ms - self.offset_ms


class DayBefore(NamedTuple):
    """What was said about 24 hours ago, for `what changed`; None where not known."""

    regime: RegimeLabel | None = None
    confidence: float | None = None
    risk_score: float | None = None


@dataclass(frozen=True)
class TickContext:
    """All inputs of a tick's facts. `reading` is None where the brain has nothing (e.g. 60-minute bars).

    `closes` holds recent closes per asset for sparklines: (open time in ms, close), oldest first.
    """

    site: Site
    freshness: TickTimes
    observation: Observation
    reading: BrainReading | None
    arena: ArenaView
    day_before: DayBefore
    ticks: TicksBlock
    last_tick_id: str | None = None  # of the tick that was published before this one
    closes: Mapping[str, tuple[tuple[int, float], ...]] = field(default_factory=dict)
    trends: Mapping[str, str] = field(default_factory=dict)  # of 60-minute bars, without a reading
    side: MarketSide = MarketSide.UNKNOWN  # likewise, of the market
    market: MarketFacts | None = None  # likewise, what happened in it
    futures: Mapping[str, Pressure] = field(default_factory=dict)  # likewise
    bars: BarFrame | None = None  # of the last month
    month: Month | None = None  # what they say of now; None without 5-minute bars
    tracked_before: Mapping[str, str | None] | None = None  # of the tick published before; None after a start

    @cached_property
    def seen(self) -> Mapping[str, AssetObservation]:
        """What is known of every asset; an empty observation where the source left one out."""
        known = self.observation.assets
        return {
            asset: known.get(asset) or AssetObservation(asset, limitations=("not covered by this source",))
            for asset in ASSETS
        }
