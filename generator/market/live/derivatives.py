"""Funding, open interest and liquidations of one venue's perpetual futures."""

import asyncio
import math
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final

from generator.catalog.durations import DAY_MS, HOUR_MS
from generator.market.bars import BAR_MS
from generator.market.live.client import VenueClient
from generator.market.live.readings import (
    DayAgoReading,
    FundingReading,
    InterestReading,
    Job,
    LiquidationReading,
    Reading,
    Unusable,
    keep_usable,
)

_STANDARD_HOURS: Final = 8.0
_STATISTICS_BARS: Final = 4
_DAY_ROWS: Final = 25
_NO_INTEREST: Final = "open interest that is not a positive number"


def derivative_jobs(client: VenueClient, now_ms: int, intervals: dict[str, float]) -> list[Job]:
    """Return the requests for perpetual futures that are due at `now_ms`.

    Rates and open interest are asked in every tick; contract statistics once a bar, because they only change
    then; day-old open interest and funding intervals once an hour. `intervals` (asset -> hours between fundings, where
    they come apart from the rates) is filled here.
    """
    if not client.perpetual:
        return []

    jobs: list[Job] = []
    # Both are asked at once; rates are read once the intervals were, or have failed.
    intervals_asked = asyncio.Event()
    if client.spec.intervals and _hourly(client, "intervals", now_ms):
        ask = partial(_intervals, client, now_ms, intervals, intervals_asked)
        jobs.append(Job(("intervals",), ask, may_be_empty=True))
    else:
        intervals_asked.set()

    if client.spec.funding == "all":
        kinds: tuple[str, ...] = ("funding",)
        if client.spec.open_interest == "with_funding":
            kinds = ("funding", "open_interest")
        jobs.append(Job(kinds, partial(_all_funding, client, now_ms, intervals, intervals_asked)))
    else:
        asks = [partial(_one_funding, client, asset, now_ms, intervals) for asset in client.perpetual]
        jobs += [Job(("funding",), ask) for ask in asks]

    return jobs + _interest_jobs(client, now_ms)


def _interest_jobs(client: VenueClient, now_ms: int) -> list[Job]:
    def each(kinds: tuple[str, ...], ask: Callable[[VenueClient, str, int], Awaitable[list[Reading]]]) -> list[Job]:
        return [Job(kinds, partial(ask, client, asset, now_ms)) for asset in client.perpetual]

    jobs: list[Job] = []
    match client.spec.open_interest:
        case "all":
            jobs.append(Job(("open_interest",), partial(_all_interest, client, now_ms)))
        case "each":
            jobs += each(("open_interest",), _one_interest)
        case "statistics" if client.asked_at.get("statistics", -BAR_MS) // BAR_MS != now_ms // BAR_MS:
            jobs += each(("open_interest", "liquidations"), _statistics)

    if client.spec.day_ago and _hourly(client, "open_interest_history", now_ms):
        jobs += each(("open_interest_history",), _history)
    return jobs


def _hourly(client: VenueClient, kind: str, now_ms: int) -> bool:
    return now_ms - client.asked_at.get(kind, -HOUR_MS) >= HOUR_MS


async def _all_funding(
    client: VenueClient, now_ms: int, intervals: dict[str, float], intervals_asked: asyncio.Event
) -> list[Reading]:
    answer = await client.exchange.fetch_funding_rates(list(client.perpetual.values()))
    await intervals_asked.wait()
    rows = [(asset, answer[symbol]) for asset, symbol in client.perpetual.items() if symbol in answer]

    def parse(asset: str, row: dict[str, Any]) -> list[Reading]:
        funding = _funding(client, asset, row, now_ms, intervals)
        if client.spec.open_interest != "with_funding":
            return [funding]
        info = row["info"]
        held = {"openInterestValue": info.get("openInterestValue"), "openInterestAmount": info.get("openInterest")}
        return [funding, InterestReading(client.spec.name, asset, funding.as_of_ms, *_held(client, asset, held))]

    return keep_usable(partial(parse, asset, row) for asset, row in rows)


async def _one_funding(client: VenueClient, asset: str, now_ms: int, intervals: dict[str, float]) -> list[Reading]:
    row = await client.exchange.fetch_funding_rate(client.perpetual[asset])
    return [_funding(client, asset, row, now_ms, intervals)]


def _funding(
    client: VenueClient, asset: str, row: dict[str, Any], now_ms: int, intervals: dict[str, float]
) -> FundingReading:
    rate = row.get("fundingRate")
    if rate is None or not math.isfinite(rate):
        raise Unusable("a funding rate that is not a number")

    hours = hours_of(row.get("interval")) or intervals.get(asset)
    rate_8h = float(rate) * _STANDARD_HOURS / (hours or _STANDARD_HOURS)
    mark = row.get("markPrice")
    as_of_ms = int(row.get("timestamp") or now_ms)
    return FundingReading(client.spec.name, asset, as_of_ms, rate_8h, mark and float(mark), hours is not None)


