"""Every published fact of a tick, each made once."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from generator.catalog.assets import ASSETS
from generator.catalog.text import now
from generator.catalog.text.happened import MarketFacts
from generator.catalog.text.market import PublishedMarket
from generator.catalog.text.paid import PaidFacts
from generator.catalog.text.report.facts import ReportFacts
from generator.catalog.words import Status
from generator.compose.coins import Quoted, Weighed, quoted, weighed
from generator.compose.context import Change, TickContext
from generator.compose.facts import counted, market_now
from generator.compose.inputs import asset_limitations, lacked_by, market_limitations, market_status, verified
from generator.compose.joint import JointBlock, joint_block
from generator.compose.ladder import (
    DayAhead,
    LadderBlock,
    PairRow,
    day_ahead,
    ladder,
    pair_rows,
    ranges_of_week,
)
from generator.compose.paid_words import paid_facts
from generator.compose.regime import Regime, changes, regime, tracked_facts
from generator.compose.report import report_facts
from generator.compose.spells import Spells, spells
from generator.values.ranges import RangesOfWeek


@dataclass(frozen=True)
class Tick(TickContext):
    """A tick: what it knows, and what it publishes of that.

    A fact is made when it is first read and kept as long as the tick, which never changes: `replace` makes another tick
    with facts of its own. Bodies, pages, feeds and pictures read it.
    """

    @cached_property
    def status(self) -> Status:
        """The grade of the whole tick."""
        return market_status(self)

    @cached_property
    def verified(self) -> int:
        """How many assets have a fresh price."""
        return verified(self)

    @cached_property
    def limitations(self) -> tuple[str, ...]:
        """What is restricted in the whole tick."""
        return market_limitations(self, self._lacked)

    @cached_property
    def limitations_of(self) -> Mapping[str, tuple[str, ...]]:
        """Asset to what is unknown of it, and why."""
        return {asset: asset_limitations(self, asset, self._lacked) for asset in ASSETS}

    @cached_property
    def _lacked(self) -> Mapping[str, list[str]]:
        return lacked_by(self)

    @cached_property
    def counted(self) -> PublishedMarket:
        """The changes over 24 hours, and how many assets rose and fell."""
        return counted(self)

    @cached_property
    def market_now(self) -> MarketFacts:
        """What is said in words, with the numbers that are published."""
        return market_now(self)

    @cached_property
    def headline(self) -> str:
        """The news of the market, in at most 110 characters."""
        return now.headline(self.market_now)

    @cached_property
    def regime(self) -> Regime:
        """The state of the market."""
        return regime(self, self.counted)

    @cached_property
    def quotes(self) -> Mapping[str, Quoted]:
        """Asset to its price."""
        return {asset: quoted(self, asset) for asset in ASSETS}

    @cached_property
    def forecasts(self) -> Mapping[str, Weighed]:
        """Asset to its ranges, chances and how far its evidence agrees."""
        return {asset: weighed(self, asset) for asset in ASSETS}

    @cached_property
    def spells(self) -> Spells | None:
        """How long the states have lasted; None without a kept month."""
        return spells(self)

    @cached_property
    def joint(self) -> JointBlock | None:
        """How the assets may move together; None where too little is known."""
        return joint_block(self)

    @cached_property
    def ladder(self) -> LadderBlock:
        """The chances of each level, of every asset."""
        return ladder(self)

    @cached_property
    def day_ahead(self) -> DayAhead | None:
        """What the next 24 hours usually do; None without a month of 5-minute bars."""
        return day_ahead(self)

    @cached_property
    def pairs(self) -> tuple[PairRow, ...]:
        """How every pair of assets moves together; none without a month of 5-minute bars."""
        return pair_rows(self)

    @cached_property
    def ranges_last_week(self) -> Mapping[str, Mapping[str, RangesOfWeek]]:
        """How the ranges of each asset held over the last week, by horizon; only where a move is known."""
        return ranges_of_week(self)

    @cached_property
    def report(self) -> ReportFacts:
        """What the human report is made from."""
        return report_facts(self, self.market_now)

    @cached_property
    def paid(self) -> PaidFacts:
        """What the texts of the other paid answers are made from."""
        return paid_facts(self, self.report, self.spells)

    @cached_property
    def tracked(self) -> Mapping[str, str | None]:
        """The facts of which a change is news, None where unknown."""
        return tracked_facts(self, self.regime)

    @cached_property
    def changed(self) -> tuple[Change, ...] | None:
        """What changed since the tick published before; None on the first after a start."""
        return changes(self.tracked_before, self.tracked)
