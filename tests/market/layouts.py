"""The same 900 candles as publishers and tools lay them out, and as people spoil them; written from their formats."""

import gzip
import io
import json
import math
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

START_MS: Final = 1_665_792_000_000  # 2022-10-15 00:00 UTC
COUNT: Final = 900
BAR_MS: Final = 300_000
SCALES: Final = {"BTC": 19_000.0, "ETH": 1_300.0}


@dataclass(frozen=True)
class Bar:
    """One candle."""

    t: int
    o: float
    h: float
    low: float
    c: float
    v: float


def bars(asset: str, length_ms: int = BAR_MS, count: int = COUNT) -> list[Bar]:
    """Return candles that move a little, their prices in cents."""
    made = []
    before = SCALES[asset]
    for number in range(count):
        close = round(SCALES[asset] * (1 + 0.01 * math.sin(number / 40) + 0.001 * math.sin(number * 7)), 2)
        high, low = round(max(before, close) * 1.0005, 2), round(min(before, close) * 0.9995, 2)
        made.append(Bar(START_MS + number * length_ms, before, high, low, close, 10.0 + number % 7))
        before = close
    return made


def iso(t_ms: int) -> str:
    """Return a time as pandas prints it."""
    return datetime.fromtimestamp(t_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")


def text(rows: Sequence[Sequence[object]], header: str = "", separator: str = ",", end: str = "\n") -> bytes:
    """Return rows as separated text."""
    lines = [header] * bool(header) + [separator.join(map(str, row)) for row in rows]
    return (end.join(lines) + end).encode()


def ohlcv(made: Sequence[Bar], time: Callable[[int], object] = int) -> list[list[object]]:
    """Return rows of time, open, high, low, close, volume."""
    return [[time(bar.t), bar.o, bar.h, bar.low, bar.c, bar.v] for bar in made]


def zipped(**members: bytes) -> bytes:
    """Return a zip of files, `__` in a name standing for a dot."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "."), content)
    return packed.getvalue()


def seconds(t_ms: int) -> int:
    """Return a time in seconds."""
    return t_ms // 1000


def _binance(made: Sequence[Bar], unit: int = 1) -> list[list[object]]:
    return [
        [bar.t * unit, bar.o, bar.h, bar.low, bar.c, bar.v, (bar.t + BAR_MS) * unit - 1, bar.v * bar.c, 9, 1, 1, 0]
        for bar in made
    ]


_BINANCE: Final = (
    "open_time,open,high,low,close,volume,close_time,quote_volume,count,taker_buy_volume,taker_buy_quote_volume,ignore"
)


def _download(asset: str, made: Sequence[Bar]) -> bytes:
    rows = [
        [f"{seconds(bar.t)}.0", iso(bar.t), f"{asset}/USDT", bar.o, bar.h, bar.low, bar.c, bar.v, bar.v * bar.c, "NULL"]
        for bar in reversed(made)
    ]
    header = f"unix,date,symbol,open,high,low,close,Volume {asset},Volume USDT,tradecount"
    return text(rows, f"https://www.CryptoDataDownload.com\n{header}")


def _minutes(asset: str) -> list[Bar]:
    """Return 1-minute candles that join to the usual ones."""
    made = []
    for bar in bars(asset):
        for minute in range(5):
            first, last = minute == 0, minute == 4
            made.append(
                Bar(
                    bar.t + minute * 60_000,
                    bar.o if first else bar.c,
                    bar.h if minute == 2 else max(bar.o, bar.c),
                    bar.low if minute == 3 else min(bar.o, bar.c),
                    bar.c if last else bar.o,
                    bar.v / 5,
                )
            )
    return made


def _kaggle(asset: str) -> bytes:
    """Minutes with one row that says that there was no trade."""
    rows: list[list[object]] = [
        [seconds(bar.t), bar.o, bar.h, bar.low, bar.c, bar.v, bar.v * bar.c, bar.c] for bar in _minutes(asset)
    ]
    rows[1001][1:] = ["NaN"] * 7
    rows[1001 - 1][5] = float(str(rows[1001 - 1][5])) * 2
    return text(rows, "Timestamp,Open,High,Low,Close,Volume_(BTC),Volume_(Currency),Weighted_Price")


def _yfinance(asset: str, made: Sequence[Bar]) -> bytes:
    header = f"Price,Close,High,Low,Open,Volume\nTicker,{','.join([asset + '-USD'] * 5)}\nDatetime,,,,,"
    return text([[iso(bar.t) + "+00:00", bar.c, bar.h, bar.low, bar.o, 0] for bar in made], header)


def _months(asset: str, made: Sequence[Bar]) -> dict[str, bytes]:
    """A pair split over files, the second of which repeats the last row of the first."""
    first, second = _binance(made[:500]), _binance(made[499:], 1000)
    return {
        f"{asset}USDT-5m-2022-10.zip": zipped(**{f"{asset}USDT-5m-2022-10__csv": text(first)}),
        f"{asset}USDT-5m-2022-11.zip": zipped(**{f"{asset}USDT-5m-2022-11__csv": text(second, _BINANCE)}),
    }


def _swap(rows: Sequence[Sequence[object]], order: str) -> list[list[object]]:
    """Put the columns t, o, h, l, c, v into another order."""
    return [[row["tohlcv".index(name)] for name in order] for row in rows]


Files = Callable[[str, Sequence[Bar]], dict[str, bytes]]


def _one(name: str, make: Callable[[str, Sequence[Bar]], bytes]) -> Files:
    return lambda asset, made: {name.format(asset=asset, kraken="XBT" if asset == "BTC" else asset): make(asset, made)}


def _json(data: object) -> bytes:
    return json.dumps(data).encode()


WITH_VOLUME: Final[dict[str, Files]] = {
    "this program's": _one("{asset}USDT.csv", lambda _, made: text(ohlcv(made), "ts,open,high,low,close,volume")),
    "Binance spot 2022": _one(
        "{asset}USDT-5m-2022-10.zip", lambda asset, made: zipped(**{f"{asset}__csv": text(_binance(made))})
    ),
    "Binance spot 2025": _one("{asset}USDT-5m-2025-01.csv", lambda _, made: text(_binance(made, 1000))),
    "Binance futures": _one("{asset}USDT-5m-2022-10.csv", lambda _, made: text(_binance(made), _BINANCE)),
    "months": _months,
    "CryptoDataDownload": _one("Binance_{asset}USDT_5m.csv", _download),
    "Kraken": _one("{kraken}USD_5.csv", lambda _, made: text([[*row, 12] for row in ohlcv(made, seconds)])),
    "Kraken's interface": _one(
        "{kraken}USD.json",
        lambda _, made: _json(
            {"error": [], "result": {"X": [[*row[:5], str(row[4]), row[5], 3] for row in ohlcv(made, seconds)]}}
        ),
    ),
    "Kaggle, new": _one(
        "{asset}USD_1-min_data.csv",
        lambda asset, _: text(
            ohlcv(_minutes(asset), lambda t: f"{seconds(t)}.0"), "Timestamp,Open,High,Low,Close,Volume"
        ),
    ),
    "Kaggle, old": _one("{asset}USD_1-min_data_2012-01-01_to_2021-03-31.csv", lambda asset, _: _kaggle(asset)),
    "Coinbase": _one(
        "{asset}-USD_5m.csv",
        lambda _, made: text(_swap(ohlcv(made, seconds), "tlhocv")[::-1], "time,low,high,open,close,volume"),
    ),
    "Coinbase's interface": _one(
        "{asset}-USD.json", lambda _, made: _json(_swap(ohlcv(made, seconds), "tlhocv")[::-1])
    ),
    "ccxt frame": _one(
        "{asset}_USDT.csv",
        lambda _, made: text([[n, *row] for n, row in enumerate(ohlcv(made))], ",timestamp,open,high,low,close,volume"),
    ),
    "pandas index": _one("{asset}-USDT.csv", lambda _, made: text(ohlcv(made, iso), ",open,high,low,close,volume")),
    "pandas JSON": _one(
        "{asset}USDT.json",
        lambda _, made: _json(
            {
                name: {str(n): row[column] for n, row in enumerate(ohlcv(made))}
                for column, name in enumerate(("timestamp", "open", "high", "low", "close", "volume"))
            }
        ),
    ),
    "pandas records": _one(
        "{asset}USDT.json",
        lambda _, made: _json(
            [
                dict(zip(("date", "open", "high", "low", "close", "volume"), row, strict=True))
                for row in ohlcv(made, iso)
            ]
        ),
    ),
    "TradingView": _one(
        "BINANCE_{asset}USDT, 5_a1b2c.csv",
        lambda _, made: text([[*row, 7] for row in ohlcv(made, seconds)], "time,open,high,low,close,Volume,Volume MA"),
    ),
    "freqtrade JSON": _one("{asset}_USDT-5m.json", lambda _, made: _json(ohlcv(made))),
    "freqtrade futures": _one(
        "{asset}_USDT_USDT-5m-futures.json.gz", lambda _, made: gzip.compress(_json(ohlcv(made)))
    ),
    "Gate": _one(
        "{asset}_USDT-202210.csv.gz", lambda _, made: gzip.compress(text(_swap(ohlcv(made, seconds), "tvchlo")))
    ),
    "OKX": _one(
        "{asset}-USDT-candles.csv",
        lambda asset, made: text(
            [[f"{asset}-USDT", *row[1:], 1, 1, row[0], 1] for row in ohlcv(made)],
            "instrument_name,open,high,low,close,vol,vol_ccy,vol_quote,open_time,confirm",
        ),
    ),
    "OKX's interface": _one(
        "{asset}-USDT.json",
        lambda _, made: _json({"code": "0", "data": [[*map(str, row), "1", "1", "1"] for row in ohlcv(made)[::-1]]}),
    ),
    "MetaTrader": _one(
        "{asset}USD_M5.csv",
        lambda _, made: text(
            [[*iso(bar.t).replace("-", ".").split(" "), bar.o, bar.h, bar.low, bar.c, bar.v, 0] for bar in made],
            "<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<VOL>\t<SPREAD>",
            "\t",
        ),
    ),
    "Stooq": _one(
        "{asset}USD.txt",
        lambda _, made: text(
            [[*str(row[0]).split(" "), *row[1:]] for row in ohlcv(made, iso)], "Date,Time,Open,High,Low,Close,Volume"
        ),
    ),
    "Dukascopy": _one(
        "{asset}USD_Candlestick_5_M_BID_01.10.2022-31.10.2022.csv",
        lambda _, made: text(
            ohlcv(made, lambda t: datetime.fromtimestamp(t / 1000, UTC).strftime("%d.%m.%Y %H:%M:%S.000")),
            "Gmt time,Open,High,Low,Close,Volume",
        ),
    ),
    "CoinAPI": _one(
        "{asset}_USD.csv",
        lambda _, made: text(
            [[f"{iso(bar.t).replace(' ', 'T')}.0000000Z", bar.o, bar.h, bar.low, bar.c, bar.v, 3] for bar in made],
            "time_period_start,price_open,price_high,price_low,price_close,volume_traded,trades_count",
        ),
    ),
    "Polygon": _one(
        "X_{asset}USD.json",
        lambda _, made: _json(
            {
                "results": [
                    {"v": bar.v, "vw": bar.c, "o": bar.o, "c": bar.c, "h": bar.h, "l": bar.low, "t": bar.t, "n": 3}
                    for bar in made
                ]
            }
        ),
    ),
    "a day and an epoch": _one(
        "{asset}USD.csv",
        lambda _, made: text(
            [[iso(bar.t)[:10], *row] for bar, row in zip(made, ohlcv(made), strict=True)],
            "date,time,open,high,low,close,volume",
        ),
    ),
    "Bybit": _one("{asset}USDT_5_2022-10.csv", lambda _, made: text([[*row, 3] for row in ohlcv(made)])),
    "KuCoin": _one(
        "{asset}-USDT.csv", lambda _, made: text([[*row, 3] for row in _swap(ohlcv(made, seconds), "tochlv")])
    ),
    "Bitfinex": _one("{asset}USD.csv", lambda _, made: text(_swap(ohlcv(made), "tochlv"))),
}
WITHOUT_VOLUME: Final[dict[str, Files]] = {  # it is in dollars there
    "Yahoo": _one(
        "{asset}-USD.csv",
        lambda _, made: text(
            [[iso(bar.t), bar.o, bar.h, bar.low, bar.c, bar.c, 10**9] for bar in made],
            "Date,Open,High,Low,Close,Adj Close,Volume",
        ),
    ),
    "yfinance": _one("{asset}-USD.csv", _yfinance),
    "CoinGecko": _one("{asset}-USD.json", lambda _, made: _json([row[:5] for row in ohlcv(made)])),
    "CoinMarketCap": _one(
        "{asset}_1_10_2022-31_10_2022_historical_data_coinmarketcap.csv",
        lambda _, made: text(
            [
                [
                    f'"{iso(bar.t)[:10]}T{iso(bar.t)[11:]}.000Z"',
                    f'"{iso(bar.t + BAR_MS - 1000)}"',
                    bar.o,
                    bar.h,
                    bar.low,
                    bar.c,
                    9,
                    9,
                ]
                for bar in reversed(made)
            ],
            "timeOpen;timeClose;open;high;low;close;volume;marketCap",
            ";",
        ),
    ),
    "Investing.com": _one(
        "{asset}_USD Bitfinex Historical Data.csv",
        lambda _, made: text(
            [
                [
                    datetime.fromtimestamp(bar.t / 1000, UTC).strftime('"%m/%d/%Y %H:%M"'),
                    *(f'"{value:,.2f}"' for value in (bar.c, bar.o, bar.h, bar.low)),
                    '"1.23K"',
                    '"0.1%"',
                ]
                for bar in reversed(made)
            ],
            '\ufeff"Date","Price","Open","High","Low","Vol.","Change %"',
        ),
    ),
}


def usual(rows: Sequence[Sequence[object]], **form: str) -> bytes:
    """Return rows under the usual header."""
    return text(rows, "ts,open,high,low,close,volume".replace(",", form.get("separator", ",")), **form)


def _thrice(made: Sequence[Bar]) -> bytes:
    """A download that was appended to itself."""
    return usual(ohlcv(made) * 3)


def _twice(made: Sequence[Bar]) -> bytes:
    """Every bar comes unfinished first, then whole."""
    rows: list[list[object]] = []
    for row in ohlcv(made):
        rows += [[*row[:2], row[1], row[1], row[1], 1], row]
    return usual(rows)


READ: Final[dict[str, Callable[[Sequence[Bar]], bytes]]] = {
    "repeated headers": lambda made: usual(ohlcv(made[:400])) + usual(ohlcv(made[400:])),
    "CRLF, mark and capitals": lambda made: (
        b"\xef\xbb\xbf" + text(ohlcv(made), "TS,Open,High,Low,Close,Volume", end="\r\n")
    ),
    "exponents": lambda made: usual(ohlcv(made, lambda t: f"{t:.12E}")),
    "duplicates": _twice,
    "appended to itself": _thrice,
    "halves in the wrong order": lambda made: usual(ohlcv([*made[450:], *made[:450]])),
    "descending": lambda made: usual(ohlcv(made[::-1])),
    "seconds": lambda made: usual(ohlcv(made, seconds)),
    "seconds with .0": lambda made: usual(ohlcv(made, lambda t: f"{seconds(t)}.0")),
    "microseconds": lambda made: usual(ohlcv(made, lambda t: t * 1000)),
    "nanoseconds": lambda made: usual(ohlcv(made, lambda t: t * 1_000_000)),
    "ISO": lambda made: usual(ohlcv(made, lambda t: iso(t).replace(" ", "T") + "Z")),
    "ISO with an offset": lambda made: usual(ohlcv(made, lambda t: iso(t + 7_200_000) + "+02:00")),
    "thousands": lambda made: usual([[row[0], *(f'"{value:,}"' for value in row[1:])] for row in ohlcv(made)]),
    "semicolons": lambda made: usual(ohlcv(made), separator=";"),
    "semicolons and decimal commas": lambda made: usual(
        [[row[0], *(str(value).replace(".", ",") for value in row[1:])] for row in ohlcv(made)], separator=";"
    ),
    "tabs": lambda made: usual(ohlcv(made), separator="\t"),
    "UTF-16": lambda made: usual(ohlcv(made)).decode().encode("utf-16"),
    "close times": lambda made: usual(ohlcv(made, lambda t: t + BAR_MS - 1)),
    "close times by name": lambda made: text(
        ohlcv(made, lambda t: t + BAR_MS), "close_time,open,high,low,close,volume"
    ),
    "rounded highs": lambda made: usual(
        [[bar.t, bar.o, max(bar.o, bar.c) - 0.004, bar.low, bar.c, bar.v] for bar in made]
    ),
}