def hours_of(interval: str | None) -> float | None:
    """Read a ccxt funding interval: `8h`, or bare milliseconds where ccxt has no word for it; None if unknown.

    >>> hours_of("8h"), hours_of("3600000"), hours_of("often")
    (8.0, 1.0, None)
    """
    text = (interval or "").removesuffix("h")
    try:
        number = float(text)
    except ValueError:
        return None

    hours = number / HOUR_MS if interval == text else number
    return hours if math.isfinite(hours) and hours > 0 else None


async def _intervals(
    client: VenueClient, now_ms: int, intervals: dict[str, float], asked: asyncio.Event
) -> list[Reading]:
    """Learn which contracts do not pay each 8 hours; the list names only those that were changed."""
    try:
        answer = await client.exchange.fetch_funding_intervals(list(client.perpetual.values()))
        for asset, symbol in client.perpetual.items():
            intervals[asset] = hours_of(answer.get(symbol, {}).get("interval")) or _STANDARD_HOURS
        client.asked_at["intervals"] = now_ms
    finally:
        asked.set()
    return []


async def _all_interest(client: VenueClient, now_ms: int) -> list[Reading]:
    answer = await client.exchange.fetch_open_interests(list(client.perpetual.values()))
    rows = [(asset, answer[symbol]) for asset, symbol in client.perpetual.items() if symbol in answer]
    return keep_usable(partial(_interest, client, asset, row, now_ms) for asset, row in rows)


async def _one_interest(client: VenueClient, asset: str, now_ms: int) -> list[Reading]:
    return _interest(client, asset, await client.exchange.fetch_open_interest(client.perpetual[asset]), now_ms)


def _interest(client: VenueClient, asset: str, row: dict[str, Any], now_ms: int) -> list[Reading]:
    as_of_ms = int(row.get("timestamp") or now_ms)
    return [InterestReading(client.spec.name, asset, as_of_ms, *_held(client, asset, row))]


def _held(client: VenueClient, asset: str, row: dict[str, Any]) -> tuple[float | None, float | None]:
    """Return open interest in the settlement currency and in coins; None for what the venue does not say."""
    size = client.exchange.market(client.perpetual[asset])["contractSize"] or 1.0
    usd = _positive(row.get("openInterestValue"))
    contracts = _positive(row.get("openInterestAmount"))
    if usd is None and contracts is None:
        raise Unusable(_NO_INTEREST)
    return usd, None if contracts is None else contracts * size


def _positive(value: Any) -> float | None:
    """Return a number that a venue says, None where it does not; Unusable: it is not positive."""
    if value is None:
        return None
    number = float(value)
    if not 0 < number < math.inf:
        raise Unusable(_NO_INTEREST)
    return number


async def _history(client: VenueClient, asset: str, now_ms: int) -> list[Reading]:
    rows = await client.exchange.fetch_open_interest_history(client.perpetual[asset], "1h", None, _DAY_ROWS)
    client.asked_at["open_interest_history"] = now_ms
    return [_day_ago(client, asset, rows, now_ms)]


def _day_ago(client: VenueClient, asset: str, rows: list[dict[str, Any]], now_ms: int) -> DayAgoReading:
    then = min(rows, key=lambda row: abs(now_ms - DAY_MS - row["timestamp"]), default=None)
    if then is None or abs(now_ms - DAY_MS - then["timestamp"]) > 2 * HOUR_MS:
        raise Unusable("no open interest of a day ago")
    return DayAgoReading(client.spec.name, asset, int(then["timestamp"]), *_held(client, asset, then))


async def _statistics(client: VenueClient, asset: str, now_ms: int) -> list[Reading]:
    """Read contract statistics: bars for open interest now and the last bars, hours for the last day."""
    symbol = client.perpetual[asset]
    bars = await client.exchange.fetch_open_interest_history(symbol, "5m", None, _STATISTICS_BARS)
    hours = await client.exchange.fetch_open_interest_history(symbol, "1h", None, _DAY_ROWS)
    client.asked_at["statistics"] = now_ms

    last = max(bars, key=lambda row: row["timestamp"], default=None)
    if last is None:
        raise Unusable("no contract statistics")

    day = [row for row in hours if row["timestamp"] > now_ms - DAY_MS]
    longs = sum(_amount(row, "long") for row in day)
    shorts = sum(_amount(row, "short") for row in day)
    single = tuple((int(row["timestamp"]), _amount(row, "long"), _amount(row, "short")) for row in bars)

    venue = client.spec.name
    as_of_ms = int(last["timestamp"])
    return [
        InterestReading(venue, asset, as_of_ms, *_held(client, asset, last)),
        LiquidationReading(venue, asset, as_of_ms, longs, shorts, single),
        _day_ago(client, asset, hours, now_ms),
    ]


def _amount(row: dict[str, Any], side: str) -> float:
    value = float(row["info"][f"{side}_liq_usd"])
    if not math.isfinite(value) or value < 0:
        raise Unusable("a liquidated amount that is not a number")
    return value
