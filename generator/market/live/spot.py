"""Spot quotes and order books of one venue."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from generator.market.live.client import VenueClient
from generator.market.live.readings import BookReading, DayReading, Job, PriceReading, Reading, Unusable, keep_usable
from generator.market.live.venues import STABLECOIN

BAND: Final = 0.01  # depth counts within 1% of the mid
_DEEP: Final = ("BTC", "ETH")


def spot_jobs(client: VenueClient, now_ms: int) -> list[Job]:
    """Return the requests for prices first, then for books: when time runs out, books are what is missing."""
    if not client.spot:
        return []
    books = {asset: partial(_book, client, asset, now_ms) for asset in client.spot}

    if client.spec.ticker == "book":
        quotes_and_books = [Job(("spot", "book"), book) for book in books.values()]
        return [*quotes_and_books, Job(("day",), partial(_day, client, now_ms))]

    if client.spec.ticker == "each":
        tickers = [Job(("spot",), partial(_ticker, client, asset, now_ms)) for asset in client.spot]
    else:
        tickers = [Job(("spot",), partial(_tickers, client, now_ms))]
    return tickers + [Job(("book",), book) for asset, book in books.items() if asset != STABLECOIN]


async def _tickers(client: VenueClient, now_ms: int) -> list[Reading]:
    answer = await client.exchange.fetch_tickers(list(client.spot.values()))
    return keep_usable(
        partial(_from_ticker, client, asset, answer[symbol], now_ms)
        for asset, symbol in client.spot.items()
        if symbol in answer
    )


async def _ticker(client: VenueClient, asset: str, now_ms: int) -> list[Reading]:
    return _from_ticker(client, asset, await client.exchange.fetch_ticker(client.spot[asset]), now_ms)


async def _day(client: VenueClient, now_ms: int) -> list[Reading]:
    """Read only the day's change: this venue's quote is in its book."""
    assets = {asset: symbol for asset, symbol in client.spot.items() if asset != STABLECOIN}
    tickers = await client.exchange.fetch_tickers(list(assets.values()))

    readings: list[Reading] = []
    for asset, symbol in assets.items():
        if symbol in tickers:
            readings += _change(client, asset, tickers[symbol], now_ms)
    return readings


def _from_ticker(client: VenueClient, asset: str, ticker: dict[str, Any], now_ms: int) -> list[Reading]:
    """Turn one ccxt ticker into a quote; bad prices pass, for the consensus names them."""
    bid = ticker.get("bid")
    ask = ticker.get("ask")
    if bid is None or ask is None:
        raise Unusable("a ticker without bid or ask")

    # Kraken and Bybit stamp no time on a ticker: it is as old as the answer, that is, of this tick.
    as_of_ms = int(ticker.get("timestamp") or now_ms)
    quote = PriceReading(client.spec.name, asset, as_of_ms, (float(bid) + float(ask)) / 2, _currency(client, asset))
    return [quote, *_change(client, asset, ticker, now_ms)]


def _change(client: VenueClient, asset: str, ticker: dict[str, Any], now_ms: int) -> list[Reading]:
    percent = ticker.get("percentage")
    if not client.spec.change_24h or percent is None or not math.isfinite(percent):
        return []
    return [DayReading(client.spec.name, asset, int(ticker.get("timestamp") or now_ms), float(percent))]


async def _book(client: VenueClient, asset: str, now_ms: int) -> list[Reading]:
    spec = client.spec
    levels = spec.book_levels
    if asset in _DEEP:
        levels = spec.deep_book_levels or levels
    raw = await client.exchange.fetch_order_book(client.spot[asset], levels)

    as_of_ms = int(raw.get("timestamp") or now_ms)
    book = measure(spec.name, asset, as_of_ms, _currency(client, asset), bids=raw["bids"], asks=raw["asks"])
    if spec.ticker != "book":
        return [book]
    return [PriceReading(spec.name, asset, as_of_ms, book.mid, book.currency), book]


def _currency(client: VenueClient, asset: str) -> str:
    return client.spot[asset].partition("/")[2]


def measure(
    venue: str,
    asset: str,
    as_of_ms: int,
    currency: str,
    *,
    bids: Sequence[Sequence[Any]],
    asks: Sequence[Sequence[Any]],
) -> BookReading:
    """Measure a book near its mid; its levels are (price, size in coins, ..) from the best.

    Raises:
        Unusable: a side is empty, the book is crossed, or a level is not a positive number.
    """
    buys = _levels(bids)
    sells = _levels(asks)
    if not buys or not sells:
        raise Unusable("an order book with an empty side")

    best_bid = max(price for price, _ in buys)
    best_ask = min(price for price, _ in sells)
    if best_bid >= best_ask:
        raise Unusable("a crossed order book")

    mid = (best_bid + best_ask) / 2
    low = mid * (1 - BAND)
    high = mid * (1 + BAND)
    worst_bid = min(price for price, _ in buys)
    worst_ask = max(price for price, _ in sells)

    return BookReading(
        venue,
        asset,
        as_of_ms,
        mid=mid,
        spread_bps=10_000 * (best_ask - best_bid) / mid,
        bid_depth=sum(price * size for price, size in buys if price >= low),
        ask_depth=sum(price * size for price, size in sells if price <= high),
        currency=currency,
        reaches=worst_bid <= low and worst_ask >= high,
    )


def _levels(side: Sequence[Sequence[Any]]) -> list[tuple[float, float]]:
    """Return the levels that hold something; Unusable: a level is not a positive number."""
    levels = []
    for level in side:
        price = float(level[0])
        size = float(level[1])
        if not (0 < price < math.inf and 0 <= size < math.inf):
            raise Unusable("an order book with an impossible level")
        if size > 0:
            levels.append((price, size))
    return levels
