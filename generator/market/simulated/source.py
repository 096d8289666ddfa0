"""The embedded source: a seeded regime-switching market whose true regime is known."""

from statistics import median
from typing import Final

import numpy as np

from generator.catalog.assets import ASSETS
from generator.catalog.durations import DAY_MS, MINUTE_MS
from generator.catalog.words import SourceMode, SourceStatus
from generator.market.bars import BAR_MS, BARS_A_DAY, BarFrame, FloatArray
from generator.market.observation import (
    AssetObservation,
    FundingRate,
    Observation,
    OrderBook,
    disagreement_bps,
)
from generator.market.simulated.market import SimulatedMarket
from generator.market.simulated.random import Draws, Stream
from generator.market.source import Progress
from generator.values.market import Liquidations, OpenInterest, SourceRow

VENUES: Final[tuple[str, ...]] = ("sim-a", "sim-b", "sim-c")
VENUES_NEEDED: Final = 2
_MAX_NEW_BARS = 30 * BARS_A_DAY
_MAX_GAP_BPS = 2.0
_KINDS = ("spot", "perpetual")


class SimulatedSource:
    """A market that is a pure function of (seed, minute), 0 <= seed < 2**63: a restart sees the same prices."""

    mode = SourceMode.SIMULATED

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._market = SimulatedMarket(seed)

    async def backfill(self, now_ms: int, days: int, progress: Progress) -> BarFrame:
        """Return the bars of the last `days` days that closed by `now_ms`."""
        stop = now_ms // BAR_MS * BAR_MS
        first = max(stop - days * DAY_MS, 0)
        return self._market.bars(first, stop)

    async def observe(self, now_ms: int, since_ms: int) -> Observation:
        """Observe the minute that holds `now_ms`; bars older than 30 days are not repeated."""
        minute_ms = now_ms // MINUTE_MS * MINUTE_MS
        stop = now_ms // BAR_MS * BAR_MS
        first = max(since_ms // BAR_MS * BAR_MS + BAR_MS, stop - _MAX_NEW_BARS * BAR_MS)
        day = self._market.bars(stop - DAY_MS - BAR_MS, stop)
        mids = self.venue_mids(minute_ms)

        return Observation(
            mode=self.mode,
            market_ms=now_ms,
            assets={asset: self._asset(asset, mids[asset], day, minute_ms) for asset in ASSETS},
            sources=tuple(
                SourceRow.at(now_ms, venue, kind, SourceStatus.OK, minute_ms) for venue in VENUES for kind in _KINDS
            ),
            new_bars=self._market.bars(first, stop),
            venues_needed=VENUES_NEEDED,
        )

    async def aclose(self) -> None:
        """Do nothing: there is nothing to release."""

    def price(self, asset: str, t_ms: int) -> float:
        """Return the mid of one asset in USD at the start of the minute that holds `t_ms`."""
        return float(np.exp(self._market.log_mids(t_ms)[ASSETS.index(asset)]))

    def venue_mids(self, t_ms: int) -> dict[str, dict[str, float]]:
        """Return each asset's mid at each venue in USD: one on the market's mid, one up to 2 bp below, one above."""
        minute = t_ms // MINUTE_MS
        draws = Draws(self._seed, Stream.VENUES, minute)
        gaps = draws.each(lambda rng, shape: rng.uniform(0.2, _MAX_GAP_BPS, shape), after=(2,)) * 1e-4
        turns = draws.each(lambda rng, shape: rng.integers(0, len(VENUES), shape).astype(float)).astype(int)
        mids = np.exp(self._market.log_mids(t_ms))
        offered = np.column_stack([mids * (1.0 - gaps[:, 0]), mids, mids * (1.0 + gaps[:, 1])])

        by_asset = {}
        for column, asset in enumerate(ASSETS):
            turned = np.roll(offered[column], turns[column])  # so that each venue is below at times
            by_asset[asset] = dict(zip(VENUES, turned.tolist(), strict=True))
        return by_asset

    def _asset(self, asset: str, mids: dict[str, float], day: BarFrame, minute_ms: int) -> AssetObservation:
        if len(day) <= BARS_A_DAY:  # a clock that fell back to 1970
            return AssetObservation(asset, limitations=("the simulated market has no day before this minute",))

        column = ASSETS.index(asset)
        row = {name: float(values[-1, column]) for name, values in day.fields.items()}
        bar_closed_ms = int(day.t[-1]) + BAR_MS
        price = median(mids.values())
        change = 100.0 * (price / self.price(asset, minute_ms - DAY_MS) - 1.0)

        contracts = day.fields["open_interest"][:, column]
        usd = contracts * day.fields["close"][:, column]
        longs = day.fields["liq_long_usd"][-BARS_A_DAY:, column]
        shorts = day.fields["liq_short_usd"][-BARS_A_DAY:, column]

        return AssetObservation(
            asset=asset,
            price=price,
            price_as_of_ms=minute_ms,
            venues=VENUES,
            change_24h_percent=change,
            book=OrderBook(row["spread_bps"], row["depth_usd"], 100.0 * row["imbalance"], VENUES),
            funding=FundingRate(row["funding"], VENUES, bar_closed_ms, dict.fromkeys(VENUES, row["funding"])),
            open_interest=OpenInterest.of(
                float(contracts[-1]), _change(contracts), float(usd[-1]), _change(usd), VENUES, as_of_ms=bar_closed_ms
            ),
            liquidations=Liquidations.of(float(longs.sum()), float(shorts.sum()), VENUES),
            disagreement_bps=disagreement_bps(list(mids.values())),
        )


def _change(values: FloatArray) -> float:
    """Return the change from the first value to the last, percent."""
    return 100.0 * (float(values[-1] / values[0]) - 1.0)
