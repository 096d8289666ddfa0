"""Bars of the live source: who is asked for them, and what else was known while each was open."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from generator.market.live.candles import Row, candle_job, frame_of, last_closed
from generator.market.live.client import VenueClient
from generator.market.live.readings import CandleReading, Collector, Job, LiquidationReading
from generator.market.live.venues import CANDLE_ORDER
from generator.market.values import BAR_MS, AssetObservation, BarFrame

# A bar that some asset still lacks waits this long after its close: venues publish bars seconds late.
HOLD_MS: Final = 60_000
_KEPT_BARS: Final = 24


class BarKeeper:
    """Choose the venue of each asset's bars and keep to it.

    Volume is comparable only within one venue: the first that gives an asset's bars is its reference, and bars
    of a stand-in have no volume.
    """

    def __init__(self, assets: tuple[str, ...]) -> None:
        """Start without references."""
        self.assets = assets
        self._reference: dict[str, str] = {}
        self._known: dict[int, dict[str, dict[str, float]]] = {}  # bar open -> asset -> field -> value
        self.dropped = 0  # impossible bars since last told

    def order(self, clients: Iterable[VenueClient], asset: str) -> list[VenueClient]:
        """Return the venues that may give an asset's bars, best first; those whose markets are unknown count."""
        able = [client for client in clients if client.spec.candle_page and (asset in client.spot or not client.spot)]
        rank = {name: number for number, name in enumerate(CANDLE_ORDER)}
        reference = self._reference.get(asset)
        return sorted(able, key=lambda client: (client.spec.name != reference, rank.get(client.spec.name, len(rank))))

    def first_choice(self, clients: Sequence[VenueClient]) -> dict[str, set[str]]:
        """Return venue -> the assets whose bars it is asked for first."""
        chosen: dict[str, set[str]] = {}
        for asset in self.assets:
            for client in self.order(clients, asset)[:1]:
                chosen.setdefault(client.spec.name, set()).add(asset)
        return chosen

    def stand_ins(
        self, clients: Sequence[VenueClient], collector: Collector, tried: set[tuple[str, str]], now_ms: int
    ) -> dict[str, set[str]]:
        """Return venue -> assets to ask it for, because those asked so far did not give the last bar."""
        chosen: dict[str, set[str]] = {}
        for asset in self._lacking(collector, now_ms):
            able = [client for client in self.order(clients, asset) if asset in client.spot]
            fresh = [client for client in able if (client.spec.name, asset) not in tried]
            for client in fresh[:1]:
                chosen.setdefault(client.spec.name, set()).add(asset)
        return chosen

    def _lacking(self, collector: Collector, now_ms: int) -> list[str]:
        last = last_closed(now_ms)
        have = {one.asset for one in collector.of(CandleReading) if one.rows and one.rows[-1][0] == last}
        return [asset for asset in self.assets if asset not in have]

    def note(
        self, now_ms: int, assets: Mapping[str, AssetObservation], liquidated: Sequence[LiquidationReading]
    ) -> None:
        """Remember what is known now: it belongs to the bar that is open now. Liquidations name their bar."""
        now_open = now_ms // BAR_MS * BAR_MS
        for asset, seen in assets.items():
            self._slot(now_open, asset).update(_extras(seen))
        for one in liquidated:
            for t, longs, shorts in one.bars:
                self._slot(t, one.asset).update(liq_long_usd=longs, liq_short_usd=shorts)
        for t in [t for t in self._known if t < now_open - _KEPT_BARS * BAR_MS]:
            del self._known[t]

    def _slot(self, t: int, asset: str) -> dict[str, float]:
        return self._known.setdefault(t, {}).setdefault(asset, {})

    def take(self, readings: Sequence[CandleReading], now_ms: int, since_ms: int, listed: set[str]) -> BarFrame:
        """Return the bars that opened after `since_ms`; the newest waits while a listed asset lacks it.

        Args:
            readings: earlier ones are preferred.
            now_ms: the tick.
            since_ms: open time of the last bar that the caller has.
            listed: assets whose bars some venue sells.
        """
        bars = self.merge(readings)
        last = last_closed(now_ms)
        whole = all(last in bars.get(asset, {}) for asset in listed)
        newest = last if whole or now_ms - (last + BAR_MS) >= HOLD_MS else last - BAR_MS
        due = {a: {t: row for t, row in rows.items() if since_ms < t <= newest} for a, rows in bars.items()}
        return frame_of(self.assets, due, lambda t, asset: self._known.get(t, {}).get(asset, {}))

    def merge(self, readings: Sequence[CandleReading]) -> dict[str, dict[int, Row]]:
        """Merge readings, the earlier first; bars of a venue that is not the asset's reference lose their volume."""
        bars: dict[str, dict[int, Row]] = {}
        for one in readings:
            self.dropped += one.dropped
            if not one.rows:
                continue
            theirs = self._reference.setdefault(one.asset, one.venue) == one.venue
            rows = {row[0]: row if theirs else (*row[:5], math.nan) for row in one.rows}
            bars[one.asset] = rows | bars.get(one.asset, {})
        return bars


def bar_jobs(client: VenueClient, assets: set[str], now_ms: int, since_ms: int) -> list[Job]:
    """Return the requests for the bars of `assets` that the venue lists."""
    return [candle_job(client, asset, now_ms, since_ms) for asset in client.spot if asset in assets]


def _extras(seen: AssetObservation) -> dict[str, float]:
    known: dict[str, float] = {}
    if seen.book is not None:
        known["depth_usd"] = seen.book.depth_1pct_usd
        known["spread_bps"] = seen.book.spread_bps
        known["imbalance"] = seen.book.imbalance_percent / 100
    if seen.funding is not None:
        known["funding"] = seen.funding.rate_8h
    if seen.open_interest is not None:
        known["open_interest"] = seen.open_interest.usd
    return known
