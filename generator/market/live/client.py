"""One venue behind ccxt: its markets, its requests, and when to leave it alone."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from email.utils import parsedate_to_datetime
from typing import Any, Final

from generator.catalog.durations import DAY_MS, HOUR_MS, MINUTE_MS
from generator.catalog.venues import OTHER_REGION
from generator.market.live.readings import Collector, Job, Unusable
from generator.market.live.venues import STABLECOIN, VenueSpec

ExchangeFactory = Callable[[str, dict[str, Any]], Any]

IN_FLIGHT: Final = 4  # requests to one venue at once; ccxt's own limiter spaces them
FIRST_PAUSE_MS: Final = MINUTE_MS
LONGEST_PAUSE_MS: Final = 900_000
OTHER_REGION_PAUSE_MS: Final = 6 * HOUR_MS
MARKETS_AGE_MS: Final = DAY_MS  # then they are read again: contract sizes change, markets are renamed and go
RELOAD_PAUSE_MS: Final = 10 * MINUTE_MS
SLOW_DOWN: Final = "asked to slow down (429)"
REFUSED: Final = "refuses access from here (403)"
# Words of a 403 that is about where we are; without one it is a venue's way to say that we ask too often.
_OF_REGIONS: Final = ("country", "region", "location", "jurisdiction", "territor")

# Requests run concurrently, each in a task of its own: an answer's time must not be taken for another's.
_VENUE_MS: Final[ContextVar[int | None]] = ContextVar("venue_ms", default=None)

# ccxt's class names, so that nothing of ccxt is imported before a venue is wanted.
_REASONS: Final[dict[str, str]] = {
    "RequestTimeout": "no answer in time",
    "ExchangeNotAvailable": "not reachable",
    "OnMaintenance": "under maintenance",
    "BadSymbol": "unknown market",
    "AuthenticationError": "requires an API key",
    "PermissionDenied": OTHER_REGION,
    "RestrictedLocation": OTHER_REGION,
}


def open_exchange(ccxt_id: str, config: dict[str, Any]) -> Any:
    """Make the ccxt exchange; ccxt is first imported here (it is large)."""
    return getattr(importlib.import_module(f"ccxt.async_support.{ccxt_id}"), ccxt_id)(config)


class VenueClient:
    """A venue that is asked politely and never raises at its caller; nothing is opened before the first request."""

    def __init__(
        self, spec: VenueSpec, assets: tuple[str, ...], factory: ExchangeFactory = open_exchange, timeout_s: float = 8.0
    ) -> None:
        self.spec = spec
        self.assets = assets
        self.spot: dict[str, str] = {}  # asset -> symbol; the stablecoin too where it is quoted in USD
        self.perpetual: dict[str, str] = {}
        self.asked_at: dict[str, int] = {}  # kind -> when it last answered, for what is not asked every tick
        self._factory = factory
        self._timeout_s = timeout_s
        self._exchange: Any = None
        self._loaded_ms: int | None = None  # when the markets were read
        self._reload_ms = 0  # when they are read again
        self._now_ms = 0
        self._paused_until_ms = 0
        self._pause_ms = 0  # how long the last pause was meant to be
        self._pause_reasons = ("", "")  # of the pause: of the request that brought it, and of those left out
        self._strikes = 0

    @property
    def exchange(self) -> Any:
        """The ccxt exchange, made at the first use."""
        if self._exchange is None:
            # ccxt brings certificates of its own; those of SSL_CERT_FILE count as well.
            ours = {"warnOnFetchOpenOrdersWithoutSymbol": False, "include_OS_certificates": True}
            options = {**ours, **self.spec.options}
            timeout_ms = max(1, round(1000 * self._timeout_s))
            config = {"enableRateLimit": True, "timeout": timeout_ms, "options": options, "aiohttp_trust_env": True}
            self._exchange = self._factory(self.spec.ccxt_id, config)
            # The currency lists are large and nothing here reads them.
            self._exchange.has["fetchCurrencies"] = False
            # ccxt judges the body before the status, so a 429 may surface as any error: listen to the status.
            self._exchange.on_rest_response = self._listen
        return self._exchange

    async def work(self, plan: Callable[[VenueClient], list[Job]], now_ms: int, collector: Collector) -> None:
        """Load the markets where they are due, then run every job of `plan`; each outcome goes to the collector."""
        owed = [(self.spec.name, kind) for kind in self.spec.kinds]
        collector.expected.update(owed)
        reason = await self.load(now_ms)
        if reason is None:
            collector.expected.subtract(owed)  # the jobs stand for it now
            await self.run(plan(self), collector)
        else:
            for key in owed:
                collector.settle(*key, reason)

    async def run(self, jobs: Sequence[Job], collector: Collector) -> None:
        """Run jobs of a venue whose markets are loaded."""
        collector.expected.update((self.spec.name, kind) for job in jobs for kind in job.kinds)
        slots = asyncio.Semaphore(IN_FLIGHT)

        async def one(job: Job) -> None:
            async with slots:
                outcome = self._pause_reason() or await self.attempt(job)
                first, *others = job.kinds
                collector.settle(self.spec.name, first, outcome)
                for kind in others:  # their readings came with the first's
                    collector.settle(self.spec.name, kind, outcome if isinstance(outcome, str) else ())

        await asyncio.gather(*(one(job) for job in jobs))

    async def attempt(self, job: Job) -> list[Any] | str:
        """Run one job; return its readings, or why there are none."""
        try:
            readings = list(await job.run())
        except Exception as error:  # noqa: BLE001 - ccxt leaks any error on an answer of another shape
            return self._explain(error)
        self._strikes = 0
        if not readings and not job.may_be_empty:
            return "answered without the assets asked for"
        return readings

    async def load(self, now_ms: int) -> str | None:
        """Load the markets unless they are, or are old; return why the venue cannot be asked, or None.

        Old ones serve on while newer ones do not come.
        """
        self._now_ms = now_ms
        # After our clock was set back: what was noted while it was ahead would keep us waiting until then.
        self.asked_at = {kind: at_ms for kind, at_ms in self.asked_at.items() if at_ms <= now_ms}
        if self._paused_until_ms > now_ms + self._pause_ms:
            self._paused_until_ms = 0
        if self._reload_ms > now_ms + 2 * MARKETS_AGE_MS:
            self._reload_ms = now_ms

        paused = self._pause_reason()
        if paused is not None or (self._loaded_ms is not None and now_ms < self._reload_ms):
            return paused

        self._reload_ms = now_ms + RELOAD_PAUSE_MS
        try:
            await self._load_markets()
        except Exception as error:  # noqa: BLE001 - as above; a later tick tries again
            reason = self._explain(error)
            return None if self._loaded_ms is not None and not self._pause_reason() else f"markets: {reason}"
        if not self.spot and not self.perpetual:
            self._loaded_ms = None
            return "markets: lists none of the assets"

        self._loaded_ms = now_ms
        # Not those of every venue in the same minute.
        self._reload_ms = now_ms + MARKETS_AGE_MS + sum(map(ord, self.spec.name)) % 60 * MINUTE_MS
        return None

    async def _load_markets(self) -> None:
        exchange = self.exchange
        narrowing = self.spec.load_params(self.assets)
        try:
            await exchange.load_markets(reload=True, params=narrowing)
        except Exception as error:
            if not narrowing or type(error).__name__ != "BadSymbol":
                raise
            await exchange.load_markets(reload=True)  # one of the pairs is gone: take the whole list this once

        markets = _open_markets(exchange)
        self.spot = _spot_symbols(markets, self.spec, self.assets)
        perpetual = {asset: f"{asset}/{STABLECOIN}:{STABLECOIN}" for asset in self.assets}
        if self.spec.funding != "none":
            self.perpetual = {asset: symbol for asset, symbol in perpetual.items() if symbol in markets}

        # Thousands of parsed markets would stay resident; keep the dozen that are read.
        exchange.currencies = {}
        exchange.set_markets([markets[symbol] for symbol in (*self.spot.values(), *self.perpetual.values())])

    def _explain(self, error: Exception) -> str:
        """Name the failure in words that may be published (never a URL or a body)."""
        names = [kind.__name__ for kind in type(error).__mro__]
        if names[0] in {"RateLimitExceeded", "DDoSProtection"}:
            self._slow_down(0)
        if self._pause_reason():
            return self._pause_reasons[0]
        if isinstance(error, Unusable):
            return str(error)
        if "BadSymbol" in names and self._loaded_ms is not None:
            self._reload_ms = max(self._now_ms, self._loaded_ms + RELOAD_PAUSE_MS)
        unknown = "refused the request" if "BaseError" in names else "answered in an unreadable form"
        return next((_REASONS[name] for name in names if name in _REASONS), unknown)

    def _pause_reason(self) -> str | None:
        """Say why the venue is left alone; None when it may be asked."""
        return None if self._now_ms >= self._paused_until_ms else self._pause_reasons[1]

    def _pause(self, pause_ms: int, reason: str, meanwhile: str) -> None:
        if self._pause_reason():
            return  # several requests were in flight: the first counts
        self._pause_ms = pause_ms
        self._paused_until_ms = self._now_ms + pause_ms
        self._pause_reasons = (reason, meanwhile)

    def _slow_down(self, asked_ms: int, reason: str = SLOW_DOWN) -> None:
        """Pause for as long as it asks, else for a minute, which doubles while it keeps refusing."""
        if self._pause_reason():
            return  # one strike
        meanwhile = "left alone after asking us to slow down (429)" if reason == SLOW_DOWN else reason
        self._pause(min(LONGEST_PAUSE_MS, max(asked_ms, FIRST_PAUSE_MS * 2**self._strikes)), reason, meanwhile)
        self._strikes = min(self._strikes + 1, 10)

    def _listen(self, code: int, *answer: Any) -> str:
        """Hear every answer's status before ccxt judges its body; return the body.

        Args:
            code: HTTP status.
            answer: reason, URL, method, headers, body, as ccxt's hook gives them, and then the request's.
        """
        headers = {name.lower(): value for name, value in answer[3].items()}
        body = str(answer[4]).strip()
        _VENUE_MS.set(_date_ms(headers.get("date", "")))
        if code in {418, 429}:
            wait = headers.get("retry-after", "")
            self._slow_down(1000 * int(wait) if wait.isdecimal() and len(wait) < 6 else 0)
        elif code == 451 or (code == 403 and any(word in body.lower() for word in _OF_REGIONS)):
            region = f"{OTHER_REGION} ({code})"
            self._pause(OTHER_REGION_PAUSE_MS, region, region)
        elif code == 403:
            self._slow_down(0, REFUSED)
        return body

    @staticmethod
    def venue_ms() -> int | None:
        """Return the venue's own time, UTC ms, by the last answer of this task's request; None where it did not say."""
        return _VENUE_MS.get()

    async def aclose(self) -> None:
        """Close its connections."""
        if self._exchange is not None:
            await self._exchange.close()


def _open_markets(exchange: Any) -> dict[str, Any]:
    """Return symbol -> active market; not Kraken's dark pools (`XXBTZUSD.d`), which ccxt takes for the same pair."""
    listed = [market for same_id in exchange.markets_by_id.values() for market in same_id]
    public = {market["symbol"]: market for market in listed if not market["id"].endswith(".d")}
    return {symbol: market for symbol, market in public.items() if market.get("active") is not False}


def _date_ms(date: str) -> int | None:
    """Read the Date header; whole seconds."""
    try:
        return round(1000 * parsedate_to_datetime(date).timestamp())
    except (TypeError, ValueError, OverflowError):
        return None


def _spot_symbols(markets: dict[str, Any], spec: VenueSpec, assets: tuple[str, ...]) -> dict[str, str]:
    """Return asset -> the first of its symbols, in the order of the venue's quotes, that is listed."""
    symbols: dict[str, str] = {}
    for asset in assets:
        pairs = [f"{asset}/{quote}" for quote in spec.quotes]
        listed = [pair for pair in pairs if pair in markets]
        if listed:
            symbols[asset] = listed[0]

    basis = f"{STABLECOIN}/USD"
    if spec.quotes_stablecoin and basis in markets:
        symbols[STABLECOIN] = basis
    return symbols
