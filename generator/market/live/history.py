"""Days of bars, paged from the first venue that has them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from generator.market.live.bars import BarKeeper
from generator.market.live.candles import Row, fetch_page, frame_of, last_closed, next_page, reading
from generator.market.live.client import VenueClient
from generator.market.live.readings import CandleReading, Job
from generator.market.source import Progress
from generator.market.values import BAR_MS, BarFrame

TRIES: Final = 3
_DAY_BARS: Final = 288


@dataclass(frozen=True, slots=True)
class HistoryWish:
    """What history is wanted.

    Args:
        now_ms: bars that close later are left out.
        days: how far back.
        progress: called with asset-days done, of how many, and what.
        pause_s: between tries of one page, times the number of the try.
    """

    now_ms: int
    days: int
    progress: Progress
    pause_s: float


async def fetch_history(clients: Sequence[VenueClient], keeper: BarKeeper, wish: HistoryWish) -> BarFrame:
    """Fetch every asset's closed bars.

    Args:
        clients: venues; those without candles are not asked.
        keeper: tells their order and remembers whose volume each asset's bars carry.
        wish: how much.
    """
    able = [client for client in clients if client.spec.candle_page]
    refused = await asyncio.gather(*(client.load(wish.now_ms) for client in able))
    ready = [client for client, reason in zip(able, refused, strict=True) if reason is None]
    told = _Progress(wish, keeper.assets)
    found = await asyncio.gather(
        *(_asset(keeper.order(ready, asset), asset, wish, told) for asset in keeper.assets),
    )
    return frame_of(keeper.assets, keeper.merge([one for one in found if one is not None]))


async def _asset(
    clients: Sequence[VenueClient], asset: str, wish: HistoryWish, told: _Progress
) -> CandleReading | None:
    """Return the history of the first venue that sends all its pages, else the longest that was begun."""
    best: CandleReading | None = None
    for client in clients:
        whole, got = await _pages(client, asset, wish, told)
        if best is None or len(got.rows) > len(best.rows):
            best = got
        if whole and got.rows:
            break
    told.step(asset, wish.days, asset)
    return best


async def _pages(client: VenueClient, asset: str, wish: HistoryWish, told: _Progress) -> tuple[bool, CandleReading]:
    reach = min(wish.days * _DAY_BARS, client.spec.candle_reach or wish.days * _DAY_BARS)
    last = last_closed(wish.now_ms)
    start = first = last - (reach - 1) * BAR_MS
    rows: dict[int, Row] = {}
    dropped, whole = 0, True
    while first <= last and whole:
        page = await _page(client, asset, first, wish)
        whole = page is not None
        if page is not None:
            rows |= {row[0]: row for row in page.rows}
            dropped += page.dropped
            first = next_page(page, first, client.spec.candle_page)
            told.step(asset, (first - start) // (BAR_MS * _DAY_BARS), f"{asset} from {client.spec.name}")
    return whole, reading(client, asset, rows, dropped, wish.now_ms)


async def _page(client: VenueClient, asset: str, first_ms: int, wish: HistoryWish) -> CandleReading | None:
    async def run() -> list[CandleReading]:
        return [await fetch_page(client, asset, first_ms, wish.now_ms)]

    for attempt in range(1, TRIES + 1):
        outcome = await client.attempt(Job(("candles",), run), wish.now_ms)
        if not isinstance(outcome, str):
            return next(one for one in outcome if isinstance(one, CandleReading))
        if attempt < TRIES:
            await asyncio.sleep(wish.pause_s * attempt)
    return None


class _Progress:
    """Asset-days done, never going back when a stand-in starts an asset again."""

    def __init__(self, wish: HistoryWish, assets: tuple[str, ...]) -> None:
        self._wish = wish
        self._done = dict.fromkeys(assets, 0)

    def step(self, asset: str, days: int, what: str) -> None:
        self._done[asset] = max(self._done[asset], min(days, self._wish.days))
        self._wish.progress(sum(self._done.values()), self._wish.days * len(self._done), f"history: {what}")
