"""Exchanges in place of ccxt's: honest ones of one synthetic market, and one of them that lies."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from generator.catalog.assets import ASSETS
from tests.support.synthetic_bodies import PRICES

BAR: Final = 300_000
HOUR: Final = 3_600_000
DAY: Final = 24 * HOUR
LEVELS: Final = 30
# Honest venues differ: by some hundredths of a percent in price, by much in size.
_PLACES: Final = {"kraken": 0, "coinbase": 1, "okx": 2, "binance": 3, "bybit": 4, "binanceusdm": 5, "gate": 6}
_SIZES: Final = (0.6, 0.9, 1.3, 2.0, 1.1, 2.2, 0.8)
_STAMPED: Final = {"coinbase", "okx", "binance", "binanceusdm", "gate"}  # the others put no time on a ticker

Path = Callable[[str, int], float]


def steady(asset: str, t_ms: int) -> float:
    """Return USD: 3% up in each bar for five bars, then as much down, and a ripple within the bar."""
    bars = t_ms / BAR % 10
    drift = min(bars, 10 - bars)
    return PRICES[asset] * math.exp(0.03 * drift) * (1 + 0.0005 * math.sin(t_ms / 40_000 + len(asset)))


@dataclass
class Moment:
    """The market that all venues show, at one time of the wall clock."""

    now_ms: int
    price: Path = steady


@dataclass(frozen=True)
class Lie:
    """What one venue, as settings name it, says wrongly: every number of one quantity, changed.

    `factor` multiplies it; `age_ms` shows what it was so long ago with the time of then; from `frozen_ms` on it stays.
    """

    venue: str = "none"
    quantity: str = ""
    factor: float = 1.0
    age_ms: int = 0
    frozen_ms: int | None = None
    from_ms: int = 0


@dataclass
class FakeExchange:
    """One venue, as far as the live source asks it; every answer has ccxt's unified form."""

    name: str
    moment: Moment
    lies: list[Lie]
    calls: list[str] = field(default_factory=list)
    has: dict[str, Any] = field(default_factory=dict)
    currencies: dict[str, Any] = field(default_factory=dict)
    markets: dict[str, Any] = field(default_factory=dict)
    on_rest_response: Any = None

    @property
    def markets_by_id(self) -> dict[str, list[dict[str, Any]]]:
        quote = "USD" if self.name in {"kraken", "coinbase"} else "USDT"
        spot = [_market(asset, quote) for asset in ASSETS]
        if quote == "USD":
            spot.append(_market("USDT", "USD"))
        swap = [_market(asset, "USDT", size=self._size()) for asset in ASSETS]
        return {market["symbol"]: [market] for market in (*spot, *swap)}

    def _size(self) -> float:
        return self._shown("contract size", self.moment.now_ms, lambda _: 0.1)

    async def load_markets(self, *, reload: bool = False, params: Any = None) -> None:
        self.calls.append("markets")

    def set_markets(self, markets: list[dict[str, Any]]) -> None:
        self.markets = {market["symbol"]: market for market in markets}

    def market(self, symbol: str) -> dict[str, Any]:
        found: dict[str, Any] = self.markets[symbol]
        return found

    async def close(self) -> None:
        return None

    def _lie(self, quantity: str) -> Lie | None:
        for lie in self.lies:
            if (
                lie.venue
                and self.name.startswith(lie.venue)
                and lie.quantity == quantity
                and lie.from_ms <= self.moment.now_ms
            ):
                return lie
        return None

    def _shown(self, quantity: str, t_ms: int, value: Callable[[int], float]) -> float:
        """Return what this venue says of a quantity at a time."""
        lie = self._lie(quantity)
        if lie is None:
            return value(t_ms)
        at_ms = t_ms - lie.age_ms
        if lie.frozen_ms is not None:
            at_ms = min(at_ms, lie.frozen_ms)
        return value(at_ms) * lie.factor

    def _stamp(self, *quantities: str) -> int:
        """Return the time that the venue puts on an answer: of what it shows, for one that is late."""
        lies = [lie for quantity in quantities if (lie := self._lie(quantity)) is not None]
        return self.moment.now_ms - max((lie.age_ms for lie in lies), default=0)

    def _mid(self, asset: str, t_ms: int) -> float:
        if asset == "USDT":
            return self._shown("stablecoin", t_ms, lambda _: 1.0)
        offset = 1 + 0.0002 * (_PLACES[self.name] - 3)
        return self._shown("price", t_ms, lambda at_ms: self.moment.price(asset, at_ms) * offset)

    def _share(self) -> float:
        return _SIZES[_PLACES[self.name]]

    def _ticker(self, symbol: str) -> dict[str, Any]:
        self.calls.append("ticker")
        asset = symbol.partition("/")[0]
        mid = self._mid(asset, self.moment.now_ms)
        change = self._shown("24 h change", self.moment.now_ms, lambda at_ms: self._changed(asset, at_ms))
        stamp = self._stamp("price", "24 h change") if self.name in _STAMPED else None
        return {"bid": mid * 0.9999, "ask": mid * 1.0001, "percentage": change, "timestamp": stamp}

    def _changed(self, asset: str, t_ms: int) -> float:
        if asset == "USDT":
            return 0.0
        change = 100 * (self.moment.price(asset, t_ms) / PRICES[asset] - 1)
        return change + 0.1 * _PLACES[self.name]

    async def fetch_ticker(self, symbol: str) -> dict[str, Any]:
        return self._ticker(symbol)

    async def fetch_tickers(self, symbols: list[str]) -> dict[str, Any]:
        tickers = {symbol: self._ticker(symbol) for symbol in symbols}
        self.calls[-len(symbols) :] = ["tickers"]
        return tickers

    async def fetch_order_book(self, symbol: str, levels: int) -> dict[str, Any]:
        self.calls.append("book")
        asset, t_ms = symbol.partition("/")[0], self.moment.now_ms
        mid = self._mid(asset, t_ms)
        half = self._shown("spread", t_ms, lambda at_ms: 0.0001 * self._share() * (1 + at_ms % 7 / 10))
        usd = self._shown("depth", t_ms, lambda at_ms: 20_000 * self._share() * (1 + at_ms % 11 / 10))
        steps = [half + 0.0005 * level for level in range(LEVELS)]
        bids = [[mid / (1 + step), 1.3 * usd / mid] for step in steps]
        asks = [[mid * (1 + step), usd / mid] for step in steps]
        return {"bids": bids, "asks": asks, "timestamp": self._stamp("price", "depth", "spread")}

    async def fetch_ohlcv(self, symbol: str, _span: str, since: int, limit: int, params: Any) -> list[list[float]]:
        self.calls.append("candles")
        asset = symbol.partition("/")[0]
        lie = self._lie("bars")
        last = self.moment.now_ms - (lie.age_ms if lie else 0)
        times = range(-(-since // BAR) * BAR, last + 1, BAR)
        return [self._bar(asset, t) for t in times[:limit]]

    def _bar(self, asset: str, t: int) -> list[float]:
        offset = 1 + 0.0002 * (_PLACES[self.name] - 3)
        shown = [self._shown("bars", t + part, lambda at: self.moment.price(asset, at) * offset) for part in _PARTS]
        low, high = min(shown) * 0.9995, max(shown) * 1.0005
        high = self._shown("highs", t, lambda _: high)
        lie = self._lie("lows")
        low = low / lie.factor if lie is not None else low
        volume = self._shown("volume", t, lambda at_ms: 10 * self._share() * (1 + at_ms // BAR % 5))
        return [t, shown[0], high, low, shown[-1], volume]

    def _rate(self, symbol: str) -> dict[str, Any]:
        asset, t_ms = symbol.partition("/")[0], self.moment.now_ms
        rate = self._shown("funding", t_ms, lambda at_ms: 1e-4 * self._share() * (1 + at_ms // 60_000 % 3 / 10))
        mark = self._shown("mark", t_ms, lambda at_ms: self.moment.price(asset, at_ms))
        coins, usd = self._held(asset, t_ms)
        return {
            "fundingRate": rate,
            "interval": f"{self._shown('interval', t_ms, lambda _: 8.0)!r}h",
            "markPrice": mark,
            "timestamp": self._stamp("funding", "mark", "interval", "interest coins", "interest usd"),
            "info": {"openInterest": coins / 0.1, "openInterestValue": usd},
        }

    async def fetch_funding_rate(self, symbol: str) -> dict[str, Any]:
        self.calls.append("funding")
        return self._rate(symbol)

    async def fetch_funding_rates(self, symbols: list[str]) -> dict[str, Any]:
        self.calls.append("funding")
        return {symbol: self._rate(symbol) for symbol in symbols}

    async def fetch_funding_intervals(self, symbols: list[str]) -> dict[str, Any]:
        self.calls.append("intervals")
        interval = f"{self._shown('interval', self.moment.now_ms, lambda _: 8.0)!r}h"
        return {symbol: {"interval": interval} for symbol in symbols}

    def _held(self, asset: str, t_ms: int) -> tuple[float, float]:
        """Return open interest in coins and in USDT; it grows by an eighth in a day."""
        suffix = " a day ago" if self.moment.now_ms - t_ms > DAY // 2 else ""
        coins = 1e6 * self._share() / PRICES[asset]

        def grown(at_ms: int) -> float:
            return coins * (1 + (0.125 + 0.01 * _PLACES[self.name]) * (at_ms - self.moment.now_ms) / DAY)

        shown = self._shown(f"interest coins{suffix}", t_ms, grown)
        usd = self._shown(f"interest usd{suffix}", t_ms, lambda at_ms: grown(at_ms) * self.moment.price(asset, at_ms))
        return shown, usd

    def _interest(self, symbol: str, t_ms: int) -> dict[str, Any]:
        coins, usd = self._held(symbol.partition("/")[0], t_ms)
        known: dict[str, Any] = {"openInterestAmount": coins / 0.1, "openInterestValue": usd}
        return known | {"timestamp": t_ms - (self.moment.now_ms - self._stamp("interest coins", "interest usd"))}

    async def fetch_open_interest(self, symbol: str) -> dict[str, Any]:
        self.calls.append("interest")
        return self._interest(symbol, self.moment.now_ms)

    async def fetch_open_interests(self, symbols: list[str]) -> dict[str, Any]:
        self.calls.append("interest")
        return {symbol: self._interest(symbol, self.moment.now_ms) for symbol in symbols}

    async def fetch_open_interest_history(
        self, symbol: str, span: str, _since: None, rows: int
    ) -> list[dict[str, Any]]:
        self.calls.append("statistics")
        step = {"5m": BAR, "1h": HOUR}[span]
        last = self.moment.now_ms // step * step
        times = [last - back * step for back in reversed(range(rows))]
        longs = self._shown("liquidations", self.moment.now_ms, lambda _: 1000.0)
        return [self._interest(symbol, t) | {"info": {"long_liq_usd": longs, "short_liq_usd": 500.0}} for t in times]


_PARTS: Final = (0, BAR // 3, 2 * BAR // 3, BAR)


def _market(asset: str, quote: str, size: float | None = None) -> dict[str, Any]:
    symbol = f"{asset}/{quote}" if size is None else f"{asset}/{quote}:{quote}"
    return {"symbol": symbol, "id": symbol, "active": True, "contractSize": size}
