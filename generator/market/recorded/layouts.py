"""How publishers lay out candles, funding rates and open interest: one table, and which of it a sheet follows."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from generator.market.bars import BAR_FIELDS
from generator.market.recorded.cells import number, time_ms
from generator.market.recorded.sheets import Row, UnreadableFileError

OURS: Final = "this program"
TIME: Final = "ts"
PRICES: Final = ("open", "high", "low", "close")
_HEADER_WITHIN: Final = 6  # rows from the first
_SLACK: Final = 1e-4  # of the price: rounding
_SAMPLE: Final = 200  # rows that a layout without a header must hold over
_TIMES: Final = (
    "timestamp",
    "time",
    "open_time",
    "opentime",
    "open time",
    "datetime",
    "date",
    "gmt time",
    "time_period_start",
    "ts_event",
    "unix",
    "start",
    "t",
    "",
    "index",
)
_VOLUMES: Final = (
    "volume",
    "vol",
    "base_volume",
    "volume_base",
    "volumefrom",
    "volume_(btc)",
    "volume_({base})",
    "volume_traded",
    "v",
)
CLOCK: Final = "clock"
"""The column of the time of day, where the day has a column of its own."""


class RecordedKind(StrEnum):
    """What a recorded file holds."""

    CANDLES = "candles"
    FUNDING = "funding"
    OPEN_INTEREST = "open_interest"


FIELDS: Final[Mapping[RecordedKind, tuple[str, ...]]] = MappingProxyType(
    {
        RecordedKind.CANDLES: (*PRICES, "volume"),
        RecordedKind.FUNDING: ("funding_rate",),
        RecordedKind.OPEN_INTEREST: ("sum_open_interest", "sum_open_interest_value"),
    }
)


@dataclass(frozen=True, slots=True)
class Layout:
    """One publisher's columns.

    With `names`, a header names them: of each of our fields the names that the publisher gives it, `{base}` being the
    asset, and `marks` those that tell the publisher from others. With `order`, there is no header, and the columns come
    in this order.
    """

    publisher: str
    kind: RecordedKind = RecordedKind.CANDLES
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    marks: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    closes: bool = False  # its times are those of a bar's close


def _named(publisher: str, time: str, volume: str | None, *marks: str, **other: str) -> Layout:
    """Make a layout of candles by what differs from the usual names; without `volume` it is unknown (it is dollars)."""
    names = {TIME: (time,)} | {name: (name,) for name in PRICES} | {name: (theirs,) for name, theirs in other.items()}
    return Layout(publisher, names=names | ({"volume": (volume,)} if volume else {}), marks=(time, *marks))


_ANY: Final = "a usual header"
_USUAL: Final = {TIME: _TIMES} | {name: (name, f"price_{name}", name[0]) for name in PRICES} | {"volume": _VOLUMES}

LAYOUTS: Final = (
    Layout(OURS, names={name: (name,) for name in (TIME, *BAR_FIELDS)}, marks=(TIME, "volume")),
    Layout(OURS, RecordedKind.FUNDING, {TIME: (TIME,), "funding_rate": ("funding_rate",)}),
    Layout(OURS, RecordedKind.OPEN_INTEREST, {name: (name,) for name in (TIME, *FIELDS[RecordedKind.OPEN_INTEREST])}),
    Layout("Binance", RecordedKind.FUNDING, {TIME: ("calc_time",), "funding_rate": ("last_funding_rate",)}),
    Layout(
        "Binance",
        RecordedKind.OPEN_INTEREST,
        {TIME: ("create_time",)} | {name: (name,) for name in FIELDS[RecordedKind.OPEN_INTEREST]},
    ),
    Layout(
        "Binance's interface",  # and ccxt's
        RecordedKind.FUNDING,
        {TIME: ("fundingtime", "timestamp"), "funding_rate": ("fundingrate",)},
    ),
    Layout(
        "Binance's interface",
        RecordedKind.OPEN_INTEREST,
        {TIME: ("timestamp",)} | {name: (name.replace("_", ""),) for name in FIELDS[RecordedKind.OPEN_INTEREST]},
    ),
    _named("Binance", "open_time", "volume", "close_time"),
    _named("CryptoDataDownload", "unix", "volume {base}"),
    _named("CoinMarketCap", "timeopen", None, "timeclose"),
    _named("OKX", "open_time", "vol", "vol_ccy", confirm="confirm"),
    _named("Investing.com", "date", None, "change %", close="price"),
    _named("Yahoo", "date", None, "adj close"),
    _named("yfinance", "price", None),
    Layout(_ANY, names=_USUAL),
    Layout(_ANY, names=_USUAL | {TIME: ("close_time", "closetime", "close time", "timeclose")}, closes=True),
    Layout(
        "Binance", order=(TIME, *PRICES, "volume", "close_time", "quote", "trades", "taker", "taker_quote", "ignored")
    ),
    Layout("OKX", order=(TIME, *PRICES, "volume", "quote", "quote_usd", "confirm")),
    Layout("Kraken's interface", order=(TIME, *PRICES, "vwap", "volume", "trades")),
    Layout("Gate", order=(TIME, "quote", "close", "high", "low", "open", "volume", "closed")),
    Layout("Kraken", order=(TIME, *PRICES, "volume", "trades")),  # Bybit's too, with its turnover last
    Layout("KuCoin", order=(TIME, "open", "close", "high", "low", "volume", "quote")),
    Layout("ccxt, freqtrade", order=(TIME, *PRICES, "volume")),
    Layout("Coinbase", order=(TIME, "low", "high", "open", "close", "volume")),
    Layout("Bitfinex", order=(TIME, "open", "close", "high", "low", "volume")),
    Layout("Gate", order=(TIME, "volume", "close", "high", "low", "open")),
    Layout("CoinGecko", order=(TIME, *PRICES)),
)
EXPECTED: Final = (
    "expected a file for each pair, named as publishers of candles do (BTCUSDT.csv, BTCUSDT-5m-2022-10.zip, "
    "Binance_BTCUSDT_1h.csv, XBTUSD_5.csv), with the columns of one of them ("
    + ", ".join(dict.fromkeys(row.publisher for row in LAYOUTS if row.publisher not in {OURS, _ANY}))
    + ") or a header ts,open,high,low,close,volume (candles), ts,symbol,funding_rate, or "
    "ts,symbol,sum_open_interest,sum_open_interest_value"
)


@dataclass(frozen=True, slots=True)
class Columns:
    """Which column of a sheet holds what."""

    layout: Layout
    at: Mapping[str, int]  # of the time and of each field that is there, by our names
    skip: int  # rows before the first of numbers


def columns_of(rows: Sequence[Row], asset: str) -> Columns:
    """Find the layout of a sheet by its first rows.

    Raises:
        UnreadableFileError: it is none of the table.
    """
    for number_, row in enumerate(rows[:_HEADER_WITHIN]):
        header = [str(cell or "").strip(" <>").lower() for cell in row]
        for layout in LAYOUTS:
            at = None if layout.order else _by_name(layout, header, asset.lower())
            if at is not None:
                return Columns(layout, at, number_ + 1)

    numbers = [row for row in rows if len(row) > len(PRICES) and time_ms(row[0]) is not None]
    for layout in LAYOUTS:
        if layout.order and numbers and _by_order(layout, numbers[:_SAMPLE]):
            return Columns(layout, {name: column for column, name in enumerate(layout.order)}, 0)

    begins = ",".join(str(cell) for cell in rows[0])[:80] if rows else ""
    raise UnreadableFileError(f"it begins with {begins!r}, the columns of no layout that is read")


def _by_name(layout: Layout, header: list[str], base: str) -> dict[str, int] | None:
    """Return where the fields of a layout are in a header, None where one that it needs is not."""
    at: dict[str, int] = {}
    for ours, theirs in layout.names.items():
        found = next((name.format(base=base) for name in theirs if name.format(base=base) in header), None)
        if found is not None:
            at[ours] = header.index(found)

    if "time" in header and "date" in header and at.get(TIME) == header.index("time"):
        at |= {TIME: header.index("date"), CLOCK: header.index("time")}

    needed = {TIME, *PRICES} if layout.kind is RecordedKind.CANDLES else set(layout.names)
    return at if needed <= set(at) and all(mark.format(base=base) in header for mark in layout.marks) else None


def _by_order(layout: Layout, rows: Sequence[Row]) -> bool:
    """Return whether each row lies between its low and its high where the layout has them; most must be numbers."""
    low = layout.order.index("low")
    high = layout.order.index("high")
    between = [layout.order.index(name) for name in ("open", "close", "vwap") if name in layout.order]
    known = 0
    for row in rows:
        if len(row) != len(layout.order):
            return False
        values = [number(row[column]) for column in (low, high, *between)]
        if any(value is None or math.isnan(value) for value in values):
            continue

        lowest, highest, *others = [value for value in values if value is not None]
        slack = _SLACK * abs(highest)
        if not all(lowest - slack <= value <= highest + slack for value in others):
            return False
        known += 1
    return 2 * known >= len(rows)
