"""Bodies in the form the venues document, the fields that are read: SYNTHETIC, not recorded from any venue.

Each venue is a function (path, query, market) -> JSON value, or None for a path it does not serve.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from generator.catalog.assets import ASSETS

Query = Mapping[str, list[str]]
Body = Callable[[str, Query, "SyntheticMarket"], Any]

BAR = 300_000
_KNOWN = {
    "BTC": 60_000.0,
    "ETH": 3_000.0,
    "XRP": 0.5,
    "SOL": 150.0,
    "ALGO": 0.2,
    "XLM": 0.1,
    "HBAR": 0.08,
}
PRICES = {asset: _KNOWN.get(asset, 2.0) for asset in ASSETS}
STEP = 0.0005  # of the mid, between levels
LEVELS = 40
LEVEL_USD = 10_000.0


@dataclass
class SyntheticMarket:
    """The market that the synthetic venues show at one moment."""

    now_ms: int
    prices: dict[str, float] = field(default_factory=lambda: dict(PRICES))
    usd_per_usdt: float = 1.0
    scale: dict[str, float] = field(default_factory=dict)  # venue -> factor on its prices
    lag_ms: dict[str, int] = field(default_factory=dict)  # venue -> age of its timestamps
    missing_bars: dict[str, set[int]] = field(default_factory=dict)  # venue -> bar opens it does not send

    def mid(self, venue: str, asset: str, quote: str) -> float:
        """Return the venue's mid in its quote currency."""
        usd = self.usd_per_usdt if asset == "USDT" else self.prices[asset]
        return usd * self.scale.get(venue, 1.0) / (self.usd_per_usdt if quote == "USDT" else 1.0)

    def stamp(self, venue: str) -> int:
        """Return the venue's own clock."""
        return self.now_ms - self.lag_ms.get(venue, 0)

    def best(self, venue: str, asset: str, quote: str) -> tuple[str, str]:
        """Return best bid and ask."""
        mid = self.mid(venue, asset, quote)
        return text(mid * (1 - STEP / 2)), text(mid * (1 + STEP / 2))

    def book(self, venue: str, asset: str, quote: str, limit: int) -> tuple[list[list[str]], list[list[str]]]:
        """Return bids and asks, the best first; bids hold half again as much as asks."""
        mid = self.mid(venue, asset, quote)
        sides: list[list[list[str]]] = []
        for sign, usd in ((-1, 1.5 * LEVEL_USD), (1, LEVEL_USD)):
            prices = [mid * (1 + sign * STEP * (level + 0.5)) for level in range(min(LEVELS, limit))]
            sides.append([[text(price), text(usd / price)] for price in prices])
        return sides[0], sides[1]

    def bars(self, venue: str, asset: str, quote: str, since: int, limit: int) -> list[list[float]]:
        """Return bars from `since` on, the one still open included: t, o, h, l, c, volume."""
        mid = self.mid(venue, asset, quote)
        first = -(-since // BAR) * BAR
        times = [t for t in range(first, self.now_ms + 1, BAR) if t not in self.missing_bars.get(venue, set())]
        return [bar(t, mid) for t in times[:limit]]


def bar(t: int, mid: float) -> list[float]:
    """Return the bar of one time: reproducible, and different for neighbours."""
    wobble = (t // BAR % 7 - 3) / 10_000
    opened, closed = mid * (1 + wobble), mid * (1 - wobble)
    return [t, opened, max(opened, closed) * 1.0001, min(opened, closed) * 0.9999, closed, 5.0 + t // BAR % 11]


def text(number: float) -> str:
    return f"{number:.12f}".rstrip("0").rstrip(".")


def one(query: Query, name: str, default: str = "") -> str:
    return query.get(name, [default])[0]


KRAKEN_IDS = {"BTC": "XXBTZUSD", "ETH": "XETHZUSD", "XRP": "XXRPZUSD", "XLM": "XXLMZUSD", "USDT": "USDTZUSD"}
KRAKEN_BASES = {"BTC": "XXBT", "ETH": "XETH", "XRP": "XXRP", "XLM": "XXLM"}


def kraken(path: str, query: Query, market: SyntheticMarket) -> Any:
    ids = {asset: KRAKEN_IDS.get(asset, f"{asset}USD") for asset in (*market.prices, "USDT")}
    assets = {market: asset for asset, market in ids.items()}
    asked = [assets[market] for market in one(query, "pair").split(",") if market in assets]
    asset = asked[0] if asked else "BTC"
    call = path.rsplit("/", 1)[-1]
    if call == "AssetPairs":
        pairs = {market: _kraken_pair(asset) for asset, market in ids.items()}
        dark = {"XXBTZUSD.d": _kraken_pair("BTC") | {"altname": "XBTUSD.d"}}  # the same pair, not public
        return {"error": [], "result": pairs | dark}
    if call == "Ticker":
        return {"error": [], "result": {ids[asset]: _kraken_ticker(market, asset) for asset in asked}}
    if call == "Depth":
        bids, asks = market.book("kraken", asset, "USD", int(one(query, "count", "100")))
        stamp = market.stamp("kraken") // 1000
        sides = {"asks": [[*level, stamp] for level in asks], "bids": [[*level, stamp] for level in bids]}
        return {"error": [], "result": {ids[asset]: sides}}
    if call == "OHLC":
        reach = market.now_ms // BAR * BAR - 719 * BAR
        rows = market.bars("kraken", asset, "USD", max(reach, 1000 * int(one(query, "since", "0"))), 720)
        shown = [[row[0] // 1000, *map(text, row[1:5]), text(row[4]), text(row[5]), 9] for row in rows]
        return {"error": [], "result": {ids[asset]: shown, "last": market.now_ms // 1000}}
    return None


def _kraken_pair(asset: str) -> dict[str, Any]:
    base = KRAKEN_BASES.get(asset, asset)
    precision = {"pair_decimals": 5, "lot_decimals": 8, "tick_size": "0.00001"}
    name = {"BTC": "XBT"}.get(asset, asset)
    return {
        "altname": f"{name}USD",
        "base": base,
        "quote": "ZUSD",
        "fees": [[0, 0.26]],
        "status": "online",
        **precision,
    }


def _kraken_ticker(market: SyntheticMarket, asset: str) -> dict[str, Any]:
    bid, ask = market.best("kraken", asset, "USD")
    return {"a": [ask, "1", "1.000"], "b": [bid, "1", "1.000"], "c": [bid, "0.1"], "o": text(float(bid) / 2)}


def coinbase(path: str, query: Query, market: SyntheticMarket) -> Any:
    asset = (one(query, "product_id") or path.rsplit("/products/", maxsplit=1)[-1]).partition("-")[0]
    if path.endswith("/market/products"):
        if one(query, "product_type") == "FUTURE":
            return {"products": [], "num_products": 0}
        asked = {name.partition("-")[0] for name in query.get("product_ids", [])} or {*market.prices, "USDT"}
        products = [_coinbase_product(market, asset) for asset in (*market.prices, "USDT") if asset in asked]
        return {"products": products, "num_products": len(products)}
    if path.endswith("/product_book"):
        bids, asks = market.book("coinbase", asset, "USD", int(one(query, "limit", "100")))
        sides = {
            name: [{"price": price, "size": size} for price, size in side]
            for name, side in (("bids", bids), ("asks", asks))
        }
        moment = datetime.fromtimestamp(market.stamp("coinbase") / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        return {"pricebook": {"product_id": f"{asset}-USD", **sides, "time": moment}}
    if path.endswith("/candles"):
        since, end = (1000 * int(one(query, name)) for name in ("start", "end"))
        asset = path.rsplit("/products/", maxsplit=1)[-1].partition("-")[0]
        rows = [row for row in market.bars("coinbase", asset, "USD", since, 350) if row[0] <= end]
        keys = ("start", "open", "high", "low", "close", "volume")
        shown = [dict(zip(keys, (str(int(row[0]) // 1000), *map(text, row[1:])), strict=True)) for row in rows]
        return {"candles": shown[::-1]}
    return None


def _coinbase_product(market: SyntheticMarket, asset: str) -> dict[str, Any]:
    pair = {"product_id": f"{asset}-USD", "base_currency_id": asset, "quote_currency_id": "USD", "product_type": "SPOT"}
    precision = {"base_increment": "0.00000001", "quote_increment": "0.00001", "price_increment": "0.00001"}
    price = text(market.mid("coinbase", asset, "USD"))
    return {**pair, **precision, "price": price, "price_percentage_change_24h": "2.0", "trading_disabled": False}


def okx(path: str, query: Query, market: SyntheticMarket) -> Any:
    asset, _, rest = one(query, "instId").partition("-")
    quote, stamp = rest.removesuffix("-SWAP"), str(market.stamp("okx"))
    call = path.removeprefix("/api/v5/")
    data: Any = None
    if call == "public/instruments":
        data = [_okx_instrument(asset, one(query, "instType")) for asset in market.prices]
    elif call == "market/ticker":
        bid, ask = market.best("okx", asset, quote)
        opened = text(float(bid) / 1.03)
        prices = {"last": bid, "bidPx": bid, "askPx": ask, "open24h": opened}
        data = [{"instType": "SPOT", "instId": f"{asset}-{quote}", **prices, "ts": stamp}]
    elif call == "market/books":
        bids, asks = market.book("okx", asset, quote, int(one(query, "sz", "100")))
        data = [{"asks": [[*row, "0", "1"] for row in asks], "bids": [[*row, "0", "1"] for row in bids], "ts": stamp}]
    elif call in {"market/candles", "market/history-candles"}:
        limit = int(one(query, "limit", "100"))
        rows = market.bars("okx", asset, quote, int(one(query, "before", "0")) + 1, limit)
        upto = int(one(query, "after", str(2**62)))
        data = [[str(row[0]), *map(text, row[1:]), "1", "1", "1"] for row in rows[::-1] if row[0] < upto]
    elif call == "public/funding-rate":
        data = [_okx_funding(asset, market) for asset in market.prices]
    elif call == "public/open-interest":
        data = [_okx_interest(asset, market, stamp) for asset in market.prices]
    return None if data is None else {"code": "0", "msg": "", "data": data}


def _okx_interest(asset: str, market: SyntheticMarket, stamp: str) -> dict[str, Any]:
    coins = 2_000_000 / market.prices[asset]
    held = {"oi": text(10 * coins), "oiCcy": text(coins), "oiUsd": "2000000"}
    return {"instId": f"{asset}-USDT-SWAP", "instType": "SWAP", **held, "ts": stamp}


def _okx_instrument(asset: str, kind: str) -> dict[str, Any]:
    pair = f"{asset}-USDT"
    common = {"instType": kind, "state": "live", "tickSz": "0.00001", "lotSz": "0.00000001"}
    if kind != "SWAP":
        return {**common, "instId": pair, "baseCcy": asset, "quoteCcy": "USDT"}
    contract = {"ctType": "linear", "ctVal": "0.1", "ctMult": "1", "ctValCcy": asset, "settleCcy": "USDT"}
    return {**common, **contract, "instId": f"{pair}-SWAP", "uly": pair, "instFamily": pair}


def _okx_funding(asset: str, market: SyntheticMarket) -> dict[str, Any]:
    nearest = market.now_ms // 14_400_000 * 14_400_000 + 14_400_000
    return {
        "fundingRate": "0.00005",  # of 4 hours
        "fundingTime": str(nearest),
        "instId": f"{asset}-USDT-SWAP",
        "instType": "SWAP",
        "nextFundingRate": "",
        "nextFundingTime": str(nearest + 14_400_000),
    }


_BINANCE_FILTERS = [
    {"filterType": "PRICE_FILTER", "minPrice": "0.00001", "maxPrice": "1000000", "tickSize": "0.00001"},
    {"filterType": "LOT_SIZE", "minQty": "0.00001", "maxQty": "9000", "stepSize": "0.00001"},
]


def binance(path: str, query: Query, market: SyntheticMarket) -> Any:
    stamp = market.stamp("binance")
    asset = one(query, "symbol").removesuffix("USDT")
    if path == "/api/v3/exchangeInfo":
        asked = json.loads(one(query, "symbols", "[]")) or [f"{asset}USDT" for asset in market.prices]
        return {"timezone": "UTC", "serverTime": stamp, "symbols": [_binance_symbol(name) for name in asked]}
    if path == "/api/v3/ticker/24hr":
        return [_binance_ticker(name, market) for name in json.loads(one(query, "symbols"))]
    if path == "/api/v3/depth":
        bids, asks = market.book("binance", asset, "USDT", int(one(query, "limit", "100")))
        return {"lastUpdateId": 1, "bids": bids, "asks": asks}
    if path == "/api/v3/klines":
        rows = market.bars("binance", asset, "USDT", int(one(query, "startTime", "0")), int(one(query, "limit", "500")))
        return [[row[0], *map(text, row[1:]), row[0] + BAR - 1, "1", 9, "1", "1", "0"] for row in rows]
    return None


def _binance_symbol(name: str) -> dict[str, Any]:
    pair = {"symbol": name, "baseAsset": name.removesuffix("USDT"), "quoteAsset": "USDT"}
    return {**pair, "status": "TRADING", "isSpotTradingAllowed": True, "filters": _BINANCE_FILTERS}


def _binance_ticker(name: str, market: SyntheticMarket) -> dict[str, Any]:
    bid, ask = market.best("binance", name.removesuffix("USDT"), "USDT")
    prices = {"lastPrice": bid, "openPrice": bid, "bidPrice": bid, "askPrice": ask, "priceChangePercent": "1.5"}
    return {"symbol": name, **prices, "closeTime": market.stamp("binance")}


def binanceusdm(path: str, query: Query, market: SyntheticMarket) -> Any:
    stamp, asset = market.stamp("binanceusdm"), one(query, "symbol").removesuffix("USDT")
    if path == "/fapi/v1/exchangeInfo":
        return {"serverTime": stamp, "symbols": [_binance_perpetual(asset) for asset in market.prices]}
    if path == "/fapi/v1/premiumIndex":
        funding = {"lastFundingRate": "0.0001", "nextFundingTime": stamp + 1000, "time": stamp}
        return [
            {"symbol": f"{asset}USDT", "markPrice": text(price), "indexPrice": text(price), **funding}
            for asset, price in market.prices.items()
        ]
    if path == "/fapi/v1/fundingInfo":
        caps = {"adjustedFundingRateCap": "0.02", "adjustedFundingRateFloor": "-0.02", "disclaimer": False}
        return [{"symbol": "ALGOUSDT", "fundingIntervalHours": 4, **caps}]
    if path == "/fapi/v1/openInterest":
        return {"openInterest": text(3_000_000 / market.prices[asset]), "symbol": f"{asset}USDT", "time": stamp}
    if path == "/futures/data/openInterestHist":
        hour = stamp // 3_600_000 * 3_600_000
        times = [hour - back * 3_600_000 for back in range(int(one(query, "limit", "30")))]
        contracts = text(3_300_000 / market.prices[asset])
        usd = {"sumOpenInterest": contracts, "sumOpenInterestValue": "3300000", "symbol": f"{asset}USDT"}
        return [{**usd, "timestamp": t} for t in reversed(times)]
    return None


def _binance_perpetual(asset: str) -> dict[str, Any]:
    pair = {"symbol": f"{asset}USDT", "baseAsset": asset, "quoteAsset": "USDT", "marginAsset": "USDT"}
    return {**pair, "contractType": "PERPETUAL", "status": "TRADING", "filters": _BINANCE_FILTERS}


def bybit(path: str, query: Query, market: SyntheticMarket) -> Any:
    stamp, kind = market.stamp("bybit"), one(query, "category")
    asset, call = one(query, "symbol").removesuffix("USDT"), path.rsplit("/", 1)[-1]
    result: Any = None
    if call == "instruments-info":
        listed = (
            [] if one(query, "status") == "PreLaunch" else [_bybit_instrument(asset, kind) for asset in market.prices]
        )
        result = {"category": kind, "list": listed, "nextPageCursor": ""}
    elif call == "tickers":
        assets = [asset] if asset else list(market.prices)
        result = {"category": kind, "list": [_bybit_ticker(asset, kind, market) for asset in assets]}
    elif call == "orderbook":
        bids, asks = market.book("bybit", asset, "USDT", int(one(query, "limit", "1")))
        result = {"s": f"{asset}USDT", "a": asks, "b": bids, "ts": stamp, "u": 1}
    elif call == "kline":
        end, limit = int(one(query, "end", str(2**62))), int(one(query, "limit", "200"))
        rows = [
            row for row in market.bars("bybit", asset, "USDT", int(one(query, "start", "0")), 99_999) if row[0] <= end
        ]
        rows = rows[-limit:]  # the newest of the span
        candles = [[str(row[0]), *map(text, row[1:]), "1"] for row in rows[::-1]]
        result = {"category": kind, "symbol": f"{asset}USDT", "list": candles}
    elif call == "open-interest":
        coins = text(1_000_000 / market.prices[asset])  # as now
        times = [stamp // 3_600_000 * 3_600_000 - back * 3_600_000 for back in range(int(one(query, "limit")))]
        held = [{"openInterest": coins, "timestamp": str(t)} for t in times]
        result = {"category": kind, "symbol": f"{asset}USDT", "list": held}
    return None if result is None else {"retCode": 0, "retMsg": "OK", "result": result, "retExtInfo": {}, "time": stamp}


def _bybit_instrument(asset: str, kind: str) -> dict[str, Any]:
    pair = {"symbol": f"{asset}USDT", "status": "Trading", "baseCoin": asset, "quoteCoin": "USDT"}
    common = {**pair, "priceFilter": {"tickSize": "0.00001"}}
    if kind == "spot":
        return {**common, "lotSizeFilter": {"basePrecision": "0.000001", "quotePrecision": "0.00000001"}}
    contract = {"contractType": "LinearPerpetual", "settleCoin": "USDT", "deliveryTime": "0", "fundingInterval": 480}
    return {**common, **contract, "lotSizeFilter": {"qtyStep": "0.001"}}


def _bybit_ticker(asset: str, kind: str, market: SyntheticMarket) -> dict[str, Any]:
    bid, ask = market.best("bybit", asset, "USDT")
    prices = {"bid1Price": bid, "ask1Price": ask, "lastPrice": bid, "prevPrice24h": bid, "price24hPcnt": "0.025"}
    if kind == "spot":
        return {"symbol": f"{asset}USDT", **prices}
    derivative = {"fundingRate": "0.0002", "nextFundingTime": str(market.stamp("bybit") + 1000)}
    held = {"openInterest": text(1_000_000 / market.prices[asset]), "openInterestValue": "1000000"}
    interest = {**held, "markPrice": bid, "indexPrice": bid}
    return {"symbol": f"{asset}USDT", **prices, **derivative, **interest}


def gate(path: str, query: Query, market: SyntheticMarket) -> Any:
    call = path.removeprefix("/api/v4/futures/usdt/")
    if call == "contracts":
        return [gate_contract(asset, market) for asset in market.prices]
    if call.startswith("contracts/"):
        return gate_contract(call.removeprefix("contracts/").removesuffix("_USDT"), market)
    if call == "contract_stats":
        span = {"5m": BAR, "1h": 3_600_000}[one(query, "interval")]
        last = market.stamp("gate") // span * span
        times = [last - back * span for back in range(int(one(query, "limit", "30")))]
        # Four million of open interest now, five a day ago; contracts of it fell by an eleventh.
        coins = 4_000_000 / market.prices[one(query, "contract").removesuffix("_USDT")]
        before, now = (1.1 * coins, 5e6), (coins, 4e6)
        return [_gate_statistics(t, *(before if last - t >= 86_000_000 else now)) for t in reversed(times)]
    return None


def gate_contract(asset: str, market: SyntheticMarket) -> dict[str, Any]:
    precision = {"quanto_multiplier": "1", "order_price_round": "0.00001", "order_size_min": 1, "order_size_max": 10**6}
    funding = {"funding_rate": "0.0003", "funding_interval": 28800, "funding_next_apply": market.now_ms // 1000 + 60}
    prices = dict.fromkeys(("last_price", "mark_price", "index_price"), text(market.prices[asset]))
    return {"name": f"{asset}_USDT", "type": "direct", "in_delisting": False, **precision, **funding, **prices}


def _gate_statistics(t: int, contracts: float, usd: float) -> dict[str, Any]:
    held = {"open_interest": text(contracts), "open_interest_usd": usd}
    return {"time": t // 1000, **held, "long_liq_usd": 1000.0, "short_liq_usd": 500.0}


# The host that ccxt calls -> whose bodies answer there.
HOSTS: dict[str, tuple[str, Body]] = {
    "api.kraken.com": ("kraken", kraken),
    "api.coinbase.com": ("coinbase", coinbase),
    "www.okx.com": ("okx", okx),
    "api.binance.com": ("binance", binance),
    "fapi.binance.com": ("binanceusdm", binanceusdm),
    "api.bybit.com": ("bybit", bybit),
    "api.gateio.ws": ("gate", gate),
}
