"""One venue behind ccxt: its markets, its requests, and when to leave it alone."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from email.utils import parsedate_to_datetime
from typing import Any, Final

from generator.market.live.readings import Collector, Job, Unusable
from generator.market.live.venues import STABLECOIN, VenueSpec

ExchangeFactory = Callable[[str, dict[str, Any]], Any]

IN_FLIGHT: Final = 4  # requests to one venue at once; ccxt's own limiter spaces them
FIRST_PAUSE_MS: Final = 60_000
LONGEST_PAUSE_MS: Final = 900_000
SLOW_DOWN: Final = "asked to slow down (429)"

# Requests run concurrently, each in a task of its own: an answer's time must not be taken for another's.
_VENUE_MS: Final[ContextVar[int | None]] = ContextVar("venue_ms", default=None)

# ccxt's class names, so that nothing of ccxt is imported before a venue is wanted.
_REASONS: Final[dict[str, str]] = {
    "RequestTimeout": "no answer in time",
    "ExchangeNotAvailable": "not reachable",
    "OnMaintenance": "under maintenance",
    "BadSymbol": "does not know the market",
    "AuthenticationError": "wants a key",
    "PermissionDenied": "refuses this place",
    "RestrictedLocation": "refuses this place",
}


def open_exchange(ccxt_id: str, config: dict[str, Any]) -> Any:
    """Make the ccxt exchange; ccxt is first imported here (it is large)."""
    return getattr(importlib.import_module(f"ccxt.async_support.{ccxt_id}"), ccxt_id)(config)


class VenueClient:
    """A venue that is asked politely and never raises at its caller."""

    def __init__(
        self,
        spec: VenueSpec,
        assets: tuple[str, ...],
        factory: ExchangeFactory = open_exchange,
        timeout_s: float = 8.0,
    ) -> None:
        """Remember how to read `spec`; nothing is opened before the first request."""
        self.spec = spec
        self.assets = assets
        self.spot: dict[str, str] = {}  # asset -> symbol; the stablecoin too where it is quoted in USD
        self.perpetual: dict[str, str] = {}
        self.asked_at: dict[str, int] = {}  # kind -> when it last answered, for what is not asked every tick
        self._factory = factory
        self._timeout_s = timeout_s
        self._exchange: Any = None
        self._loaded = False
        self._paused_until_ms = 0
        self._strikes = 0
        self._retry_after_ms: int | None = None  # of a refusal not yet acted on; 0 where it named none

    @property
    def exchange(self) -> Any:
        """The ccxt exchange, made at the first use."""
        if self._exchange is None:
            options = {"warnOnFetchOpenOrdersWithoutSymbol": False, **self.spec.options}
            timeout_ms = max(1, round(1000 * self._timeout_s))
            config = {"enableRateLimit": True, "timeout": timeout_ms, "options": options}
            self._exchange = self._factory(self.spec.ccxt_id, config)
            # The currency lists are large and nothing here reads them.
            self._exchange.has["fetchCurrencies"] = False
            # ccxt judges the body before the status, so a 429 may surface as any error: listen to the status.
            self._exchange.on_rest_response = self._listen
        return self._exchange

    async def work(self, plan: Callable[[VenueClient], list[Job]], now_ms: int, collector: Collector) -> None:
        """Load the markets once, then run every job of `plan`; each outcome goes to the collector."""
        kinds = self.spec.kinds
        collector.expect(self.spec.name, kinds)
        reason = await self.load(now_ms)
        if reason is not None:
            for kind in kinds:
                collector.settle(self.spec.name, kind, reason)
            return
        jobs = plan(self)
        collector.expect(self.spec.name, [kind for job in jobs for kind in job.kinds])
        for kind in kinds:  # the jobs stand for it now
            collector.expected[self.spec.name, kind] -= 1
        await self._run(jobs, now_ms, collector)

    def _forget_the_future(self, now_ms: int) -> None:
        """Go by the clock as it shows now: what was noted while it was ahead would keep us waiting until then."""
        self.asked_at = {kind: at_ms for kind, at_ms in self.asked_at.items() if at_ms <= now_ms}
        if self._paused_until_ms > now_ms + LONGEST_PAUSE_MS:
            self._paused_until_ms = 0

    async def work_more(self, jobs: Sequence[Job], now_ms: int, collector: Collector) -> None:
        """Run further jobs in a tick in which the venue has been planned already."""
        collector.expect(self.spec.name, [kind for job in jobs for kind in job.kinds])
        await self._run(jobs, now_ms, collector)

    async def _run(self, jobs: Sequence[Job], now_ms: int, collector: Collector) -> None:
        slots = asyncio.Semaphore(IN_FLIGHT)

        async def one(job: Job) -> None:
            async with slots:
                reason = self.pause_reason(now_ms)
                outcome = reason if reason is not None else await self.attempt(job, now_ms)
                for number, kind in enumerate(job.kinds):
                    collector.settle(self.spec.name, kind, outcome if number == 0 or isinstance(outcome, str) else ())

        await asyncio.gather(*(one(job) for job in jobs))

    async def attempt(self, job: Job, now_ms: int) -> Sequence[Any] | str:
        """Run one job; return its readings, or why there are none."""
        try:
            readings = await job.run()
        except Exception as error:  # noqa: BLE001 - ccxt leaks any error on an answer of another shape
            return self._explain(error, now_ms)
        self._strikes = 0
        if not readings and not job.may_be_empty:
            return "answered without the assets asked for"
        return readings

    def pause_reason(self, now_ms: int) -> str | None:
        """Say why the venue is left alone at `now_ms`; None when it may be asked."""
        if now_ms >= self._paused_until_ms:
            return None
        return "left alone after asking us to slow down (429)"

    async def load(self, now_ms: int) -> str | None:
        """Load the markets unless they are; return why the venue cannot be asked, or None."""
        self._forget_the_future(now_ms)
        paused = self.pause_reason(now_ms)
        if paused is not None or self._loaded:
            return paused
        try:
            await self._load_markets()
        except Exception as error:  # noqa: BLE001 - as above; the next tick tries again
            return "markets: " + self._explain(error, now_ms)
        if not self.spot and not self.perpetual:
            return "markets: lists none of the assets"
        self._loaded = True
        return None

    async def _load_markets(self) -> None:
        exchange = self.exchange
        narrowing = self.spec.load_params(self.assets)
        try:
            await exchange.load_markets(reload=True, params=narrowing)
        except Exception as error:
            if not narrowing or _name(error) != "BadSymbol":
                raise
            await exchange.load_markets(reload=True)  # one of the pairs is gone: take the whole list this once
        markets = _public_markets(exchange)
        self.spot = _spot_symbols(markets, self.spec, self.assets)
        self.perpetual = _perpetual_symbols(markets, self.assets) if self.spec.perpetual else {}
        wanted = {*self.spot.values(), *self.perpetual.values()}
        # Thousands of parsed markets would stay resident; keep the dozen that are read.
        exchange.currencies = {}
        exchange.set_markets([market for symbol, market in markets.items() if symbol in wanted])

    def _explain(self, error: Exception, now_ms: int) -> str:
        """Name the failure in words that may be published (never a URL or a body)."""
        if self._retry_after_ms is not None or _name(error) in {"RateLimitExceeded", "DDoSProtection"}:
            self._pause(now_ms)
        if now_ms < self._paused_until_ms:
            return SLOW_DOWN
        if isinstance(error, Unusable):
            return str(error)
        for known in type(error).__mro__:
            if known.__name__ in _REASONS:
                return _REASONS[known.__name__]
        return "refused the request" if _is_ccxt(error) else "answered in an unreadable form"

    def _pause(self, now_ms: int) -> None:
        asked_ms, self._retry_after_ms = self._retry_after_ms or 0, None
        if now_ms < self._paused_until_ms:
            return  # several requests were in flight: one strike
        pause_ms = max(asked_ms, FIRST_PAUSE_MS * 2**self._strikes)
        self._paused_until_ms = now_ms + min(LONGEST_PAUSE_MS, pause_ms)
        self._strikes = min(self._strikes + 1, 10)

    def _listen(self, code: int, *answer: Any) -> str:
        """Hear every answer's status before ccxt judges its body; return the body.

        Args:
            code: HTTP status.
            answer: reason, URL, method, headers, body, as ccxt's hook gives them, and then the request's.
        """
        headers, body = answer[3], str(answer[4])
        _VENUE_MS.set(_date_ms(headers))
        if code in {418, 429}:
            wait = next((value for name, value in headers.items() if name.lower() == "retry-after"), "")
            self._retry_after_ms = 1000 * int(wait) if wait.isdecimal() and len(wait) < 6 else 0
        return body.strip()

    @staticmethod
    def venue_ms() -> int | None:
        """Return the venue's own time, UTC ms, by the last answer of this task's request; None where it did not say."""
        return _VENUE_MS.get()

    async def aclose(self) -> None:
        """Close its connections."""
        if self._exchange is not None:
            await self._exchange.close()
            self._exchange, self._loaded = None, False


def _public_markets(exchange: Any) -> dict[str, Any]:
    """Return symbol -> market without dark pools, which Kraken lists (`XXBTZUSD.d`) and ccxt takes for the same pair."""
    listed = (market for same_id in exchange.markets_by_id.values() for market in same_id)
    return {market["symbol"]: market for market in listed if not market["id"].endswith(".d")}


def _date_ms(headers: Mapping[str, str]) -> int | None:
    """Read the Date header; whole seconds."""
    date = next((value for name, value in headers.items() if name.lower() == "date"), "")
    try:
        return round(1000 * parsedate_to_datetime(date).timestamp())
    except (TypeError, ValueError, OverflowError):
        return None


def _name(error: Exception) -> str:
    return type(error).__name__


def _is_ccxt(error: Exception) -> bool:
    return any(kind.__name__ == "BaseError" for kind in type(error).__mro__)


def _spot_symbols(markets: dict[str, Any], spec: VenueSpec, assets: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for asset in assets:
        listed = [f"{asset}/{quote}" for quote in spec.quotes if _active(markets, f"{asset}/{quote}")]
        if listed:
            found[asset] = listed[0]
    basis = f"{STABLECOIN}/USD"
    if spec.quotes_stablecoin and _active(markets, basis):
        found[STABLECOIN] = basis
    return found


def _perpetual_symbols(markets: dict[str, Any], assets: tuple[str, ...]) -> dict[str, str]:
    symbols = {asset: f"{asset}/{STABLECOIN}:{STABLECOIN}" for asset in assets}
    return {asset: symbol for asset, symbol in symbols.items() if _active(markets, symbol)}


def _active(markets: dict[str, Any], symbol: str) -> bool:
    return symbol in markets and markets[symbol].get("active") is not False
