"""Bodies that venues really sent, replayed through the real ccxt; they stay outside the repository.

Each venue alone, for the recordings are of different years. What was not recorded is synthetic; docs/explain/venues.md
has the table.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from generator.market.live.venues import VENUES
from generator.market.observation import AssetObservation
from tests.market.test_exchanges import NOW, having, watch
from tests.support.exchange_server import SHARED, Ask, recorded
from tests.support.synthetic_bodies import BAR

DAY = 86_400_000

pytestmark = pytest.mark.skipif(
    not SHARED.is_dir(), reason="recorded venue answers (../shared/market-data/exchange-responses) are not here"
)


def binance(ask: Ask) -> Any:
    if ask.path == "/api/v3/exchangeInfo":
        return recorded("binance-spot-exchangeInfo-2021-10.json.gz")
    if ask.path == "/api/v3/ticker/24hr":
        body = recorded("binance-spot-ticker24hr-BTCUSDT.json")
        shift = NOW - body["closeTime"]
        return [body | {name: body[name] + shift for name in ("openTime", "closeTime")}]
    if ask.path == "/api/v3/depth":
        return recorded("binance-spot-depth-BTCUSDT.json")
    if ask.path == "/api/v3/klines":
        return _moved_klines()
    return None


def _moved_klines() -> list[list[Any]]:
    rows = recorded("binance-spot-klines-5m-BTCUSDT.json")
    shift = NOW - BAR - rows[-1][0]
    return [[row[0] + shift, *row[1:6], row[6] + shift, *row[7:]] for row in rows]


def test_recorded_binance_spot_answers_give_price_change_book_and_bars() -> None:
    since = NOW - 25 * BAR

    (seen,) = watch((NOW, since), setup=having(override=binance), venues=("binance",), assets=("BTC",))

    read = seen.assets["BTC"]
    assert read.price == pytest.approx((6706.21 + 6705.88) / 2)
    assert read.change_24h_percent == pytest.approx(-2.427)
    raw = recorded("binance-spot-depth-BTCUSDT.json")
    best_bid, best_ask = float(raw["bids"][0][0]), float(raw["asks"][0][0])
    mid = (best_bid + best_ask) / 2
    near = [float(p) * float(q) for side in ("bids", "asks") for p, q in raw[side] if abs(float(p) / mid - 1) <= 0.01]
    assert read.book is not None
    assert read.book.spread_bps == pytest.approx(1e4 * (best_ask - best_bid) / mid)
    assert read.book.depth_1pct_usd == pytest.approx(sum(near))
    rows = _moved_klines()
    assert list(seen.new_bars.t) == [row[0] for row in rows]
    assert seen.new_bars.fields["close"][:, 0] == pytest.approx([float(row[4]) for row in rows])
    assert seen.new_bars.fields["volume"][:, 0] == pytest.approx([float(row[5]) for row in rows])
    assert seen.dropped_bars == 0


def usdm(ask: Ask) -> Any:
    if ask.path == "/fapi/v1/exchangeInfo":
        return recorded("binanceusdm-exchangeInfo-2021-07.json")
    if ask.path == "/fapi/v1/premiumIndex":
        body = recorded("binanceusdm-premiumIndex-BTCUSDT.json")
        return [body | {"nextFundingTime": body["nextFundingTime"] + NOW - body["time"], "time": NOW}]
    if ask.path == "/fapi/v1/openInterest":
        return recorded("binanceusdm-openInterest-BTCUSDT.json") | {"time": NOW}
    if ask.path == "/futures/data/openInterestHist":
        return [recorded("binanceusdm-openInterestHist-BTCUSDT-5m.json")[0] | {"timestamp": NOW - DAY}]
    return None


def test_recorded_binance_futures_answers_give_funding_and_open_interest() -> None:
    (seen,) = watch((NOW, NOW), setup=having(override=usdm), venues=("binanceusdm",), assets=("BTC",))

    read = seen.assets["BTC"]
    assert read.price is None
    assert read.funding is not None
    assert read.funding.rate_8h == pytest.approx(0.00001226)
    assert read.open_interest is not None
    assert read.open_interest.contracts == 83782.3
    assert read.open_interest.usd == float(f"{83782.317 * 26780.82240476:.6g}")
    assert read.open_interest.change_24h_percent == round(
        100 * (83782.317 * 26780.82240476 / 413220015.26744573 - 1), 2
    )


def kraken(ask: Ask) -> Any:
    if ask.path.endswith("/AssetPairs"):
        return _pairs()
    if ask.path.endswith("/Ticker"):
        return recorded("kraken-Ticker-XBTUSDT-2024-03.json")
    return None


def _pairs() -> Any:
    """Return the pairs of 2021 with the field `status`, which Kraken added later and ccxt insists on."""
    body = recorded("kraken-AssetPairs-2021-04.json")
    return {"error": [], "result": {name: pair | {"status": "online"} for name, pair in body["result"].items()}}


def test_recorded_kraken_answers_give_a_price_under_its_own_names() -> None:
    tether = {"kraken": replace(VENUES["kraken"], quotes=("USDT",), quotes_stablecoin=False)}

    (seen,) = watch((NOW, NOW), setup=having(override=kraken), assets=("BTC", "ETH"), specs=tether)

    assert seen.assets["BTC"].price == pytest.approx((73380.7 + 73380.6) / 2)
    assert seen.assets["ETH"].price is None  # listed, but its ticker was not recorded


def test_recorded_kraken_pairs_of_2021_know_dollars_and_the_stablecoin() -> None:
    def pairs(ask: Ask) -> Any:
        return _pairs() if ask.path.endswith("/AssetPairs") else None

    (seen,) = watch((NOW, NOW), setup=having(override=pairs), venues=("kraken",))

    priced = {asset for asset, read in seen.assets.items() if read.price is not None}
    assert priced >= {"BTC", "ETH", "XRP", "ALGO", "XLM"}
    assert not priced & {"SOL", "HBAR"}  # were not listed then
    assert seen.limitations == ()


def okx(ask: Ask) -> Any:
    if ask.path != "/api/v5/public/instruments":
        return None
    kind = ask.query["instType"][0]
    suffix = ".json.gz" if kind == "SPOT" else ".json"
    return recorded(f"okx-public-instruments-instType-{kind}-2022-05{suffix}")


def test_recorded_okx_instruments_carry_the_synthetic_rest() -> None:
    (seen,) = watch((NOW, NOW), setup=having(override=okx), venues=("okx",))

    assert all(read.price is not None and read.book is not None for read in seen.assets.values())
    without = {asset for asset, read in seen.assets.items() if read.funding is None}
    assert without == {"HBAR"}  # had no perpetual in May 2022


def gate(ask: Ask) -> Any:
    call = ask.path.removeprefix("/api/v4/futures/usdt/")
    contracts = recorded("gate-futures-usdt-contracts-2023-05.json.gz")
    if call == "contracts":
        return contracts
    if call.startswith("contracts/"):
        return next(one for one in contracts if one["name"] == call.removeprefix("contracts/"))
    return None


def test_recorded_gate_contracts_give_funding_of_every_asset() -> None:
    (seen,) = watch((NOW, NOW), setup=having(override=gate), venues=("gate",))

    contracts = {one["name"]: one for one in recorded("gate-futures-usdt-contracts-2023-05.json.gz")}
    for asset, read in seen.assets.items():
        raw = contracts[f"{asset}_USDT"]
        assert _rate(read) == pytest.approx(float(raw["funding_rate"]) * 28_800 / raw["funding_interval"])


def _rate(read: AssetObservation) -> float:
    assert read.funding is not None
    return read.funding.rate_8h


def test_recorded_error_of_binance_leaves_that_asset_out() -> None:
    def unknown(ask: Ask) -> Any:
        interest = ask.path == "/fapi/v1/openInterest" and ask.query["symbol"] == ["ETHUSDT"]
        return recorded("binanceusdm-error-invalid-symbol.json") if interest else None

    (seen,) = watch((NOW, NOW), setup=having(override=unknown), venues=("binanceusdm",))

    assert seen.assets["ETH"].open_interest is None
    assert seen.assets["BTC"].open_interest is not None
    (row,) = [one for one in seen.sources if one.kind == "open_interest"]
    assert row.reason == "1 missing: unknown market"
    assert np.isfinite(_rate(seen.assets["ETH"]))
