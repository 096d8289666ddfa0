"""The venues of the live source, as data: what each is asked, how, and how much of it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

STABLECOIN: Final = "USDT"


@dataclass(frozen=True, slots=True)
class VenueSpec:
    """How one venue is read through ccxt."""

    name: str  # what our answers call it
    ccxt_id: str  # class in `ccxt.async_support`
    options: Mapping[str, Any] = field(default_factory=dict)  # of ccxt; they keep markets that are not needed out
    quotes: tuple[str, ...] = ()  # spot quote currencies, best first; the first that it lists is used. Empty: no spot
    # One request for all assets, one for each asset, or none because the book carries the mid.
    ticker: Literal["all", "each", "book"] = "all"
    change_24h: bool = True  # its ticker's percentage spans 24 hours (Kraken's spans the UTC day)
    quotes_stablecoin: bool = False  # it lists the stablecoin against USD, so it gives the basis
    book_levels: int = 0  # asked for of each side
    deep_book_levels: int = 0  # the same for BTC and ETH, whose price steps are small against 1% of the price
    candle_page: int = 0  # 5-minute bars an answer holds; 0: not asked for candles
    candle_until: bool = False  # a page needs its end as well, or the venue sends the newest bars instead
    candle_reach: int | None = None  # bars the venue keeps; None: more than 30 days
    funding: Literal["all", "each", "none"] = "none"  # one request for all contracts, one for each asset, or none
    # `with_funding`: the funding answer carries it; `statistics`: contract statistics do, with liquidations.
    open_interest: Literal["all", "each", "with_funding", "statistics", "none"] = "none"
    day_ago: bool = False  # it is asked once an hour for the open interest of a day ago (statistics have it)
    # It publishes funding intervals apart from the rates; contracts it does not list pay each 8 hours.
    intervals: bool = False
    # Load only the markets of these assets (the venue can filter); its full list is large.
    narrow: Literal["none", "symbols", "product_ids"] = "none"

    @property
    def kinds(self) -> tuple[str, ...]:
        """What it is asked for in every tick."""
        spot = ("spot", "book") if self.quotes else ()
        return (*spot, "funding", "open_interest") if self.funding != "none" else spot

    def load_params(self, assets: tuple[str, ...]) -> dict[str, Any]:
        """Return what narrows the venue's market list to `assets`."""
        coins = (*assets, STABLECOIN) if self.quotes_stablecoin else assets
        pairs = [(coin, quote) for coin in coins for quote in self.quotes[:1] if coin != quote]
        if self.narrow == "symbols":
            return {"symbols": json.dumps([base + quote for base, quote in pairs], separators=(",", ":"))}
        if self.narrow == "product_ids":
            return {"product_ids": [f"{base}-{quote}" for base, quote in pairs]}
        return {}


_TABLE: Final = (
    VenueSpec(
        "kraken",
        "kraken",
        quotes=("USD", STABLECOIN),
        change_24h=False,
        quotes_stablecoin=True,
        book_levels=500,
        candle_page=720,
        candle_reach=720,
    ),
    VenueSpec(
        # Advanced Trade's public market paths need no key; its product list carries no bid and ask, and its
        # ticker's time is the last trade's, so the book, which has both, is its quote.
        "coinbase",
        "coinbase",
        quotes=("USD",),
        ticker="book",
        quotes_stablecoin=True,
        book_levels=500,
        candle_page=300,
        narrow="product_ids",
    ),
    VenueSpec(
        "okx",
        "okx",
        options={"fetchMarkets": {"types": ["spot", "swap"]}},
        quotes=(STABLECOIN, "USD"),
        ticker="each",
        book_levels=400,
        candle_page=300,
        funding="all",
        open_interest="all",
    ),
    VenueSpec(
        "binance",
        "binance",
        options={"fetchMarkets": {"types": ["spot"]}, "defaultType": "spot"},
        quotes=(STABLECOIN,),
        book_levels=1000,
        deep_book_levels=5000,
        candle_page=1000,
        narrow="symbols",
    ),
    VenueSpec(
        "bybit",
        "bybit",
        options={"fetchMarkets": {"types": ["spot", "linear"]}, "defaultType": "spot"},
        quotes=(STABLECOIN,),
        ticker="each",
        book_levels=200,
        candle_page=1000,
        candle_until=True,
        funding="all",
        open_interest="with_funding",
        day_ago=True,
    ),
    VenueSpec(
        "binanceusdm",
        "binanceusdm",
        options={"fetchMarkets": {"types": ["linear"]}},
        funding="all",
        open_interest="each",
        day_ago=True,
        intervals=True,
    ),
    VenueSpec(
        "gate",
        "gate",
        options={
            "fetchMarkets": {"types": ["swap"]},
            "swap": {"fetchMarkets": {"settlementCurrencies": ["usdt"]}},
            "defaultType": "swap",
        },
        funding="each",
        open_interest="statistics",
    ),
)
VENUES: Final[dict[str, VenueSpec]] = {spec.name: spec for spec in _TABLE}

# Bars come from the venue with the most trades, and are compared with those of the next, whose pages are as long; the
# others stand in for one of them or decide between them, in this order.
CANDLE_ORDER: Final[tuple[str, ...]] = ("binance", "bybit", "okx", "coinbase", "kraken")

_ALSO: Final[dict[str, tuple[str, ...]]] = {"binance": ("binance", "binanceusdm")}


def choose(names: tuple[str, ...] | None, table: Mapping[str, VenueSpec] = VENUES) -> tuple[VenueSpec, ...]:
    """Return the venues called `names`, in their order; all of them for None. `binance` means both its markets."""
    wanted = table if names is None else [also for name in names for also in _ALSO.get(name, (name,)) if also in table]
    return tuple(table[name] for name in dict.fromkeys(wanted))
